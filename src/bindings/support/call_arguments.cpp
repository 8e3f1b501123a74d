// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/support/call_arguments.hpp"

#include <string>

#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

AnnotationField field_from_name(PyObject* name) noexcept {
  PyObject* const* names = state().field_names;
  for (unsigned field = 0; field < field_count; ++field) {
    if (names[field] == name) return static_cast<AnnotationField>(field);
  }
  for (unsigned field = 0; field < field_count; ++field) {
    if (PyUnicode_Compare(names[field], name) == 0) return static_cast<AnnotationField>(field);
  }
  PyErr_Clear();
  return field_count;
}

int parse_call(const CallForm& form, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
               CallArguments& result) {
  if (nargs > static_cast<Py_ssize_t>(form.positional)) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %u positional argument%s (%zd given)",
                 form.function, form.positional, form.positional == 1 ? "" : "s", nargs);
    return -1;
  }
  unsigned field = 0;
  for (Py_ssize_t i = 0; i < nargs; ++i, ++field) {
    while (!(form.allowed & (1u << field))) ++field;
    result.values[field] = args[i];
  }
  const Py_ssize_t keywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, i);
    const AnnotationField named = field_from_name(name);
    if (named == field_count || !(form.allowed & field_bit(named))) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", form.function,
                   name);
      return -1;
    }
    if (result.values[named]) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument %R", form.function,
                   name);
      return -1;
    }
    result.values[named] = args[nargs + i];
  }
  return 0;
}

bool single_argument(const char* function, const char* name, PyObject* const* args,
                     Py_ssize_t nargs, PyObject* kwnames, PyObject*& value) {
  const Py_ssize_t keywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  if (nargs + keywords > 1) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most 1 argument (%zd given)", function,
                 nargs + keywords);
    return false;
  }
  if (keywords && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), name) != 0) {
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", function,
                 PyTuple_GET_ITEM(kwnames, 0));
    return false;
  }
  if (nargs + keywords == 1) value = args[0];
  return true;
}

PyObject* required_argument(const char* function, const char* name, PyObject* const* args,
                            Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* value = nullptr;
  if (!single_argument(function, name, args, nargs, kwnames, value)) return nullptr;
  if (!value) {
    PyErr_Format(PyExc_TypeError, "%s() missing 1 required argument: '%s'", function, name);
  }
  return value;
}

int FirstPositional::read(const char* name, PyObject* const* given, Py_ssize_t given_nargs,
                          PyObject* given_names) {
  args = given;
  nargs = given_nargs;
  kwnames = given_names;
  const Py_ssize_t count = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  if (nargs > 0 || count > most_keywords) return 0;
  const auto is_first = [&](Py_ssize_t i) {
    return PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(given_names, i), name) == 0;
  };
  Py_ssize_t first = 0;
  while (first < count && !is_first(first)) ++first;
  if (first == count) return 0;
  other_names_ = py_ref::steal(PyTuple_New(count - 1));
  if (!other_names_) return -1;
  moved_[0] = given[first];
  for (Py_ssize_t from = 0, to = 0; from < count; ++from) {
    if (from == first) continue;
    PyTuple_SET_ITEM(other_names_.get(), to, Py_NewRef(PyTuple_GET_ITEM(given_names, from)));
    moved_[++to] = given[from];
  }
  args = moved_;
  nargs = 1;
  kwnames = count > 1 ? other_names_.get() : nullptr;
  return 0;
}

int read_named_values(const char* function, const NamedValue* values, size_t count,
                      PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (nargs > 0) {
    PyErr_Format(PyExc_TypeError, "%s() takes no positional arguments (%zd given)", function,
                 nargs);
    return -1;
  }
  const Py_ssize_t keywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t keyword = 0; keyword < keywords; ++keyword) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, keyword);
    size_t i = 0;
    while (i < count && PyUnicode_CompareWithASCIIString(name, values[i].name) != 0) ++i;
    if (i == count) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", function, name);
      return -1;
    }
    *values[i].place = args[keyword];
  }
  std::string missing;
  for (size_t i = 0; i < count; ++i) {
    if (*values[i].place) continue;
    if (!missing.empty()) missing += ", ";
    missing.append("'").append(values[i].name).append("'");
  }
  if (missing.empty()) return 0;
  PyErr_Format(PyExc_TypeError, "%s() needs these keyword arguments too: %s", function,
               missing.c_str());
  return -1;
}

}  // namespace nvspan::bindings
