// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From what was noted of a record's fields to its schema.

#include "bindings/support/py.hpp"

#include <cstdint>

#include "annotate/payload/schema.hpp"

namespace nvspan::bindings {

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

// The schema of fields like these, of a type of that name (null: it has none). Kept by addresses,
// so that equal notes find it at once. Null with an exception set.
const annotate::Schema* schema_of_notes(const Note* notes, size_t count, const char* type_name);

}  // namespace nvspan::bindings
