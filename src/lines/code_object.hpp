// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/copier.hpp"
#include "lines/interpreter.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::lines {

// The fields of a code object that do not change while it lives.
struct CodeHeader {
  Address constants = 0;
  Address names = 0;
  Address file = 0;
  Address name = 0;
  Address qualified_name = 0;
  Address lines = 0;
  Address instructions = 0;  // of 3.10
  std::int64_t size = 0;     // from 3.11 on, in units
  std::int32_t first_line = 0;
  std::int32_t flags = 0;
  std::uint32_t version = 0;
  std::int32_t locals = 0;  // places of a frame before its stack

  bool operator==(const CodeHeader& other) const noexcept;
};

// A text as it is in memory: its beginning, by which a changed one is known.
struct RawText {
  std::int64_t length = 0;
  std::int32_t data = 0;  // where its bytes are in the object
  std::string first;
};

struct Code {
  CodeHeader header;
  std::string file;
  std::string name;
  std::string qualified_name;
  std::string lines;  // the table of lines, as CPython has it
  RawText raw[3];     // of file, name and qualified name
  std::int64_t units = 0;
  bool shim = false;  // the interpreter's own: its trampoline, or what follows __init__()
};

// The string at `address`, as UTF-8. False: there is none, or it changed.
bool read_text(MemoryCopier& copier, const nvspan_layout& layout, Address address,
               std::string& text, RawText& raw);

// Reads the code object at `address`, twice: what is freed or changes meanwhile is not the same.
bool read_code(MemoryCopier& copier, const nvspan_layout& layout, Address address, Code& code);

// Where memory is compared, as nobody tells of freed objects: whether what `code` was read from is
// as it was. compared_ranges() are what to copy, and is_unchanged() looks at the copy.
void add_compared_ranges(const nvspan_layout& layout, Address address, const Code& code,
                         std::vector<iovec>& ranges);
bool is_unchanged(const nvspan_layout& layout, const Code& code, const char* copy);
std::size_t compared_bytes(const nvspan_layout& layout, const Code& code) noexcept;

}  // namespace nvspan::lines
