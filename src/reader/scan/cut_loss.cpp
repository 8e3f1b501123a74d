// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What is missing in a file that another process shortened while it was written: all events that
// its header speaks of, less those that are there or that it says itself are lost.

#include "reader/file/chunk_scan.hpp"
#include "reader/file/recording.hpp"

#include <algorithm>

namespace nvspan::reader {

void Recording::add_cut_loss(std::uint32_t process) {
  const ReadProcess& read = processes_[process];
  const record::FileHeader& header = read.header;
  const bool ring = header.mode == static_cast<std::uint32_t>(record::RecordMode::ring);
  const bool checked = header.version != record::version_without_checksums;
  std::uint64_t known = 0;
  std::uint64_t last = 0;  // ticks
  for (const ReadThread& thread : threads_) {
    if (thread.process != process) continue;
    if (thread.overwritten) known += thread.overwritten_events;
    std::uint64_t number = 0;
    std::uint64_t recorded = 0;
    for (const ReadChunk& chunk : thread.chunks) {
      if (ring && !checked && chunk.number != number + 1) {
        known += chunk.before > recorded ? chunk.before - recorded : 0;
        recorded = chunk.before;
      }
      number = chunk.number;
      const ChunkScan scan = scan_chunk(*this, read, chunk);
      recorded += scan.events + scan.lost;
      known += scan.events + scan.lost;
      last = std::max(last, scan.last_ticks);
    }
  }
  if (header.total_events != 0 && header.total_events <= known) return;
  ReadLoss lost;
  lost.process = process;
  lost.from = read.time(std::max(header.loss.from, last));
  lost.to = std::max(lost.from, read.time(header.loss.to));
  lost.count = header.total_events == 0 ? 0 : header.total_events - known;
  lost.reason = cut_off_text;
  losses_.push_back(lost);
}

}  // namespace nvspan::reader
