// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Arguments of the annotation calls, all of which take the same names.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

enum AnnotationField : unsigned {
  field_message,
  field_color,
  field_domain,
  field_category,
  field_payload,
  field_kind,
  field_level,
  field_name_from,
  field_device,
  field_sync,
  field_count
};

constexpr unsigned field_bit(AnnotationField field) { return 1u << field; }

// One callable's signature: fields in the order above, the first `positional` of them by position.
struct CallForm {
  const char* function;
  unsigned positional;
  unsigned allowed;  // bits of the fields it takes
};

constexpr unsigned attribute_fields = field_bit(field_message) | field_bit(field_color) |
                                      field_bit(field_category) | field_bit(field_payload);
constexpr unsigned event_fields = attribute_fields | field_bit(field_domain);
constexpr unsigned annotate_fields = event_fields | field_bit(field_kind) | field_bit(field_level) |
                                     field_bit(field_name_from) | field_bit(field_device) |
                                     field_bit(field_sync);

// A call of a function, or of a method of `receiver`. All is borrowed.
struct PythonCall {
  const CallForm* form;
  PyObject* receiver;  // null: none
  PyObject* const* args;
  Py_ssize_t nargs;
  PyObject* kwnames;

  Py_ssize_t count() const noexcept { return nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0); }
};

struct CallArguments {
  PyObject* values[field_count] = {};  // borrowed; null: not given
};

// The field that a keyword names, or field_count.
AnnotationField field_from_name(PyObject* name) noexcept;

// 0, or -1 with a TypeError as for a Python function of that signature.
int parse_call(const CallForm& form, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
               CallArguments& result);

// For a function of one argument, by position or as `name`. `value` keeps its contents if the
// argument is not given. False with a TypeError.
bool single_argument(const char* function, const char* name, PyObject* const* args,
                     Py_ssize_t nargs, PyObject* kwnames, PyObject*& value);

// As single_argument, where the argument must be given: null with a TypeError if not.
PyObject* required_argument(const char* function, const char* name, PyObject* const* args,
                            Py_ssize_t nargs, PyObject* kwnames);

// A call whose first argument may also be given as a keyword: it is positional in here.
struct FirstPositional {
  PyObject* const* args = nullptr;
  Py_ssize_t nargs = 0;
  PyObject* kwnames = nullptr;

  // 0, or -1 with an exception set. With more than `most_keywords` nothing is moved.
  int read(const char* name, PyObject* const* given, Py_ssize_t given_nargs, PyObject* given_names);

 private:
  static constexpr Py_ssize_t most_keywords = 16;
  PyObject* moved_[most_keywords];
  py_ref other_names_;
};

// A value that is given by keyword, and where it goes; borrowed.
struct NamedValue {
  const char* name;
  PyObject** place;
};

// For a function of keywords alone, each of which must be given unless its place has a value. 0, or
// -1 with a TypeError that names all that are missing, or the first that is not known.
int read_named_values(const char* function, const NamedValue* values, size_t count,
                      PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

}  // namespace nvspan::bindings
