// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/payload/numpy.hpp"

#include <string>

#include "bindings/payload/encoder.hpp"

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

py_ref attribute(PyObject* object, const char* name) {
  return py_ref::steal(PyObject_GetAttrString(object, name));
}

int number_attribute(PyObject* object, const char* name, uint64_t& number) {
  py_ref value = attribute(object, name);
  if (!value) return -1;
  number = PyLong_AsUnsignedLongLong(value.get());
  return PyErr_Occurred() ? -1 : 0;
}

int text_attribute(PyObject* object, const char* name, std::string& text) {
  py_ref value = attribute(object, name);
  if (!value) return -1;
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(value.get(), &size);
  if (!utf8) return -1;
  text.assign(utf8, static_cast<size_t>(size));
  return 0;
}

// What numpy_dtype() stored; a null reference without an exception if nothing.
py_ref metadata_of(PyObject* dtype) {
  py_ref metadata = attribute(dtype, "metadata");
  if (!metadata) {
    PyErr_Clear();
    return {};
  }
  if (metadata.get() == Py_None) return {};
  py_ref found =
      py_ref::steal(PyMapping_GetItemString(metadata.get(), "nvidia_nvtx_payload_metadata"));
  if (!found) PyErr_Clear();
  return found;
}

// The number behind an enum member that `name` holds; 0 for None.
int role(PyObject* metadata, const char* name, uint64_t& number) {
  number = 0;
  py_ref member = attribute(metadata, name);
  if (!member) return -1;
  if (member.get() == Py_None) return 0;
  return number_attribute(member.get(), "value", number);
}

// The predefined type for one number or string; 0 for another dtype.
int predefined_type(PyObject* dtype, annotate::SchemaEntry& entry) {
  std::string kind;
  uint64_t size = 0;
  if (text_attribute(dtype, "kind", kind) < 0 || number_attribute(dtype, "itemsize", size) < 0) {
    return -1;
  }
  const auto of_size = [&](uint64_t one, uint64_t two, uint64_t four, uint64_t eight) {
    return size == 1 ? one : size == 2 ? two : size == 4 ? four : size == 8 ? eight : 0;
  };
  switch (kind.empty() ? '?' : kind[0]) {
    case 'b':
      entry.type = nvtx::entry_type::uint8;
      break;
    case 'i':
      entry.type = of_size(nvtx::entry_type::int8, nvtx::entry_type::int16, nvtx::entry_type::int32,
                           nvtx::entry_type::int64);
      break;
    case 'u':
      entry.type = of_size(nvtx::entry_type::uint8, nvtx::entry_type::uint16,
                           nvtx::entry_type::uint32, nvtx::entry_type::uint64);
      break;
    case 'f':
      entry.type = of_size(0, nvtx::entry_type::float16, nvtx::entry_type::float32,
                           nvtx::entry_type::float64);
      if (size == sizeof(long double) && size > sizeof(double)) {
        entry.type = nvtx::entry_type::c_longdouble;
      }
      break;
    case 'U':
      entry.type = nvtx::entry_type::cstring_utf32;
      entry.detail = size / sizeof(Py_UCS4);
      break;
    case 'S':
      entry.type = nvtx::entry_type::byte;
      entry.flags |= nvtx::entry_flag::fixed_array;
      entry.detail = size;
      break;
    default:
      break;
  }
  return 0;
}

int add_roles(PyObject* dtype, annotate::SchemaEntry& entry) {
  py_ref metadata = metadata_of(dtype);
  if (!metadata) return 0;
  uint64_t kind = 0, type = 0;
  if (role(metadata.get(), "entry_kind", kind) < 0 ||
      role(metadata.get(), "entry_type", type) < 0) {
    return -1;
  }
  entry.flags |= kind;
  if (type != 0) entry.type = type;
  py_ref semantics = attribute(metadata.get(), "counter_semantics");
  if (!semantics) return -1;
  if (semantics.get() == Py_None) return 0;
  entry.counter.emplace();
  return counter_meaning_from_object(semantics.get(), *entry.counter);
}

int refuse(PyObject* dtype) {
  PyErr_Format(PyExc_TypeError, "dtype %S has no binary form", dtype);
  return -1;
}

const annotate::Schema* describe_dtype(PyObject* dtype);

// The elements and shape of a subarray dtype; 1 if it is none.
int subarray(PyObject* dtype, py_ref& element, uint64_t& count) {
  py_ref parts = attribute(dtype, "subdtype");
  if (!parts) return -1;
  if (parts.get() == Py_None) return 1;
  py_ref shape = attribute(dtype, "shape");
  if (!shape || !PyTuple_Check(parts.get()) || !PyTuple_Check(shape.get())) return -1;
  element = py_ref::borrow(PyTuple_GET_ITEM(parts.get(), 0));
  count = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape.get()); ++i) {
    count *= PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(shape.get(), i));
  }
  return PyErr_Occurred() ? -1 : 0;
}

// Calls use(name, field dtype, offset) for each field in order, titles apart; 1 if it has none.
template <class Use>
int each_field(PyObject* dtype, Use&& use) {
  py_ref names = attribute(dtype, "names");
  py_ref fields = attribute(dtype, "fields");
  if (!names || !fields) return -1;
  if (!PyTuple_Check(names.get()) || fields.get() == Py_None) return 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i) {
    PyObject* name = PyTuple_GET_ITEM(names.get(), i);
    py_ref parts = py_ref::steal(PyObject_GetItem(fields.get(), name));
    if (!parts || !PyTuple_Check(parts.get())) return -1;
    const char* utf8 = PyUnicode_AsUTF8(name);
    const uint64_t offset = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(parts.get(), 1));
    if (!utf8 || PyErr_Occurred()) return -1;
    if (use(utf8, PyTuple_GET_ITEM(parts.get(), 0), offset) < 0) return -1;
  }
  return 0;
}

int describe_into(PyObject* dtype, annotate::SchemaDescription& description) {
  if (number_attribute(dtype, "itemsize", description.static_size) < 0) return -1;
  py_ref element;
  uint64_t count = 0;
  const int no_subarray = subarray(dtype, element, count);
  if (no_subarray < 0) return -1;
  if (no_subarray == 0) {
    annotate::SchemaEntry& entry = description.entries.emplace_back();
    entry.flags = nvtx::entry_flag::fixed_array;
    entry.detail = count;
    entry.nested = describe_dtype(element.get());
    return entry.nested ? 0 : -1;
  }
  const int no_fields = each_field(dtype, [&](const char* name, PyObject* field, uint64_t offset) {
    annotate::SchemaEntry entry;
    entry.name = name;
    entry.offset = offset;
    if (add_roles(field, entry) < 0) return -1;
    entry.type = 0;
    entry.nested = describe_dtype(field);
    if (!entry.nested) return -1;
    description.entries.push_back(std::move(entry));
    return 0;
  });
  if (no_fields <= 0) return no_fields;
  annotate::SchemaEntry& entry = description.entries.emplace_back();
  std::string name;
  if (text_attribute(dtype, "name", name) < 0) return -1;
  entry.name = name;
  if (predefined_type(dtype, entry) < 0 || add_roles(dtype, entry) < 0) return -1;
  return entry.type == 0 ? refuse(dtype) : 0;
}

const annotate::Schema* describe_dtype(PyObject* dtype) {
  annotate::SchemaDescription description;
  if (describe_into(dtype, description) < 0) return nullptr;
  const annotate::Schema* schema = annotate::Schema::describe(std::move(description));
  if (!schema) too_many_schemas();
  return schema;
}

}  // namespace

const annotate::Schema* schema_of_dtype(PyObject* dtype) {
  DtypeCache& cache = dtype_cache();
  Remembered& entry = entry_of(cache, dtype);
  {
    std::lock_guard<object_mutex> lock(cache.mutex);
    if (entry.dtype == dtype) return entry.schema;
  }
  const annotate::Schema* schema = describe_dtype(dtype);
  if (!schema) return nullptr;
  Remembered old{Py_NewRef(dtype), schema};
  {
    std::lock_guard<object_mutex> lock(cache.mutex);
    std::swap(entry, old);
  }
  Py_XDECREF(old.dtype);
  return schema;
}

const annotate::Schema* flat_schema_of_dtype(PyObject* dtype, uint64_t schema_flags,
                                             uint64_t time_domain) {
  annotate::SchemaDescription description;
  description.flags = schema_flags;
  if (number_attribute(dtype, "itemsize", description.static_size) < 0) return nullptr;
  const bool group = schema_flags == nvtx::schema_flag::counter_group;
  const auto add = [&](const char* name, PyObject* field, uint64_t offset) {
    annotate::SchemaEntry entry;
    entry.name = name;
    entry.offset = offset;
    py_ref element;
    uint64_t count = 0;
    const int no_subarray = subarray(field, element, count);
    if (no_subarray < 0) return -1;
    PyObject* scalar = no_subarray ? field : element.get();
    if (predefined_type(scalar, entry) < 0) return -1;
    if (no_subarray == 0) {
      // Of strings it is one long one, as the nvtx package has it.
      uint64_t size = 0;
      if (number_attribute(field, "itemsize", size) < 0) return -1;
      const bool text = entry.type == nvtx::entry_type::cstring_utf32;
      entry.flags = nvtx::entry_flag::fixed_array;
      entry.detail = text                                   ? size / sizeof(Py_UCS4)
                     : entry.type == nvtx::entry_type::byte ? size
                                                            : count;
    }
    if (add_roles(field, entry) < 0) return -1;
    if (entry.type == 0) {
      entry.nested = schema_of_dtype(field);
      if (!entry.nested) return -1;
    }
    const bool is_time = (entry.flags & nvtx::entry_flag::timestamp) != 0;
    if (group && !is_time) entry.flags |= nvtx::entry_flag::counter;
    if (is_time) entry.time_domain = time_domain;
    description.entries.push_back(std::move(entry));
    return 0;
  };
  const int no_fields = each_field(dtype, add);
  if (no_fields > 0) PyErr_Format(PyExc_TypeError, "dtype %S has no fields", dtype);
  if (no_fields != 0) return nullptr;
  const annotate::Schema* schema = annotate::Schema::describe(std::move(description));
  if (!schema) too_many_schemas();
  return schema;
}

int counter_meaning_from_object(PyObject* semantics, annotate::CounterMeaning& meaning) {
  constexpr uint64_t limit_min = 1 << 2, limit_max = 1 << 3;
  uint64_t value_type = 0, interpolation = 0, limit_type = 0;
  if (role(semantics, "value_type", value_type) < 0 ||
      role(semantics, "interpolation", interpolation) < 0 ||
      number_attribute(semantics, "unit_scale_numerator", meaning.scale_numerator) < 0 ||
      number_attribute(semantics, "unit_scale_denominator", meaning.scale_denominator) < 0 ||
      number_attribute(semantics, "_limit_type", limit_type) < 0) {
    return -1;
  }
  meaning.flags = value_type | interpolation;
  meaning.limit_type = static_cast<int64_t>(limit_type);
  py_ref unit = attribute(semantics, "unit");
  if (!unit) return -1;
  if (PyBytes_Check(unit.get())) {
    meaning.unit.emplace(PyBytes_AS_STRING(unit.get()),
                         static_cast<size_t>(PyBytes_GET_SIZE(unit.get())));
  }
  const auto limit = [&](const char* name, uint64_t flag, uint64_t& bits) {
    py_ref value = attribute(semantics, name);
    if (!value) return -1;
    if (value.get() == Py_None) return 0;
    meaning.flags |= flag;
    constexpr int64_t as_float = 3;
    if (meaning.limit_type == as_float) {
      const double number = PyFloat_AsDouble(value.get());
      std::memcpy(&bits, &number, sizeof bits);
    } else {
      bits = PyLong_AsUnsignedLongLongMask(value.get());
    }
    return PyErr_Occurred() ? -1 : 0;
  };
  if (limit("min", limit_min, meaning.min_bits) < 0) return -1;
  return limit("max", limit_max, meaning.max_bits);
}

bool dtype_is_native(PyObject* dtype) {
  py_ref native = attribute(dtype, "isnative");
  if (!native) PyErr_Clear();
  return native && native.get() == Py_True;
}

py_ref native_dtype(PyObject* dtype) {
  const py_ref order = py_ref::steal(PyUnicode_FromString("="));
  return call_method(dtype, "newbyteorder", order.get());
}

}  // namespace nvspan::bindings
