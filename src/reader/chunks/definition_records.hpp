// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The records of a definition chunk, one after the other, and what is in them.

#pragma once

#include "reader/chunks/file_span.hpp"
#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nvspan::reader {

struct DefinitionRecord {
  record::DefinitionType type = record::DefinitionType::string;
  std::string_view body;
};

enum class DefinitionChunk : std::uint8_t {
  whole,     // its checksum holds, or there is none: the records are believed
  open,      // each record is checked; the last one may be unfinished
  damaged,   // each record is checked
  followed,  // likewise, while it grows: behind the last record lies a zero
};

class DefinitionReader {
 public:
  // `bytes` of the chunk with that sequence, from `offset` in it on.
  DefinitionReader(FileSpan bytes, DefinitionChunk chunk, std::uint64_t sequence,
                   std::uint64_t offset = sizeof(record::ChunkHeader)) noexcept
      : bytes_(bytes), chunk_(chunk), sequence_(sequence), offset_(offset) {}

  // Behind what is no record the next one is looked for. False: there is none.
  bool next(DefinitionRecord& found) noexcept;
  // In the chunk, behind the last record.
  std::uint64_t offset() const noexcept { return offset_ + at_; }
  bool is_incomplete() const noexcept { return incomplete_; }  // a whole chunk ends in a record
  std::uint64_t damaged_bytes() const noexcept { return damaged_; }

 private:
  bool take(std::uint64_t at, DefinitionRecord& found) noexcept;

  FileSpan bytes_;
  DefinitionChunk chunk_;
  std::uint64_t sequence_;
  std::uint64_t offset_;
  std::uint64_t at_ = 0;
  std::uint64_t summed_ = 0;  // bytes
  std::uint64_t damaged_ = 0;
  bool incomplete_ = false;
};

// Of a JSON object, which is all of its body.
struct EventDefinition {};

namespace definition_details {

template <typename T, typename Use>
void read_as(std::string_view body, Use&& use) {
  T read = {};
  if (body.size() < sizeof read) return;
  std::memcpy(&read, body.data(), sizeof read);
  use(read, body.substr(sizeof read));
}

}  // namespace definition_details

// Calls use(definition, the rest of its body) with the struct of the record's type.
template <typename Use>
void read_definition(const DefinitionRecord& found, Use&& use) {
  using definition_details::read_as;
  using record::DefinitionType;
  const std::string_view body = found.body;
  switch (found.type) {
    case DefinitionType::string:
      return read_as<record::StringDefinition>(body, use);
    case DefinitionType::domain:
      return read_as<record::DomainDefinition>(body, use);
    case DefinitionType::site:
      return read_as<record::SiteDefinition>(body, use);
    case DefinitionType::category:
      return read_as<record::CategoryDefinition>(body, use);
    case DefinitionType::thread:
      return read_as<record::ThreadDefinition>(body, use);
    case DefinitionType::thread_name:
      return read_as<record::ThreadName>(body, use);
    case DefinitionType::counter:
      return read_as<record::CounterDefinition>(body, use);
    case DefinitionType::event:
      return use(EventDefinition{}, body);
    case DefinitionType::device_layout:
      return read_as<record::DeviceLayoutDefinition>(body, use);
    case DefinitionType::device_name:
      return read_as<record::DeviceNameDefinition>(body, use);
    case DefinitionType::schema:
      return read_as<record::SchemaDefinition>(body, use);
    case DefinitionType::enumeration:
      return read_as<record::EnumDefinition>(body, use);
    case DefinitionType::scope:
      return read_as<record::ScopeDefinition>(body, use);
    case DefinitionType::cited_string:
      return read_as<record::CitedString>(body, use);
    case DefinitionType::counter_meaning:
      return read_as<record::CounterMeaningDefinition>(body, use);
  }
}

// Calls use() with each of the structs that follow one another in the rest of a definition.
template <typename T, typename Use>
void read_each(std::string_view body, Use&& use) {
  for (; body.size() >= sizeof(T); body.remove_prefix(sizeof(T))) {
    T read = {};
    std::memcpy(&read, body.data(), sizeof read);
    use(read);
  }
}

}  // namespace nvspan::reader
