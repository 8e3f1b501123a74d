// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// One pass over a thread's entries, with push ranges paired. Whoever wants something of it derives
// from ThreadVisitor and hides what it needs; nothing is virtual.

#pragma once

#include "reader/chunks/entries.hpp"
#include "reader/file/chunk_scan.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/open_stack.hpp"
#include "reader/scan/work_payload.hpp"
#include "trace/payload/payload_numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace nvspan::reader {

struct ThreadVisitor {
  static constexpr std::uint64_t no_row = OpenStack::no_row;

  std::uint64_t open(const PushRange&, std::uint64_t, const EntryPayload&) { return no_row; }
  void close(const PushRange&, std::uint64_t, const EntryPayload&) {}
  void unclosed(const PushRange&, std::uint64_t, EndReason) {}
  void orphan(std::uint32_t, std::uint64_t) {}
  void mark(std::uint32_t, std::uint64_t, const EntryPayload&) {}
  void start(std::uint32_t, std::uint64_t, std::uint64_t, const EntryPayload&) {}
  void end(std::uint32_t, std::uint64_t, std::uint64_t, const EntryPayload&) {}
  // A start/end range that is one entry: a call that launched work, or work of a GPU.
  void whole(std::uint32_t, std::uint64_t, std::uint64_t, const EntryPayload&) {}
  void counter(std::uint32_t, record::EntryKind, std::uint64_t, std::uint64_t) {}
  void lost(const record::LossWindow&, record::LossReason) {}
  // What a ring overwrote: from, to and how many events, 0 where that is not known.
  void gap(std::uint64_t, std::uint64_t, std::uint64_t) {}
  void damaged() {}
  // At a thread's end: how many events it has in the file.
  void scanned(std::uint64_t) {}
};

// For each push, in their order, whether the visitor is called for the range.
struct KeepAll {
  bool operator()(std::uint32_t, std::uint64_t) const { return true; }
};

// The numbers in samples that are an extended payload, each as one of a counter of its own.
template <typename Use>
void for_each_sample(const ReadProcess& process, std::uint32_t counter, const EntryPayload& payload,
                     Use&& use) {
  constexpr std::uint64_t head = 3 * sizeof(std::uint64_t);  // schema, size as given, size kept
  const auto found = process.groups.find(counter);
  if (found == process.groups.end() || payload.bytes == nullptr || payload.bits < head) return;
  const ReadGroup& group = found->second;
  const auto size = static_cast<std::size_t>(std::min(payload.bytes[2], payload.bits - head));
  const std::string_view bytes(reinterpret_cast<const char*>(payload.bytes + 3), size);
  for (std::size_t at = 0; group.size != 0 && size - at >= group.size; at += group.size) {
    for (const ReadGroup::Part& part : group.parts) {
      trace::PayloadValue value;
      const trace::TypeLayout layout = trace::predefined_layout(part.type);
      if (layout.size == 0) continue;
      trace::read_number(part.type, bytes.substr(at + part.offset, layout.size), value);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value.count, sizeof bits);
      const bool real = value.kind == trace::PayloadValue::Kind::real;
      use(part.counter, real ? record::EntryKind::counter_f64 : record::EntryKind::counter_i64,
          bits);
    }
  }
}

template <typename Visitor, typename Keep = KeepAll>
void scan_thread(const Recording& recording, const ReadThread& thread, Visitor& visitor,
                 Keep&& keep = Keep()) {
  const ReadProcess& process = recording.processes()[thread.process];
  const std::vector<ReadSite>& sites = recording.sites();
  const bool checked = process.header.version != record::version_without_checksums;
  struct Sites {
    EntrySites known;
    Visitor& visitor;
    std::uint32_t site(std::uint32_t number) const {
      const std::uint32_t site = known.site(number);
      if (site == unknown_site) visitor.damaged();
      return site;
    }
    int payload_type(std::uint32_t site) const { return known.payload_type(site); }
  };
  const Sites known{EntrySites(recording, process), visitor};
  OpenStack open;
  const auto push = [&](std::uint32_t site, std::uint64_t start, std::uint64_t events,
                        const EntryPayload& payload) {
    const std::uint64_t parent = open.top_row();
    PushRange& range = open.push(site, sites[site].local_domain, start, keep(site, start));
    range.inside = events;
    range.row = range.shown ? visitor.open(range, parent, payload) : parent;
  };
  std::uint64_t events = 0;
  const auto drain = [&](std::uint64_t at, EndReason reason) {
    open.drain([&](PushRange range) {
      range.inside = events - range.inside;
      if (range.shown) visitor.unclosed(range, at, reason);
    });
  };
  std::uint64_t last = thread.start_ticks;
  std::uint64_t number = 0;
  std::uint64_t recorded = 0;  // as ChunkHeader::before counts them
  std::uint64_t kept = 0;
  const bool ring = process.header.mode == static_cast<std::uint32_t>(record::RecordMode::ring);
  // A thread is known by its first event: where no chunk is left, others took them all.
  if (checked) {
    if (thread.overwritten) visitor.gap(last, thread.overwritten_to, thread.overwritten_events);
  } else if (ring && thread.chunks.empty()) {
    visitor.gap(last, last, 0);
  }
  for (const ReadChunk& chunk : thread.chunks) {
    const bool missing = chunk.number != number + 1;
    if (missing) {
      const std::uint64_t before = chunk.before;
      if (!checked && ring)
        visitor.gap(last, chunk.base_ticks, before > recorded ? before - recorded : 0);
      else if (!checked)
        visitor.damaged();
      recorded = before;
      drain(last, EndReason::lost);
    }
    number = chunk.number;
    std::uint64_t base = chunk.base_ticks;
    const std::uint64_t* at = chunk.begin;
    const auto take = [&](const Entry& entry, std::uint64_t ticks) {
      const std::uint32_t site = entry.site;
      const std::uint32_t subject = entry.subject;
      const std::uint64_t* const value = entry.value;
      const EntryPayload& payload = entry.payload;
      if (entry.is_event()) {
        if (ticks > last) last = ticks;
        ++events;
        if (entry.is_counted()) {
          ++recorded;
          ++kept;
        }
      }
      switch (entry.kind) {
        case record::EntryKind::push:
        case record::EntryKind::open: {
          const bool again = entry.kind == record::EntryKind::open;
          if (again && !missing) break;
          open.advance(again ? base : ticks);
          push(site, again ? *value : ticks, events, payload);
          break;
        }
        case record::EntryKind::pop: {
          open.advance(ticks);
          const bool closes = open.pop(subject, [&](PushRange& range) {
            range.inside = events - range.inside - 1;
            if (range.shown) visitor.close(range, ticks, payload);
          });
          if (!closes) visitor.orphan(subject, ticks);
          break;
        }
        case record::EntryKind::mark:
          visitor.mark(site, ticks, payload);
          break;
        case record::EntryKind::start:
          visitor.start(site, ticks, *value, payload);
          break;
        case record::EntryKind::end:
          visitor.end(subject, ticks, *value, payload);
          break;
        case record::EntryKind::call: {
          const record::LaunchWord launch = record::read_launch_word(*value);
          visitor.whole(site, ticks - launch.duration, ticks, {true, launch.correlation, nullptr});
          break;
        }
        case record::EntryKind::work: {
          const record::LaunchWord launch = record::read_launch_word(*value);
          const Launches* const launches = process.launches.get();
          if (launches != nullptr && launches->is_early(launch.correlation, ticks)) break;
          visitor.whole(site, ticks, ticks + launch.duration, work_payload(entry));
          break;
        }
        case record::EntryKind::base:
          break;
        case record::EntryKind::lost:
          recorded += value[0];
          visitor.lost(record::LossWindow{value[0], value[1], value[2]},
                       static_cast<record::LossReason>(subject));
          break;
        case record::EntryKind::counter_i64:
        case record::EntryKind::counter_f64:
        case record::EntryKind::counter_none:
          visitor.counter(subject, entry.kind, ticks, *value);
          break;
        case record::EntryKind::counter_bytes:
          for_each_sample(process, subject, payload,
                          [&](std::uint32_t of, record::EntryKind sampled, std::uint64_t bits) {
                            visitor.counter(of, sampled, ticks, bits);
                          });
          break;
      }
      return true;
    };
    if (each_entry(at, chunk.end, base, known, take) != EntryStep::end) visitor.damaged();
  }
  if (checked && thread.end_overwritten) {
    const std::uint64_t end = process.header.last[process.header.last_sample % 2].ticks;
    visitor.gap(last, end > last ? end : last, 0);
    drain(last, EndReason::lost);
  }
  last = std::max(last, thread.exited ? thread.end_ticks : process.end_ticks);
  open.advance(last);
  const EndReason reason = thread.exited    ? EndReason::thread_exit
                           : process.closed ? EndReason::process_end
                                            : EndReason::killed;
  drain(last, reason);
  visitor.scanned(kept);
}

}  // namespace nvspan::reader
