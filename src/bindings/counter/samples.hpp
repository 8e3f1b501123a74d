// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Samples of numpy dtypes, packed without numpy where they are plain numbers.

#include "bindings/support/py.hpp"

#include <vector>

#include "annotate/payload/schema.hpp"

namespace nvspan::bindings {

class SamplePacker {
 public:
  static constexpr size_t largest = 256;  // bytes of a sample

  // Of samples of that schema, `group` if it has named fields. Without an effect for what is left
  // to numpy.
  void prepare(const annotate::Schema& schema, bool group, size_t size);

  // Writes a number, or a tuple of numbers, to `to`, which has room for `largest`. False for what
  // is left to numpy, which knows what to do with it or how to refuse it.
  bool pack(PyObject* value, unsigned char* to) const noexcept;

 private:
  struct Part {
    uint64_t type;
    size_t offset;
  };
  std::vector<Part> parts_;
  size_t size_ = 0;
  bool group_ = false;
};

}  // namespace nvspan::bindings
