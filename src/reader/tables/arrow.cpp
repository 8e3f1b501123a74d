// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/tables/arrow.hpp"

#include "core/text/utf8.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace nvspan::reader {
namespace {

constexpr std::int64_t nullable = 2;

struct SchemaParts {
  std::string format;
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary = {};
};

struct ArrayParts {
  std::shared_ptr<const Column> column;
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray own_dictionary = {};
};

template <typename Struct, typename Parts>
void release(Struct* given) {
  if (given == nullptr || given->release == nullptr) return;
  for (std::int64_t i = 0; i < given->n_children; ++i) {
    if (given->children[i]->release != nullptr) given->children[i]->release(given->children[i]);
  }
  if (given->dictionary != nullptr && given->dictionary->release != nullptr) {
    given->dictionary->release(given->dictionary);
  }
  auto* parts = static_cast<Parts*>(given->private_data);
  given->release = nullptr;
  delete parts;
}

template <typename Struct, typename Parts>
void finish(Struct& out, std::unique_ptr<Parts> parts) {
  for (auto& child : parts->children) parts->pointers.push_back(&child);
  out.n_children = static_cast<std::int64_t>(parts->children.size());
  out.children = parts->pointers.data();
  out.release = release<Struct, Parts>;
  out.private_data = parts.release();
}

void make_schema(ArrowSchema& out, std::string format, std::string name, std::int64_t flags,
                 std::unique_ptr<SchemaParts> parts) {
  out = ArrowSchema{};
  parts->format = std::move(format);
  parts->name = std::move(name);
  out.format = parts->format.c_str();
  out.name = parts->name.c_str();
  out.flags = flags;
  if (parts->dictionary.release != nullptr) out.dictionary = &parts->dictionary;
  finish(out, std::move(parts));
}

void make_array(ArrowArray& out, std::size_t length, std::int64_t null_count,
                std::unique_ptr<ArrayParts> parts) {
  out = ArrowArray{};
  out.length = static_cast<std::int64_t>(length);
  out.null_count = null_count;
  out.n_buffers = static_cast<std::int64_t>(parts->buffers.size());
  out.buffers = parts->buffers.data();
  if (parts->own_dictionary.release != nullptr) out.dictionary = &parts->own_dictionary;
  finish(out, std::move(parts));
}

void export_column(const std::shared_ptr<const Column>& column, ArrowArray& out) {
  auto parts = std::make_unique<ArrayParts>();
  parts->column = column;
  parts->buffers = {column->validity == nullptr ? nullptr : column->validity->data(), column->data};
  if (column->dictionary != nullptr) {
    auto texts = std::make_unique<ArrayParts>();
    texts->dictionary = column->dictionary;
    texts->buffers = {nullptr, column->dictionary->offsets.data(),
                      column->dictionary->bytes.data()};
    make_array(parts->own_dictionary, column->dictionary->offsets.size() - 1, 0, std::move(texts));
  }
  make_array(out, column->length, column->null_count, std::move(parts));
}

// Arrow's names are UTF-8 that ends with its first zero.
std::string name_of(const Column& column) {
  std::string name = core::repaired_utf8(column.name);
  for (std::size_t at = 0; (at = name.find('\0', at)) != std::string::npos;) {
    name.replace(at, 1, "\\x00");
  }
  return name;
}

struct StreamParts {
  ColumnList columns;
  std::size_t rows;
  bool done = false;
};

}  // namespace

void export_schema(const ColumnList& columns, ArrowSchema* out) {
  auto parts = std::make_unique<SchemaParts>();
  parts->children.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto child = std::make_unique<SchemaParts>();
    if (columns[i]->dictionary != nullptr) {
      make_schema(child->dictionary, "u", "", 0, std::make_unique<SchemaParts>());
    }
    make_schema(parts->children[i], std::string(1, columns[i]->type), name_of(*columns[i]),
                nullable, std::move(child));
  }
  make_schema(*out, "+s", "", 0, std::move(parts));
}

void export_array(const ColumnList& columns, std::size_t rows, ArrowArray* out) {
  auto parts = std::make_unique<ArrayParts>();
  parts->buffers = {nullptr};
  parts->children.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) export_column(columns[i], parts->children[i]);
  make_array(*out, rows, 0, std::move(parts));
}

void export_stream(ColumnList columns, std::size_t rows, ArrowArrayStream* out) {
  out->get_schema = [](ArrowArrayStream* self, ArrowSchema* schema) {
    try {
      export_schema(static_cast<StreamParts*>(self->private_data)->columns, schema);
      return 0;
    } catch (...) {
      return ENOMEM;
    }
  };
  out->get_next = [](ArrowArrayStream* self, ArrowArray* array) {
    auto& parts = *static_cast<StreamParts*>(self->private_data);
    *array = ArrowArray{};
    if (parts.done) return 0;
    try {
      export_array(parts.columns, parts.rows, array);
      parts.done = true;
      return 0;
    } catch (...) {
      return ENOMEM;
    }
  };
  out->get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  out->release = [](ArrowArrayStream* self) {
    delete static_cast<StreamParts*>(self->private_data);
    self->release = nullptr;
  };
  out->private_data = new StreamParts{std::move(columns), rows};
}

}  // namespace nvspan::reader
