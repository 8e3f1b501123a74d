// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "foreign/perfetto_import.hpp"

#include "core/key_order.hpp"
#include "foreign/proto_reader.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace nvspan::foreign {
namespace {

constexpr std::uint64_t realtime = 1, boottime = 6, first_own_clock = 64, own_clocks = 64;

// Times are what a file says: they may be any number, and are taken modulo 2^64.
std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t product_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

bool is_own(std::uint64_t clock) {
  return clock >= first_own_clock && clock < first_own_clock + own_clocks;
}

std::string_view text_of(const std::unordered_map<std::uint64_t, std::string>& texts,
                         std::uint64_t id) {
  const auto found = texts.find(id);
  return found == texts.end() ? std::string_view() : found->second;
}

}  // namespace

void PerfettoImport::fail(const std::string& what) const { throw ForeignError(at_, what); }

void PerfettoImport::feed(const char* data, std::size_t size) {
  buffer_.append(data, size);
  run();
}

void PerfettoImport::run() {
  std::size_t done = 0;
  for (;;) {
    at_ = offset_ + done;
    const std::string_view left = std::string_view(buffer_).substr(done);
    std::uint64_t tag = 0, length = 0;
    std::size_t tag_size = 0, length_size = 0;
    const Varint tag_read = read_varint(left, tag, tag_size);
    if (tag_read == Varint::bad || (tag_read == Varint::whole && (tag & 7) != 2)) {
      fail("expected a packet of a Perfetto trace");
    }
    if (tag_read == Varint::cut) break;
    const Varint length_read = read_varint(left.substr(tag_size), length, length_size);
    if (length_read == Varint::bad) fail("a packet has no length");
    constexpr std::uint64_t most = std::uint64_t{1} << 31;
    if (length_read == Varint::whole && length > most) fail("a packet is longer than 2 GiB");
    if (length_read == Varint::cut || left.size() - tag_size - length_size < length) break;
    const std::string_view body =
        left.substr(tag_size + length_size, static_cast<std::size_t>(length));
    if (tag >> 3 == 1) packet(body);
    any_ = true;
    done += tag_size + length_size + body.size();
  }
  offset_ += done;
  buffer_.erase(0, done);
}

void PerfettoImport::finish(bool partial) {
  at_ = offset_;
  if (!partial && !buffer_.empty()) fail("the file ends within a packet");
  if (!partial && !any_) fail("the file is empty");
  settle();
  for (auto& [uuid, track] : tracks_) {
    for (const Slice& slice : track.open) {
      builder_.range(thread_of(uuid, track), slice.domain, slice.name, slice.start,
                     TraceBuilder::not_ended, record::LaneEvent::range);
    }
  }
  builder_.finish();
}

void PerfettoImport::packet(std::string_view bytes) {
  constexpr std::uint64_t cleared = 1, needs_names = 2;
  std::uint64_t stamp = 0, number = 0, clock = 0, flags = 0;
  bool has_stamp = false, follows_loss = false;
  std::string_view event_bytes, clocks, interned_bytes, defaults_bytes;
  ProtoReader reader(bytes);
  while (reader.next()) {
    switch (reader.field) {
      case 6:
        clocks = reader.bytes;
        break;
      case 8:
        stamp = reader.number;
        has_stamp = true;
        break;
      case 10:
        number = reader.number;
        break;
      case 11:
        event_bytes = reader.bytes;
        break;
      case 12:
        interned_bytes = reader.bytes;
        break;
      case 13:
        flags |= reader.number;
        break;
      case 41:
        flags |= reader.number != 0 ? cleared : 0;
        break;
      case 42:
        follows_loss = reader.number != 0;
        break;
      case 50:
        builder_.leave_out("compressed packet");
        break;
      case 58:
        clock = reader.number;
        break;
      case 59:
        defaults_bytes = reader.bytes;
        break;
      case 60:
        descriptor(reader.bytes);
        break;
      default:
        break;
    }
  }
  if (reader.bad()) fail("a packet is damaged");
  Sequence& sequence = sequences_[number];
  if ((flags & cleared) != 0) {
    sequence.names.clear();
    sequence.categories.clear();
    sequence.default_track = sequence.default_clock = 0;
    sequence.is_whole = true;
  } else if (follows_loss) {
    sequence.is_whole = false;
  }
  if ((flags & needs_names) != 0 && !sequence.is_whole) {
    return builder_.leave_out("packet whose names were lost");
  }
  if (!clocks.empty()) snapshot(sequence, clocks);
  if (!defaults_bytes.empty()) defaults(sequence, defaults_bytes);
  if (!interned_bytes.empty()) interned(sequence, interned_bytes);
  if (event_bytes.data() == nullptr) return;
  if (clock == 0) clock = sequence.default_clock;
  std::int64_t time = 0;
  if (has_stamp && !time_of(sequence, clock, stamp, time)) {
    return builder_.leave_out("event of a clock that no snapshot has");
  }
  event(sequence, time, event_bytes);
}

bool PerfettoImport::time_of(Sequence& sequence, std::uint64_t id, std::uint64_t stamp,
                             std::int64_t& time) {
  if (id == 0) id = boottime;
  Clock& clock = is_own(id) ? sequence.clocks[id] : clocks_[id];
  if (is_own(id) && !clock.known) return false;
  time = static_cast<std::int64_t>(stamp);
  if (clock.incremental) time = clock.last = sum_of(clock.last, time);
  time = sum_of(product_of(time, clock.unit), clock.offset);
  return true;
}

// The clocks that it has side by side; the trace's own is BOOTTIME, or the first of all.
void PerfettoImport::snapshot(Sequence& sequence, std::string_view bytes) {
  struct Read {
    std::uint64_t id = 0;
    std::int64_t stamp = 0, unit = 1;
    bool incremental = false;
  };
  std::vector<Read> reads;
  ProtoReader reader(bytes);
  while (reader.next()) {
    if (reader.field != 1) continue;
    Read read;
    ProtoReader clock(reader.bytes);
    while (clock.next()) {
      if (clock.field == 1) read.id = clock.number;
      if (clock.field == 2) read.stamp = static_cast<std::int64_t>(clock.number);
      if (clock.field == 3) read.incremental = clock.number != 0;
      if (clock.field == 4 && clock.number != 0)
        read.unit = static_cast<std::int64_t>(clock.number);
    }
    if (clock.bad()) fail("a snapshot of clocks is damaged");
    reads.push_back(read);
  }
  if (reader.bad()) fail("a snapshot of clocks is damaged");
  // The best one to tell the others by: the trace's, one that is known by it, one of the system.
  const auto rank = [this](const Read& read) {
    if (read.id == boottime) return 3;
    if (is_own(read.id)) return 0;
    const auto known = clocks_.find(read.id);
    return known != clocks_.end() && known->second.known ? 2 : 1;
  };
  const Read* base = nullptr;
  for (const Read& read : reads) {
    if (base == nullptr || rank(read) > rank(*base)) base = &read;
  }
  if (base == nullptr) return;
  std::int64_t moment = product_of(base->stamp, base->unit);
  if (rank(*base) == 2) moment = sum_of(moment, clocks_[base->id].offset);
  for (const Read& read : reads) {
    const bool own = is_own(read.id);
    Clock& clock = own ? sequence.clocks[read.id] : clocks_[read.id];
    const std::int64_t offset = sum_of(moment, product_of(product_of(read.stamp, read.unit), -1));
    if (read.id == realtime && !clock.known) builder_.set_unix_offset(product_of(offset, -1));
    if (clock.known && !own) continue;  // clocks of the system: the first snapshot counts
    clock.offset = offset;
    clock.unit = read.unit;
    clock.last = read.stamp;
    clock.incremental = read.incremental;
    clock.known = true;
  }
}

void PerfettoImport::defaults(Sequence& sequence, std::string_view bytes) {
  ProtoReader reader(bytes);
  while (reader.next()) {
    if (reader.field == 58) sequence.default_clock = reader.number;
    if (reader.field != 11) continue;
    ProtoReader event(reader.bytes);
    while (event.next()) {
      if (event.field == 11) sequence.default_track = event.number;
    }
  }
  if (reader.bad()) fail("a packet's defaults are damaged");
}

void PerfettoImport::interned(Sequence& sequence, std::string_view bytes) {
  ProtoReader reader(bytes);
  while (reader.next()) {
    if (reader.field != 1 && reader.field != 2) continue;
    std::uint64_t id = 0;
    std::string_view name;
    ProtoReader entry(reader.bytes);
    while (entry.next()) {
      if (entry.field == 1) id = entry.number;
      if (entry.field == 2) name = entry.bytes;
    }
    if (entry.bad()) fail("interned names are damaged");
    auto& table = reader.field == 1 ? sequence.categories : sequence.names;
    table[id] = name;
  }
  if (reader.bad()) fail("interned names are damaged");
}

void PerfettoImport::descriptor(std::string_view bytes) {
  std::uint64_t uuid = 0;
  Track read;
  std::string process_name, thread_name;
  ProtoReader reader(bytes);
  while (reader.next()) {
    if (reader.field == 1) uuid = reader.number;
    if (reader.field == 2 || reader.field == 10) read.name = reader.bytes;
    if (reader.field == 5) read.parent = reader.number;
    if (reader.field == 8) {
      ProtoReader counter(reader.bytes);
      while (counter.next()) {
        if (counter.field == 4) read.unit = static_cast<std::int64_t>(counter.number);
        if (counter.field == 5) read.is_incremental = counter.number != 0;
      }
      if (counter.bad()) fail("a track's descriptor is damaged");
    }
    if (reader.field != 3 && reader.field != 4) continue;
    const bool thread = reader.field == 4;
    ProtoReader of(reader.bytes);
    while (of.next()) {
      if (of.field == 1) read.pid = static_cast<std::int32_t>(of.number);
      if (thread && of.field == 2) read.tid = static_cast<std::int64_t>(of.number);
      if (thread && of.field == 5) thread_name = of.bytes;
      if (!thread && of.field == 6) process_name = of.bytes;
    }
    if (of.bad()) fail("a track's descriptor is damaged");
  }
  if (reader.bad()) fail("a track's descriptor is damaged");
  Track& track = tracks_[uuid];
  track.parent = read.parent;
  track.name = read.name;
  track.unit = read.unit;
  track.is_incremental = read.is_incremental;
  if (read.pid >= 0) track.pid = read.pid;
  if (read.tid >= 0) track.tid = read.tid;
  if (!process_name.empty()) builder_.name_process(read.pid, process_name);
  if (!thread_name.empty() && read.tid >= 0) {
    builder_.name_thread(read.pid, read.tid, thread_name);
  }
}

// A track of a thread, or below one, is that thread; any other is a thread of its own, in the
// process that it is below.
std::uint32_t PerfettoImport::thread_of(std::uint64_t uuid, Track& track) {
  if (track.thread != record::no_thread) return track.thread;
  std::int64_t pid = track.pid;
  std::int64_t tid = track.tid;
  std::uint64_t parent = track.parent;
  for (int depth = 0; depth < 64 && parent != 0 && tid < 0 && pid < 0; ++depth) {
    const auto found = tracks_.find(parent);
    if (found == tracks_.end()) break;
    pid = found->second.pid;
    tid = found->second.tid;
    parent = found->second.parent;
  }
  if (pid < 0) pid = 0;
  if (tid < 0) {
    tid = builder_.text_key("track " + std::to_string(uuid));
    if (!track.name.empty()) builder_.name_thread(pid, tid, track.name);
  }
  return track.thread = builder_.thread(pid, tid);
}

PerfettoImport::Event PerfettoImport::read_event(const Sequence& sequence, std::string_view bytes) {
  Event event;
  event.track = sequence.default_track;
  ProtoReader reader(bytes);
  while (reader.next()) {
    switch (reader.field) {
      case 3:
        if (event.category.empty()) {
          std::uint64_t id = reader.number;
          std::size_t size = 0;
          if (reader.wire == 2) read_varint(reader.bytes, id, size);  // packed
          event.category = text_of(sequence.categories, id);
        }
        break;
      case 6:
        read_legacy(sequence, reader.bytes, event);
        break;
      case 9:
        event.type = reader.number;
        break;
      case 10:
        event.name = text_of(sequence.names, reader.number);
        break;
      case 11:
        event.track = reader.number;
        break;
      case 12:
      case 46:
        builder_.leave_out("counter beside an event");
        break;
      case 22:
        event.category = reader.bytes;
        break;
      case 23:
        event.name = reader.bytes;
        break;
      case 30:
        event.integer = static_cast<std::int64_t>(reader.number);
        break;
      case 36:
      case 42:
      case 47:
      case 48:
        builder_.leave_out("flow");
        break;
      case 44:
        std::memcpy(&event.real, &reader.number, sizeof event.real);
        event.is_real = true;
        break;
      default:
        break;
    }
  }
  if (reader.bad()) fail("an event is damaged");
  return event;
}

void PerfettoImport::read_legacy(const Sequence& sequence, std::string_view bytes, Event& event) {
  ProtoReader reader(bytes);
  while (reader.next()) {
    if (reader.field == 1 && event.name.empty())
      event.name = text_of(sequence.names, reader.number);
    if (reader.field == 2) event.phase = static_cast<char>(reader.number);
    if (reader.field == 3) event.duration = static_cast<std::int64_t>(reader.number);
    // Of any program, of the process, of all.
    if (reader.field == 6 || reader.field == 10 || reader.field == 11) event.id = reader.number;
  }
  if (reader.bad()) fail("an event is damaged");
}

void PerfettoImport::event(Sequence& sequence, std::int64_t time, std::string_view bytes) {
  constexpr std::uint64_t begins = 1, ends = 2, instant = 3, counter = 4;
  const Event event = read_event(sequence, bytes);
  Track& track = tracks_[event.track];
  if (event.type == begins)
    begin(track, event, time);
  else if (event.type == ends)
    end(event.track, track, time);
  else if (event.type == instant)
    builder_.mark(thread_of(event.track, track), event.category, event.name, time);
  else if (event.type == counter)
    count(track, event, time);
  else
    legacy(track, event, time);
}

void PerfettoImport::begin(Track& track, const Event& event, std::int64_t time) {
  const Slice slice{time, kept(event.category), kept(event.name)};
  if (track.tid < 0)
    hold(track, slice, false);
  else
    track.open.push_back(slice);
}

void PerfettoImport::end(std::uint64_t uuid, Track& track, std::int64_t time) {
  if (track.tid < 0 && !settling_) return hold(track, Slice{time, {}, {}}, true);
  if (track.open.empty()) return builder_.leave_out("end of a slice that did not begin");
  const Slice slice = track.open.back();
  track.open.pop_back();
  builder_.range(thread_of(uuid, track), slice.domain, slice.name, slice.start,
                 std::max(time, slice.start), record::LaneEvent::range);
}

void PerfettoImport::hold(Track& track, const Slice& slice, bool is_end) {
  constexpr std::size_t most_held = 1'000'000;
  track.held.push_back(Held{slice, is_end});
  if (++held_ >= most_held) settle();
}

void PerfettoImport::settle() {
  settling_ = true;
  for (auto& [uuid, track] : tracks_) {
    core::stable_sort_by(track.held.begin(), track.held.end(),
                         [](const Held& held) { return held.slice.start; });
    for (const Held& held : track.held) {
      if (held.is_end)
        end(uuid, track, held.slice.start);
      else
        track.open.push_back(held.slice);
    }
    track.held = {};
  }
  held_ = 0;
  settling_ = false;
}

void PerfettoImport::count(Track& track, const Event& event, std::int64_t time) {
  const std::string_view name = event.name.empty() ? std::string_view(track.name) : event.name;
  if (event.is_real) {
    double value = event.real;
    if (track.is_incremental) value = track.real_sum += value;
    builder_.sample(thread_of(event.track, track), event.category, name, time,
                    value * static_cast<double>(track.unit));
    return;
  }
  std::int64_t value = event.integer;
  if (track.is_incremental) value = track.sum = sum_of(track.sum, value);
  builder_.sample(thread_of(event.track, track), event.category, name, time,
                  product_of(value, track.unit));
}

void PerfettoImport::legacy(Track& track, const Event& event, std::int64_t time) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
  // The upper half is for ranges without an id.
  const std::uint64_t id = (std::hash<std::string_view>{}(event.category) ^ event.id * odd) >> 1;
  switch (event.phase) {
    case 'X': {
      const std::int64_t last = sum_of(time, product_of(event.duration, 1000));
      return builder_.range(thread_of(event.track, track), event.category, event.name, time,
                            std::max(last, time), record::LaneEvent::range);
    }
    case 'B':
      return begin(track, event, time);
    case 'E':
      return end(event.track, track, time);
    case 'I':
    case 'R':
    case 'i':
    case 'n':
      return builder_.mark(thread_of(event.track, track), event.category, event.name, time);
    case 'S':
    case 'b':
      return builder_.start(thread_of(event.track, track), event.category, event.name, time, id);
    case 'F':
    case 'e':
      return builder_.end(thread_of(event.track, track), event.category, time, id);
    default:
      return builder_.leave_out("other");
  }
}

}  // namespace nvspan::foreign
