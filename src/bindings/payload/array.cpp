// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Arrays: numpy's, what exports a buffer, and tensors on the CPU through DLPack.
#include "bindings/payload/encoder.hpp"

#include "bindings/payload/numpy.hpp"

namespace nvspan::bindings {

namespace {

// numpy.ndarray, once numpy has been loaded by somebody else. Never freed.
std::atomic<PyObject*> ndarray_type{nullptr};

PyObject* find_ndarray() noexcept {
  PyObject* numpy = loaded_numpy();
  if (!numpy) return nullptr;
  PyObject* type = PyObject_GetAttrString(numpy, "ndarray");
  if (!type) PyErr_Clear();  // half imported
  PyObject* expected = nullptr;
  if (type && !ndarray_type.compare_exchange_strong(expected, type)) {
    Py_DECREF(type);
    type = expected;
  }
  return type;
}

// Puts the view's elements after a count of them, as Schema::array_of says.
int copy_array(const annotate::Schema& element, Py_buffer& view, PayloadBuffer& buffer) {
  const size_t size = static_cast<size_t>(view.len);
  const uint64_t count = size / static_cast<size_t>(view.itemsize);
  buffer.schema = annotate::Schema::array_of(element);
  if (!buffer.schema) return too_many_schemas();
  unsigned char* at = buffer.extend(sizeof count + size);
  if (!at) return -1;
  std::memcpy(at, &count, sizeof count);
  return PyBuffer_ToContiguous(at + sizeof count, &view, view.len, 'C');
}

int encode_view(const annotate::Schema& element, Py_buffer& view, PayloadBuffer& buffer) {
  buffer.hold_view();
  if (view.len == 0) return 1;
  if (view.ndim > 0) return copy_array(element, view, buffer);
  buffer.schema = &element;
  buffer.borrow_view();
  return 0;
}

py_ref native_copy(PyObject* array, PyObject* dtype) {
  const py_ref native = native_dtype(dtype);
  return call_method(array, "astype", native.get());
}

// The number that a native struct format of one letter stands for.
const Scalar* scalar_of_format(const char* format, Py_ssize_t size) noexcept {
  static constexpr Scalar numbers[] = {{nvtx::entry_type::int8, "int8", 1},
                                       {nvtx::entry_type::int16, "int16", 2},
                                       {nvtx::entry_type::int32, "int32", 4},
                                       int64_scalar,
                                       {nvtx::entry_type::uint8, "uint8", 1},
                                       {nvtx::entry_type::uint16, "uint16", 2},
                                       {nvtx::entry_type::uint32, "uint32", 4},
                                       uint64_scalar,
                                       {nvtx::entry_type::float16, "float16", 2},
                                       {nvtx::entry_type::float32, "float32", 4},
                                       float64_scalar};
  constexpr size_t first_unsigned = 4, first_float = 8;
  if (*format == '@' || *format == '=') ++format;
  if (format[0] == '\0' || format[1] != '\0') return nullptr;
  if (*format == '?') return &bool_scalar;
  size_t first = first_unsigned, last = first_float;
  if (std::strchr("bhilqn", *format)) {
    first = 0;
    last = first_unsigned;
  } else if (std::strchr("efd", *format)) {
    first = first_float;
    last = sizeof(numbers) / sizeof(numbers[0]);
  } else if (!std::strchr("cBHILQNP", *format)) {
    return nullptr;
  }
  for (size_t i = first; i < last; ++i) {
    if (numbers[i].size == static_cast<size_t>(size)) return &numbers[i];
  }
  return nullptr;
}

}  // namespace

PyObject* loaded_numpy() noexcept {
  PyObject* modules = PyImport_GetModuleDict();
  return modules ? PyDict_GetItemString(modules, "numpy") : nullptr;
}

bool numpy_is_loaded() noexcept {
  return ndarray_type.load(std::memory_order_acquire) || find_ndarray();
}

bool is_numpy_array(PyObject* value) noexcept {
  PyObject* type = ndarray_type.load(std::memory_order_acquire);
  if (!type) {
    // Until then only a type of that name, or a heap type below it, is worth a look.
    if (PyLong_Check(value) || PyFloat_Check(value) || !PyObject_CheckBuffer(value)) return false;
    type = find_ndarray();
    if (!type) return false;
  }
  return PyObject_TypeCheck(value, reinterpret_cast<PyTypeObject*>(type)) != 0;
}

py_ref numpy_array_of(PyObject* value) { return call_method(loaded_numpy(), "array", value); }

int encode_array(PyObject* array, PayloadBuffer& buffer) {
  py_ref dtype = py_ref::steal(PyObject_GetAttrString(array, "dtype"));
  if (!dtype) return -1;
  const annotate::Schema* element = schema_of_dtype(dtype.get());
  if (!element) return -1;
  py_ref native;
  if (!dtype_is_native(dtype.get())) {
    native = native_copy(array, dtype.get());
    if (!native) return -1;
    array = native.get();
  }
  if (PyObject_GetBuffer(array, &buffer.view(), PyBUF_STRIDED_RO) < 0) return -1;
  return encode_view(*element, buffer.view(), buffer);
}

int encode_exported(PyObject* value, PayloadBuffer& buffer) {
  if (PyObject_GetBuffer(value, &buffer.view(), PyBUF_FULL_RO) < 0) return -1;
  Py_buffer& view = buffer.view();
  const char* format = view.format ? view.format : "B";
  const Scalar* scalar = scalar_of_format(format, view.itemsize);
  if (!scalar) {
    buffer.hold_view();
    PyErr_Format(PyExc_TypeError, "its format '%s' has no binary form", format);
    return -1;
  }
  const bool plain_bytes = view.ndim == 1 && view.format && std::strcmp(view.format, "B") == 0 &&
                           PyBuffer_IsContiguous(&view, 'C');
  if (plain_bytes) {
    buffer.hold_view();
    if (view.len == 0) return 1;
    buffer.schema = bytes_schema(static_cast<size_t>(view.len));
    if (!buffer.schema) buffer.schema = &annotate::Schema::predefined(nvtx::entry_type::byte);
    buffer.borrow_view();
    return 0;
  }
  const annotate::Schema* element = scalar_schema(*scalar);
  if (!element) {
    buffer.hold_view();
    return too_many_schemas();
  }
  return encode_view(*element, view, buffer);
}

}  // namespace nvspan::bindings
