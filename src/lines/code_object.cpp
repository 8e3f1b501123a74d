// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/code_object.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::lines {
namespace {

constexpr std::size_t compared_text = 96;  // bytes of each
constexpr std::int64_t longest_text = 4096;
constexpr std::int64_t most_units = 1 << 28;
constexpr std::int64_t longest_table = 1 << 16;

bool read_header(const nvspan_layout& layout, const char* object, CodeHeader& header) {
  header = CodeHeader{};
  if (!has_references(layout, object)) return false;
  if (value_at<Address>(object, layout.object_type) != layout.code_type) return false;
  header.constants = value_at<Address>(object, layout.code_constants);
  header.names = value_at<Address>(object, layout.code_names);
  header.file = value_at<Address>(object, layout.code_file);
  header.name = value_at<Address>(object, layout.code_name);
  header.lines = value_at<Address>(object, layout.code_lines);
  header.qualified_name = layout.code_qualified_name < 0
                              ? header.name
                              : value_at<Address>(object, layout.code_qualified_name);
  header.first_line = value_at<std::int32_t>(object, layout.code_first_line);
  header.flags = value_at<std::int32_t>(object, layout.code_flags);
  if (layout.instruction_index != 0) {
    header.instructions = value_at<Address>(object, layout.code_instructions);
  } else {
    header.size = value_at<std::int64_t>(object, layout.object_size);
  }
  if (layout.calls != nullptr && layout.calls->code_locals >= 0) {
    header.locals = value_at<std::int32_t>(object, layout.calls->code_locals);
  }
  if (layout.code_version >= 0) {
    header.version = value_at<std::uint32_t>(object, layout.code_version);
  }
  return is_plausible(header.file) && is_plausible(header.name) && is_plausible(header.lines) &&
         is_plausible(header.qualified_name) && header.size >= 0 && header.size < most_units;
}

void append_utf8(std::string& text, std::uint32_t point) {
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80 | (point >> shift & 0x3F));
  };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0 | point >> 6);
    tail(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0 | point >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::uint32_t point_at(const char* data, std::int64_t index, unsigned width) {
  const char* const at = data + index * width;
  if (width == 1) return static_cast<unsigned char>(*at);
  return width == 2 ? value_at<std::uint16_t>(at, 0) : value_at<std::uint32_t>(at, 0);
}

// -1: there are none.
std::int64_t size_of_bytes(MemoryCopier& copier, const nvspan_layout& layout, Address address) {
  char object[32];
  if (!copier.read(address, object, static_cast<std::size_t>(layout.object_size) + 8)) return -1;
  if (!has_references(layout, object) ||
      value_at<Address>(object, layout.object_type) != layout.bytes_type) {
    return -1;
  }
  return value_at<std::int64_t>(object, layout.object_size);
}

bool read_table(MemoryCopier& copier, const nvspan_layout& layout, Address address,
                std::string& table) {
  const std::int64_t size = size_of_bytes(copier, layout, address);
  if (size < 0 || size > longest_table) return false;
  table.resize(static_cast<std::size_t>(size));
  return size == 0 ||
         copier.read(address + static_cast<Address>(layout.bytes_data), table.data(), table.size());
}

bool read_once(MemoryCopier& copier, const nvspan_layout& layout, Address address, Code& code) {
  std::string object(static_cast<std::size_t>(layout.code_size), '\0');
  CodeHeader& header = code.header;
  if (!copier.read(address, object.data(), object.size()) ||
      !read_header(layout, object.data(), header) ||
      !read_text(copier, layout, header.file, code.file, code.raw[0]) ||
      !read_text(copier, layout, header.name, code.name, code.raw[1])) {
    return false;
  }
  if (header.qualified_name == header.name) {
    code.qualified_name = code.name;
  } else if (!read_text(copier, layout, header.qualified_name, code.qualified_name, code.raw[2])) {
    return false;
  }
  code.units = header.size;
  if (layout.instruction_index != 0) {
    code.units = size_of_bytes(copier, layout, header.instructions) / 2;
    if (code.units <= 0 || code.units > most_units) return false;
  }
  code.shim = code.file == "<shim>" || (code.file == "__init__" && header.first_line == 0);
  return read_table(copier, layout, header.lines, code.lines);
}

std::size_t header_bytes(const nvspan_layout& layout) noexcept {
  return static_cast<std::size_t>(layout.code_size);
}

int compared_texts(const Code& code) noexcept {
  return code.header.qualified_name == code.header.name ? 2 : 3;
}

std::size_t text_bytes(const RawText& raw) noexcept {
  return static_cast<std::size_t>(raw.data) + raw.first.size();
}

}  // namespace

// Of the code's own texts all are compact strings, which end with a zero.
bool read_text(MemoryCopier& copier, const nvspan_layout& layout, Address address,
               std::string& text, RawText& raw) {
  constexpr std::size_t usual = 256;
  std::string object(static_cast<std::size_t>(layout.string_data) + usual, '\0');
  // The end of a page may follow a short one.
  bool read = false;
  for (const std::size_t size : {object.size(), static_cast<std::size_t>(layout.string_data),
                                 static_cast<std::size_t>(layout.string_ascii_data)}) {
    object.resize(size);
    read = copier.read(address, object.data(), size);
    if (read) break;
  }
  if (!read || !has_references(layout, object.data())) return false;
  if (value_at<Address>(object.data(), layout.object_type) != layout.string_type) return false;
  const auto length = value_at<std::int64_t>(object.data(), layout.string_length);
  const auto state = value_at<std::uint32_t>(object.data(), layout.string_state);
  const std::uint32_t lowest = layout.state_kind & (~layout.state_kind + 1);
  const std::uint32_t width = (state & layout.state_kind) / lowest;
  const bool ascii = (state & layout.state_ascii) != 0;
  if ((state & layout.state_compact) == 0 || length < 0 || length > longest_text ||
      (width != 1 && width != 2 && width != 4)) {
    return false;
  }
  raw.data = ascii ? layout.string_ascii_data : layout.string_data;
  raw.length = length;
  const std::size_t needed =
      static_cast<std::size_t>(raw.data) + static_cast<std::size_t>(length + 1) * width;
  if (needed > object.size()) {
    object.resize(needed);
    if (!copier.read(address, object.data(), needed)) return false;
  }
  const char* const data = object.data() + raw.data;
  text.clear();
  for (std::int64_t i = 0; i < length; ++i) {
    const std::uint32_t point = point_at(data, i, width);
    if (point == 0 || point > 0x10FFFF || (ascii && point > 0x7F)) return false;
    append_utf8(text, point);
  }
  if (point_at(data, length, width) != 0) return false;
  raw.first.assign(data, std::min(static_cast<std::size_t>(length) * width, compared_text));
  return true;
}

bool CodeHeader::operator==(const CodeHeader& other) const noexcept {
  return constants == other.constants && names == other.names && file == other.file &&
         name == other.name && qualified_name == other.qualified_name && lines == other.lines &&
         instructions == other.instructions && size == other.size &&
         first_line == other.first_line && flags == other.flags && version == other.version;
}

bool read_code(MemoryCopier& copier, const nvspan_layout& layout, Address address, Code& code) {
  Code again;
  return read_once(copier, layout, address, code) && read_once(copier, layout, address, again) &&
         code.header == again.header && code.file == again.file && code.name == again.name &&
         code.qualified_name == again.qualified_name && code.lines == again.lines;
}

void add_compared_ranges(const nvspan_layout& layout, Address address, const Code& code,
                         std::vector<iovec>& ranges) {
  const Address texts[] = {code.header.file, code.header.name, code.header.qualified_name};
  ranges.push_back(range_of(address, header_bytes(layout)));
  for (int i = 0; i < compared_texts(code); ++i) {
    ranges.push_back(range_of(texts[i], text_bytes(code.raw[i])));
  }
}

std::size_t compared_bytes(const nvspan_layout& layout, const Code& code) noexcept {
  std::size_t bytes = header_bytes(layout);
  for (int i = 0; i < compared_texts(code); ++i) bytes += text_bytes(code.raw[i]);
  return bytes;
}

bool is_unchanged(const nvspan_layout& layout, const Code& code, const char* copy) {
  CodeHeader header;
  if (!read_header(layout, copy, header) || !(header == code.header)) return false;
  copy += header_bytes(layout);
  for (int i = 0; i < compared_texts(code); ++i) {
    const RawText& raw = code.raw[i];
    if (!has_references(layout, copy) ||
        value_at<Address>(copy, layout.object_type) != layout.string_type ||
        value_at<std::int64_t>(copy, layout.string_length) != raw.length ||
        std::memcmp(copy + raw.data, raw.first.data(), raw.first.size()) != 0) {
      return false;
    }
    copy += text_bytes(raw);
  }
  return true;
}

}  // namespace nvspan::lines
