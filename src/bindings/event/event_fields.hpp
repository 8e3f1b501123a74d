// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The attributes of an event as Python gave them, beside the event that is sent.
//
// Setters return 0, or -1 with a TypeError, ValueError or OverflowError that names argument and
// value. They check the same with and without a tool.

#include "bindings/support/py.hpp"
#include "annotate/event/event.hpp"
#include "bindings/payload/encoder.hpp"

namespace nvspan::bindings {

struct DomainObject;

struct EventFields {
  annotate::ReadyEvent event;
  PyObject* domain = nullptr;   // DomainObject; borrowed, domains are immortal
  PyObject* message = nullptr;  // str, bytes or a callable; null: none
  PyObject* encoded = nullptr;  // bytes: the text, where it is not the message's own UTF-8
  PyObject* color = nullptr;    // as given; null: None
  PyObject* category = nullptr;
  PyObject* payload = nullptr;
  PyObject* data = nullptr;  // what is encoded at each entry; null: the payload is a number or none
  std::atomic<EncodedPayload*> encoded_data{nullptr};  // of constant data, from the second entry on
  std::atomic<bool> data_was_sent{false};
  bool lazy_message = false;
  bool lazy_payload = false;
  bool has_data = false;
  bool automatic_color = false;

  bool lazy() const noexcept { return lazy_message || lazy_payload; }
  // More is to be done for each event than to send it.
  bool special() const noexcept { return lazy_message | lazy_payload | has_data; }
};

// Stores a new reference to `value` (None counts as nothing).
inline void store(PyObject*& slot, PyObject* value) noexcept {
  PyObject* kept = value == Py_None ? nullptr : value;
  Py_XINCREF(kept);
  PyObject* old = std::exchange(slot, kept);
  Py_XDECREF(old);
}

// Forgets what is encoded at each entry.
inline void drop_data(EventFields& fields) noexcept {
  if (!fields.has_data) return;
  Py_CLEAR(fields.data);
  fields.has_data = false;
  fields.data_was_sent.store(false, std::memory_order_relaxed);
  if (EncodedPayload* old = fields.encoded_data.exchange(nullptr)) old->release();
}

void set_domain(EventFields& fields, PyObject* domain_object) noexcept;
int set_message(EventFields& fields, PyObject* value, bool callables);
int set_color(EventFields& fields, PyObject* value);
int set_category(EventFields& fields, PyObject* value);
int set_payload(EventFields& fields, PyObject* value, bool callables);

// Sets an int or float payload without looking at anything else; false if it is of another type.
// An int that 64 bits cannot hold is left to set_payload.
bool set_plain_payload(EventFields& fields, PyObject* value) noexcept;

// As set_plain_payload, also for what is data by its type.
bool set_simple_payload(EventFields& fields, PyObject* value) noexcept;

// The fields' data for one event.
bool encode_data(EventFields& fields, PayloadBuffer& buffer, annotate::PayloadView& view) noexcept;

// Replaces the contents of `target` (also its domain) by those of `source`.
void copy_fields(EventFields& target, const EventFields& source) noexcept;

// The same attributes in another domain: names are looked up again there.
int copy_fields_to_domain(EventFields& target, const EventFields& source, PyObject* domain_object);

// Calls the message and payload callables of `source` into `target`. What fails is reported once
// and left out; no exception leaves.
void evaluate_fields(EventFields& target, const EventFields& source, bool& failed_before) noexcept;

void clear_fields(EventFields& fields) noexcept;
int traverse_fields(const EventFields& fields, visitproc visit, void* arg);

// Gives `text` as str and drops no character: see docs/annotate.md, "Names".
PyObject* message_text(const EventFields& fields);

// The UTF-8 of a str (or bytes) argument with zeros and surrogates escaped, as bytes; or null with
// an exception set.
PyObject* escaped_utf8(PyObject* text);

// The text of an os.PathLike; null without an exception for any other object.
py_ref path_text(PyObject* value);

// Converts None, a str, a tuple or an int to ARGB.
int color_from_object(PyObject* value, uint32_t& argb);

}  // namespace nvspan::bindings
