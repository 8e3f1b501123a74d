// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/support/py.hpp"

#include "bindings/reader/given/given_column.hpp"

#include <cstring>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

[[noreturn]] void refuse(const char* name, char wanted, const std::string& given) {
  const char* what = wanted == 'i' ? "an int or a 1-D buffer of integers"
                                   : "a number or a 1-D buffer of integers, float32 or float64";
  throw py::type_error(std::string(name) + " must be " + what + ", not " + given);
}

std::string type_name(py::handle given) { return Py_TYPE(given.ptr())->tp_name; }

// The type of a buffer's items among those that a column may have; 0: another.
char item_type(const Py_buffer& view) {
  const char* format = view.format == nullptr ? "B" : view.format;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (*format == '\0' || format[1] != '\0') return '\0';
  const bool is_signed = std::strchr("bhilqn", *format) != nullptr;
  const bool is_unsigned = std::strchr("BHILQN?", *format) != nullptr;
  if (*format == 'f' && view.itemsize == 4) return 'f';
  if (*format == 'd' && view.itemsize == 8) return 'd';
  if (!is_signed && !is_unsigned) return '\0';
  switch (view.itemsize) {
    case 1:
      return is_signed ? 'b' : 'B';
    case 2:
      return is_signed ? 'h' : 'H';
    case 4:
      return is_signed ? 'i' : 'I';
    case 8:
      return is_signed ? 'q' : 'Q';
    default:
      return '\0';
  }
}

void take_integer(py::handle given, const char* name, char& type, std::int64_t& out) {
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  type = 'q';
  out = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return;
  const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(number.ptr()) : 0;
  if (overflow < 0 || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw py::value_error(std::string(name) + " must fit into 64 bits, not " +
                          std::string(py::str(number)));
  }
  type = 'Q';
  out = static_cast<std::int64_t>(large);
}

// Arrays of ctypes have no strides, also where they are asked for.
Py_ssize_t stride_of(const Py_buffer& view) noexcept {
  return view.strides == nullptr ? view.itemsize : view.strides[0];
}

}  // namespace

GivenColumn::GivenColumn(py::handle given, const char* name, char wanted) : name_(name) {
  if (given.is_none()) return;
  if (PyLong_Check(given.ptr())) {
    take_integer(given, name, type_, integer_);
    return;
  }
  if (wanted == 'n' && PyFloat_Check(given.ptr())) {
    type_ = 'd';
    real_ = PyFloat_AS_DOUBLE(given.ptr());
    return;
  }
  if (PyObject_CheckBuffer(given.ptr()) != 0) {
    if (PyObject_GetBuffer(given.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      refuse(name, wanted, "a buffer of " + type_name(given) + " without a usable type");
    }
    const char type = item_type(view_);
    const bool real = type == 'f' || type == 'd';
    if (type == '\0' || (real && wanted == 'i') || view_.ndim > 1) {
      const std::string format = view_.format == nullptr ? "B" : view_.format;
      const std::string dimensions = std::to_string(view_.ndim);
      PyBuffer_Release(&view_);
      view_.obj = nullptr;
      refuse(name, wanted, "a " + dimensions + "-D buffer of '" + format + "'");
    }
    if (view_.ndim == 1) {
      type_ = type;
      rows_ = static_cast<std::size_t>(view_.shape[0]);
      return;
    }
    PyBuffer_Release(&view_);  // a number of NumPy's
    view_.obj = nullptr;
    if (real) {
      type_ = 'd';
      real_ = PyFloat_AsDouble(given.ptr());
      if (PyErr_Occurred() != nullptr) throw py::error_already_set();
      return;
    }
  }
  if (PyIndex_Check(given.ptr()) == 0) refuse(name, wanted, type_name(given));
  take_integer(given, name, type_, integer_);
}

GivenColumn::~GivenColumn() {
  if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

trace::PayloadType GivenColumn::payload_type() const noexcept {
  using trace::PayloadType;
  switch (type_) {
    case '\0':
      return PayloadType::none;
    case 'Q':
      return PayloadType::u64;
    case 'I':
    case 'H':
    case 'B':
      return PayloadType::u32;
    case 'i':
    case 'h':
    case 'b':
      return PayloadType::i32;
    case 'f':
      return PayloadType::f32;
    case 'd':
      return PayloadType::f64;
    default:
      return PayloadType::i64;
  }
}

namespace {

// Items of any stride, each as `Out`.
template <typename Item, typename Out>
void copy(const char* at, Py_ssize_t stride, std::size_t count, Out* out) {
  Item item;
  for (std::size_t i = 0; i < count; ++i, at += stride) {
    std::memcpy(&item, at, sizeof item);
    out[i] = static_cast<Out>(item);
  }
}

}  // namespace

const char* GivenColumn::at(std::size_t row) const noexcept {
  return static_cast<const char*>(view_.buf) + static_cast<Py_ssize_t>(row) * stride_of(view_);
}

void GivenColumn::integers(std::size_t begin, std::size_t count, std::int64_t* out) const {
  if (!rows_) {
    for (std::size_t i = 0; i < count; ++i) out[i] = integer_;
    return;
  }
  const Py_ssize_t stride = stride_of(view_);
  const char* from = at(begin);
  switch (type_) {
    case 'b':
      return copy<std::int8_t>(from, stride, count, out);
    case 'B':
      return copy<std::uint8_t>(from, stride, count, out);
    case 'h':
      return copy<std::int16_t>(from, stride, count, out);
    case 'H':
      return copy<std::uint16_t>(from, stride, count, out);
    case 'i':
      return copy<std::int32_t>(from, stride, count, out);
    case 'I':
      return copy<std::uint32_t>(from, stride, count, out);
    default:
      if (stride == sizeof *out) {
        std::memcpy(out, from, count * sizeof *out);
        return;
      }
      return copy<std::int64_t>(from, stride, count, out);
  }
}

void GivenColumn::reals(std::size_t begin, std::size_t count, double* out) const {
  if (!rows_) {
    const double value = type_ == 'd' ? real_ : static_cast<double>(integer_);
    for (std::size_t i = 0; i < count; ++i) out[i] = value;
    return;
  }
  if (type_ == 'f') return copy<float>(at(begin), stride_of(view_), count, out);
  copy<double>(at(begin), stride_of(view_), count, out);
}

void GivenColumn::bits(std::size_t begin, std::size_t count, std::uint64_t* out) const {
  const auto take = [&](auto number, std::size_t i) {
    out[i] = 0;
    std::memcpy(out + i, &number, sizeof number);
  };
  if (type_ == 'd' && !rows_) {
    for (std::size_t i = 0; i < count; ++i) take(real_, i);
  } else if (type_ == 'f') {
    float item = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&item, at(begin + i), sizeof item);
      take(item, i);
    }
  } else if (type_ == 'd') {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(out + i, at(begin + i), sizeof *out);
  } else {
    // What is shorter than 32 bits is shown as a number of 32.
    const bool narrow = std::strchr("bBhHiI", type_) != nullptr;
    static_assert(sizeof(std::int64_t) == sizeof *out);
    integers(begin, count, reinterpret_cast<std::int64_t*>(out));
    for (std::size_t i = 0; narrow && i < count; ++i) out[i] &= 0xFFFFFFFF;
  }
}

GivenRows::GivenRows(py::handle given, const char* name, std::size_t size) {
  if (PyObject_GetBuffer(given.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    throw py::type_error(std::string(name) + " must be a buffer of rows of the schema, not " +
                         type_name(given));
  }
  if (view_.ndim == 1 && static_cast<std::size_t>(view_.itemsize) == size) {
    rows_ = static_cast<std::size_t>(view_.shape[0]);
    stride_ = stride_of(view_);
    return;
  }
  const bool bytes = view_.ndim == 1 && view_.itemsize == 1 && stride_of(view_) == 1;
  if (bytes && size != 0 && static_cast<std::size_t>(view_.len) % size == 0) {
    rows_ = static_cast<std::size_t>(view_.len) / size;
    stride_ = static_cast<Py_ssize_t>(size);
    return;
  }
  const std::string item = std::to_string(view_.itemsize);
  const std::string dimensions = std::to_string(view_.ndim);
  PyBuffer_Release(&view_);
  view_.obj = nullptr;
  throw py::value_error(std::string(name) + " must be a 1-D buffer of rows of " +
                        std::to_string(size) + " bytes, not a " + dimensions +
                        "-D buffer of items of " + item);
}

GivenRows::~GivenRows() {
  if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

}  // namespace nvspan::bindings
