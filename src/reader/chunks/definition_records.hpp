// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The records of a definition chunk, one after the other, and what is in them.

#pragma once

#include "reader/chunks/file_span.hpp"
#include "record/file/format.hpp"
#include "record/file/sample_format.hpp"
#include "record/file/work_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace nvspan::reader {

struct DefinitionRecord {
  record::DefinitionType type = record::DefinitionType::string;
  std::string_view body;
};

enum class DefinitionTrust : std::uint8_t {
  whole,     // its checksum holds, or there is none: the records are believed
  open,      // each record is checked; the last one may be unfinished
  damaged,   // each record is checked
  followed,  // likewise, while it grows: behind the last record lies a zero
};

class DefinitionReader {
 public:
  // `bytes` of the chunk with that sequence, from `offset` in it on.
  DefinitionReader(FileSpan bytes, DefinitionTrust trust, std::uint64_t sequence,
                   std::uint64_t offset = sizeof(record::ChunkHeader)) noexcept
      : bytes_(bytes), trust_(trust), sequence_(sequence), offset_(offset) {}

  // Behind what is no record the next one is looked for. False: there is none.
  bool next(DefinitionRecord& found) noexcept;
  // In the chunk, behind the last record.
  std::uint64_t offset() const noexcept { return offset_ + at_; }
  bool is_incomplete() const noexcept { return incomplete_; }  // a whole chunk ends in a record
  std::uint64_t damaged_bytes() const noexcept { return damaged_; }

 private:
  bool take(std::uint64_t at, DefinitionRecord& found) noexcept;

  FileSpan bytes_;
  DefinitionTrust trust_;
  std::uint64_t sequence_;
  std::uint64_t offset_;
  std::uint64_t at_ = 0;
  std::uint64_t summed_ = 0;  // bytes
  std::uint64_t damaged_ = 0;
  bool incomplete_ = false;
};

// Of a JSON object, which is all of its body.
struct EventDefinition {};

template <typename... T>
struct DefinitionTypes {
  static_assert(sizeof...(T) == static_cast<std::size_t>(record::last_definition_type));

  // Calls use(definition, the rest of its body) with the struct of the record's type.
  template <typename Use>
  static void read(const DefinitionRecord& found, Use&& use) {
    const auto read_as = [&](auto definition) {
      constexpr std::size_t size = std::is_empty_v<decltype(definition)> ? 0 : sizeof definition;
      if (found.body.size() < size) return;
      found.body.copy(reinterpret_cast<char*>(&definition), size);
      use(definition, found.body.substr(size));
    };
    auto number = static_cast<std::size_t>(found.type);
    ((--number == 0 ? read_as(T{}) : void()), ...);
  }
};

// By DefinitionType, from 1 on.
using Definitions =
    DefinitionTypes<record::StringDefinition, record::DomainDefinition, record::SiteDefinition,
                    record::CategoryDefinition, record::ThreadDefinition, record::ThreadName,
                    record::CounterDefinition, EventDefinition, record::DeviceLayoutDefinition,
                    record::DeviceNameDefinition, record::SchemaDefinition, record::EnumDefinition,
                    record::ScopeDefinition, record::CitedString, record::CounterMeaningDefinition,
                    record::CodeDefinition, record::FrameDefinition, record::StackDefinition,
                    record::SampledThreadDefinition, record::LaunchShapeDefinition,
                    record::WorkGapDefinition, record::GpuLimitsDefinition,
                    record::GraphNodeDefinition>;

// Calls use() with each of the structs that follow one another in the rest of a definition.
template <typename T, typename Use>
void read_each(std::string_view body, Use&& use) {
  for (; body.size() >= sizeof(T); body.remove_prefix(sizeof(T))) {
    T read = {};
    body.copy(reinterpret_cast<char*>(&read), sizeof read);
    use(read);
  }
}

}  // namespace nvspan::reader
