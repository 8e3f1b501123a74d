// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/counter/columns.hpp"

#include <cstring>

#include "bindings/payload/encoder.hpp"

namespace nvspan::bindings {

namespace {

bool is_native_number(const char* format, Py_ssize_t size, bool floats) noexcept {
  if (!format || size != sizeof(int64_t)) return false;
  if (*format == '@' || *format == '=') ++format;
  return format[0] != '\0' && format[1] == '\0' && std::strchr(floats ? "d" : "lqn", format[0]);
}

}  // namespace

int64_t integer_of(PyObject* value) {
  if (PyLong_CheckExact(value)) return PyLong_AsLongLong(value);
  const PyNumberMethods* number = Py_TYPE(value)->tp_as_number;
  py_ref integer = number && number->nb_int && !PyIndex_Check(value)
                       ? py_ref::steal(PyNumber_Long(value))
                       : py_ref::steal(PyNumber_Index(value));
  return integer ? PyLong_AsLongLong(integer.get()) : -1;
}

py_ref contiguous_array(PyObject* value, PyObject* dtype) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* numpy = modules ? PyDict_GetItemString(modules, "numpy") : nullptr;
  if (!numpy) {
    PyErr_SetString(PyExc_RuntimeError, "numpy is not loaded");
    return {};
  }
  return call_method(numpy, "ascontiguousarray", value, dtype);
}

int NumberColumn::load(PyObject* values, bool floats) {
  if (take_view(values, floats)) return 0;
  if (!is_numpy_array(values)) return copy(values, floats);
  py_ref dtype = py_ref::steal(PyUnicode_FromString(floats ? "d" : "q"));
  converted_ = dtype ? contiguous_array(values, dtype.get()) : py_ref();
  if (!converted_) return -1;
  if (take_view(converted_.get(), floats)) return 0;
  PyErr_SetString(PyExc_TypeError, "values cannot be converted");
  return -1;
}

bool NumberColumn::take_view(PyObject* values, bool floats) {
  if (!PyObject_CheckBuffer(values)) return false;
  if (PyObject_GetBuffer(values, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
    PyErr_Clear();
    return false;
  }
  if (!is_native_number(view_.format, view_.itemsize, floats)) {
    PyBuffer_Release(&view_);
    return false;
  }
  held_ = true;
  data_ = view_.buf;
  count_ = static_cast<size_t>(view_.len) / sizeof(int64_t);
  return true;
}

int NumberColumn::copy(PyObject* values, bool floats) {
  py_ref items = py_ref::steal(PySequence_Tuple(values));
  if (!items) return -1;
  count_ = static_cast<size_t>(PyTuple_GET_SIZE(items.get()));
  own_.resize(count_);
  for (size_t i = 0; i < count_; ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i));
    if (floats) {
      const double number = PyFloat_AsDouble(item);
      std::memcpy(&own_[i], &number, sizeof number);
    } else {
      own_[i] = integer_of(item);
    }
    if (PyErr_Occurred()) return -1;
  }
  data_ = own_.data();
  return 0;
}

}  // namespace nvspan::bindings
