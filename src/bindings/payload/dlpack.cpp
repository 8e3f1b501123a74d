// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Tensors in the processor's memory, of any package that speaks DLPack. The package is not imported
// and the tensor is read where it lies.
#include "bindings/payload/encoder.hpp"

#include <vector>

namespace nvspan::bindings {

namespace {

// DLPack's binary interface, before its version 1.
struct DlDevice {
  int32_t type;
  int32_t id;
};

struct DlDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DlTensor {
  void* data;
  DlDevice device;
  int32_t ndim;
  DlDataType dtype;
  const int64_t* shape;
  const int64_t* strides;  // in elements; null: contiguous
  uint64_t byte_offset;
};

struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};

constexpr char capsule_name[] = "dltensor";

const Scalar* scalar_of(DlDataType type) noexcept {
  struct Known {
    uint8_t code;
    Scalar scalar;
  };
  constexpr uint8_t ints = 0, unsigned_ints = 1, floats = 2, bfloats = 4, bools = 6;
  static constexpr Known known[] = {
      {ints, int64_scalar},
      {floats, {nvtx::entry_type::float32, "float32", 4}},
      {floats, float64_scalar},
      {floats, {nvtx::entry_type::float16, "float16", 2}},
      {bfloats, {nvtx::entry_type::bf16, "bfloat16", 2}},
      {ints, {nvtx::entry_type::int32, "int32", 4}},
      {ints, {nvtx::entry_type::int16, "int16", 2}},
      {ints, {nvtx::entry_type::int8, "int8", 1}},
      {unsigned_ints, {nvtx::entry_type::uint8, "uint8", 1}},
      {unsigned_ints, {nvtx::entry_type::uint16, "uint16", 2}},
      {unsigned_ints, {nvtx::entry_type::uint32, "uint32", 4}},
      {unsigned_ints, uint64_scalar},
      {bools, bool_scalar},
  };
  constexpr size_t byte_bits = 8;
  for (const Known& one : known) {
    if (one.code == type.code && one.scalar.size * byte_bits == type.bits && type.lanes == 1) {
      return &one.scalar;
    }
  }
  return nullptr;
}

// Copies dimension `axis` and those below it; `at` moves on.
void copy_axis(const DlTensor& tensor, int32_t axis, const unsigned char* from, size_t size,
               unsigned char*& at) noexcept {
  if (axis == tensor.ndim) {
    std::memcpy(at, from, size);
    at += size;
    return;
  }
  const int64_t stride = tensor.strides[axis] * static_cast<int64_t>(size);
  for (int64_t i = 0; i < tensor.shape[axis]; ++i) {
    copy_axis(tensor, axis + 1, from + i * stride, size, at);
  }
}

bool is_contiguous(const DlTensor& tensor) noexcept {
  if (!tensor.strides) return true;
  int64_t expected = 1;
  for (int32_t axis = tensor.ndim; axis-- > 0;) {
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

int copy_tensor(const DlTensor& tensor, PayloadBuffer& buffer) {
  const Scalar* scalar = scalar_of(tensor.dtype);
  if (!scalar) {
    PyErr_SetString(PyExc_TypeError, "its element type has no binary form");
    return -1;
  }
  const annotate::Schema* element = scalar_schema(*scalar);
  buffer.schema = element ? annotate::Schema::array_of(*element) : nullptr;
  if (!buffer.schema) return too_many_schemas();
  uint64_t count = 1;
  for (int32_t axis = 0; axis < tensor.ndim; ++axis) {
    count *= static_cast<uint64_t>(tensor.shape[axis]);
  }
  if (count == 0) return 1;
  unsigned char* at = buffer.extend(sizeof count + count * scalar->size);
  if (!at) return -1;
  std::memcpy(at, &count, sizeof count);
  at += sizeof count;
  const auto* from = static_cast<const unsigned char*>(tensor.data) + tensor.byte_offset;
  if (is_contiguous(tensor)) {
    std::memcpy(at, from, count * scalar->size);
  } else {
    copy_axis(tensor, 0, from, scalar->size, at);
  }
  return 0;
}

// True if the tensor lies in memory that the processor reads.
bool on_processor(PyObject* value) {
  py_ref device = call_method(value, "__dlpack_device__");
  if (!device || !PyTuple_Check(device.get()) || PyTuple_GET_SIZE(device.get()) < 1) return false;
  constexpr long cpu = 1, cuda_host = 3;
  const long type = PyLong_AsLong(PyTuple_GET_ITEM(device.get(), 0));
  return type == cpu || type == cuda_host;
}

}  // namespace

int encode_dlpack(PyObject* value, PayloadBuffer& buffer) {
  if (!on_processor(value)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "it is in device memory");
    return -1;
  }
  // A tensor that takes part in a gradient is not handed out: what it is without it, is.
  py_ref detached;
  if (PyObject_HasAttrString(value, "detach") == 1) {
    detached = call_method(value, "detach");
    if (!detached) return -1;
    value = detached.get();
  }
  py_ref capsule = call_method(value, "__dlpack__");
  if (!capsule) return -1;
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.get(), capsule_name));
  if (!managed) return -1;
  // The capsule stays as it is, so that its own destructor gives the tensor back.
  return copy_tensor(managed->tensor, buffer);
}

}  // namespace nvspan::bindings
