// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/chunks/byte_source.hpp"
#include "reader/live/sampled_code.hpp"
#include "record/file/format.hpp"

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

  // Reads what has been added to the chunks that hang together from `newest` on. Names that were
  // handed out stay.
  void read(std::uint64_t newest, ByteSource& file);
  const record::SiteDefinition* site(std::uint32_t number) const;  // null: not known
  const SampledCode& code() const noexcept { return code_; }
  std::string_view text(std::uint32_t id) const;  // of a string; absent: none

 private:
  struct Adding;
  struct Chunk {
    std::uint64_t offset;
    std::uint64_t read;  // bytes, its header included
  };
  void read_chunk(Chunk& chunk, ByteSource& file);

  std::vector<Chunk> chunks_;
  std::vector<std::string*> texts_;
  std::unordered_map<std::uint32_t, std::string> kept_;  // whose nodes never move
  std::vector<std::uint32_t> domains_;
  std::vector<record::SiteDefinition> sites_;
  std::unordered_map<std::uint64_t, std::uint32_t> handles_;
  SampledCode code_;
};

}  // namespace nvspan::reader
