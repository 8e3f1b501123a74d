// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Values with named fields: dicts, NamedTuples and dataclasses.
//
// A record is written in one pass, which also notes which fields it has and of which types. These
// notes find the layout; only for a new one the schema is described.
#include "bindings/payload_encoder.hpp"

#include <string>
#include <unordered_map>
#include <vector>

#include "bindings/module_state.hpp"

namespace nvspan {

namespace {

// --- types with fields -----------------------------------------------------------------------

// What is known of a type. The type itself is not kept alive.
struct RecordType {
  py_ref weak;   // to the type
  py_ref names;  // tuple of str
  RecordKind kind = RecordKind::none;
};

struct RecordTypes {
  object_mutex mutex;
  std::unordered_map<PyTypeObject*, RecordType> known;
};

RecordTypes& record_types() noexcept {
  static RecordTypes* const types = new RecordTypes;
  return *types;
}

bool still_refers(const RecordType& known, PyTypeObject* type) noexcept {
  if (!known.weak) return false;
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* target = nullptr;
  const int alive = PyWeakref_GetRef(known.weak.get(), &target);
  Py_XDECREF(target);
  return alive == 1 && target == reinterpret_cast<PyObject*>(type);
#else
  return PyWeakref_GetObject(known.weak.get()) == reinterpret_cast<PyObject*>(type);
#endif
}

// The names of a NamedTuple's or dataclass's fields; null (with no exception) for other types.
py_ref field_names(PyTypeObject* type, RecordKind& kind) {
  PyObject* object = reinterpret_cast<PyObject*>(type);
  const bool is_tuple = PyType_HasFeature(type, Py_TPFLAGS_TUPLE_SUBCLASS);
  py_ref found =
      py_ref::steal(PyObject_GetAttrString(object, is_tuple ? "_fields" : "__dataclass_fields__"));
  if (!found) {
    PyErr_Clear();
    return {};
  }
  if (is_tuple ? !PyTuple_Check(found.get()) : !PyDict_Check(found.get())) return {};
  py_ref names = py_ref::steal(PySequence_Tuple(found.get()));
  if (!names) {
    PyErr_Clear();
    return {};
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i) {
    if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(names.get(), i))) return {};
  }
  kind = is_tuple ? RecordKind::named_tuple : RecordKind::data_class;
  return names;
}

// `names` is a new reference.
RecordKind look_up(PyTypeObject* type, py_ref* names) {
  RecordTypes& types = record_types();
  {
    std::lock_guard<object_mutex> lock(types.mutex);
    const auto found = types.known.find(type);
    if (found != types.known.end() && still_refers(found->second, type)) {
      if (names) *names = py_ref::borrow(found->second.names.get());
      return found->second.kind;
    }
  }
  RecordType fresh;
  fresh.names = field_names(type, fresh.kind);
  fresh.weak = py_ref::steal(PyWeakref_NewRef(reinterpret_cast<PyObject*>(type), nullptr));
  if (!fresh.weak) PyErr_Clear();
  if (names) *names = py_ref::borrow(fresh.names.get());
  const RecordKind kind = fresh.kind;
  constexpr size_t most_types = 4096;
  std::unordered_map<PyTypeObject*, RecordType> forgotten;  // freed without the lock
  std::lock_guard<object_mutex> lock(types.mutex);
  if (types.known.size() >= most_types) forgotten.swap(types.known);
  std::swap(types.known[type], fresh);
  return kind;
}

// --- layouts -----------------------------------------------------------------------------------

// What is noted of each field: its name's address and this.
enum class FieldCode : uint8_t {
  absent,
  boolean,
  int64,
  uint64,
  float64,
  text,
  bytes,
  ints,       // fixed length
  floats,     // fixed length
  many_ints,  // with a hidden length before them
  many_floats,
  open,  // what follows belongs to this field, until
  close,
};

struct Note {
  PyObject* name;
  uint64_t code;  // FieldCode, and a length above its eight bits
};

struct Layout {
  const Schema* schema;
  std::vector<py_ref> names;  // so that their addresses stay theirs
};

struct Layouts {
  object_mutex mutex;
  std::unordered_map<std::string, Layout> known;
};

Layouts& layouts() noexcept {
  static Layouts* const table = new Layouts;
  return *table;
}

class SchemaBuilder {
 public:
  explicit SchemaBuilder(const Note* notes, size_t count) : notes_(notes), count_(count) {}

  const Schema* build(const char* name) {
    if (name) description_.name = name;
    std::string prefix;
    if (!add(0, prefix)) return nullptr;
    if (!description_.dynamic) description_.static_size = end_;
    return Schema::describe(std::move(description_));
  }

 private:
  static uint64_t length(const Note& note) noexcept { return note.code >> 8; }
  static FieldCode code(const Note& note) noexcept {
    return static_cast<FieldCode>(note.code & 0xFF);
  }

  SchemaEntry& entry(const std::string& name, uint64_t type, size_t size, size_t count = 1) {
    SchemaEntry& made = description_.entries.emplace_back();
    made.name = name;
    made.type = type;
    end_ = (end_ + size - 1) / size * size;
    made.offset = end_;
    end_ += size * count;
    return made;
  }

  // A length that no viewer shows, for the entry that follows it.
  void sized(const std::string& name, uint64_t type, size_t size) {
    description_.dynamic = true;
    const uint64_t index = description_.entries.size();
    entry(name + ".size", entry_type::uint64, sizeof(uint64_t)).flags = entry_flag::hide;
    SchemaEntry& data = entry(name, type, size, 0);
    data.flags = entry_flag::length_index;
    data.detail = index;
  }

  // Adds the notes from `at` up to the close that belongs to them.
  bool add(size_t at, const std::string& prefix) {
    for (; at < count_; ++at) {
      const Note& note = notes_[at];
      if (code(note) == FieldCode::close) {
        next_ = at;
        return true;
      }
      const char* utf8 = PyUnicode_AsUTF8(note.name);
      if (!utf8) PyErr_Clear();
      const std::string name = prefix + (utf8 ? utf8 : "?");
      switch (code(note)) {
        case FieldCode::boolean:
          entry(name, entry_type::uint8, 1);
          break;
        case FieldCode::int64:
          entry(name, entry_type::int64, 8);
          break;
        case FieldCode::uint64:
          entry(name, entry_type::uint64, 8);
          break;
        case FieldCode::float64:
          entry(name, entry_type::float64, 8);
          break;
        case FieldCode::text:
          description_.dynamic = true;
          entry(name, entry_type::cstring_utf8, 1, 0).flags = entry_flag::zero_terminated;
          break;
        case FieldCode::bytes:
          sized(name, entry_type::byte, 1);
          break;
        case FieldCode::ints:
        case FieldCode::floats: {
          const bool ints = code(note) == FieldCode::ints;
          SchemaEntry& made = entry(name, ints ? entry_type::int64 : entry_type::float64, 8,
                                    static_cast<size_t>(length(note)));
          made.flags = entry_flag::fixed_array;
          made.detail = length(note);
          break;
        }
        case FieldCode::many_ints:
          sized(name, entry_type::int64, 8);
          break;
        case FieldCode::many_floats:
          sized(name, entry_type::float64, 8);
          break;
        case FieldCode::open:
          if (!add(at + 1, name + ".")) return false;
          at = next_;
          break;
        default:
          break;
      }
      // In a dynamic schema the reader finds the places itself.
    }
    if (description_.dynamic) {
      for (SchemaEntry& made : description_.entries) made.offset = 0;
    }
    return true;
  }

  const Note* notes_;
  size_t count_;
  size_t next_ = 0;
  size_t end_ = 0;
  SchemaDescription description_;
};

// --- values ------------------------------------------------------------------------------------

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
  int finish(const char* name) {
    if (buffer_.size() == 0) return 1;
    const std::string key = key_of(name);
    Layouts& table = layouts();
    {
      std::lock_guard<object_mutex> lock(table.mutex);
      const auto found = table.known.find(key);
      if (found != table.known.end()) buffer_.schema = found->second.schema;
    }
    if (!buffer_.schema && remember(key, name) < 0) return -1;
    return 0;
  }

 private:
  std::string key_of(const char* name) const {
    std::string key(reinterpret_cast<const char*>(notes_), count_ * sizeof(Note));
    if (!more_.empty()) {
      key.assign(reinterpret_cast<const char*>(more_.data()), more_.size() * sizeof(Note));
    }
    if (name) key += name;
    return key;
  }

  int remember(const std::string& key, const char* name) {
    const Note* notes = more_.empty() ? notes_ : more_.data();
    const size_t count = more_.empty() ? count_ : more_.size();
    Layout made;
    made.schema = SchemaBuilder(notes, count).build(name);
    if (!made.schema) return too_many_schemas();
    for (size_t i = 0; i < count; ++i) made.names.push_back(py_ref::borrow(notes[i].name));
    buffer_.schema = made.schema;
    constexpr size_t most_layouts = 8192;
    std::unordered_map<std::string, Layout> forgotten;  // freed without the lock
    Layouts& table = layouts();
    std::lock_guard<object_mutex> lock(table.mutex);
    if (table.known.size() >= most_layouts) forgotten.swap(table.known);
    table.known.emplace(key, std::move(made));
    return 0;
  }

  void note(PyObject* name, FieldCode code, uint64_t length = 0) {
    const Note made = {name, static_cast<uint64_t>(code) | (length << 8)};
    if (count_ < most_notes) {
      notes_[count_++] = made;
      return;
    }
    if (more_.empty()) more_.assign(notes_, notes_ + count_);
    more_.push_back(made);
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
    const RecordKind kind = look_up(Py_TYPE(record), &names);
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
    if (PyDict_Check(value) || look_up(Py_TYPE(value), nullptr) != RecordKind::none) {
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
    std::memcpy(at, data, count * element);
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
      py_ref number = py_ref::steal(PyObject_CallMethod(value, "item", nullptr));
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

RecordKind record_kind(PyTypeObject* type) { return look_up(type, nullptr); }

int encode_record(PyObject* value, PayloadBuffer& buffer) {
  RecordWriter writer(buffer);
  if (writer.write(value) < 0) return -1;
  return writer.finish(PyDict_Check(value) ? nullptr : Py_TYPE(value)->tp_name);
}

}  // namespace nvspan
