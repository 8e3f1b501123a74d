// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_request.hpp"

#include "core/os/clock.hpp"
#include "reader/chunks/file_lock.hpp"
#include "reader/chunks/open_file.hpp"

#include <time.h>

namespace nvspan::reader {
namespace {

void wake_threads(OpenFile& file, std::uint64_t newest) {
  file.each_chunk(newest, [&](std::uint64_t offset, const record::ChunkHeader& header) {
    const std::size_t count = record::live_blocks_in(header);
    auto* blocks = file.writable_at<record::LiveBlock>(offset + record::live_blocks_start, count);
    for (std::size_t i = 0; blocks != nullptr && i < count; ++i) blocks[i].asked.store(1);
    return true;
  });
}

void pause() {
  const timespec millisecond = {0, 1000 * 1000};
  ::nanosleep(&millisecond, nullptr);
}

}  // namespace

LiveAnswer ask(const std::string& path, const LiveRequest& request, std::uint64_t wait,
               std::string& problem) {
  FileTerms terms;
  terms.writable = true;
  terms.least = record::file_header_bytes;
  OpenFile file;
  if (!file.open(path, problem, terms)) return LiveAnswer::failed;
  const std::uint64_t until = core::monotonic_ns() + wait;
  if (!lock_file(file.fd(), wait, problem)) {  // requests take turns
    problem += ", and no request gets through";
    return LiveAnswer::failed;
  }
  if (!file.map(problem, terms)) return LiveAnswer::failed;
  auto& page = *file.writable_at<record::FirstPage>(0);
  record::LiveSection& live = page.live;
  if (page.header.magic != record::file_magic || live.magic.load() != record::live_magic) {
    problem = "it is not a recording that takes requests";
    return LiveAnswer::failed;
  }
  const std::uint64_t number = live.asked.load() + 1;
  live.wanted_mode.store(request.mode);
  live.wanted_ring.store(request.ring_bytes);
  live.asked.store(number);
  wake_threads(file, live.blocks.load(std::memory_order_acquire));
  for (;;) {
    if (live.obeyed.load() >= number) return LiveAnswer::obeyed;
    if (live.refused.load() >= number) return LiveAnswer::refused;
    if (core::monotonic_ns() >= until) return LiveAnswer::waiting;
    pause();
  }
}

}  // namespace nvspan::reader
