// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/payload/encoder.hpp"

#include <new>
#include <string>

#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

unsigned char* PayloadBuffer::extend(size_t size, size_t alignment) {
  const size_t start = (size_ + alignment - 1) & ~(alignment - 1);
  if (start + size > capacity_) {
    const size_t wanted = start + size > 2 * capacity_ ? start + size : 2 * capacity_;
    std::unique_ptr<unsigned char[]> larger(new (std::nothrow) unsigned char[wanted]);
    if (!larger) {
      PyErr_NoMemory();
      return nullptr;
    }
    std::memcpy(larger.get(), bytes(), size_);
    large_ = std::move(larger);
    capacity_ = wanted;
  }
  std::memset(bytes() + size_, 0, start - size_);
  size_ = start + size;
  return bytes() + start;
}

EncodedPayload* EncodedPayload::copy_of(PayloadBuffer& buffer) noexcept {
  const annotate::PayloadView view = buffer.contents();
  std::unique_ptr<EncodedPayload> copy(new (std::nothrow) EncodedPayload);
  if (!copy) return nullptr;
  copy->bytes.reset(new (std::nothrow) unsigned char[view.size]);
  if (!copy->bytes) return nullptr;
  std::memcpy(copy->bytes.get(), view.data, view.size);
  copy->schema = view.schema;
  copy->size = view.size;
  return copy.release();
}

namespace {

const annotate::Schema* describe_one(annotate::SchemaEntry entry, size_t size) {
  annotate::SchemaDescription description;
  description.static_size = size;
  description.entries.push_back(std::move(entry));
  return annotate::Schema::describe(std::move(description));
}

const annotate::Schema* describe_bytes(size_t size) {
  constexpr size_t byte_bits = 8;
  annotate::SchemaEntry entry;
  entry.name = "bytes" + std::to_string(size * byte_bits);
  entry.type = nvtx::entry_type::byte;
  entry.flags = nvtx::entry_flag::fixed_array;
  entry.detail = size;
  return describe_one(std::move(entry), size);
}

}  // namespace

const annotate::Schema* scalar_schema(const Scalar& scalar) {
  annotate::SchemaEntry entry;
  entry.name = scalar.name;
  entry.type = scalar.type;
  return describe_one(std::move(entry), scalar.size);
}

const annotate::Schema* text_schema(size_t units) {
  constexpr size_t unit_bits = 32;
  annotate::SchemaEntry entry;
  entry.name = "str" + std::to_string(units * unit_bits);
  entry.type = nvtx::entry_type::cstring_utf32;
  entry.detail = units;
  return describe_one(std::move(entry), units * sizeof(Py_UCS4));
}

const annotate::Schema* bytes_schema(size_t size) {
  static std::atomic<const annotate::Schema*> usual[256];
  if (size >= sizeof(usual) / sizeof(usual[0])) return describe_bytes(size);
  const annotate::Schema* known = usual[size].load(std::memory_order_acquire);
  if (!known) {
    known = describe_bytes(size);
    usual[size].store(known, std::memory_order_release);
  }
  return known;
}

int too_many_schemas() {
  PyErr_SetString(PyExc_ValueError, "the process has described too many different layouts");
  return -1;
}

namespace {

// As a numpy string of that length: the empty one has one zero byte.
int encode_bytes(PyObject* value, PayloadBuffer& buffer) {
  const size_t size = static_cast<size_t>(PyBytes_GET_SIZE(value));
  buffer.borrow(PyBytes_AS_STRING(value), size ? size : 1, value);
  buffer.schema = bytes_schema(size ? size : 1);
  // Bytes of ever new lengths: every tool knows the elements at least.
  if (!buffer.schema) buffer.schema = &annotate::Schema::predefined(nvtx::entry_type::byte);
  buffer.constant = true;
  return 0;
}

int encode_text(PyObject* value, PayloadBuffer& buffer) {
  static const annotate::Schema& schema =
      annotate::Schema::predefined(nvtx::entry_type::cstring_utf8);
  buffer.schema = &schema;
  buffer.constant = true;
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(value, &size);
  if (utf8) {
    buffer.borrow(utf8, static_cast<size_t>(size), value);
  } else {  // lone surrogates
    PyErr_Clear();
    py_ref bytes = py_ref::steal(PyUnicode_AsEncodedString(value, "utf-8", "backslashreplace"));
    if (!bytes) return -1;
    size = PyBytes_GET_SIZE(bytes.get());
    buffer.borrow(PyBytes_AS_STRING(bytes.get()), static_cast<size_t>(size), bytes.get());
  }
  return size == 0 ? 1 : 0;
}

bool has_dlpack(PyObject* value) noexcept {
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(value)), "__dlpack__") == 1;
}

}  // namespace

bool is_data(PyObject* value) noexcept {
  constexpr unsigned long data_types = Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS |
                                       Py_TPFLAGS_BYTES_SUBCLASS | Py_TPFLAGS_UNICODE_SUBCLASS |
                                       Py_TPFLAGS_DICT_SUBCLASS;
  if (PyType_GetFlags(Py_TYPE(value)) & data_types) return true;
  return PyRange_Check(value) || is_numpy_array(value);
}

int encode_payload(PyObject* value, PayloadBuffer& buffer) {
  if (PyTuple_CheckExact(value) || PyList_Check(value)) return encode_sequence(value, buffer);
  if (PyDict_Check(value)) return encode_record(value, buffer);
  if (PyUnicode_Check(value)) return encode_text(value, buffer);
  if (PyBytes_Check(value)) return encode_bytes(value, buffer);
  if (PyRange_Check(value)) return encode_range(value, buffer);
  if (is_numpy_array(value)) return encode_array(value, buffer);
  if (record_kind(Py_TYPE(value)) != RecordKind::none) return encode_record(value, buffer);
  if (PyTuple_Check(value)) return encode_sequence(value, buffer);
  if (PyErr_Occurred()) return -1;
  if (PyObject_CheckBuffer(value)) return encode_exported(value, buffer);
  if (has_dlpack(value)) return encode_dlpack(value, buffer);
  PyErr_Format(PyExc_TypeError, "a %s has no binary form", Py_TYPE(value)->tp_name);
  return -1;
}

bool encode_quietly(PyObject* value, PayloadBuffer& buffer) noexcept {
  int result = -1;
  try {
    result = encode_payload(value, buffer);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  if (result >= 0) return result == 0;
  const py_ref error = take_exception();
  const char* name = Py_TYPE(value)->tp_name;
  char topic[160];
  (void)PyOS_snprintf(topic, sizeof topic, "payload of %.100s is not encoded", name);
  warn_once_quietly(topic,
                    "payload of type '%s' cannot be encoded: %S. The event is sent without a "
                    "payload",
                    name, error ? error.get() : Py_None);
  return false;
}

}  // namespace nvspan::bindings
