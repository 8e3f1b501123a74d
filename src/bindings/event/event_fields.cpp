// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/event/event_fields.hpp"

#include "bindings/event/domain_object.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

void set_domain(EventFields& fields, PyObject* domain_object) noexcept {
  fields.domain = domain_object;
  fields.event.domain = reinterpret_cast<DomainObject*>(domain_object)->core;
  fields.event.ready_epoch.store(0, std::memory_order_release);
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
  auto evaluate = [&](PyObject* callable, const char* argument,
                      int (*set)(EventFields&, PyObject*, bool)) {
    py_ref value = PyCallable_Check(callable) ? py_ref::steal(PyObject_CallNoArgs(callable))
                                              : py_ref::borrow(callable);
    if (value && set(target, value.get(), false) == 0) return;
    if (failed_before) {
      PyErr_Clear();
      return;
    }
    failed_before = true;
    const py_ref error = take_exception();
    const int result = PyErr_WarnFormat(state().warning_type, 1, "%s callable %R raised %R",
                                        argument, callable, error ? error.get() : Py_None);
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

}  // namespace nvspan::bindings
