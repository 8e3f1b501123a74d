// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/counter/samples.hpp"

#include <cstring>
#include <limits>

namespace nvspan::bindings {

namespace {

template <class Number>
bool put_integer(unsigned char* at, PyObject* value) noexcept {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow || number < static_cast<long long>(std::numeric_limits<Number>::min())) return false;
  if (sizeof(Number) < sizeof number &&
      number > static_cast<long long>(std::numeric_limits<Number>::max())) {
    return false;
  }
  const Number narrow = static_cast<Number>(number);
  std::memcpy(at, &narrow, sizeof narrow);
  return true;
}

// False for what is left to numpy, which knows what to do with it or how to refuse it.
bool put_number(uint64_t type, unsigned char* at, PyObject* value) noexcept {
  if (type == nvtx::entry_type::float64 || type == nvtx::entry_type::float32) {
    double number = 0;
    if (PyFloat_CheckExact(value)) {
      number = PyFloat_AS_DOUBLE(value);
    } else if (PyLong_CheckExact(value)) {
      number = PyLong_AsDouble(value);
      if (PyErr_Occurred()) {
        PyErr_Clear();
        return false;
      }
    } else {
      return false;
    }
    const float narrow = static_cast<float>(number);
    if (type == nvtx::entry_type::float64) {
      std::memcpy(at, &number, sizeof number);
    } else {
      std::memcpy(at, &narrow, sizeof narrow);
    }
    return true;
  }
  if (!PyLong_CheckExact(value)) return false;
  switch (type) {
    case nvtx::entry_type::int8:
      return put_integer<int8_t>(at, value);
    case nvtx::entry_type::uint8:
      return put_integer<uint8_t>(at, value);
    case nvtx::entry_type::int16:
      return put_integer<int16_t>(at, value);
    case nvtx::entry_type::uint16:
      return put_integer<uint16_t>(at, value);
    case nvtx::entry_type::int32:
      return put_integer<int32_t>(at, value);
    case nvtx::entry_type::uint32:
      return put_integer<uint32_t>(at, value);
    case nvtx::entry_type::int64:
      return put_integer<int64_t>(at, value);
    default:
      return type == nvtx::entry_type::uint64 && put_integer<uint64_t>(at, value);
  }
}

bool is_packable(uint64_t type) noexcept {
  return (type >= nvtx::entry_type::int8 && type <= nvtx::entry_type::uint64) ||
         type == nvtx::entry_type::float32 || type == nvtx::entry_type::float64;
}

}  // namespace

void SamplePacker::prepare(const annotate::Schema& schema, bool group, size_t size) {
  constexpr uint64_t arrays = 7 << 4;
  if (size > largest) return;
  std::vector<Part> parts;
  for (const annotate::SchemaEntry& entry : schema.description().entries) {
    if (!is_packable(entry.type) || (entry.flags & arrays)) return;
    parts.push_back({entry.type, static_cast<size_t>(entry.offset)});
  }
  parts_ = std::move(parts);
  group_ = group;
  size_ = size;
}

bool SamplePacker::pack(PyObject* value, unsigned char* to) const noexcept {
  if (parts_.empty()) return false;
  if (!group_) return put_number(parts_[0].type, to + parts_[0].offset, value);
  if (!PyTuple_CheckExact(value) || static_cast<size_t>(PyTuple_GET_SIZE(value)) != parts_.size()) {
    return false;
  }
  std::memset(to, 0, size_);
  for (size_t i = 0; i < parts_.size(); ++i) {
    PyObject* item = PyTuple_GET_ITEM(value, static_cast<Py_ssize_t>(i));
    if (!put_number(parts_[i].type, to + parts_[i].offset, item)) return false;
  }
  return true;
}

}  // namespace nvspan::bindings
