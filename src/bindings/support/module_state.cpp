// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/support/module_state.hpp"

#include "core/text/printable.hpp"

#include <cstdarg>

namespace nvspan::bindings {

ModuleState detail::module_state{};

namespace {

int warn_once_v(const char* topic, const char* format, va_list arguments) {
  py_ref key = py_ref::steal(PyUnicode_FromString(topic));
  if (!key) return -1;
  const int found = PySet_Contains(state().warned, key.get());
  if (found != 0) return found < 0 ? -1 : 0;
  if (PySet_Add(state().warned, key.get()) < 0) return -1;
  py_ref text = py_ref::steal(PyUnicode_FromFormatV(format, arguments));
  if (!text) return -1;
  const char* utf8 = PyUnicode_AsUTF8(text.get());
  return utf8 ? PyErr_WarnEx(state().warning_type, core::plain_text(utf8).c_str(), 1) : -1;
}

}  // namespace

int intern_names(std::initializer_list<InternedName> names) {
  for (const InternedName& name : names) {
    *name.place = PyUnicode_InternFromString(name.text);
    if (!*name.place) return -1;
  }
  return 0;
}

int warn_once(const char* topic, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = warn_once_v(topic, format, arguments);
  va_end(arguments);
  return result;
}

void warn_once_quietly(const char* topic, const char* format, ...) noexcept {
  py_error_scope scope;
  va_list arguments;
  va_start(arguments, format);
  if (warn_once_v(topic, format, arguments) < 0) PyErr_WriteUnraisable(state().warning_type);
  va_end(arguments);
}

}  // namespace nvspan::bindings
