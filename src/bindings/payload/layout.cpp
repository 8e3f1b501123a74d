// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/payload/layout.hpp"

#include <string>
#include <unordered_map>
#include <vector>

#include "bindings/payload/encoder.hpp"

namespace nvspan::bindings {

namespace {

struct Layout {
  const annotate::Schema* schema;
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

  const annotate::Schema* build(const char* name) {
    if (name) description_.name = name;
    std::string prefix;
    if (!add(0, prefix)) return nullptr;
    if (!description_.dynamic) description_.static_size = end_;
    return annotate::Schema::describe(std::move(description_));
  }

 private:
  static uint64_t length(const Note& note) noexcept { return note.code >> 8; }
  static FieldCode code(const Note& note) noexcept {
    return static_cast<FieldCode>(note.code & 0xFF);
  }

  annotate::SchemaEntry& entry(const std::string& name, uint64_t type, size_t size,
                               size_t count = 1) {
    annotate::SchemaEntry& schema_entry = description_.entries.emplace_back();
    schema_entry.name = name;
    schema_entry.type = type;
    end_ = (end_ + size - 1) / size * size;
    schema_entry.offset = end_;
    end_ += size * count;
    return schema_entry;
  }

  // A length that no viewer shows, for the entry that follows it.
  void sized(const std::string& name, uint64_t type, size_t size) {
    description_.dynamic = true;
    const uint64_t index = description_.entries.size();
    entry(name + ".size", nvtx::entry_type::uint64, sizeof(uint64_t)).flags =
        nvtx::entry_flag::hide;
    annotate::SchemaEntry& data = entry(name, type, size, 0);
    data.flags = nvtx::entry_flag::length_index;
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
          entry(name, nvtx::entry_type::uint8, 1);
          break;
        case FieldCode::int64:
          entry(name, nvtx::entry_type::int64, 8);
          break;
        case FieldCode::uint64:
          entry(name, nvtx::entry_type::uint64, 8);
          break;
        case FieldCode::float64:
          entry(name, nvtx::entry_type::float64, 8);
          break;
        case FieldCode::text:
          description_.dynamic = true;
          entry(name, nvtx::entry_type::cstring_utf8, 1, 0).flags =
              nvtx::entry_flag::zero_terminated;
          break;
        case FieldCode::bytes:
          sized(name, nvtx::entry_type::byte, 1);
          break;
        case FieldCode::ints:
        case FieldCode::floats: {
          const bool ints = code(note) == FieldCode::ints;
          annotate::SchemaEntry& schema_entry =
              entry(name, ints ? nvtx::entry_type::int64 : nvtx::entry_type::float64, 8,
                    static_cast<size_t>(length(note)));
          schema_entry.flags = nvtx::entry_flag::fixed_array;
          schema_entry.detail = length(note);
          break;
        }
        case FieldCode::many_ints:
          sized(name, nvtx::entry_type::int64, 8);
          break;
        case FieldCode::many_floats:
          sized(name, nvtx::entry_type::float64, 8);
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
      for (annotate::SchemaEntry& schema_entry : description_.entries) schema_entry.offset = 0;
    }
    return true;
  }

  const Note* notes_;
  size_t count_;
  size_t next_ = 0;
  size_t end_ = 0;
  annotate::SchemaDescription description_;
};

}  // namespace

const annotate::Schema* schema_of_notes(const Note* notes, size_t count, const char* type_name) {
  std::string key(reinterpret_cast<const char*>(notes), count * sizeof(Note));
  if (type_name) key += type_name;
  Layouts& table = layouts();
  {
    std::lock_guard<object_mutex> lock(table.mutex);
    const auto found = table.known.find(key);
    if (found != table.known.end()) return found->second.schema;
  }
  Layout layout;
  layout.schema = SchemaBuilder(notes, count).build(type_name);
  if (!layout.schema) {
    too_many_schemas();
    return nullptr;
  }
  const annotate::Schema* schema = layout.schema;
  for (size_t i = 0; i < count; ++i) layout.names.push_back(py_ref::borrow(notes[i].name));
  constexpr size_t most_layouts = 8192;
  std::unordered_map<std::string, Layout> forgotten;  // freed without the lock
  std::lock_guard<object_mutex> lock(table.mutex);
  if (table.known.size() >= most_layouts) forgotten.swap(table.known);
  table.known.emplace(std::move(key), std::move(layout));
  return schema;
}

}  // namespace nvspan::bindings
