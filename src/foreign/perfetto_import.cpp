// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "foreign/perfetto_import.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::foreign {
namespace {

constexpr std::uint64_t realtime = 1, boottime = 6, first_own_clock = 64, own_clocks = 64;

// The fields of a message, one after the other.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : left_(bytes) {}

  // False: there are no more, or what follows is no field; then bad() tells.
  bool next() {
    if (left_.empty()) return false;
    std::uint64_t tag = 0;
    bad_ = !varint(tag);
    if (bad_) return false;
    field = static_cast<std::uint32_t>(tag >> 3);
    wire = static_cast<unsigned>(tag & 7);
    number = 0;
    bytes = {};
    std::size_t size = 0;
    switch (wire) {
      case 0:
        bad_ = !varint(number);
        return !bad_;
      case 1:
      case 5:
        size = wire == 1 ? 8 : 4;
        bad_ = left_.size() < size;
        if (bad_) return false;
        std::memcpy(&number, left_.data(), size);
        left_.remove_prefix(size);
        return true;
      case 2: {
        std::uint64_t length = 0;
        bad_ = !varint(length) || length > left_.size();
        if (bad_) return false;
        bytes = left_.substr(0, static_cast<std::size_t>(length));
        left_.remove_prefix(bytes.size());
        return true;
      }
      default:
        bad_ = true;
        return false;
    }
  }
  bool bad() const noexcept { return bad_; }

  std::uint32_t field = 0;
  unsigned wire = 0;
  std::uint64_t number = 0;
  std::string_view bytes;

 private:
  bool varint(std::uint64_t& out) {
    out = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      out |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  std::string_view left_;
  bool bad_ = false;
};

enum class Varint { whole, cut, bad };

Varint read_varint(std::string_view bytes, std::uint64_t& out, std::size_t& size) {
  out = 0;
  for (size = 0; size < bytes.size() && size < 10; ++size) {
    const auto byte = static_cast<unsigned char>(bytes[size]);
    out |= std::uint64_t{byte & 0x7Fu} << 7 * size;
    if (byte >= 0x80) continue;
    ++size;
    return Varint::whole;
  }
  return size == 10 ? Varint::bad : Varint::cut;
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
  for (auto& [uuid, track] : tracks_) {
    for (const Slice& slice : track.open) {
      builder_.range(thread_of(uuid, track), slice.domain, slice.name, slice.start,
                     TraceBuilder::not_ended, record::LaneEvent::range);
    }
  }
  builder_.finish();
}

void PerfettoImport::packet(std::string_view bytes) {
  std::uint64_t stamp = 0, number = 0, clock = 0, flags = 0;
  bool has_stamp = false;
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
        flags = reader.number;
        break;
      case 41:
        flags |= reader.number != 0 ? 1 : 0;
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
  if ((flags & 1) != 0) {
    sequence.names.clear();
    sequence.categories.clear();
    sequence.default_track = sequence.default_clock = 0;
  }
  if (!clocks.empty()) snapshot(sequence, clocks);
  if (!defaults_bytes.empty()) defaults(sequence, defaults_bytes);
  if (!interned_bytes.empty()) interned(sequence, interned_bytes);
  if (event_bytes.data() == nullptr) return;
  if (clock == 0) clock = sequence.default_clock;
  event(sequence, has_stamp ? time_of(sequence, clock, stamp) : 0, event_bytes);
}

std::int64_t PerfettoImport::time_of(Sequence& sequence, std::uint64_t id, std::uint64_t stamp) {
  if (id == 0) id = boottime;
  const bool own = id >= first_own_clock && id < first_own_clock + own_clocks;
  Clock& clock = own ? sequence.clocks[id] : clocks_[id];
  if (own && !clock.known) fail("a packet's clock is not in a snapshot before it");
  auto time = static_cast<std::int64_t>(stamp);
  if (clock.incremental) time = clock.last += time;
  return time * clock.unit + clock.offset;
}

// The clocks that it has side by side; the trace's own is BOOTTIME, or the first.
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
  const Read* base = nullptr;
  for (const Read& read : reads) {
    if (base == nullptr || read.id == boottime) base = &read;
  }
  if (base == nullptr) return;
  const std::int64_t moment = base->stamp * base->unit;
  for (const Read& read : reads) {
    const bool own = read.id >= first_own_clock && read.id < first_own_clock + own_clocks;
    Clock& clock = own ? sequence.clocks[read.id] : clocks_[read.id];
    if (read.id == realtime && !clock.known) builder_.set_unix_offset(read.stamp - moment);
    if (clock.known && !own) continue;  // clocks of the system: the first snapshot counts
    clock.offset = moment - read.stamp * read.unit;
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

void PerfettoImport::event(Sequence& sequence, std::int64_t time, std::string_view bytes) {
  constexpr std::uint64_t begin = 1, end = 2, instant = 3, counter = 4;
  std::uint64_t type = 0, uuid = sequence.default_track;
  std::string_view name, category;
  std::int64_t integer = 0;
  double real = 0;
  bool is_real = false;
  ProtoReader reader(bytes);
  while (reader.next()) {
    switch (reader.field) {
      case 3:
        if (category.empty()) {
          std::uint64_t id = reader.number;
          std::size_t size = 0;
          if (reader.wire == 2) read_varint(reader.bytes, id, size);  // packed
          category = sequence.categories[id];
        }
        break;
      case 9:
        type = reader.number;
        break;
      case 10:
        name = sequence.names[reader.number];
        break;
      case 11:
        uuid = reader.number;
        break;
      case 22:
        category = reader.bytes;
        break;
      case 23:
        name = reader.bytes;
        break;
      case 30:
        integer = static_cast<std::int64_t>(reader.number);
        break;
      case 44:
        std::memcpy(&real, &reader.number, sizeof real);
        is_real = true;
        break;
      default:
        break;
    }
  }
  if (reader.bad()) fail("an event is damaged");
  Track& track = tracks_[uuid];
  if (type == begin) {
    track.open.push_back(Slice{time, std::string(category), std::string(name)});
  } else if (type == end) {
    if (track.open.empty()) return builder_.leave_out("end of a slice that did not begin");
    const Slice slice = std::move(track.open.back());
    track.open.pop_back();
    builder_.range(thread_of(uuid, track), slice.domain, slice.name, slice.start,
                   std::max(time, slice.start), record::LaneEvent::range);
  } else if (type == instant) {
    builder_.mark(thread_of(uuid, track), category, name, time);
  } else if (type == counter) {
    const std::string_view shown = name.empty() ? std::string_view(track.name) : name;
    if (is_real)
      builder_.sample(thread_of(uuid, track), category, shown, time, real);
    else
      builder_.sample(thread_of(uuid, track), category, shown, time, integer);
  } else {
    builder_.leave_out("other");
  }
}

}  // namespace nvspan::foreign
