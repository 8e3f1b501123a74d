// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What other processes ask of the recorder through the file: another mode. The first thread that
// notices carries it out for the process; each thread then changes its own writer, so that none
// waits for another.

#include "record/file/ticks.hpp"
#include "record/writer/recorder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace nvspan::record {
namespace {

constexpr std::uint64_t usual_ring = 64'000'000;
constexpr std::uint64_t longest_period = 1'000'000'000;  // ns

// Whoever else may write into the file must not be able to ask for anything.
bool is_owners_alone(const char* path) noexcept {
  struct stat status = {};
  return ::lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

void Recorder::name_handle(std::uint64_t handle, std::string_view text) {
  if (!is_open() || is_orphan() || text.data() == nullptr) return;
  if (handle >> 44 == live_domain_handles >> 44) definitions_.names.domain(handle, text);
  definitions_.chunk.add(DefinitionType::cited_string,
                         CitedString{handle, definitions_.names.string(text).id, 0});
}

bool Recorder::takes_mode(std::uint64_t mode) const noexcept {
  const auto is = [&](RecordMode known) { return mode == static_cast<std::uint64_t>(known); };
  if (file_.mode() == RecordMode::stats) return mode == live_no_mode;
  return mode == live_no_mode || is(RecordMode::full) || is(RecordMode::ring) ||
         is(RecordMode::armed);
}

bool Recorder::take_request() {
  LiveSection& live = file_.live();
  const std::uint64_t asked = live.asked.load(std::memory_order_acquire);
  if (asked == std::max(live.obeyed.load(), live.refused.load())) return false;
  const std::uint64_t mode = live.wanted_mode.load(std::memory_order_relaxed);
  if (!is_owners_alone(file_.segment().path()) || !takes_mode(mode)) {
    live.refused.store(asked, std::memory_order_release);
    return false;
  }
  bool arms = false;
  if (mode != live_no_mode && static_cast<RecordMode>(mode) != file_.mode()) {
    const auto wanted = static_cast<RecordMode>(mode);
    std::uint64_t ring = live.wanted_ring.load(std::memory_order_relaxed);
    if (ring == 0 && file_.options().ring_bytes == 0) ring = usual_ring;
    file_.change_mode(wanted, ring);
    if (wanted == RecordMode::ring) chunks_.begin_ring();
    arms = wanted == RecordMode::armed;
    switched_ = ticks_now();
    blocks_.ask_all();
  }
  live.obeyed.store(asked, std::memory_order_release);
  return arms;
}

std::optional<std::int64_t> Recorder::take_lines_request(bool samples) {
  if (!is_open() || is_orphan()) return std::nullopt;
  LiveSection& live = file_.live();
  const LiveSampler state = samples ? LiveSampler::sampling : LiveSampler::waiting;
  live.sampler.store(static_cast<std::uint64_t>(state), std::memory_order_release);
  const std::uint64_t asked = live.lines_asked.load(std::memory_order_acquire);
  if (asked == live.lines_obeyed.load(std::memory_order_relaxed)) return std::nullopt;
  if (!is_owners_alone(file_.segment().path())) return std::nullopt;
  const std::uint64_t period = live.lines_period.load(std::memory_order_relaxed);
  const bool stops = period == live_no_lines;
  if (!stops && period > longest_period) return std::nullopt;
  const LiveSampler wanted = stops ? LiveSampler::waiting : LiveSampler::sampling;
  live.sampler.store(static_cast<std::uint64_t>(wanted), std::memory_order_release);
  live.lines_obeyed.store(asked, std::memory_order_release);
  return stops ? -1 : static_cast<std::int64_t>(period);
}

void Recorder::follow_mode(ThreadWriter& writer) {
  if (writer.is(file_.mode())) return;
  if (writer.is(RecordMode::stats)) return;
  const bool records = !writer.is(RecordMode::armed);
  const bool will_record = file_.mode() != RecordMode::armed;
  if (records) stop_ranges(writer, will_record);
  threads_.set_mode(writer);
  if (will_record) begin_ranges(writer, records);
}

// What is open ends where the recording of it does; where it goes on in another mode, its pushes
// stay.
void Recorder::stop_ranges(ThreadWriter& writer, bool goes_on) {
  if (!goes_on) {
    const std::uint64_t at = std::max(switched_, writer.base);
    for (std::size_t i = 0; i < writer.domain_count; ++i) {
      DomainCell& domain = writer.domains[i];
      if (domain.hidden) continue;
      for (; domain.depth > 0; --domain.depth) {
        entries_.put(writer, {EntryKind::pop, domain.id, at});
      }
    }
    for (const LiveStart& start : writer.live->started) {
      const std::uint64_t id = start.id.load(std::memory_order_acquire);
      if (id == 0) continue;
      const Range range = range_of(writer, start.entry.load(std::memory_order_acquire));
      entries_.put(writer, {EntryKind::end, range.domain_id, at, &id});
    }
    entries_.write_losses(writer);
  }
  writer.open_count = 0;
  writer.open_beyond = 0;
}

void Recorder::begin_ranges(ThreadWriter& writer, bool recorded) {
  const std::uint64_t now = ticks_now();
  for (std::size_t i = 0; !recorded && i < writer.domain_count; ++i) writer.domains[i].depth = 0;
  const std::uint64_t depth =
      std::min<std::uint64_t>(writer.live->state.load() & live_depth_mask, live_most_open);
  for (std::uint64_t i = 0; i < depth; ++i) {
    const Range range = range_of(writer, writer.live->open[i].load(std::memory_order_relaxed));
    if (!recorded) {
      entries_.put(writer, {EntryKind::push, range.site, now});
      if (range.domain != nullptr) ++range.domain->depth;
    }
    if (!writer.plain) writer.opened(range.site, range.domain_id, now, nullptr);
  }
  for (const LiveStart& start : writer.live->started) {
    const std::uint64_t id = start.id.load(std::memory_order_acquire);
    if (id == 0 || recorded) continue;
    const Range range = range_of(writer, start.entry.load(std::memory_order_acquire));
    entries_.put(writer, {EntryKind::start, range.site, now, &id});
  }
}

Recorder::Range Recorder::range_of(ThreadWriter& writer, std::uint64_t entry) {
  const std::uint64_t bits = entry >> live_domain_shift & live_domain_mask;
  std::uint64_t handle = bits == 0 ? 0 : live_domain_handles | bits;
  for (std::size_t i = 0; i < writer.domain_count; ++i) {
    const std::uint64_t known = writer.domains[i].handle;
    if ((known & live_domain_mask) == bits) handle = known;
  }
  const ThreadSites::Domain domain =
      sites_.domain(writer, handle, handle == 0 ? std::string_view() : std::string_view(""));
  Range range{static_cast<std::uint32_t>(entry), domain.id, domain.cell};
  if (entry >> live_kind_shift == static_cast<std::uint64_t>(LiveName::site)) return range;
  trace::Event event;
  event.kind = trace::EventKind::push;
  event.has_domain = true;
  event.domain_handle = handle;
  event.message = payload_names_.string(handle, live_string_handles | range.site);
  event.message_type = trace::MessageType::registered;
  range.site = sites_.subject(writer, handle, event, nullptr).site;
  return range;
}

}  // namespace nvspan::record
