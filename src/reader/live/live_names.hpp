// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

// The names of open ranges: from the definitions of a file that is being written, each read once.
class LiveNames {
 public:
  struct Name {
    std::string_view domain;  // absent: the default domain
    std::string_view text;    // absent: it has none
  };
  Name name(std::uint64_t entry) const;  // of LiveBlock

  // Reads what has been added to the chunks that hang together from `newest` on; `file` is mapped.
  // Names that were handed out stay.
  void read(const char* file, std::size_t bytes, std::uint64_t newest);
  // For who reads the file in another way: one definition.
  void add(record::DefinitionType type, std::string_view body);
  const record::SiteDefinition* site(std::uint32_t number) const;  // null: not known

 private:
  struct Chunk {
    std::uint64_t offset;
    std::size_t read;  // bytes, its header included
  };
  void read_chunk(const char* file, std::size_t bytes, Chunk& chunk);
  std::string_view text(std::uint32_t id) const;

  std::vector<Chunk> chunks_;
  std::vector<std::string*> texts_;
  std::unordered_map<std::uint32_t, std::string> kept_;  // whose nodes never move
  std::vector<std::uint32_t> domains_;
  std::vector<record::SiteDefinition> sites_;
  std::unordered_map<std::uint64_t, std::uint32_t> handles_;
};

}  // namespace nvspan::reader
