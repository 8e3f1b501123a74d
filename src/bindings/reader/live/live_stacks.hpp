// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The Python stacks of running processes, as Python gets them.

#pragma once

#include "bindings/support/py.hpp"
#include "bindings/reader/live/live_texts.hpp"

#include <pybind11/pybind11.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "reader/live/live_file.hpp"
#include "reader/live/live_lines.hpp"
#include "reader/live/live_names.hpp"

namespace nvspan::bindings {

// Source files whose frames are not shown, as a Python function says: it is asked once for each.
class HiddenFiles {
 public:
  explicit HiddenFiles(const pybind11::function& is_hidden) : is_hidden_(is_hidden) {}

  // Adds the codes that `hidden` does not have yet.
  void mark(const reader::LiveNames& names, std::vector<bool>& hidden);

 private:
  const pybind11::function& is_hidden_;
  std::unordered_map<std::string, bool> known_;
};

// A LiveStacks.
pybind11::object stacks_of(const reader::LiveFile& file, const reader::LiveLines& lines,
                           Texts& texts);

}  // namespace nvspan::bindings
