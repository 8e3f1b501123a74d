// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Results as Python gets them: objects of the classes in nvspan._results, filled by field name.
//
//   for (const reader::MarkRow& mark : marks) {
//     NewResult row("MarkRow");
//     row["name"] = text_of(mark.name);
//     row["calls"] = mark.calls;
//     rows.append(row.done());
//   }
//
// Each value is checked against its field's annotation. An unknown class or field, a value of
// another type, and a missing field that may not be None raise SystemError.

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace nvspan::bindings {

class ResultClass;

// An int, or None for a negative number.
pybind11::object number_or_none(std::int64_t number);

// Imports nvspan._results; call it before the first NewResult.
void load_result_classes();

// A result whose fields are being set, best in the order of its class.
class NewResult {
 public:
  explicit NewResult(std::string_view class_name);

  class Field {
   public:
    Field(NewResult& result, const char* name) noexcept : result_(result), name_(name) {}

    template <class Value>
    void operator=(const Value& value) const {
      if constexpr (std::is_same_v<Value, bool>) {
        result_.set(name_, PyBool_FromLong(value));
      } else if constexpr (std::is_integral_v<Value> && std::is_signed_v<Value>) {
        result_.set(name_, PyLong_FromLongLong(value));
      } else if constexpr (std::is_integral_v<Value>) {
        result_.set(name_, PyLong_FromUnsignedLongLong(value));
      } else if constexpr (std::is_floating_point_v<Value>) {
        result_.set(name_, PyFloat_FromDouble(static_cast<double>(value)));
      } else if constexpr (std::is_convertible_v<const Value&, pybind11::handle>) {
        result_.set(name_, pybind11::handle(value).inc_ref().ptr());
      } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
        result_.set_text(name_, value);
      } else {
        result_.set(name_, pybind11::cast(value).release().ptr());
      }
    }

   private:
    NewResult& result_;
    const char* name_;
  };

  Field operator[](const char* name) noexcept { return Field(*this, name); }

  // The finished object. A field that was not set and may be None is None.
  pybind11::object done();

 private:
  void set(const char* name, PyObject* value);  // steals `value`; null: a Python error is set
  void set_text(const char* name, std::string_view value);  // bytes that are not UTF-8: surrogates

  const ResultClass& class_;
  pybind11::object object_;
  std::size_t next_ = 0;  // the field expected next
  std::uint64_t filled_ = 0;
};

}  // namespace nvspan::bindings
