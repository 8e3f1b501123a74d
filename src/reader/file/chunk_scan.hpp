// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a chunk holds, counted without pairing anything.

#pragma once

#include "reader/file/recording.hpp"

#include <cstdint>

namespace nvspan::reader {

// The sites of a process, for its entries.
class EntrySites {
 public:
  EntrySites(const Recording& recording, const ReadProcess& process)
      : sites_(recording.sites()),
        numbers_(process.sites),
        checked_(process.header.version != record::version_without_checksums) {}

  std::uint32_t site(std::uint32_t number) const {
    return number < numbers_.size() ? numbers_[number] : unknown_site;
  }
  // Version 1 takes every payload of an unknown site to be one word.
  int payload_type(std::uint32_t site) const {
    return checked_ && site == unknown_site ? -1 : static_cast<int>(sites_[site].payload_type);
  }

 private:
  const std::vector<ReadSite>& sites_;
  const std::vector<std::uint32_t>& numbers_;
  const bool checked_;
};

struct ChunkScan {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;     // that the recorder itself could not keep
  std::uint64_t unknown = 0;  // of sites that the file does not define
  std::uint64_t last_ticks = 0;
  const std::uint64_t* last = nullptr;  // the last entry; null: there is none
  const std::uint64_t* end = nullptr;   // of that
  bool damaged = false;
};

ChunkScan scan_chunk(const Recording& recording, const ReadProcess& process,
                     const ReadChunk& chunk);

// Whether zeros that nobody wrote may stand in a chunk that the file's end cuts, from the end of
// its last entry, `end`, on: a file system puts them, in whole blocks, where a file was cut while
// it was read or copied, or where the power failed. Then that entry may be one that the program
// never made.
bool may_end_in_filling(const ReadChunk& chunk, const std::uint64_t* end);

// Where a chunk of cells ends that are certain.
const std::uint64_t* end_of_cells(const ReadChunk& chunk);

}  // namespace nvspan::reader
