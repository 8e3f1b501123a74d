// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/annotation/annotation_cache.hpp"

#include <cstdint>

#include "annotate/event/switchboard.hpp"
#include "bindings/annotation/companion.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

#ifdef Py_GIL_DISABLED

Annotation* cached_annotation(const CallForm&, PyObject*, PyObject* const*, Py_ssize_t, PyObject*,
                              bool) {
  return nullptr;
}

void forget_annotation(const Annotation*) noexcept {}

namespace {

void remember_call(const PythonCall&, const Annotation*) noexcept {}

}  // namespace

#else

using detail::cached_calls;
using detail::CachedCall;
using detail::hash_call;
using detail::slot_of;

CachedCall detail::cached_calls[cache_size];

namespace {

constexpr Py_ssize_t most_arguments = field_count;

// The hash of the call that last missed in each place. An entry is made at the second call in a
// row, so that messages that are never seen again do not throw out those that are.
uintptr_t last_miss[detail::cache_size];

bool immutable(PyObject* value) noexcept {
  return PyUnicode_CheckExact(value) || value == Py_None || PyLong_CheckExact(value) ||
         PyBool_Check(value) || Py_IS_TYPE(value, state().event.domain_type);
}

void clear_entry(CachedCall& entry) noexcept {
  CachedCall old = entry;
  entry = CachedCall{};
  Py_XDECREF(old.receiver);
  Py_XDECREF(old.kwnames);
  for (PyObject* value : old.values) Py_XDECREF(value);
  Py_XDECREF(reinterpret_cast<PyObject*>(old.annotation));
}

void remember(CachedCall& entry, const PythonCall& call, Annotation* annotation) noexcept {
  const Py_ssize_t count = call.count();
  if (count > most_arguments) return;
  constexpr Py_ssize_t positional_payload = 4;
  int payload = -1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const bool is_payload =
        i < call.nargs
            ? i == positional_payload
            : field_from_name(PyTuple_GET_ITEM(call.kwnames, i - call.nargs)) == field_payload;
    if (is_payload) {
      payload = static_cast<int>(i);
    } else if (!immutable(call.args[i])) {
      return;
    }
  }
  CachedCall fresh{};
  fresh.form = call.form;
  fresh.receiver = Py_XNewRef(call.receiver);
  fresh.kwnames = Py_XNewRef(call.kwnames);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (i != payload) fresh.values[i] = Py_NewRef(call.args[i]);
  }
  if (call.nargs == 1 && !call.kwnames) fresh.message = call.args[0];
  fresh.nargs = static_cast<int8_t>(call.nargs);
  fresh.count = static_cast<int8_t>(count);
  fresh.payload = static_cast<int8_t>(payload);
  fresh.annotation =
      reinterpret_cast<Annotation*>(Py_NewRef(reinterpret_cast<PyObject*>(annotation)));
  clear_entry(entry);
  entry = fresh;
}

bool matches(const CachedCall& entry, const CallForm& form, PyObject* receiver,
             PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) noexcept {
  if (entry.form != &form || entry.receiver != receiver || entry.kwnames != kwnames ||
      entry.nargs != nargs) {
    return false;
  }
  for (int i = 0; i < entry.count; ++i) {
    if (entry.values[i] != args[i] && i != entry.payload) return false;
  }
  return true;
}

// Keeps a call's annotation for the next that has the same arguments, if it may.
void remember_call(const PythonCall& call, const Annotation* annotation) {
  // A payload other than a number may be anything of the user's: it is not kept alive here.
  const EventFields& given = *annotation->fields;
  const bool number =
      !given.payload || PyLong_CheckExact(given.payload) || PyFloat_CheckExact(given.payload);
  if (!number && !given.has_data) return;
  PyObject* first = call.nargs > 0 || call.kwnames ? call.args[0] : nullptr;
  const uintptr_t hash = hash_call(*call.form, call.receiver, first, call.kwnames);
  const size_t slot = slot_of(hash);
  if (last_miss[slot] != hash) {
    last_miss[slot] = hash;
    return;
  }
  // The entry keeps an annotation of its own: the given one goes to the user.
  Annotation* kept = annotation_clone(annotation);
  if (!kept) {
    PyErr_Clear();
    return;
  }
  if (!number) set_payload(*kept->fields, Py_None, false);
  remember(cached_calls[slot], call, kept);
  Py_DECREF(reinterpret_cast<PyObject*>(kept));
}

}  // namespace

void forget_annotation(const Annotation* annotation) noexcept {
  for (CachedCall& entry : cached_calls) {
    if (entry.annotation == annotation) clear_entry(entry);
  }
}

Annotation* cached_annotation(const CallForm& form, PyObject* receiver, PyObject* const* args,
                              Py_ssize_t nargs, PyObject* kwnames, bool exclusive) {
  if (Annotation* known = known_message(form, receiver, args, nargs, kwnames)) {
    if (!exclusive || Py_REFCNT(as_object(known)) == 1) {
      Py_INCREF(as_object(known));
      return known;
    }
  }
  PyObject* first = nargs > 0 || kwnames ? args[0] : nullptr;
  CachedCall& entry = cached_calls[slot_of(hash_call(form, receiver, first, kwnames))];
  if (!matches(entry, form, receiver, args, nargs, kwnames)) return nullptr;
  Annotation* annotation = entry.annotation;
  if (!annotation->shareable) return nullptr;
  PyObject* payload = entry.payload >= 0 ? args[static_cast<int>(entry.payload)] : nullptr;
  // A payload of the user's is not kept alive here: it goes into an annotation of its own.
  const bool number = payload && (PyLong_CheckExact(payload) || PyFloat_CheckExact(payload));
  if (payload && !number && !is_data(payload)) return nullptr;
  if ((payload && !number) ||
      ((exclusive || payload) && Py_REFCNT(reinterpret_cast<PyObject*>(annotation)) != 1)) {
    annotation = annotation_clone(annotation);
    if (!annotation) return nullptr;
  } else {
    Py_INCREF(reinterpret_cast<PyObject*>(annotation));
  }
  if (payload && !set_simple_payload(*annotation->fields, payload)) {
    Py_DECREF(reinterpret_cast<PyObject*>(annotation));
    return nullptr;
  }
  return annotation;
}

#endif

int set_annotation(Annotation* annotation, PyObject* receiver, const CallArguments& arguments) {
  EventFields& fields = *annotation->fields;
  PyObject* const* values = arguments.values;
  PyObject* domain_argument = receiver               ? receiver
                              : values[field_domain] ? values[field_domain]
                                                     : Py_None;
  PyObject* domain = receiver ? receiver : domain_from_object(domain_argument);
  if (!domain) return -1;
  set_domain(fields, domain);
  Py_XSETREF(annotation->domain_argument, Py_NewRef(domain_argument));
  const bool callables = true;
  if (set_message(fields, values[field_message] ? values[field_message] : Py_None, callables) < 0 ||
      set_color(fields, values[field_color] ? values[field_color] : Py_None) < 0 ||
      set_category(fields, values[field_category] ? values[field_category] : Py_None) < 0 ||
      set_payload(fields, values[field_payload] ? values[field_payload] : Py_None, callables) < 0) {
    return -1;
  }
  annotation->kind = AnnotationKind::automatic;
  if (PyObject* kind = values[field_kind]; kind && kind != Py_None) {
    if (!PyUnicode_Check(kind)) {
      PyErr_Format(PyExc_TypeError, "kind must be None, 'nested' or 'span', not %R", kind);
      return -1;
    }
    if (PyUnicode_CompareWithASCIIString(kind, "nested") == 0) {
      annotation->kind = AnnotationKind::nested;
    } else if (PyUnicode_CompareWithASCIIString(kind, "span") == 0) {
      annotation->kind = AnnotationKind::span;
    } else {
      PyErr_Format(PyExc_ValueError, "kind must be None, 'nested' or 'span', not %R", kind);
      return -1;
    }
  }
  fields.event.level = annotate::default_level;
  if (PyObject* level = values[field_level]) {
    if (level_from_object(level, fields.event.level) < 0) return -1;
  }
  if (PyObject* name_from = values[field_name_from]; name_from && name_from != Py_None) {
    const bool known = PyUnicode_Check(name_from) &&
                       (PyUnicode_CompareWithASCIIString(name_from, "name") == 0 ||
                        PyUnicode_CompareWithASCIIString(name_from, "qualname") == 0);
    if (!known && !PyCallable_Check(name_from)) {
      PyErr_Format(PyUnicode_Check(name_from) ? PyExc_ValueError : PyExc_TypeError,
                   "name_from must be 'name', 'qualname' or a callable, not %R", name_from);
      return -1;
    }
    Py_XSETREF(annotation->name_from, Py_NewRef(name_from));
  } else {
    Py_CLEAR(annotation->name_from);
  }
  if (!values[field_device] && !values[field_sync] && !annotation->companion) return 0;
  return set_companion(annotation, values[field_device], values[field_sync]);
}

namespace {

[[gnu::noinline]] Annotation* make_annotation(const CallForm& form, PyObject* receiver,
                                              PyObject* const* args, Py_ssize_t nargs,
                                              PyObject* kwnames) {
  CallArguments arguments;
  if (parse_call(form, args, nargs, kwnames, arguments) < 0) return nullptr;
  Annotation* annotation = annotation_new();
  if (!annotation) return nullptr;
  if (set_annotation(annotation, receiver, arguments) < 0) {
    Py_DECREF(reinterpret_cast<PyObject*>(annotation));
    return nullptr;
  }
  remember_call({&form, receiver, args, nargs, kwnames}, annotation);
  return annotation;
}

}  // namespace

Annotation* annotation_for_call(const CallForm& form, PyObject* receiver, PyObject* const* args,
                                Py_ssize_t nargs, PyObject* kwnames, bool exclusive) {
  if (Annotation* cached = cached_annotation(form, receiver, args, nargs, kwnames, exclusive)) {
    return cached;
  }
  if (PyErr_Occurred()) return nullptr;
  return make_annotation(form, receiver, args, nargs, kwnames);
}

}  // namespace nvspan::bindings
