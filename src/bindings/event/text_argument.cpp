// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The `message=` and `color=` arguments.
#include "bindings/event/event_fields.hpp"

#include <cstring>
#include <string_view>

#include "annotate/event/color.hpp"
#include "annotate/tool/attachment.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

void update_automatic_color(EventFields& fields) noexcept {
  if (!fields.automatic_color) return;
  const char* text = fields.event.text;
  fields.event.attributes.color = annotate::automatic_color(
      text ? std::string_view(text, fields.event.text_size) : std::string_view());
}

bool has_zero(const char* text, Py_ssize_t size) noexcept {
  return std::memchr(text, 0, static_cast<size_t>(size)) != nullptr;
}

// Takes as much of a long text as every tool takes, whole characters only, and warns once.
int cut_text(EventFields& fields, const char* text, Py_ssize_t size) {
  size_t kept = annotate::longest_message;
  while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xC0) == 0x80) --kept;
  PyObject* cut = PyBytes_FromStringAndSize(text, static_cast<Py_ssize_t>(kept));
  if (!cut) return -1;
  Py_XSETREF(fields.encoded, cut);
  fields.event.set_text(PyBytes_AS_STRING(cut), kept);
  return warn_once(
      "long message",
      "message of %zd bytes is cut to %zu: tools drop events with longer messages. Put data "
      "into payload=",
      size, kept);
}

int set_text(EventFields& fields, PyObject* message) {
  Py_CLEAR(fields.encoded);
  const char* text = nullptr;
  Py_ssize_t size = 0;
  if (PyUnicode_Check(message)) {
    text = PyUnicode_AsUTF8AndSize(message, &size);
    if (!text) PyErr_Clear();  // lone surrogates
  } else {
    text = PyBytes_AS_STRING(message);
    size = PyBytes_GET_SIZE(message);
    py_ref valid = py_ref::steal(PyUnicode_DecodeUTF8(text, size, "strict"));
    if (!valid) {
      PyErr_Clear();
      text = nullptr;
    }
  }
  if (!text || has_zero(text, size)) {
    fields.encoded = escaped_utf8(message);
    if (!fields.encoded) return -1;
    text = PyBytes_AS_STRING(fields.encoded);
    size = PyBytes_GET_SIZE(fields.encoded);
  }
  if (static_cast<size_t>(size) > annotate::longest_message) {
    if (cut_text(fields, text, size) < 0) return -1;
  } else {
    fields.event.set_text(text, static_cast<size_t>(size));
  }
  return 0;
}

}  // namespace

PyObject* escaped_utf8(PyObject* text) {
  py_ref decoded = PyBytes_Check(text)
                       ? py_ref::steal(PyUnicode_DecodeUTF8(
                             PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text), "backslashreplace"))
                       : py_ref::borrow(text);
  if (!decoded) return nullptr;
  py_ref utf8 =
      py_ref::steal(PyUnicode_AsEncodedString(decoded.get(), "utf-8", "backslashreplace"));
  if (!utf8) return nullptr;
  if (!has_zero(PyBytes_AS_STRING(utf8.get()), PyBytes_GET_SIZE(utf8.get()))) return utf8.release();
  const py_ref zero = py_ref::steal(PyBytes_FromStringAndSize("\0", 1));
  const py_ref shown = py_ref::steal(PyBytes_FromString("\\0"));
  return call_method(utf8.get(), "replace", zero.get(), shown.get()).release();
}

py_ref path_text(PyObject* value) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  if (!PyObject_HasAttrString(type, "__fspath__")) return py_ref();
  return py_ref::steal(PyOS_FSPath(value));
}

int set_message(EventFields& fields, PyObject* value, bool callables) {
  if (value == Py_None) {
    store(fields.message, nullptr);
    Py_CLEAR(fields.encoded);
    fields.lazy_message = false;
    fields.event.set_text(nullptr, 0);
  } else if (PyUnicode_Check(value) || PyBytes_Check(value)) {
    if (set_text(fields, value) < 0) return -1;
    store(fields.message, value);
    fields.lazy_message = false;
  } else if (callables && PyCallable_Check(value)) {
    store(fields.message, value);
    Py_CLEAR(fields.encoded);
    fields.event.set_text(nullptr, 0);
    fields.lazy_message = true;
  } else if (const py_ref path = path_text(value)) {
    return set_message(fields, path.get(), callables);
  } else {
    if (!PyErr_Occurred()) {
      PyErr_Format(PyExc_TypeError, "message must be a str, bytes%s or None, not %R",
                   callables ? ", a callable" : "", value);
    }
    return -1;
  }
  update_automatic_color(fields);
  return 0;
}

int color_from_object(PyObject* value, uint32_t& argb) {
  if (value == Py_None) {
    argb = 0x0000FF;
    return 0;
  }
  if (PyIndex_Check(value)) {
    py_ref number = py_ref::steal(PyNumber_Index(value));
    if (!number) return -1;
    const unsigned long long color = PyLong_AsUnsignedLongLong(number.get());
    if (PyErr_Occurred() || color > 0xFFFFFFFFull) {
      PyErr_Clear();
      PyErr_Format(state().range_error, "color %R is outside 0..0xFFFFFFFF", value);
      return -1;
    }
    argb = static_cast<uint32_t>(color);
    return 0;
  }
  if (PyUnicode_Check(value)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text && annotate::parse_color(std::string_view(text, static_cast<size_t>(size)), argb))
      return 0;
    PyErr_Clear();
  }
  py_ref result = py_ref::steal(call_hook(&PythonHooks::color_from_object, value));
  if (!result) return -1;
  argb = static_cast<uint32_t>(PyLong_AsUnsignedLong(result.get()));
  return PyErr_Occurred() ? -1 : 0;
}

namespace {

// A text that is no color raises only where it is converted: a program that runs without a tool,
// and without the matplotlib that knows it, must not fail when a tool attaches.
int use_default_color(PyObject* value, uint32_t& argb) {
  if (!PyUnicode_Check(value) || !PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
  PyErr_Clear();
  argb = 0x0000FF;
  if (!annotate::listening_tool()) return 0;
  return warn_once("color",
                   "color %R is not known here, and shown as blue: it is not a CSS name, "
                   "'#rgb', '#rrggbb' or '#aarrggbb' (an installed matplotlib adds its names)",
                   value);
}

}  // namespace

int set_color(EventFields& fields, PyObject* value) {
  fields.event.attributes.colorType = NVTX_COLOR_ARGB;
  if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "auto") == 0) {
    fields.automatic_color = true;
    store(fields.color, value);
    update_automatic_color(fields);
    return 0;
  }
  uint32_t argb = 0;
  if (color_from_object(value, argb) < 0 && use_default_color(value, argb) < 0) return -1;
  fields.automatic_color = false;
  fields.event.attributes.color = argb;
  store(fields.color, value);
  return 0;
}

PyObject* message_text(const EventFields& fields) {
  if (!fields.event.text) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(fields.event.text, static_cast<Py_ssize_t>(fields.event.text_size),
                              "replace");
}

}  // namespace nvspan::bindings
