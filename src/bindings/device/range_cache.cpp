// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/device/range_cache.hpp"

#include <algorithm>
#include <vector>

#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

#ifdef Py_GIL_DISABLED

// Without a GIL "nobody else holds it" cannot be read off a reference count.
PyObject* kept_range(const PythonCall&) noexcept { return nullptr; }
void keep_range(const PythonCall&, PyObject*) {}

#else

namespace {

// All references are strong, so that an address in an entry is that of the same object.
struct CachedRange {
  const CallForm* form;
  PyObject* domain;
  PyObject* kwnames;
  std::vector<PyObject*>* args;
  Py_ssize_t nargs;
  PyObject* range;
};

constexpr size_t entry_count = 256;
CachedRange entries[entry_count];
uintptr_t last_misses[entry_count];

uintptr_t hash_of(const PythonCall& call) noexcept {
  const auto bits = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const void* first = call.nargs > 0 || call.kwnames ? call.args[0] : nullptr;
  return (bits(first) >> 4) ^ (bits(call.kwnames) >> 5) ^ (bits(call.receiver) >> 3) ^
         (bits(call.form) >> 2);
}

size_t range_slot(uintptr_t hash) noexcept { return (hash ^ (hash >> 8)) % entry_count; }

bool unchanging(PyObject* value) noexcept {
  return PyUnicode_CheckExact(value) || value == Py_None || PyLong_CheckExact(value) ||
         PyBool_Check(value) || PyFloat_CheckExact(value) ||
         Py_IS_TYPE(value, state().event.domain_type);
}

void drop(const CachedRange& entry) noexcept {
  if (!entry.form) return;
  Py_XDECREF(entry.domain);
  Py_XDECREF(entry.kwnames);
  for (PyObject* value : *entry.args) Py_DECREF(value);
  delete entry.args;
  Py_DECREF(entry.range);
}

}  // namespace

PyObject* kept_range(const PythonCall& call) noexcept {
  const CachedRange& entry = entries[range_slot(hash_of(call))];
  if (entry.form != call.form || entry.domain != call.receiver || entry.kwnames != call.kwnames ||
      entry.nargs != call.nargs || Py_REFCNT(entry.range) != 1) {
    return nullptr;
  }
  PyObject* const* kept = entry.args->data();
  for (Py_ssize_t i = call.count(); i-- > 0;) {
    if (kept[i] != call.args[i]) return nullptr;
  }
  return Py_NewRef(entry.range);
}

void keep_range(const PythonCall& call, PyObject* range) {
  const uintptr_t hash = hash_of(call);
  const size_t slot = range_slot(hash);
  if (std::exchange(last_misses[slot], hash) != hash) return;
  const Py_ssize_t count = call.count();
  if (!std::all_of(call.args, call.args + count, unchanging)) return;
  const CachedRange old = entries[slot];
  entries[slot] = {call.form,
                   Py_XNewRef(call.receiver),
                   Py_XNewRef(call.kwnames),
                   new std::vector<PyObject*>(call.args, call.args + count),
                   call.nargs,
                   Py_NewRef(range)};
  for (PyObject* value : *entries[slot].args) Py_INCREF(value);
  drop(old);
}

#endif

}  // namespace nvspan::bindings
