// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/writer/recorder.hpp"

#include "record/file/ticks.hpp"
#include "trace/event/event.hpp"

#include <cstddef>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr int no_tracking = -2;  // NVTX_NO_PUSH_POP_TRACKING

}  // namespace

int Recorder::push(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                   const SiteKey* key) {
  const ThreadSites::Subject at = sites_.subject(writer, domain, event, key);
  live_push(*writer.live, live_entry(LiveName::site, domain, at.site));
  if (writer.is(RecordMode::armed)) return no_tracking;
  const std::uint64_t ticks = ticks_now();
  writer.live->changed.store(ticks, std::memory_order_relaxed);
  bool written = false;
  if (file_.mode() != RecordMode::stats) {
    written = entries_.put(writer, {EntryKind::push, at.site, ticks, nullptr, &event});
  }
  if (!writer.plain) {
    // Removed only if it is the short entry that the fast path writes.
    const bool small = at.site < entry_wide_subject &&
                       event.payload_type != trace::PayloadType::ext &&
                       at.stretch != StretchKind::unfinished;
    const std::size_t words = EntryWriter::has_payload(event) ? 2 : 1;
    if (file_.mode() == RecordMode::stats) {
      writer.opened_to_count(at.site, at.domain_id, ticks,
                             OpenStretch::of(at.stretch, event.payload_bits));
    } else {
      writer.opened(at.site, at.domain_id, ticks,
                    written && small ? writer.cursor - words : nullptr);
    }
  }
  return at.domain != nullptr ? at.domain->depth++ : no_tracking;
}

int Recorder::pop(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event) {
  live_pop(*writer.live, domain);
  if (writer.is(RecordMode::armed)) return no_tracking;
  const std::uint64_t ticks = event.ticks != 0 ? event.ticks : ticks_now();
  writer.live->changed.store(ticks, std::memory_order_relaxed);
  const ThreadSites::Domain place = sites_.domain(writer, domain, event.domain);
  const bool orphan = place.cell != nullptr && place.cell->depth == 0;
  OpenPush range;
  OpenAround around;
  const bool beyond = writer.open_beyond != 0;
  if (file_.mode() != RecordMode::stats) {
    // The range counts as open until its pop is written: a ring's next chunk begins with what is.
    const OpenPush* const open = writer.plain ? nullptr : writer.innermost(place.id);
    if (open == nullptr || !writer.take_back(*open, ticks)) {
      entries_.put(writer, {EntryKind::pop, place.id, ticks, nullptr, &event});
    }
  }
  const bool known = !writer.plain && writer.closed(place.id, range, around);
  if (file_.mode() == RecordMode::stats) {
    if (known) {
      const std::uint64_t duration = ticks - range.ticks;
      if (writer.open_count != 0) writer.open[writer.open_count - 1].inner += duration;
      const bool counts = writer.takes(range, duration);
      if (counts) {
        stats_.count(writer, range.site, EntryKind::push, duration,
                     duration > range.inner ? duration - range.inner : 0, around.same);
      }
      if (stats_.prepare_awaited(writer, range, counts)) {
        writer.count_awaited(range, duration, counts);
      }
      writer.leave_to_outer(range, around, duration, counts);
    } else if (beyond) {
      entries_.lose(writer, LossReason::too_deep);
    }
  }
  if (place.cell == nullptr || orphan) return no_tracking;
  return --place.cell->depth;
}

void Recorder::mark(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                    const SiteKey* key) {
  live_touch(*writer.live);
  const ThreadSites::Subject at = sites_.subject(writer, domain, event, key);
  if (writer.is(RecordMode::armed)) return;
  if (file_.mode() == RecordMode::stats) {
    stats_.count(writer, at.site, EntryKind::mark, 0, 0, 0);
  } else {
    entries_.put(writer, {EntryKind::mark, at.site, ticks_now(), nullptr, &event});
  }
}

std::uint64_t Recorder::start(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                              const SiteKey* key) {
  const ThreadSites::Subject at = sites_.subject(writer, domain, event, key);
  const std::uint64_t id = writer.next_range++;
  const bool armed = writer.is(RecordMode::armed);
  const std::uint64_t ticks = armed ? 0 : ticks_now();
  const bool placed =
      live_start(*writer.live, id, live_entry(LiveName::site, domain, at.site), ticks);
  if (armed) return id;
  if (file_.mode() == RecordMode::stats) {
    if (!placed) stats_.start(id, at.site, ticks);
  } else {
    entries_.put(writer, {EntryKind::start, at.site, ticks, &id, &event});
  }
  return id;
}

void Recorder::end(ThreadWriter& writer, std::uint64_t domain, std::uint64_t id,
                   const trace::Event& event) {
  live_touch(*writer.live);
  const bool counts = file_.mode() == RecordMode::stats;
  LiveStart* const started = counts ? blocks_.find_start(id) : nullptr;
  LiveBlock* const block = live_starter_of(id);
  if (started == nullptr && block != nullptr) live_end(*block, id);
  if (writer.is(RecordMode::armed)) return;
  const std::uint64_t ticks = event.ticks != 0 ? event.ticks : ticks_now();
  if (counts) return stats_.end(writer, id, ticks, started);
  const ThreadSites::Domain place = sites_.domain(writer, domain, event.domain);
  entries_.put(writer, {EntryKind::end, place.id, ticks, &id, &event});
}

void Recorder::write(const trace::Event& event) {
  if (event.kind == trace::EventKind::counter_sample) {
    // Samples are not part of statistics: their chunks have no place for them.
    if (file_.mode() == RecordMode::stats || file_.mode() == RecordMode::armed) return;
    if (current_ != nullptr && write_sample(*current_, event)) return;
  }
  definitions_.write(event);
}

// False: it is not a sample of a known form.
bool Recorder::write_sample(ThreadWriter& writer, const trace::Event& event) {
  const trace::Field* id = trace::find_field(event, "counter");
  const trace::Field* value = trace::find_field(event, "value");
  const trace::Field* none = trace::find_field(event, "no_value");
  const bool single = value != nullptr || none != nullptr;
  if (id == nullptr || (!single && event.rows.empty())) return false;
  const std::uint32_t counter =
      definitions_.payloads.counter(event.domain_handle, event.domain, id->unsigned_integer,
                                    trace::text_of(trace::find_field(event, "name")));
  if (!single) {
    entries_.put_samples(writer, event, counter, ticks_now());
    return true;
  }
  const EntryKind kind = value == nullptr                        ? EntryKind::counter_none
                         : value->type == trace::FieldType::real ? EntryKind::counter_f64
                                                                 : EntryKind::counter_i64;
  std::uint64_t bits = 0;
  std::memcpy(&bits, value == nullptr ? &none->unsigned_integer : &value->unsigned_integer,
              sizeof bits);
  entries_.put(writer, {kind, counter, ticks_now(), &bits});
  return true;
}

}  // namespace nvspan::record
