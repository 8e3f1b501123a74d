// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a chunk holds, counted without pairing anything.

#pragma once

#include "reader/file/recording.hpp"

#include <cstdint>

namespace nvspan::reader {

struct ChunkScan {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;     // that the recorder itself could not keep
  std::uint64_t unknown = 0;  // of sites that the file does not define
  std::uint64_t last_ticks = 0;
  bool damaged = false;
};

ChunkScan scan_chunk(const Recording& recording, const ReadProcess& process,
                     const ReadChunk& chunk);

}  // namespace nvspan::reader
