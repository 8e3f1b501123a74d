// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The columns of a batch of counter samples.

#include "bindings/support/py.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::bindings {

// The integer in a number, cut as int() cuts it; text is none. -1 with an exception set.
int64_t integer_of(PyObject* value);

// numpy.ascontiguousarray(value, dtype); null with an exception set.
py_ref contiguous_array(PyObject* value, PyObject* dtype);

// 64-bit ints or floats in a row: the caller's own memory where it has them like that.
class NumberColumn {
 public:
  NumberColumn() = default;
  ~NumberColumn() {
    if (held_) PyBuffer_Release(&view_);
  }
  NumberColumn(const NumberColumn&) = delete;
  NumberColumn& operator=(const NumberColumn&) = delete;

  // 0, or -1 with an exception set.
  int load(PyObject* values, bool floats);

  const void* data() const noexcept { return data_; }
  size_t count() const noexcept { return count_; }

 private:
  bool take_view(PyObject* values, bool floats);
  int copy(PyObject* values, bool floats);

  Py_buffer view_;
  bool held_ = false;
  py_ref converted_;
  std::vector<int64_t> own_;
  const void* data_ = nullptr;
  size_t count_ = 0;
};

}  // namespace nvspan::bindings
