// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/thread/event_cost.hpp"

#include "record/file/ticks.hpp"
#include "record/thread/thread_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr unsigned measured_ranges = 256;

}  // namespace

void measure_event_cost(core::PagePool& pool, std::uint64_t epoch, FileHeader& header) noexcept {
  void* space = nullptr;
  ThreadWriter* writer = nullptr;
  constexpr std::size_t bytes = 4 * measured_ranges * sizeof(std::uint64_t);
  try {
    space = pool.allocate(bytes);
    writer = static_cast<ThreadWriter*>(pool.allocate(sizeof(ThreadWriter)));
  } catch (...) {
    if (space != nullptr) pool.deallocate(space, bytes);
    return;
  }
  std::memset(static_cast<void*>(writer), 0, sizeof *writer);
  writer->epoch = epoch;
  writer->live = &writer->unseen;
  SiteKey key;
  key.message = 1;
  writer->remember(key, nullptr, nullptr, 1);
  std::uint64_t least = static_cast<std::uint64_t>(-1);
  std::uint64_t least_inner = least;
  for (int round = 0; round < 4; ++round) {
    writer->cursor = static_cast<std::atomic<std::uint64_t>*>(space);
    writer->end = writer->cursor + 4 * measured_ranges;
    writer->base = ticks_now();
    const std::uint64_t begin = ticks_now();
    for (unsigned i = 0; i < measured_ranges; ++i) {
      writer->enter();
      const CachedSite* site = writer->is_live() ? writer->find(key, false) : nullptr;
      if (site != nullptr) {
        writer->put(EntryKind::push, site->site, ticks_now(), 0, nullptr, 0);
      }
      writer->leave();
      writer->enter();
      const std::uint64_t at = ticks_now();
      if (writer->is_live()) writer->put(EntryKind::pop, 0, at, 0, nullptr, 0);
      writer->leave();
    }
    least = std::min(least, ticks_now() - begin);
    const auto* words = static_cast<const std::uint64_t*>(space);
    for (unsigned i = 0; i < measured_ranges; ++i) {
      const std::uint64_t inner =
          (words[2 * i + 1] & entry_ticks_mask) - (words[2 * i] & entry_ticks_mask);
      least_inner = std::min(least_inner, inner);
    }
  }
  const double thousandths = 1e12 / header.estimated_frequency;
  header.event_cost =
      static_cast<std::uint32_t>(static_cast<double>(least) * thousandths / (2 * measured_ranges));
  header.inner_cost = static_cast<std::uint32_t>(static_cast<double>(least_inner) * thousandths);
  pool.deallocate(space, bytes);
  pool.deallocate(writer, sizeof *writer);
}

}  // namespace nvspan::record
