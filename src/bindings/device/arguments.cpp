// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/device/arguments.hpp"

#include "bindings/annotation/annotation_cache.hpp"
#include "bindings/device/stream.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

enum DeviceArgument {
  device_stream,
  device_backend,
  device_placement,
  device_timing,
  device_capture
};
constexpr const char* device_field_names[device_field_count] = {"stream", "backend", "placement",
                                                                "timing", "capture"};
constexpr Py_ssize_t most_device_arguments = 16;

// How the keywords of a call site part into those of the event and ours.
struct Split {
  PyObject* kwnames = nullptr;          // strong: its address is the key
  PyObject* of_event = nullptr;         // strong; null: none
  int8_t field[most_device_arguments];  // for each keyword: ours, or -1
};

#ifndef Py_GIL_DISABLED
constexpr size_t split_count = 256;
Split splits[split_count];
#endif

int field_of(PyObject* name) noexcept {
  PyObject* const* names = state().device.field_names;
  for (int i = 0; i < device_field_count; ++i) {
    if (names[i] == name) return i;
  }
  for (int i = 0; i < device_field_count; ++i) {
    if (PyUnicode_Compare(names[i], name) == 0) return i;
  }
  return -1;
}

int make_split(PyObject* kwnames, Split& split) {
  const Py_ssize_t count = PyTuple_GET_SIZE(kwnames);
  Py_ssize_t of_event = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    split.field[i] = static_cast<int8_t>(field_of(PyTuple_GET_ITEM(kwnames, i)));
    if (split.field[i] < 0) ++of_event;
  }
  split.of_event = nullptr;
  if (of_event > 0) {
    split.of_event = PyTuple_New(of_event);
    if (!split.of_event) return -1;
    for (Py_ssize_t i = 0, at = 0; i < count; ++i) {
      if (split.field[i] < 0) {
        PyTuple_SET_ITEM(split.of_event, at++, Py_NewRef(PyTuple_GET_ITEM(kwnames, i)));
      }
    }
  }
  split.kwnames = Py_NewRef(kwnames);
  return 0;
}

void clear_split(Split& split) noexcept {
  Py_CLEAR(split.kwnames);
  Py_CLEAR(split.of_event);
}

// One of two words; -1 with an exception set.
int one_of(const char* argument, PyObject* value, const char* const* words, int count) {
  if (!PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s must be a str, not %R", argument, value);
    return -1;
  }
  for (int i = 0; i < count; ++i) {
    if (PyUnicode_CompareWithASCIIString(value, words[i]) == 0) return i;
  }
  PyErr_Format(PyExc_ValueError, "%s must be '%s', '%s'%s%s%s, not %R", argument, words[0],
               words[1], count > 2 ? " or '" : "", count > 2 ? words[2] : "", count > 2 ? "'" : "",
               value);
  return -1;
}

int set_field(int field, PyObject* value, DeviceArguments& result) {
  static const char* const backends[] = {"auto", "callback", "exact"};
  static const char* const placements[] = {"side", "stream"};
  static const char* const captures[] = {"graph", "skip"};
  int chosen = 0;
  switch (field) {
    case device_stream:
      result.stream = value == Py_None ? nullptr : value;
      return check_stream(value);
    case device_backend:
      chosen = one_of("backend", value, backends, 3);
      result.options.backend = static_cast<cuda::Backend>(chosen);
      break;
    case device_placement:
      chosen = one_of("placement", value, placements, 2);
      result.options.placement = static_cast<cuda::Placement>(chosen);
      break;
    case device_capture:
      chosen = one_of("capture", value, captures, 2);
      result.options.skip_captures = chosen == 1;
      break;
    default:
      if (!PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "timing must be a bool, not %R", value);
        return -1;
      }
      result.options.timed = value == Py_True;
  }
  return chosen < 0 ? -1 : 0;
}

int apply_split(const Split& split, const PythonCall& call, DeviceArguments& result) {
  PyObject* values[most_device_arguments];
  const Py_ssize_t count = PyTuple_GET_SIZE(split.kwnames);
  Py_ssize_t at = 0;
  for (Py_ssize_t i = 0; i < call.nargs; ++i) values[at++] = call.args[i];
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* value = call.args[call.nargs + i];
    if (split.field[i] < 0) {
      values[at++] = value;
    } else if (set_field(split.field[i], value, result) < 0) {
      return -1;
    }
  }
  result.annotation =
      annotation_for_call(*call.form, call.receiver, values, call.nargs, split.of_event, false);
  if (!result.annotation) return -1;
  // A device range is sent to the tool later, in a batch whose rows hold one number.
  if (!result.annotation->fields->has_data) return 0;
  if (warn_once("payload of a device range",
                "the payload of a device range must be a number: other data is left out") == 0) {
    return 0;
  }
  Py_DECREF(reinterpret_cast<PyObject*>(std::exchange(result.annotation, nullptr)));
  return -1;
}

}  // namespace

int parse_device_call(const PythonCall& call, DeviceArguments& result) {
  PyObject* const kwnames = call.kwnames;
  if (!kwnames) {
    result.annotation =
        annotation_for_call(*call.form, call.receiver, call.args, call.nargs, nullptr, false);
    return result.annotation ? 0 : -1;
  }
  if (call.count() > most_device_arguments) {
    PyErr_Format(PyExc_TypeError, "%s() got too many arguments", call.form->function);
    return -1;
  }
#ifndef Py_GIL_DISABLED
  const auto address = reinterpret_cast<uintptr_t>(kwnames);
  Split& kept = splits[(address >> 4 ^ address >> 12) % split_count];
  if (kept.kwnames != kwnames) {
    Split fresh;
    if (make_split(kwnames, fresh) < 0) return -1;
    Split old = kept;
    kept = fresh;
    clear_split(old);
  }
  // A copy: what is called below may come back here and replace the entry.
  Split split = kept;
  Py_INCREF(split.kwnames);
  Py_XINCREF(split.of_event);
#else
  Split split;
  if (make_split(kwnames, split) < 0) return -1;
#endif
  const int done = apply_split(split, call, result);
  clear_split(split);
  return done;
}

int device_arguments_init() {
  for (int i = 0; i < device_field_count; ++i) {
    if (intern_names({{&state().device.field_names[i], device_field_names[i]}}) < 0) return -1;
  }
  return 0;
}

}  // namespace nvspan::bindings
