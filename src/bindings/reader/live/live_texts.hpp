// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>
#include <unordered_map>

namespace nvspan::bindings {

inline pybind11::str str_of(std::string_view text) {
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

// Each text becomes one object, however many processes have it.
class Texts {
 public:
  pybind11::object of(std::string_view text) {
    if (text.data() == nullptr) return pybind11::none();
    const auto found = known_.find(std::string(text));
    if (found != known_.end()) return found->second;
    return known_.emplace(std::string(text), str_of(text)).first->second;
  }

 private:
  std::unordered_map<std::string, pybind11::object> known_;
};

}  // namespace nvspan::bindings
