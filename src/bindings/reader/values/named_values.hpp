// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A dictionary that C++ fills by key, for Python.

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace nvspan::bindings {

// values["calls"] = 3: each assignment is a call of a function, where those of a pybind11::dict are
// some 200 bytes of code; a report sets four hundred.
class NamedValues : public pybind11::dict {
 public:
  class Named {
   public:
    Named(PyObject* values, const char* key) noexcept : values_(values), key_(key) {}

    template <class Value>
    void operator=(const Value& value) const {
      if constexpr (std::is_same_v<Value, bool>) {
        set_bool(value);
      } else if constexpr (std::is_integral_v<Value> && std::is_signed_v<Value>) {
        set_integer(value);
      } else if constexpr (std::is_integral_v<Value>) {
        set_count(value);
      } else if constexpr (std::is_floating_point_v<Value>) {
        set_real(static_cast<double>(value));
      } else if constexpr (std::is_convertible_v<const Value&, pybind11::handle>) {
        set_object(pybind11::handle(value).ptr());
      } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
        set_text(value);  // must be UTF-8
      } else {
        set_object(pybind11::cast(value).ptr());
      }
    }

   private:
    void set_bool(bool value) const;
    void set_integer(std::int64_t value) const;
    void set_count(std::uint64_t value) const;
    void set_real(double value) const;
    void set_text(std::string_view value) const;
    void set_object(PyObject* value) const;
    void set_new(PyObject* value) const;  // takes the reference over

    PyObject* values_;
    const char* key_;
  };

  Named operator[](const char* key) const noexcept { return Named(ptr(), key); }
  // A key that is an object.
  pybind11::detail::item_accessor operator[](pybind11::handle key) const {
    return pybind11::dict::operator[](key);
  }
};

}  // namespace nvspan::bindings
