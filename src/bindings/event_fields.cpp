// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/event_fields.hpp"

#include <cstring>
#include <string_view>

#include "annotate/color.hpp"
#include "bindings/domain_object.hpp"
#include "bindings/module_state.hpp"

namespace nvspan {

namespace {

// Stores a new reference to `value` (None counts as nothing).
void store(PyObject*& slot, PyObject* value) noexcept {
  PyObject* kept = value == Py_None ? nullptr : value;
  Py_XINCREF(kept);
  PyObject* old = std::exchange(slot, kept);
  Py_XDECREF(old);
}

void drop_data(EventFields& fields) noexcept {
  if (!fields.has_data) return;
  Py_CLEAR(fields.data);
  fields.has_data = false;
  fields.data_was_sent.store(false, std::memory_order_relaxed);
  if (EncodedPayload* old = fields.encoded_data.exchange(nullptr)) old->release();
}

void set_data(EventFields& fields, PyObject* value, PyObject* data) noexcept {
  drop_data(fields);
  fields.event.attributes.payloadType = NVTX_PAYLOAD_UNKNOWN;
  fields.event.attributes.payload.ullValue = 0;
  fields.lazy_payload = false;
  store(fields.payload, value);
  store(fields.data, data);
  fields.has_data = true;
}

void update_automatic_color(EventFields& fields) noexcept {
  if (!fields.automatic_color) return;
  const char* text = fields.event.text;
  fields.event.attributes.color =
      automatic_color(text ? std::string_view(text, fields.event.text_size) : std::string_view());
}

bool has_zero(const char* text, Py_ssize_t size) noexcept {
  return std::memchr(text, 0, static_cast<size_t>(size)) != nullptr;
}

// Takes as much of a long text as every tool takes, whole characters only, and warns once.
int cut_text(EventFields& fields, const char* text, Py_ssize_t size) {
  size_t kept = longest_message;
  while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xC0) == 0x80) --kept;
  PyObject* cut = PyBytes_FromStringAndSize(text, static_cast<Py_ssize_t>(kept));
  if (!cut) return -1;
  Py_XSETREF(fields.encoded, cut);
  fields.event.set_text(PyBytes_AS_STRING(cut), kept);
  return warn_once(
      "long message",
      "message of %zd bytes is cut to %zu: tools drop events with longer ones. Put data "
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
  if (static_cast<size_t>(size) > longest_message) {
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

void set_domain(EventFields& fields, PyObject* domain_object) noexcept {
  fields.domain = domain_object;
  fields.event.domain = reinterpret_cast<DomainObject*>(domain_object)->core;
  fields.event.ready_epoch.store(0, std::memory_order_release);
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
  } else {
    PyErr_Format(PyExc_TypeError, "message must be a str, bytes%s or None, not %R",
                 callables ? ", a callable" : "", value);
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
    if (text && parse_color(std::string_view(text, static_cast<size_t>(size)), argb)) return 0;
    PyErr_Clear();
  }
  py_ref result = py_ref::steal(call_python("nvspan.colors", "_color_from_object", &value, 1));
  if (!result) return -1;
  argb = static_cast<uint32_t>(PyLong_AsUnsignedLong(result.get()));
  return PyErr_Occurred() ? -1 : 0;
}

int set_color(EventFields& fields, PyObject* value) {
  fields.event.attributes.colorType = NVTX_COLOR_ARGB;
  if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "auto") == 0) {
    fields.automatic_color = true;
    store(fields.color, value);
    update_automatic_color(fields);
    return 0;
  }
  uint32_t argb = 0;
  if (color_from_object(value, argb) < 0) return -1;
  fields.automatic_color = false;
  fields.event.attributes.color = argb;
  store(fields.color, value);
  return 0;
}

int set_category(EventFields& fields, PyObject* value) {
  uint32_t id = 0;
  if (value != Py_None &&
      category_id_from_object(reinterpret_cast<DomainObject*>(fields.domain), value, id) < 0) {
    return -1;
  }
  fields.event.attributes.category = id;
  store(fields.category, value);
  return 0;
}

bool set_plain_payload(EventFields& fields, PyObject* value) noexcept {
  nvtxEventAttributes_t& attributes = fields.event.attributes;
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) return false;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = number;
  } else if (PyFloat_CheckExact(value)) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    attributes.payload.dValue = PyFloat_AS_DOUBLE(value);
  } else {
    return false;
  }
  drop_data(fields);
  store(fields.payload, value);
  fields.lazy_payload = false;
  return true;
}

bool set_simple_payload(EventFields& fields, PyObject* value) noexcept {
  if (set_plain_payload(fields, value)) return true;
  if (PyLong_Check(value) || !is_data(value)) return false;
  PyTypeObject* type = Py_TYPE(value);
  // A subclass may be a member of an enum, which stands for its value.
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && !PyTuple_Check(value) &&
      !is_numpy_array(value)) {
    return false;
  }
  set_data(fields, value, value);
  return true;
}

bool encode_data(EventFields& fields, PayloadBuffer& buffer, PayloadView& view) noexcept {
  if (EncodedPayload* known = fields.encoded_data.load(std::memory_order_acquire)) {
    view = known->contents();
    return true;
  }
  const py_error_scope scope;
  const py_ref data = py_ref::borrow(fields.data);
  if (!data || !encode_quietly(data.get(), buffer)) return false;
  view = buffer.contents();
  if (buffer.constant && fields.data_was_sent.exchange(true, std::memory_order_relaxed)) {
    EncodedPayload* made = EncodedPayload::copy_of(buffer);
    EncodedPayload* expected = nullptr;
    if (made && !fields.encoded_data.compare_exchange_strong(expected, made)) made->release();
  }
  return true;
}

int set_payload(EventFields& fields, PyObject* value, bool callables) {
  if (set_simple_payload(fields, value)) return 0;
  nvtxEventAttributes_t& attributes = fields.event.attributes;
  py_ref number;
  if (value != Py_None && !PyLong_Check(value)) {
    // Enum members, numpy and 0-d scalars become int or float, other numbers float; data comes in
    // a tuple; what is neither has been warned about and becomes None; a callable is given back as
    // it is.
    number = py_ref::steal(call_python("nvspan._decorate.payload_values", "scalar", &value, 1));
    if (!number) return -1;
    if (PyTuple_CheckExact(number.get()) && PyTuple_GET_SIZE(number.get()) == 1) {
      set_data(fields, value, PyTuple_GET_ITEM(number.get(), 0));
      return 0;
    }
    if (!callables && !PyLong_Check(number.get()) && !PyFloat_Check(number.get())) {
      number = py_ref::borrow(Py_None);
    }
  } else {
    number = py_ref::borrow(value);
  }
  bool lazy = false;
  if (PyLong_Check(number.get())) {
    int overflow = 0;
    const long long signed_value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
    if (overflow == 0) {
      attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
      attributes.payload.llValue = signed_value;
    } else {
      const unsigned long long unsigned_value =
          overflow > 0 ? PyLong_AsUnsignedLongLong(number.get()) : 0;
      if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "payload %R does not fit into 64 bits", value);
        return -1;
      }
      attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
      attributes.payload.ullValue = unsigned_value;
    }
  } else if (PyFloat_Check(number.get())) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    attributes.payload.dValue = PyFloat_AS_DOUBLE(number.get());
  } else {
    attributes.payloadType = NVTX_PAYLOAD_UNKNOWN;
    attributes.payload.ullValue = 0;
    lazy = number.get() != Py_None;
  }
  // A 0-d array's number may change: it is read again at each entry.
  if (callables && number.get() != value && value != Py_None) {
    lazy = lazy || PyObject_HasAttrString(value, "__setitem__") == 1;
  }
  drop_data(fields);
  fields.lazy_payload = lazy;
  store(fields.payload, value);
  return 0;
}

void copy_fields(EventFields& target, const EventFields& source) noexcept {
  target.domain = source.domain;
  store(target.message, source.message);
  store(target.encoded, source.encoded);
  store(target.color, source.color);
  store(target.category, source.category);
  store(target.payload, source.payload);
  drop_data(target);
  if (source.has_data) {
    store(target.data, source.data);
    target.has_data = true;
    EncodedPayload* encoded = source.encoded_data.load(std::memory_order_acquire);
    if (encoded) encoded->acquire();
    target.encoded_data.store(encoded, std::memory_order_release);
    target.data_was_sent.store(source.data_was_sent.load(std::memory_order_relaxed),
                               std::memory_order_relaxed);
  }
  target.lazy_message = source.lazy_message;
  target.lazy_payload = source.lazy_payload;
  target.automatic_color = source.automatic_color;
  const uint64_t epoch = source.event.ready_epoch.load(std::memory_order_acquire);
  target.event.domain = source.event.domain;
  target.event.text = source.event.text;
  target.event.text_size = source.event.text_size;
  target.event.level = source.event.level;
  target.event.attributes = source.event.attributes;
  target.event.message_type.store(source.event.message_type.load(std::memory_order_acquire),
                                  std::memory_order_relaxed);
  target.event.message.store(source.event.message.load(std::memory_order_acquire),
                             std::memory_order_relaxed);
  target.event.ready_epoch.store(epoch, std::memory_order_release);
}

int copy_fields_to_domain(EventFields& target, const EventFields& source, PyObject* domain_object) {
  copy_fields(target, source);
  set_domain(target, domain_object);
  return set_category(target, source.category ? source.category : Py_None);
}

void evaluate_fields(EventFields& target, const EventFields& source, bool& failed_before) noexcept {
  py_error_scope scope;
  copy_fields(target, source);
  target.lazy_message = target.lazy_payload = false;
  auto evaluate = [&](PyObject* callable, const char* what,
                      int (*set)(EventFields&, PyObject*, bool)) {
    py_ref value = PyCallable_Check(callable) ? py_ref::steal(PyObject_CallNoArgs(callable))
                                              : py_ref::borrow(callable);
    if (value && set(target, value.get(), false) == 0) return;
    if (failed_before) {
      PyErr_Clear();
      return;
    }
    failed_before = true;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    const int result = PyErr_WarnFormat(state().warning_type, 1, "%s callable %R raised %R", what,
                                        callable, error ? error : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    if (result < 0) PyErr_WriteUnraisable(callable);
  };
  if (source.lazy_message) {
    py_ref callable = py_ref::borrow(source.message);
    store(target.message, nullptr);
    evaluate(callable.get(), "message", set_message);
  }
  if (source.lazy_payload) {
    py_ref callable = py_ref::borrow(source.payload);
    store(target.payload, nullptr);
    evaluate(callable.get(), "payload", set_payload);
  }
}

void clear_fields(EventFields& fields) noexcept {
  Py_CLEAR(fields.message);
  Py_CLEAR(fields.encoded);
  Py_CLEAR(fields.color);
  Py_CLEAR(fields.category);
  Py_CLEAR(fields.payload);
  drop_data(fields);
  fields.lazy_message = fields.lazy_payload = fields.automatic_color = false;
  fields.event.set_text(nullptr, 0);
  fields.event.level = 1;
  fields.event.attributes.color = 0x0000FF;
  fields.event.attributes.category = 0;
  fields.event.attributes.payloadType = NVTX_PAYLOAD_UNKNOWN;
  fields.event.attributes.payload.ullValue = 0;
}

int traverse_fields(const EventFields& fields, visitproc visit, void* arg) {
  Py_VISIT(fields.message);
  Py_VISIT(fields.color);
  Py_VISIT(fields.category);
  Py_VISIT(fields.payload);
  Py_VISIT(fields.data);
  return 0;
}

PyObject* message_text(const EventFields& fields) {
  if (!fields.event.text) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(fields.event.text, static_cast<Py_ssize_t>(fields.event.text_size),
                              "replace");
}

}  // namespace nvspan
