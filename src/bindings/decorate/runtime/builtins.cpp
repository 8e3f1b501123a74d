// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorate/runtime/builtins.hpp"

#include <cstring>

namespace nvspan::bindings {
namespace {

constexpr const char prefix[] = "__nvspan_";

}  // namespace

int add_builtins(PyMethodDef* table) {
  PyObject* builtins = PyEval_GetBuiltins();
  py_ref owner = py_ref::steal(PyUnicode_InternFromString("nvspan._core"));
  if (builtins == nullptr || !owner) return -1;
  for (; table->ml_name != nullptr; ++table) {
    py_ref function = py_ref::steal(PyCFunction_NewEx(table, nullptr, owner.get()));
    if (!function || PyDict_SetItemString(builtins, table->ml_name, function.get()) < 0) return -1;
  }
  return 0;
}

int provide_builtins(PyObject* builtins) {
  PyObject* usual = PyEval_GetBuiltins();
  if (builtins == nullptr || builtins == usual || !PyDict_Check(builtins)) return 0;
  PyObject *name, *value;
  for (Py_ssize_t i = 0; PyDict_Next(usual, &i, &name, &value);) {
    const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    if (text == nullptr) {
      PyErr_Clear();
    } else if (std::strncmp(text, prefix, sizeof prefix - 1) == 0 &&
               PyDict_SetItem(builtins, name, value) < 0) {
      return -1;
    }
  }
  return 0;
}

}  // namespace nvspan::bindings
