// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/payload/numpy.hpp"

#include "bindings/payload/encoder.hpp"
#include "bindings/support/python_hooks.hpp"

namespace nvspan::bindings {

namespace {

// dtype -> Schema. Dtypes are values: those of one program are few, and the table is bounded.
struct Remembered {
  PyObject* dtype;  // strong
  const annotate::Schema* schema;
};

struct DtypeCache {
  object_mutex mutex;
  Remembered entries[256];  // a power of two
};

DtypeCache& dtype_cache() noexcept {
  static DtypeCache* const cache = new DtypeCache{};
  return *cache;
}

Remembered& entry_of(DtypeCache& cache, PyObject* dtype) noexcept {
  const uintptr_t bits = reinterpret_cast<uintptr_t>(dtype);
  return cache.entries[((bits >> 4) ^ (bits >> 12)) & 255];
}

// Fills `meaning` from the tuple that counter_meaning() returns. 0, or -1 with an exception set.
int read_meaning(PyObject* numbers, annotate::CounterMeaning& meaning) {
  unsigned long long flags, numerator, denominator, min_bits, max_bits;
  long long limit_type;
  const char* unit;
  Py_ssize_t unit_size;
  if (!PyArg_ParseTuple(numbers, "Kz#KKLKK", &flags, &unit, &unit_size, &numerator, &denominator,
                        &limit_type, &min_bits, &max_bits)) {
    return -1;
  }
  meaning = {flags, std::nullopt, numerator, denominator, limit_type, min_bits, max_bits};
  if (unit) meaning.unit.emplace(unit, static_cast<size_t>(unit_size));
  return 0;
}

int read_entry(PyObject* parts, annotate::SchemaEntry& entry) {
  unsigned long long type, flags, detail, offset, time_domain;
  PyObject *name, *nested, *meaning;
  if (!PyArg_ParseTuple(parts, "OKOKKKOK", &name, &type, &nested, &flags, &detail, &offset,
                        &meaning, &time_domain)) {
    return -1;
  }
  if (name != Py_None) {
    const char* utf8 = PyUnicode_AsUTF8(name);
    if (!utf8) return -1;
    entry.name = utf8;
  }
  if (nested != Py_None) {
    entry.nested = schema_of_layout(nested);
    if (!entry.nested) return -1;
  }
  entry.type = type;
  entry.flags = flags;
  entry.detail = detail;
  entry.offset = offset;
  entry.time_domain = time_domain;
  return meaning == Py_None ? 0 : read_meaning(meaning, entry.counter.emplace());
}

}  // namespace

const annotate::Schema* schema_of_dtype(PyObject* dtype) {
  DtypeCache& cache = dtype_cache();
  Remembered& entry = entry_of(cache, dtype);
  {
    std::lock_guard<object_mutex> lock(cache.mutex);
    if (entry.dtype == dtype) return entry.schema;
  }
  const py_ref layout = py_ref::steal(call_hook(&PythonHooks::dtype_layout, dtype));
  const annotate::Schema* schema = layout ? schema_of_layout(layout.get()) : nullptr;
  if (!schema) return nullptr;
  Remembered old{Py_NewRef(dtype), schema};
  {
    std::lock_guard<object_mutex> lock(cache.mutex);
    std::swap(entry, old);
  }
  Py_XDECREF(old.dtype);
  return schema;
}

const annotate::Schema* schema_of_layout(PyObject* layout) {
  annotate::SchemaDescription description;
  unsigned long long flags, size;
  PyObject* entries;
  if (!PyArg_ParseTuple(layout, "KKO!", &flags, &size, &PyTuple_Type, &entries)) return nullptr;
  description.flags = flags;
  description.static_size = size;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entries); ++i) {
    annotate::SchemaEntry& entry = description.entries.emplace_back();
    if (read_entry(PyTuple_GET_ITEM(entries, i), entry) < 0) return nullptr;
  }
  const annotate::Schema* schema = annotate::Schema::describe(std::move(description));
  if (!schema) too_many_schemas();
  return schema;
}

const annotate::Schema* counter_group_schema(PyObject* dtype) {
  const py_ref flags = py_ref::steal(PyLong_FromUnsignedLongLong(nvtx::schema_flag::counter_group));
  if (!flags) return nullptr;
  const py_ref layout = py_ref::steal(call_hook(&PythonHooks::fields_layout, dtype, flags.get()));
  return layout ? schema_of_layout(layout.get()) : nullptr;
}

int counter_meaning_from_object(PyObject* semantics, annotate::CounterMeaning& meaning) {
  const py_ref numbers = py_ref::steal(call_hook(&PythonHooks::counter_meaning, semantics));
  return numbers ? read_meaning(numbers.get(), meaning) : -1;
}

bool dtype_is_native(PyObject* dtype) {
  py_ref native = py_ref::steal(PyObject_GetAttrString(dtype, "isnative"));
  if (!native) PyErr_Clear();
  return native && native.get() == Py_True;
}

py_ref native_dtype(PyObject* dtype) {
  const py_ref order = py_ref::steal(PyUnicode_FromString("="));
  return call_method(dtype, "newbyteorder", order.get());
}

}  // namespace nvspan::bindings
