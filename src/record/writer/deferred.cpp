// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Events that come with their times. They belong to no thread, and lie in chunks of one that stands
// for them all; their order is that in which they were submitted.

#include "record/writer/recorder.hpp"

#include <cmath>

namespace nvspan::record {
namespace {

constexpr std::string_view lane_name = "deferred events";

// NVTX's numbers of timestamp types.
enum Stamp : std::uint64_t {
  none = 0,
  tool_provided = 1,
  tsc = 10,
  realtime = 12,
  realtime_coarse = 13,
  monotonic = 14,
  monotonic_coarse = 16,
  steady_clock = 50,
  system_clock = 52,
};

}  // namespace

// The stamps of nvtxTimestampGet are ours, CLOCK_MONOTONIC, and taken where nothing is said.
bool Recorder::to_ticks(std::uint64_t type, std::int64_t stamp, std::uint64_t& ticks) const {
  const ClockSample& first = segment_.header()->first;
  std::int64_t since = 0;
  const ClockSample now = sample_clocks();
  switch (type) {
    case tsc:
      if (!ticks_are_tsc) return false;
      ticks = static_cast<std::uint64_t>(stamp);
      return true;
    case none:
    case tool_provided:
    case monotonic:
    case monotonic_coarse:
    case steady_clock:
      since = static_cast<std::int64_t>(static_cast<std::uint64_t>(stamp) - now.monotonic);
      break;
    case realtime:
    case realtime_coarse:
    case system_clock:
      since = static_cast<std::int64_t>(static_cast<std::uint64_t>(stamp) - now.realtime);
      break;
    default:
      return false;
  }
  const double frequency = frequency_between(first, now, frequency_);
  const double offset = static_cast<double>(since) * frequency / 1e9;
  if (!(std::abs(offset) < 9e18)) return false;
  ticks = now.ticks + static_cast<std::uint64_t>(std::llround(offset));
  return true;
}

ThreadWriter& Recorder::lane() {
  if (lane_ == nullptr || !lane_->is_live()) {
    lane_ = ready(lane_, 0);
    name_thread(0, lane_name);
  }
  return *lane_;
}

// So that the next entry may lie at `ticks`, whatever came before.
void Recorder::place(ThreadWriter& writer, std::uint64_t ticks, std::size_t words) {
  constexpr std::size_t most = 16;
  if (writer.loss_entry != nullptr || exhausted_) return;
  if (writer.end == nullptr || writer.cursor == nullptr ||
      writer.cursor + words + most > writer.end) {
    if (!refill(writer, words + most)) return;
  }
  if (ticks >= writer.base && ticks - writer.base <= entry_ticks_mask) return;
  writer.cursor[1].store(ticks, std::memory_order_relaxed);
  writer.cursor->store(make_entry(EntryKind::base, 0, 0), std::memory_order_release);
  writer.cursor += 2;
  writer.base = ticks;
}

void Recorder::deferred(std::uint64_t domain, const trace::Event& event, std::uint64_t begin,
                        std::uint64_t end, bool mark) {
  ThreadWriter& writer = lane();
  const Subject at = subject(writer, domain, event, nullptr);
  if (mode_ == RecordMode::stats) {
    const std::uint64_t duration = end > begin ? end - begin : 0;
    if (!mark && duration < writer.min_ticks) return;
    return count(writer, at.site, mark ? EntryKind::mark : EntryKind::start, duration, duration);
  }
  std::size_t words = 8;
  for (std::size_t i = 0; i < event.blob_count; ++i) words += 4 + event.blobs[i].data.size() / 8;
  place(writer, begin, words);
  if (mark) {
    put(writer, EntryKind::mark, at.site, begin, nullptr, 0, &event);
    return;
  }
  const std::uint64_t id = writer.next_range++;
  if (!put(writer, EntryKind::start, at.site, begin, &id, 1, &event)) return;
  place(writer, end, words);
  put(writer, EntryKind::end, at.domain_id, end, &id, 1, nullptr);
}

void Recorder::deferred_sample(std::uint64_t domain, std::string_view domain_name, std::uint64_t id,
                               std::string_view name, bool real, std::uint64_t bits,
                               std::uint64_t ticks) {
  if (mode_ == RecordMode::stats) return;
  ThreadWriter& writer = lane();
  const std::uint32_t number = counter(domain, domain_name, id, name);
  constexpr std::size_t words = 8;
  place(writer, ticks, words);
  put(writer, real ? EntryKind::counter_f64 : EntryKind::counter_i64, number, ticks, &bits, 1,
      nullptr);
}

void Recorder::deferred_samples(const trace::Event& event, std::uint64_t id, std::string_view name,
                                std::uint64_t ticks) {
  if (mode_ == RecordMode::stats) return;
  ThreadWriter& writer = lane();
  const std::uint32_t number = counter(event.domain_handle, event.domain, id, name);
  place(writer, ticks, 8 + event.rows.size() / sizeof(std::uint64_t));
  put_samples(writer, event, number, ticks);
}

}  // namespace nvspan::record
