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

// The first page of a recording that takes requests, which take turns; null: `problem` says why.
record::FirstPage* open_for_request(const std::string& path, std::uint64_t wait, OpenFile& file,
                                    std::string& problem) {
  FileTerms terms;
  terms.writable = true;
  terms.least = record::file_header_bytes;
  if (!file.open(path, problem, terms)) return nullptr;
  if (!lock_file(file.fd(), wait, problem)) {
    problem += ", and no request gets through";
    return nullptr;
  }
  if (!file.map(problem, terms)) return nullptr;
  auto* const page = file.writable_at<record::FirstPage>(0);
  if (page->header.magic == record::file_magic && page->live.magic.load() == record::live_magic) {
    return page;
  }
  problem = "it is not a recording that takes requests";
  return nullptr;
}

// Until the request with that number is in `obeyed` or `refused`, or it is `until`.
LiveAnswer await_answer(const record::LiveWord& obeyed, const record::LiveWord* refused,
                        std::uint64_t number, std::uint64_t until) {
  for (;;) {
    if (obeyed.load() >= number) return LiveAnswer::obeyed;
    if (refused != nullptr && refused->load() >= number) return LiveAnswer::refused;
    if (core::monotonic_ns() >= until) return LiveAnswer::waiting;
    pause();
  }
}

}  // namespace

LiveAnswer ask(const std::string& path, const LiveRequest& request, std::uint64_t wait,
               std::string& problem) {
  OpenFile file;
  const std::uint64_t until = core::monotonic_ns() + wait;
  record::FirstPage* const page = open_for_request(path, wait, file, problem);
  if (page == nullptr) return LiveAnswer::failed;
  record::LiveSection& live = page->live;
  const std::uint64_t number = live.asked.load() + 1;
  live.wanted_mode.store(request.mode);
  live.wanted_ring.store(request.ring_bytes);
  live.asked.store(number);
  wake_threads(file, live.blocks.load(std::memory_order_acquire));
  return await_answer(live.obeyed, &live.refused, number, until);
}

LiveAnswer ask_for_lines(const std::string& path, std::int64_t period, std::uint64_t wait,
                         std::string& problem) {
  OpenFile file;
  const std::uint64_t until = core::monotonic_ns() + wait;
  record::FirstPage* const page = open_for_request(path, wait, file, problem);
  if (page == nullptr) return LiveAnswer::failed;
  record::LiveSection& live = page->live;
  const auto none = static_cast<std::uint64_t>(record::LiveSampler::none);
  if (period == no_lines) {
    if (live.lines_asked.load() == 0) return LiveAnswer::obeyed;  // nobody asked for any
  } else if (live.sampler.load() == none) {
    return LiveAnswer::refused;
  }
  const std::uint64_t number = live.lines_asked.load() + 1;
  live.lines_period.store(period == no_lines ? record::live_no_lines
                                             : static_cast<std::uint64_t>(period));
  live.lines_asked.store(number);
  return await_answer(live.lines_obeyed, nullptr, number, until);
}

}  // namespace nvspan::reader
