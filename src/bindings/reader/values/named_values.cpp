// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/values/named_values.hpp"

namespace py = pybind11;

namespace nvspan::bindings {

void NamedValues::Named::set_bool(bool value) const { set_object(value ? Py_True : Py_False); }

void NamedValues::Named::set_integer(std::int64_t value) const {
  set_new(PyLong_FromLongLong(value));
}

void NamedValues::Named::set_count(std::uint64_t value) const {
  set_new(PyLong_FromUnsignedLongLong(value));
}

void NamedValues::Named::set_real(double value) const { set_new(PyFloat_FromDouble(value)); }

void NamedValues::Named::set_text(std::string_view value) const {
  set_new(PyUnicode_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size())));
}

void NamedValues::Named::set_object(PyObject* value) const {
  if (PyDict_SetItemString(values_, key_, value) != 0) throw py::error_already_set();
}

void NamedValues::Named::set_new(PyObject* value) const {
  const py_ref held = py_ref::steal(value);
  if (!held) throw py::error_already_set();
  set_object(value);
}

}  // namespace nvspan::bindings
