// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The `payload=` argument: a number goes into the event, data is encoded at each entry.
#include "bindings/event/event_fields.hpp"

#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

void set_data(EventFields& fields, PyObject* value, PyObject* data) noexcept {
  drop_data(fields);
  fields.event.attributes.payloadType = NVTX_PAYLOAD_UNKNOWN;
  fields.event.attributes.payload.ullValue = 0;
  fields.lazy_payload = false;
  store(fields.payload, value);
  store(fields.data, data);
  fields.has_data = true;
}

}  // namespace

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

bool encode_data(EventFields& fields, PayloadBuffer& buffer, annotate::PayloadView& view) noexcept {
  if (EncodedPayload* known = fields.encoded_data.load(std::memory_order_acquire)) {
    view = known->contents();
    return true;
  }
  const py_error_scope scope;
  const py_ref data = py_ref::borrow(fields.data);
  if (!data || !encode_quietly(data.get(), buffer)) return false;
  view = buffer.contents();
  if (buffer.constant && fields.data_was_sent.exchange(true, std::memory_order_relaxed)) {
    EncodedPayload* copy = EncodedPayload::copy_of(buffer);
    EncodedPayload* expected = nullptr;
    if (copy && !fields.encoded_data.compare_exchange_strong(expected, copy)) copy->release();
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
    number = py_ref::steal(call_hook(&PythonHooks::scalar, value));
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

}  // namespace nvspan::bindings
