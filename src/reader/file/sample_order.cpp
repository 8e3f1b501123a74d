// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The sample chunks of a file in their order, and how many samples are missing.

#include "core/key_order.hpp"
#include "reader/chunks/sample_records.hpp"
#include "reader/file/loading.hpp"
#include "reader/file/recording.hpp"

#include <algorithm>
#include <utility>

namespace nvspan::reader {

SampleContents sample_contents(const ReadChunk& chunk) {
  SampleContents contents;
  contents.last_ticks = chunk.base_ticks;
  SampleReader reader(1, 1);
  reader.start(chunk);
  SampleRecord record;
  for (;;) {
    const SampleStep step = reader.next(record);
    contents.damaged = step == SampleStep::damaged;
    if (contents.damaged || step == SampleStep::end) return contents;
    contents.last_ticks = record.ticks;
    if (step == SampleStep::sample) ++contents.samples;
  }
}

namespace {

// What is cited has a definition, or is number 0.
void close_citations(SampleTables& tables) {
  const auto close = [](std::uint32_t& number, std::size_t size) {
    if (number >= size) number = 0;
  };
  for (ReadFrame& frame : tables.frames) close(frame.code, tables.codes.size());
  for (ReadStack& stack : tables.stacks) {
    close(stack.parent, tables.stacks.size());
    close(stack.frame, tables.frames.size());
  }
}

}  // namespace

void Recording::order_samples(Loading& loading, const FileCheck& check) const {
  ReadProcess& process = loading.process;
  SampleTables& tables = process.samples;
  close_citations(tables);
  core::stable_sort_by(tables.chunks.begin(), tables.chunks.end(),
                       [](const ReadChunk& chunk) { return chunk.number; });
  const bool gone = check.missing_bytes + check.damaged_bytes + check.missing_chunks != 0;
  const bool keeps_all =
      process.header.mode == static_cast<std::uint32_t>(record::RecordMode::full) &&
      !process.was_ring;
  std::vector<ReadChunk> kept;
  std::uint64_t number = 0;
  std::uint64_t recorded = 0;
  const auto lose = [&](std::uint64_t count) {
    tables.missing += count;
    tables.has_gap = tables.has_gap || count == 0;
  };
  for (const ReadChunk& chunk : tables.chunks) {
    if (chunk.number <= number) continue;  // there can be no second one
    const std::uint64_t between = chunk.before - std::min(chunk.before, recorded);
    if (chunk.number != number + 1) {
      // Where nothing is damaged, newer ones took its place, or were read after it had been.
      if (keeps_all && gone)
        lose(between);
      else if (!keeps_all || !check.moving)
        tables.overwritten += between;
    }
    number = chunk.number;
    recorded = chunk.before;
    if (chunk.state == ChunkState::damaged) {
      ++tables.damaged;
      lose(chunk.events);
      recorded += chunk.events;
      continue;
    }
    const SampleContents contents = sample_contents(chunk);
    const bool known = chunk.sealed && chunk.events >= contents.samples;
    if (contents.damaged || chunk.state == ChunkState::cut) {
      if (!known || chunk.events != contents.samples) {
        lose(known ? chunk.events - contents.samples : 0);
      }
    }
    recorded += known ? chunk.events : contents.samples;
    kept.push_back(chunk);
  }
  if (gone && check.closed && tables.threads.size() > 1 && (kept.empty() || !kept.back().last)) {
    tables.has_gap = true;
  }
  tables.chunks = std::move(kept);
}

}  // namespace nvspan::reader
