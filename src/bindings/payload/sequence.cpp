// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Lists, tuples and ranges, as numpy.array() would make arrays of them, without numpy.
#include "bindings/payload/encoder.hpp"

#include <string>
#include <vector>

namespace nvspan::bindings {

namespace {

// The items of a list or tuple, kept: another thread may change the list where there is no GIL.
class Items {
 public:
  explicit Items(PyObject* sequence) {
#ifdef Py_GIL_DISABLED
    kept_ =
        PyList_Check(sequence) ? py_ref::steal(PyList_AsTuple(sequence)) : py_ref::borrow(sequence);
    sequence = kept_.get();
    if (!sequence) return;
#endif
    items_ = PySequence_Fast_ITEMS(sequence);
    size_ = PySequence_Fast_GET_SIZE(sequence);
  }
  PyObject* operator[](Py_ssize_t index) const noexcept { return items_[index]; }
  Py_ssize_t size() const noexcept { return size_; }

 private:
#ifdef Py_GIL_DISABLED
  py_ref kept_;
#endif
  PyObject* const* items_ = nullptr;
  Py_ssize_t size_ = 0;
};

bool is_sequence(PyObject* value) noexcept { return PyList_Check(value) || PyTuple_Check(value); }

// What the elements are, as bits: an array has one type for all of them.
enum Element : unsigned {
  is_bool = 1,
  is_int = 2,
  is_large = 4,  // 2**63 or more
  is_float = 8,
  is_text = 16,
  is_bytes = 32,
  is_other = 64,
};

struct SequenceShape {
  unsigned elements = 0;
  Py_ssize_t longest = 0;  // text or bytes
  std::vector<Py_ssize_t> shape;
  size_t count = 0;
  bool ragged = false;
};

unsigned element_of(PyObject* value, SequenceShape& survey) {
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    (void)PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) return is_int;
    if (overflow > 0) {
      (void)PyLong_AsUnsignedLongLong(value);
      if (!PyErr_Occurred()) return is_large;
      PyErr_Clear();
    }
    return is_other;
  }
  if (PyFloat_CheckExact(value)) return is_float;
  if (PyBool_Check(value)) return is_bool;
  Py_ssize_t length = -1;
  if (PyUnicode_CheckExact(value)) {
    length = PyUnicode_GET_LENGTH(value);
  } else if (PyBytes_CheckExact(value)) {
    length = PyBytes_GET_SIZE(value);
  }
  if (length < 0) return is_other;
  if (length > survey.longest) survey.longest = length;
  return PyBytes_CheckExact(value) ? is_bytes : is_text;
}

void look_at(PyObject* sequence, size_t depth, SequenceShape& survey) {
  constexpr size_t deepest = 32;  // as numpy; also ends lists that hold themselves
  const Items items(sequence);
  const Py_ssize_t size = items.size();
  if (depth == survey.shape.size() && survey.elements == 0 && depth < deepest) {
    survey.shape.push_back(size);
  } else if (depth >= survey.shape.size() || survey.shape[depth] != size) {
    survey.ragged = true;
    return;
  }
  for (Py_ssize_t i = 0; i < size && !survey.ragged; ++i) {
    PyObject* item = items[i];
    if (is_sequence(item)) {
      look_at(item, depth + 1, survey);
    } else {
      if (depth + 1 != survey.shape.size()) survey.ragged = true;
      survey.elements |= element_of(item, survey);
      ++survey.count;
    }
  }
}

template <class Write>
int for_each_item(PyObject* sequence, Write& write) {
  const Items items(sequence);
  for (Py_ssize_t i = 0; i < items.size(); ++i) {
    const int result = is_sequence(items[i]) ? for_each_item(items[i], write) : write(items[i]);
    if (result < 0) return -1;
  }
  return 0;
}

double as_double(PyObject* value) noexcept {
  return PyFloat_Check(value) ? PyFloat_AS_DOUBLE(value) : PyLong_AsDouble(value);
}

void put(unsigned char* at, const void* value, size_t size) noexcept {
  std::memcpy(at, value, size);
}

// Room for the count and `count` elements of `size` bytes, the count filled in; zeroed.
unsigned char* begin_array(PayloadBuffer& buffer, size_t count, size_t size) {
  if (count > static_cast<size_t>(PY_SSIZE_T_MAX) / (size ? size : 1) - 2) {
    PyErr_NoMemory();
    return nullptr;
  }
  unsigned char* start = buffer.extend(sizeof(uint64_t) + count * size);
  if (!start) return nullptr;
  const uint64_t written = count;
  put(start, &written, sizeof written);
  return start + sizeof written;
}

// The elements written by `write(item, at)`, never more of them than were counted.
template <class Write>
int fill(PyObject* value, const SequenceShape& survey, size_t size, PayloadBuffer& buffer,
         Write write) {
  unsigned char* at = begin_array(buffer, survey.count, size);
  if (!at) return -1;
  std::memset(at, 0, survey.count * size);
  const unsigned char* end = at + survey.count * size;
  auto next = [&](PyObject* item) {
    if (at >= end) return 0;
    const int result = write(item, at);
    at += size;
    return result;
  };
  return for_each_item(value, next);
}

template <class Number, class Convert>
int fill_numbers(PyObject* value, const SequenceShape& survey, const Scalar& scalar,
                 PayloadBuffer& buffer, Convert convert) {
  const annotate::Schema* element = scalar_schema(scalar);
  buffer.schema = element ? annotate::Schema::array_of(*element) : nullptr;
  if (!buffer.schema) return too_many_schemas();
  return fill(value, survey, sizeof(Number), buffer, [&](PyObject* item, unsigned char* at) {
    const Number number = convert(item);
    put(at, &number, sizeof number);
    if (PyErr_Occurred()) PyErr_Clear();  // changed meanwhile by another thread
    return 0;
  });
}

// The widths that numpy gives the texts of numbers.
Py_ssize_t text_width(const SequenceShape& survey) noexcept {
  Py_ssize_t width = survey.longest > 0 ? survey.longest : 1;
  const auto at_least = [&](unsigned bit, Py_ssize_t least) {
    if ((survey.elements & bit) && width < least) width = least;
  };
  at_least(is_bool, 5);
  at_least(is_int, 21);
  at_least(is_large, 21);
  at_least(is_float, 32);
  return width;
}

int fill_texts(PyObject* value, const SequenceShape& survey, PayloadBuffer& buffer) {
  const Py_ssize_t width = text_width(survey);
  const annotate::Schema* element = text_schema(static_cast<size_t>(width));
  buffer.schema = element ? annotate::Schema::array_of(*element) : nullptr;
  if (!buffer.schema) return too_many_schemas();
  const size_t size = static_cast<size_t>(width) * sizeof(Py_UCS4);
  std::vector<Py_UCS4> units(static_cast<size_t>(width));
  return fill(value, survey, size, buffer, [&](PyObject* item, unsigned char* at) {
    py_ref text = py_ref::steal(PyObject_Str(item));
    if (!text) return -1;
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text.get());
    const Py_ssize_t kept = length < width ? length : width;
    for (Py_ssize_t i = 0; i < kept; ++i) {
      units[static_cast<size_t>(i)] = PyUnicode_READ_CHAR(text.get(), i);
    }
    put(at, units.data(), static_cast<size_t>(kept) * sizeof(Py_UCS4));
    return 0;
  });
}

int fill_bytes(PyObject* value, const SequenceShape& survey, PayloadBuffer& buffer) {
  const size_t size = static_cast<size_t>(survey.longest > 0 ? survey.longest : 1);
  const annotate::Schema* element = bytes_schema(size);
  buffer.schema = element ? annotate::Schema::array_of(*element) : nullptr;
  if (!buffer.schema) return too_many_schemas();
  return fill(value, survey, size, buffer, [&](PyObject* item, unsigned char* at) {
    if (!PyBytes_Check(item)) return 0;
    const size_t length = static_cast<size_t>(PyBytes_GET_SIZE(item));
    put(at, PyBytes_AS_STRING(item), length < size ? length : size);
    return 0;
  });
}

// A flat sequence of ints, which most are, in one pass. 1: it is not.
int encode_ints(PyObject* value, PayloadBuffer& buffer) {
  static const annotate::Schema* const schema =
      annotate::Schema::array_of(*scalar_schema(int64_scalar));
  const Items items(value);
  const size_t count = static_cast<size_t>(items.size());
  unsigned char* at = begin_array(buffer, count, sizeof(int64_t));
  if (!at) return -1;
  for (size_t i = 0; i < count; ++i) {
    PyObject* item = items[static_cast<Py_ssize_t>(i)];
    if (!PyLong_CheckExact(item)) return 1;
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow) return 1;
    put(at + i * sizeof number, &number, sizeof number);
  }
  buffer.schema = schema;
  buffer.constant = PyTuple_Check(value);
  return 0;
}

int encode_as_numpy(PyObject* value, PayloadBuffer& buffer) {
  py_ref array = numpy_array_of(value);
  if (!array) return -1;
  return encode_array(array.get(), buffer);
}

}  // namespace

int encode_sequence(PyObject* value, PayloadBuffer& buffer) {
  if (PySequence_Fast_GET_SIZE(value) == 0) return 1;
  const int flat = encode_ints(value, buffer);
  if (flat <= 0) return flat;
  buffer.clear();
  SequenceShape survey;
  look_at(value, 0, survey);
  if (survey.ragged) {
    PyErr_SetString(PyExc_ValueError, "its parts differ in length or depth");
    return -1;
  }
  if (survey.count == 0) return 1;
  const unsigned elements = survey.elements;
  const bool numbers = (elements & (is_bool | is_int | is_large | is_float)) == elements;
  // An array inside makes the constant mutable; a tuple of lists is mutable as well.
  buffer.constant = PyTuple_Check(value) && survey.shape.size() == 1 && !(elements & is_other);
  if (elements == is_bool) {
    return fill_numbers<uint8_t>(value, survey, bool_scalar, buffer,
                                 [](PyObject* item) { return uint8_t{item == Py_True}; });
  }
  if (elements == is_large) {
    return fill_numbers<uint64_t>(value, survey, uint64_scalar, buffer, [](PyObject* item) {
      return static_cast<uint64_t>(PyLong_AsUnsignedLongLong(item));
    });
  }
  if (numbers && !(elements & (is_large | is_float))) {
    return fill_numbers<int64_t>(value, survey, int64_scalar, buffer, [](PyObject* item) {
      return static_cast<int64_t>(PyLong_AsLongLong(item));
    });
  }
  if (numbers) return fill_numbers<double>(value, survey, float64_scalar, buffer, as_double);
  if (elements == is_bytes) return fill_bytes(value, survey, buffer);
  if (!(elements & (is_bytes | is_other))) return fill_texts(value, survey, buffer);
  if (numpy_is_loaded()) return encode_as_numpy(value, buffer);
  PyErr_SetString(PyExc_TypeError, "its items have no common binary form");
  return -1;
}

int encode_range(PyObject* value, PayloadBuffer& buffer) {
  py_ref items = py_ref::steal(PySequence_Tuple(value));
  if (!items) return -1;
  const int result = encode_sequence(items.get(), buffer);
  buffer.constant = true;
  return result;
}

}  // namespace nvspan::bindings
