// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/file/chunk_scan.hpp"

#include "reader/chunks/entries.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace nvspan::reader {
namespace {

// A process may be killed while it writes an entry: then its first word is missing, and what
// follows is at most as long as its payload says.
bool is_one_unfinished_entry(const std::uint64_t* at, const std::uint64_t* end) {
  const std::uint64_t* last = end;
  while (last != at && last[-1] == 0) --last;
  if (last - at <= static_cast<std::ptrdiff_t>(record::entry_most_words + 1)) return true;
  for (std::ptrdiff_t i = 1; i <= 3 && at + i < end; ++i) {
    const auto room = static_cast<std::uint64_t>(end - at - i - 1) * word;
    if (at[i] <= room && last - at <= i + 1 + static_cast<std::ptrdiff_t>((at[i] + 7) / word)) {
      return true;
    }
  }
  return false;
}

}  // namespace

ChunkScan scan_chunk(const Recording& recording, const ReadProcess& process,
                     const ReadChunk& chunk) {
  ChunkScan scan;
  scan.last_ticks = chunk.base_ticks;
  std::uint64_t base = chunk.base_ticks;
  const std::uint64_t* at = chunk.begin;
  const auto take = [&](const Entry& entry, std::uint64_t ticks) {
    scan.last = entry.begin;
    scan.end = at;
    if (entry.kind == record::EntryKind::lost) scan.lost += *entry.value;
    if (entry.is_event()) scan.last_ticks = std::max(scan.last_ticks, ticks);
    if (!entry.is_counted()) return true;
    ++scan.events;
    const bool by_site = entry.kind == record::EntryKind::push ||
                         entry.kind == record::EntryKind::start ||
                         entry.kind == record::EntryKind::mark || entry.is_of_work();
    if (by_site && entry.site == unknown_site) ++scan.unknown;
    return true;
  };
  const EntryStep step = each_entry(at, chunk.end, base, EntrySites(recording, process), take);
  scan.damaged = step != EntryStep::end;
  if (chunk.state == ChunkState::open && !is_one_unfinished_entry(at, chunk.end)) {
    scan.damaged = true;
  }
  return scan;
}

bool may_end_in_filling(const ReadChunk& chunk, const std::uint64_t* end) {
  constexpr std::uint64_t smallest_block = 512;
  if (chunk.state != ChunkState::cut || chunk.begin == chunk.end) return false;
  const std::uint64_t file_end = chunk.offset + sizeof(record::ChunkHeader) +
                                 static_cast<std::uint64_t>(chunk.end - chunk.begin) * word;
  return (end < chunk.end && *end == 0) || chunk.end[-1] == 0 || file_end % smallest_block == 0;
}

const std::uint64_t* end_of_cells(const ReadChunk& chunk) {
  constexpr std::size_t words_of[] = {
      0, sizeof(record::StatsCell) / word, sizeof(record::StatsBlock) / word,
      sizeof(record::StatsNested) / word, sizeof(record::StatsAwaited) / word};
  const std::uint64_t* last = chunk.begin;
  const std::uint64_t* at = chunk.begin;
  while (at < chunk.end && *at != 0 && *at < std::size(words_of)) {
    const std::size_t words = words_of[*at];
    if (words > static_cast<std::size_t>(chunk.end - at)) break;
    last = at;
    at += words;
  }
  return may_end_in_filling(chunk, at) ? last : chunk.end;
}

}  // namespace nvspan::reader
