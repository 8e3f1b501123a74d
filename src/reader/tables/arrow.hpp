// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Tables in the Arrow C data interface. The structs are that interface's own, fixed by its
// specification.

#pragma once

#include "reader/tables/columns.hpp"

#include <cstdint>
#include <memory>
#include <vector>

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace nvspan::reader {

using ColumnList = std::vector<std::shared_ptr<const Column>>;

// The data stay where they are, and alive until the consumer releases them.
void export_schema(const ColumnList& columns, ArrowSchema* out);
void export_array(const ColumnList& columns, std::size_t rows, ArrowArray* out);
void export_stream(ColumnList columns, std::size_t rows, ArrowArrayStream* out);

}  // namespace nvspan::reader
