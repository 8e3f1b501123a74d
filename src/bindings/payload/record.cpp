// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Values with named fields: dicts, NamedTuples and dataclasses.
//
// A record is written in one pass, which also notes which fields it has and of which types. These
// notes find the layout; only for a new one the schema is described.
#include <vector>

#include "bindings/payload/encoder.hpp"
#include "bindings/payload/layout.hpp"

namespace nvspan::bindings {

namespace {

class RecordWriter {
 public:
  explicit RecordWriter(PayloadBuffer& buffer) : buffer_(buffer) {}

  int write(PyObject* record) {
    constexpr int deepest = 16;
    if (++depth_ > deepest) {
      PyErr_SetString(PyExc_ValueError, "it is nested too deeply");
      return -1;
    }
    const int result = PyDict_Check(record) ? write_dict(record) : write_type(record);
    --depth_;
    return result;
  }

  // 0; 1 where there is no field; -1.
  int finish(const char* type_name) {
    if (buffer_.size() == 0) return 1;
    buffer_.schema = more_.empty() ? schema_of_notes(notes_, count_, type_name)
                                   : schema_of_notes(more_.data(), more_.size(), type_name);
    return buffer_.schema ? 0 : -1;
  }

 private:
  void note(PyObject* name, FieldCode code, uint64_t length = 0) {
    const Note note = {name, static_cast<uint64_t>(code) | (length << 8)};
    if (count_ < most_notes) {
      notes_[count_++] = note;
      return;
    }
    if (more_.empty()) more_.assign(notes_, notes_ + count_);
    more_.push_back(note);
  }

  int write_dict(PyObject* dict) {
#ifdef Py_GIL_DISABLED
    py_ref copy = py_ref::steal(PyDict_Copy(dict));
    if (!copy) return -1;
    dict = copy.get();
#endif
    Py_ssize_t position = 0;
    PyObject *name, *value;
    while (PyDict_Next(dict, &position, &name, &value)) {
      if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "its key %R is not a str", name);
        return -1;
      }
      const py_ref kept_name = py_ref::borrow(name);
      const py_ref kept = py_ref::borrow(value);
      if (field(name, value) < 0) return -1;
    }
    return 0;
  }

  int write_type(PyObject* record) {
    py_ref names;
    const RecordKind kind = record_kind(Py_TYPE(record), &names);
    const Py_ssize_t count = names ? PyTuple_GET_SIZE(names.get()) : 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* name = PyTuple_GET_ITEM(names.get(), i);
      py_ref value;
      if (kind == RecordKind::data_class) {
        value = py_ref::steal(PyObject_GetAttr(record, name));
        if (!value) return -1;
      } else if (i < PyTuple_GET_SIZE(record)) {
        value = py_ref::borrow(PyTuple_GET_ITEM(record, i));
      } else {
        break;
      }
      if (field(name, value.get()) < 0) return -1;
    }
    return 0;
  }

  template <class Number>
  int put(PyObject* name, FieldCode code, Number number) {
    unsigned char* at = buffer_.extend(sizeof number, sizeof number);
    if (!at) return -1;
    std::memcpy(at, &number, sizeof number);
    note(name, code);
    return 0;
  }

  int field(PyObject* name, PyObject* value) {
    if (PyLong_Check(value)) return integer(name, value);
    if (PyFloat_Check(value)) return put(name, FieldCode::float64, PyFloat_AS_DOUBLE(value));
    if (PyUnicode_Check(value)) return text(name, value);
    if (value == Py_None) {
      note(name, FieldCode::absent);
      return 0;
    }
    if (PyBytes_Check(value)) {
      return sized(name, FieldCode::bytes, PyBytes_AS_STRING(value),
                   static_cast<size_t>(PyBytes_GET_SIZE(value)), 1);
    }
    if (PyDict_Check(value) || record_kind(Py_TYPE(value), nullptr) != RecordKind::none) {
      note(name, FieldCode::open);
      if (write(value) < 0) return -1;
      note(name, FieldCode::close);
      return 0;
    }
    if (PyList_Check(value) || PyTuple_Check(value)) return numbers(name, value);
    return other(name, value);
  }

  int integer(PyObject* name, PyObject* value) {
    if (PyBool_Check(value)) return put(name, FieldCode::boolean, uint8_t{value == Py_True});
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) return put(name, FieldCode::int64, number);
    const uint64_t large = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
    if (overflow < 0 || PyErr_Occurred()) {
      PyErr_Clear();
      PyErr_Format(PyExc_OverflowError, "field %R does not fit into 64 bits", name);
      return -1;
    }
    return put(name, FieldCode::uint64, large);
  }

  int text(PyObject* name, PyObject* value) {
    py_ref escaped;
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(value, &size);
    if (!utf8 || std::memchr(utf8, 0, static_cast<size_t>(size))) {
      PyErr_Clear();
      escaped = py_ref::steal(PyUnicode_AsEncodedString(value, "utf-8", "backslashreplace"));
      if (!escaped) return -1;
      utf8 = PyBytes_AS_STRING(escaped.get());
      size = static_cast<Py_ssize_t>(std::strlen(utf8));
    }
    unsigned char* at = buffer_.extend(static_cast<size_t>(size) + 1);
    if (!at) return -1;
    std::memcpy(at, utf8, static_cast<size_t>(size));
    at[size] = 0;
    note(name, FieldCode::text);
    return 0;
  }

  int sized(PyObject* name, FieldCode code, const void* data, size_t count, size_t element) {
    unsigned char* at = buffer_.extend(sizeof(uint64_t), sizeof(uint64_t));
    if (!at) return -1;
    const uint64_t written = count;
    std::memcpy(at, &written, sizeof written);
    at = buffer_.extend(count * element, element);
    if (!at) return -1;
    if (count > 0) std::memcpy(at, data, count * element);
    note(name, code);
    return 0;
  }

  // A list or tuple of numbers: a shape, most often.
  int numbers(PyObject* name, PyObject* value) {
    py_ref items = py_ref::steal(PySequence_Tuple(value));
    if (!items) return -1;
    const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
    bool floats = false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* item = PyTuple_GET_ITEM(items.get(), i);
      if (PyFloat_Check(item)) {
        floats = true;
      } else if (!PyLong_Check(item)) {
        PyErr_Format(PyExc_TypeError, "field %R has an item of type '%s'", name,
                     Py_TYPE(item)->tp_name);
        return -1;
      }
    }
    std::vector<uint64_t> bits(static_cast<size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* item = PyTuple_GET_ITEM(items.get(), i);
      if (floats) {
        const double number = PyFloat_Check(item) ? PyFloat_AS_DOUBLE(item) : PyLong_AsDouble(item);
        std::memcpy(&bits[static_cast<size_t>(i)], &number, sizeof number);
      } else {
        bits[static_cast<size_t>(i)] = static_cast<uint64_t>(PyLong_AsLongLong(item));
      }
      if (PyErr_Occurred()) return -1;
    }
    constexpr Py_ssize_t longest_fixed = 16;
    if (count == 0 || count > longest_fixed) {
      return sized(name, floats ? FieldCode::many_floats : FieldCode::many_ints, bits.data(),
                   bits.size(), sizeof(uint64_t));
    }
    unsigned char* at = buffer_.extend(bits.size() * sizeof(uint64_t), sizeof(uint64_t));
    if (!at) return -1;
    std::memcpy(at, bits.data(), bits.size() * sizeof(uint64_t));
    note(name, floats ? FieldCode::floats : FieldCode::ints, static_cast<uint64_t>(count));
    return 0;
  }

  // Members of an enum, and numpy's numbers. Nothing else is asked for a number: that of a tensor
  // may wait for a device.
  int other(PyObject* name, PyObject* value) {
    PyTypeObject* type = Py_TYPE(value);
    if (std::strncmp(type->tp_name, "numpy.", 6) == 0) {
      py_ref number = call_method(value, "item");
      if (!number) return -1;
      if (PyLong_Check(number.get()) || PyFloat_Check(number.get())) {
        return field(name, number.get());
      }
    } else if (PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), "__members__") == 1) {
      py_ref number = py_ref::steal(PyObject_GetAttrString(value, "value"));
      if (!number) return -1;
      if (Py_TYPE(number.get()) != type) return field(name, number.get());
    }
    PyErr_Format(PyExc_TypeError, "field %R is of type '%s'", name, type->tp_name);
    return -1;
  }

  static constexpr size_t most_notes = 24;
  PayloadBuffer& buffer_;
  Note notes_[most_notes];
  size_t count_ = 0;
  std::vector<Note> more_;  // all of them once there are more
  int depth_ = 0;
};

}  // namespace

int encode_record(PyObject* value, PayloadBuffer& buffer) {
  RecordWriter writer(buffer);
  if (writer.write(value) < 0) return -1;
  return writer.finish(PyDict_Check(value) ? nullptr : Py_TYPE(value)->tp_name);
}

}  // namespace nvspan::bindings
