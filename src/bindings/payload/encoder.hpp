// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From Python values to the bytes that travel with an event. See docs/payloads.md for what becomes
// what.

#include "bindings/support/py.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "annotate/payload/encoded_payload.hpp"

namespace nvspan::bindings {

// The bytes of one entry: in here while they are few. Belongs to the call that sends them.
class PayloadBuffer {
 public:
  PayloadBuffer() noexcept {}  // not = default: `small_` stays uninitialised
  ~PayloadBuffer() {
    if (view_held_) PyBuffer_Release(&view_);
  }
  PayloadBuffer(const PayloadBuffer&) = delete;
  PayloadBuffer& operator=(const PayloadBuffer&) = delete;

  // Room for `size` more bytes at the end, at a multiple of `alignment`; null with a MemoryError.
  unsigned char* extend(size_t size, size_t alignment = 1);
  void clear() noexcept { size_ = 0; }
  size_t size() const noexcept { return size_; }
  unsigned char* bytes() noexcept { return large_ ? large_.get() : small_; }

  // Sends memory that is not ours: `owner` is kept while this lives.
  void borrow(const void* data, size_t size, PyObject* owner) {
    borrowed_ = data;
    size_ = size;
    owner_ = py_ref::borrow(owner);
  }
  // An empty view to be filled by PyObject_GetBuffer; released with this once hold_view was called.
  Py_buffer& view() noexcept { return view_; }
  void hold_view() noexcept { view_held_ = true; }
  void borrow_view() noexcept {
    borrowed_ = view_.buf;
    size_ = static_cast<size_t>(view_.len);
  }

  annotate::PayloadView contents() noexcept {
    return {schema, borrowed_ ? borrowed_ : bytes(), size_};
  }

  const annotate::Schema* schema = nullptr;
  bool constant = false;  // the same value always has the same bytes

 private:
  static constexpr size_t small_size = 320;

  size_t size_ = 0;
  size_t capacity_ = small_size;
  std::unique_ptr<unsigned char[]> large_;
  const void* borrowed_ = nullptr;
  py_ref owner_;
  Py_buffer view_;
  bool view_held_ = false;
  alignas(16) unsigned char small_[small_size];
};

// Bytes that are encoded once and for all; shared, counted.
struct EncodedPayload {
  std::atomic<size_t> users{1};
  const annotate::Schema* schema;
  size_t size;
  std::unique_ptr<unsigned char[]> bytes;

  static EncodedPayload* copy_of(PayloadBuffer& buffer) noexcept;
  void acquire() noexcept { users.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  annotate::PayloadView contents() const noexcept { return {schema, bytes.get(), size}; }
};

// True for values that are data by their type alone: str, bytes, list, tuple, range, dict, their
// subclasses, and numpy arrays.
bool is_data(PyObject* value) noexcept;

// Fills `buffer`. 0; 1 if there is nothing to be sent, silently (an empty list); -1 with an
// exception that says what cannot be encoded.
int encode_payload(PyObject* value, PayloadBuffer& buffer);

// As encode_payload for an event: what cannot be encoded is warned about once for each type.
// False: the event goes without.
bool encode_quietly(PyObject* value, PayloadBuffer& buffer) noexcept;

// The parts of encode_payload; as it.
int encode_sequence(PyObject* value, PayloadBuffer& buffer);
int encode_range(PyObject* value, PayloadBuffer& buffer);
int encode_record(PyObject* value, PayloadBuffer& buffer);
int encode_array(PyObject* array, PayloadBuffer& buffer);
int encode_exported(PyObject* value, PayloadBuffer& buffer);  // buffer protocol
int encode_dlpack(PyObject* value, PayloadBuffer& buffer);

// The kind of a type that has fields: NamedTuple and dataclass.
enum class RecordKind : uint8_t { none, named_tuple, data_class };
// `names`: a tuple of them, or null.
RecordKind record_kind(PyTypeObject* type, py_ref* names = nullptr);

// An instance of numpy.ndarray. False, without importing it, where numpy is not loaded.
bool is_numpy_array(PyObject* value) noexcept;
bool numpy_is_loaded() noexcept;

// The module numpy, borrowed; null, without an exception, where the program has not imported it.
PyObject* loaded_numpy() noexcept;

// numpy.array(value) as an array that encode_array takes.
py_ref numpy_array_of(PyObject* value);

// The schema of one number, with the name that numpy has for it; immortal.
struct Scalar {
  uint64_t type;
  const char* name;
  size_t size;
};
const annotate::Schema* scalar_schema(const Scalar& scalar);
constexpr Scalar int64_scalar = {nvtx::entry_type::int64, "int64", 8};
constexpr Scalar uint64_scalar = {nvtx::entry_type::uint64, "uint64", 8};
constexpr Scalar float64_scalar = {nvtx::entry_type::float64, "float64", 8};
constexpr Scalar bool_scalar = {nvtx::entry_type::uint8, "bool", 1};

// Fixed strings as numpy has them: `units` code points, or bytes.
const annotate::Schema* text_schema(size_t units);
const annotate::Schema* bytes_schema(size_t size);

// "Too many layouts", as a ValueError; returns -1.
int too_many_schemas();

}  // namespace nvspan::bindings
