// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/writer/deferred_lane.hpp"

#include "record/file/ticks.hpp"

#include <cmath>
#include <cstddef>

namespace nvspan::record {
namespace {

constexpr std::string_view lane_name = "deferred events";
constexpr std::size_t short_entry = 8;  // words

// NVTX's numbers of timestamp types.
enum TimestampType : std::uint64_t {
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

std::size_t words_of(const trace::Event& event) {
  std::size_t words = short_entry;
  for (std::size_t i = 0; i < event.blob_count; ++i) {
    words += 4 + event.blobs[i].data.size() / sizeof(std::uint64_t);
  }
  return words;
}

}  // namespace

void DeferredLane::read_clocks() noexcept {
  const FileHeader& header = file_.first_header();
  now_ = sample_clocks();
  frequency_ = frequency_between(header.first, now_, header.estimated_frequency);
}

// nvtxTimestampGet returns this library's CLOCK_MONOTONIC, which is also the default.
bool DeferredLane::to_ticks(std::uint64_t type, std::int64_t stamp, std::uint64_t& ticks) const {
  std::int64_t since = 0;
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
      since = static_cast<std::int64_t>(static_cast<std::uint64_t>(stamp) - now_.monotonic);
      break;
    case realtime:
    case realtime_coarse:
    case system_clock:
      since = static_cast<std::int64_t>(static_cast<std::uint64_t>(stamp) - now_.realtime);
      break;
    default:
      return false;
  }
  const double offset = static_cast<double>(since) * frequency_ / 1e9;
  if (!(std::abs(offset) < 9e18)) return false;
  ticks = now_.ticks + static_cast<std::uint64_t>(std::llround(offset));
  return true;
}

ThreadWriter& DeferredLane::writer() {
  if (writer_ == nullptr || !writer_->is_live()) {
    writer_ = threads_.ready(writer_, 0);
    definitions_.names.thread_name(0, lane_name);
  }
  if (!writer_->is(file_.mode())) threads_.set_mode(*writer_);
  return *writer_;
}

void DeferredLane::mark(std::uint64_t domain, const trace::Event& event, std::uint64_t ticks) {
  if (file_.mode() == RecordMode::armed) return;
  ThreadWriter& lane = writer();
  const ThreadSites::Subject at = sites_.subject(lane, domain, event, nullptr);
  if (file_.mode() == RecordMode::stats)
    return stats_.count(lane, at.site, EntryKind::mark, 0, 0, 0);
  entries_.move_to(lane, ticks, words_of(event));
  entries_.put(lane, {EntryKind::mark, at.site, ticks, nullptr, &event});
}

void DeferredLane::range(std::uint64_t domain, const trace::Event& event, std::uint64_t begin,
                         std::uint64_t end) {
  if (file_.mode() == RecordMode::armed) return;
  ThreadWriter& lane = writer();
  const ThreadSites::Subject at = sites_.subject(lane, domain, event, nullptr);
  if (file_.mode() == RecordMode::stats) {
    const std::uint64_t duration = end > begin ? end - begin : 0;
    if (duration < lane.min_ticks) return;
    return stats_.count(lane, at.site, EntryKind::start, duration, duration, 0);
  }
  const std::size_t words = words_of(event);
  entries_.move_to(lane, begin, words);
  const std::uint64_t id = lane.next_range++;
  if (!entries_.put(lane, {EntryKind::start, at.site, begin, &id, &event})) return;
  entries_.move_to(lane, end, words);
  entries_.put(lane, {EntryKind::end, at.domain_id, end, &id});
}

void DeferredLane::sample(const LaneSample& sample, std::uint64_t ticks) {
  if (file_.mode() == RecordMode::stats || file_.mode() == RecordMode::armed) return;
  ThreadWriter& lane = writer();
  const std::uint32_t number =
      definitions_.payloads.counter(sample.domain, sample.domain_name, sample.counter, sample.name);
  entries_.move_to(lane, ticks, short_entry);
  entries_.put(lane, {sample.real ? EntryKind::counter_f64 : EntryKind::counter_i64, number, ticks,
                      &sample.bits});
}

void DeferredLane::samples(const trace::Event& event, std::uint64_t counter, std::string_view name,
                           std::uint64_t ticks) {
  if (file_.mode() == RecordMode::stats || file_.mode() == RecordMode::armed) return;
  ThreadWriter& lane = writer();
  const std::uint32_t number =
      definitions_.payloads.counter(event.domain_handle, event.domain, counter, name);
  entries_.move_to(lane, ticks, short_entry + event.rows.size() / sizeof(std::uint64_t));
  entries_.put_samples(lane, event, number, ticks);
}

}  // namespace nvspan::record
