// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <unordered_map>

#include "bindings/payload/encoder.hpp"

namespace nvspan::bindings {

namespace {

// What is known of a type. The type itself is not kept alive.
struct RecordType {
  py_ref weak;   // to the type
  py_ref names;  // tuple of str
  RecordKind kind = RecordKind::none;
};

struct RecordTypes {
  object_mutex mutex;
  std::unordered_map<PyTypeObject*, RecordType> known;
};

RecordTypes& record_types() noexcept {
  static RecordTypes* const types = new RecordTypes;
  return *types;
}

bool still_refers(const RecordType& known, PyTypeObject* type) noexcept {
  if (!known.weak) return false;
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* target = nullptr;
  const int alive = PyWeakref_GetRef(known.weak.get(), &target);
  Py_XDECREF(target);
  return alive == 1 && target == reinterpret_cast<PyObject*>(type);
#else
  return PyWeakref_GetObject(known.weak.get()) == reinterpret_cast<PyObject*>(type);
#endif
}

// The names of a NamedTuple's or dataclass's fields; null (with no exception) for other types.
py_ref field_names(PyTypeObject* type, RecordKind& kind) {
  PyObject* object = reinterpret_cast<PyObject*>(type);
  const bool is_tuple = PyType_HasFeature(type, Py_TPFLAGS_TUPLE_SUBCLASS);
  py_ref found =
      py_ref::steal(PyObject_GetAttrString(object, is_tuple ? "_fields" : "__dataclass_fields__"));
  if (!found) {
    PyErr_Clear();
    return {};
  }
  if (is_tuple ? !PyTuple_Check(found.get()) : !PyDict_Check(found.get())) return {};
  py_ref names = py_ref::steal(PySequence_Tuple(found.get()));
  if (!names) {
    PyErr_Clear();
    return {};
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i) {
    if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(names.get(), i))) return {};
  }
  kind = is_tuple ? RecordKind::named_tuple : RecordKind::data_class;
  return names;
}

}  // namespace

RecordKind record_kind(PyTypeObject* type, py_ref* names) {
  RecordTypes& types = record_types();
  {
    std::lock_guard<object_mutex> lock(types.mutex);
    const auto found = types.known.find(type);
    if (found != types.known.end() && still_refers(found->second, type)) {
      if (names) *names = py_ref::borrow(found->second.names.get());
      return found->second.kind;
    }
  }
  RecordType fresh;
  fresh.names = field_names(type, fresh.kind);
  fresh.weak = py_ref::steal(PyWeakref_NewRef(reinterpret_cast<PyObject*>(type), nullptr));
  if (!fresh.weak) PyErr_Clear();
  if (names) *names = py_ref::borrow(fresh.names.get());
  const RecordKind kind = fresh.kind;
  constexpr size_t most_types = 4096;
  std::unordered_map<PyTypeObject*, RecordType> forgotten;  // freed without the lock
  std::lock_guard<object_mutex> lock(types.mutex);
  if (types.known.size() >= most_types) forgotten.swap(types.known);
  std::swap(types.known[type], fresh);
  return kind;
}

}  // namespace nvspan::bindings
