// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/writer/recorder.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::uint32_t largest_chunk = 1024 * 1024;
constexpr int no_tracking = -2;  // NVTX_NO_PUSH_POP_TRACKING

std::size_t words_of(std::size_t bytes) { return (bytes + word - 1) / word; }

std::size_t payload_bytes(const trace::Event& event) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < event.blob_count; ++i) {
    bytes += 3 * word + words_of(event.blobs[i].data.size()) * word;
  }
  return bytes;
}

void store(std::atomic<std::uint64_t>* at, std::uint64_t value) {
  at->store(value, std::memory_order_relaxed);
}

std::atomic<std::uint64_t>* store_payload(std::atomic<std::uint64_t>* at,
                                          const trace::Event& event) {
  if (event.payload_type != trace::PayloadType::ext) {
    store(at, event.payload_bits);
    return at + 1;
  }
  store(at++, payload_bytes(event));
  for (std::size_t i = 0; i < event.blob_count; ++i) {
    const trace::PayloadBlob& blob = event.blobs[i];
    store(at++, blob.schema_id);
    store(at++, blob.size);
    store(at++, blob.data.size());
    if (!blob.data.empty()) {
      std::memcpy(static_cast<void*>(at), blob.data.data(), blob.data.size());
    }
    at += words_of(blob.data.size());
  }
  return at;
}

bool has_payload(const trace::Event& event) {
  return event.payload_type != trace::PayloadType::none &&
         event.payload_type != trace::PayloadType::unknown;
}

}  // namespace

bool Recorder::refill(ThreadWriter& writer, std::size_t words) {
  guard_faults();
  if (notice_cut()) return false;
  const std::size_t needed =
      sizeof(ChunkHeader) + (words + ThreadWriter::reserved_words + entry_most_words) * word;
  ChunkHeader* chunk = nullptr;
  std::size_t bytes = 0;
  std::uint64_t sequence = 0;
  if (mode_ == RecordMode::ring) {
    const Place place = take_ring_place(writer, needed);
    chunk = place.chunk;
    bytes = place.bytes;
    sequence = place.sequence;
  } else if (!exhausted_ || needed < smallest_leftover) {
    const Leftover leftover = take_leftover(std::max(needed, smallest_leftover));
    if (leftover.start != nullptr) {
      chunk = reinterpret_cast<ChunkHeader*>(leftover.start);
      sequence = chunk->sequence;
      bytes = leftover.bytes;
    } else if (!exhausted_) {
      bytes = std::max<std::size_t>(needed, writer.next_chunk_bytes);
      bytes = (bytes + chunk_alignment - 1) / chunk_alignment * chunk_alignment;
      if (char* made = allocate(bytes)) {
        chunk = reinterpret_cast<ChunkHeader*>(made);
        writer.next_chunk_bytes = std::min(4 * writer.next_chunk_bytes, largest_chunk);
      } else {
        report(segment_.error());
      }
    }
  }
  if (chunk == nullptr) return false;
  // The new one begins before the old one is sealed: a thread whose last chunk is sealed has ended.
  const std::uint64_t pending = writer.loss_entry == nullptr ? writer.dropped.count : 0;
  const ChunkKey key{ChunkType::events, writer.thread, writer.tid, ++writer.chunk_count,
                     writer.written + writer.lost - pending};
  start_chunk(chunk, key, bytes, sequence);
  if (writer.chunk != nullptr && writer.chunk != chunk) {
    seal(writer, false);
    if (mode_ == RecordMode::ring) queue(writer.chunk);
  }
  writer.chunk = chunk;
  writer.written_before = writer.written;
  writer.base = chunk->base_ticks;
  writer.cursor = writer.first_word();
  writer.chunk_end =
      reinterpret_cast<std::atomic<std::uint64_t>*>(reinterpret_cast<char*>(chunk) + bytes);
  writer.end = writer.chunk_end - ThreadWriter::reserved_words;
  if (writer.loss_entry != nullptr) writer.dropped = LossWindow{};
  writer.loss_entry = nullptr;
  sample();
  if (mode_ == RecordMode::ring) write_open(writer, words + entry_most_words);
  return true;
}

// So that a ring's chunk makes sense when those before it are gone. Those inside end first: where
// there is no room for all, or not all are known, an end that finds no beginning is better than one
// that finds another's.
void Recorder::write_open(ThreadWriter& writer, std::size_t words) noexcept {
  for (std::size_t i = 0; i < writer.open_count; ++i) writer.open[i].entry = nullptr;
  if (writer.open_beyond != 0) return;
  const auto all = static_cast<std::size_t>(writer.end - writer.cursor);
  const std::size_t room = std::min(all - words, all / 2) / 2;
  const std::uint64_t events = writer.written;
  const std::size_t first = writer.open_count > room ? writer.open_count - room : 0;
  for (std::size_t i = first; i < writer.open_count; ++i) {
    if (writer.open[i].site == no_site) continue;
    const std::uint64_t began = writer.open[i].ticks;
    writer.put(EntryKind::open, writer.open[i].site, writer.base, 0, &began, 1);
  }
  writer.written = events;
}

// In its place among the entries, or, in a chunk that is full for good, in the words kept for it.
void Recorder::write_loss(ThreadWriter& writer) noexcept {
  if (writer.loss_entry != nullptr) {
    store(writer.loss_entry + 1, writer.dropped.count);
    store(writer.loss_entry + 3, writer.dropped.to);
    return;
  }
  if (writer.cursor == nullptr || mode_ == RecordMode::stats) {
    add_loss(writer.drop_reason, writer.dropped);
    writer.dropped = LossWindow{};
    return;
  }
  constexpr std::ptrdiff_t needed = 4;
  if (writer.chunk_end - writer.cursor < needed) return;
  std::atomic<std::uint64_t>* at = writer.cursor;
  store(at + 1, writer.dropped.count);
  store(at + 2, writer.dropped.from);
  store(at + 3, writer.dropped.to);
  const std::uint64_t now = ticks_now();
  const std::uint64_t delta = now > writer.base ? std::min(now - writer.base, entry_ticks_mask) : 0;
  at->store(make_entry(EntryKind::lost, static_cast<std::uint32_t>(writer.drop_reason), delta),
            std::memory_order_release);
  writer.cursor += needed;
  if (writer.cursor <= writer.chunk_end - ThreadWriter::reserved_words) {
    writer.dropped = LossWindow{};
  } else {
    writer.loss_entry = at;
  }
}

// An event that goes into no chunk.
void Recorder::lose(ThreadWriter& writer, LossReason reason) noexcept {
  writer.drop(reason);
  if (exhausted_ || mode_ != RecordMode::full) write_loss(writer);
}

// A call that is no range, mark or sample, and belongs to no thread's chunk.
void Recorder::lose_call() noexcept {
  const std::uint64_t now = ticks_now();
  add_loss(LossReason::no_space, LossWindow{1, now, now});
}

void Recorder::add_loss(LossReason reason, const LossWindow& more) noexcept {
  reopen();
  LossWindow& loss = segment_.header()->losses[static_cast<std::size_t>(reason)];
  if (loss.count == 0) loss.from = more.from;
  loss.to = more.to;
  loss.count += more.count;
}

// False, and the event is counted as lost: there is no space, or its subject is not defined.
bool Recorder::put(ThreadWriter& writer, EntryKind kind, std::uint32_t subject, std::uint64_t ticks,
                   const std::uint64_t* words, std::size_t count, const trace::Event* payload) {
  if (subject == no_site) {
    lose(writer, LossReason::no_space);
    return false;
  }
  const bool with_payload = payload != nullptr && has_payload(*payload);
  const bool closes = kind == EntryKind::pop || kind == EntryKind::end;
  if (closes && with_payload && payload->payload_type == trace::PayloadType::ext)
    describe(*payload);
  std::size_t needed = 2 + count;
  if (with_payload) {
    needed += 1;
    if (payload->payload_type == trace::PayloadType::ext)
      needed += words_of(payload_bytes(*payload));
  }
  constexpr std::size_t before = 2 + 4;  // a new base, a loss
  if (writer.loss_entry == nullptr && writer.cursor != nullptr) {
    writer.end = writer.chunk_end - ThreadWriter::reserved_words;
  }
  if (writer.end == nullptr || writer.loss_entry != nullptr ||
      writer.cursor + needed + before > writer.end) {
    if (!refill(writer, needed + before)) {
      lose(writer, LossReason::no_space);
      return false;
    }
  }
  if (writer.dropped.count != 0) write_loss(writer);
  std::uint64_t delta = ticks > writer.base ? ticks - writer.base : 0;
  if (delta > entry_ticks_mask) {
    store(writer.cursor + 1, ticks);
    writer.cursor->store(make_entry(EntryKind::base, 0, 0), std::memory_order_release);
    writer.cursor += 2;
    writer.base = ticks;
    delta = 0;
  }
  std::atomic<std::uint64_t>* at = writer.cursor + 1;
  const bool wide = subject >= entry_wide_subject;
  if (wide) store(at++, subject);
  for (std::size_t i = 0; i < count; ++i) store(at++, words[i]);
  if (with_payload) at = store_payload(at, *payload);
  writer.cursor->store(make_entry(kind, wide ? entry_wide_subject : subject, delta) |
                           (with_payload ? entry_payload_bit : 0),
                       std::memory_order_release);
  writer.cursor = at;
  ++writer.written;
  return true;
}

int Recorder::push(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                   const SiteKey* key) {
  const Subject at = subject(writer, domain, event, key);
  const std::uint64_t ticks = ticks_now();
  bool written = false;
  if (mode_ != RecordMode::stats) {
    written = put(writer, EntryKind::push, at.site, ticks, nullptr, 0, &event);
  }
  if (!writer.plain) {
    // Taken back only when it is the short entry that the fast path writes.
    const bool small =
        at.site < entry_wide_subject && event.payload_type != trace::PayloadType::ext;
    const std::size_t words = has_payload(event) ? 2 : 1;
    writer.opened(at.site, at.domain_id, ticks, written && small ? writer.cursor - words : nullptr);
  }
  return at.domain != nullptr ? at.domain->depth++ : no_tracking;
}

int Recorder::pop(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event) {
  const std::uint64_t ticks = event.ticks != 0 ? event.ticks : ticks_now();
  DomainCell* place = cell(writer, domain, event.domain);
  const std::uint32_t id = place != nullptr ? place->id : this->domain(domain, event.domain);
  const bool orphan = place != nullptr && place->depth == 0;
  OpenPush range;
  const bool beyond = writer.open_beyond != 0;
  const bool known = !writer.plain && writer.closed(id, range);
  if (mode_ == RecordMode::stats) {
    if (known) {
      const std::uint64_t duration = ticks - range.ticks;
      if (writer.open_count != 0) writer.open[writer.open_count - 1].inner += duration;
      if (duration >= writer.min_ticks) {
        count(writer, range.site, EntryKind::push, duration,
              duration > range.inner ? duration - range.inner : 0);
      }
    } else if (beyond) {
      lose(writer, LossReason::too_deep);
    }
  } else if (!known || !writer.take_back(range, ticks)) {
    put(writer, EntryKind::pop, id, ticks, nullptr, 0, &event);
  }
  if (place == nullptr || orphan) return no_tracking;
  return --place->depth;
}

void Recorder::mark(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                    const SiteKey* key) {
  const Subject at = subject(writer, domain, event, key);
  if (mode_ == RecordMode::stats) {
    count(writer, at.site, EntryKind::mark, 0, 0);
  } else {
    put(writer, EntryKind::mark, at.site, ticks_now(), nullptr, 0, &event);
  }
}

std::uint64_t Recorder::start(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                              const SiteKey* key) {
  const Subject at = subject(writer, domain, event, key);
  const std::uint64_t id = writer.next_range++;
  const std::uint64_t ticks = ticks_now();
  if (mode_ == RecordMode::stats) {
    started_[id] = OpenStart{ticks, at.site};
  } else {
    put(writer, EntryKind::start, at.site, ticks, &id, 1, &event);
  }
  return id;
}

void Recorder::end(ThreadWriter& writer, std::uint64_t domain, std::uint64_t id,
                   const trace::Event& event) {
  const std::uint64_t ticks = event.ticks != 0 ? event.ticks : ticks_now();
  if (mode_ == RecordMode::stats) {
    const auto found = started_.find(id);
    if (found == started_.end()) return;
    const std::uint64_t duration = ticks - found->second.ticks;
    if (duration >= writer.min_ticks) {
      count(writer, found->second.site, EntryKind::start, duration, duration);
    }
    started_.erase(found);
    return;
  }
  DomainCell* place = cell(writer, domain, event.domain);
  const std::uint32_t subject = place != nullptr ? place->id : this->domain(domain, event.domain);
  put(writer, EntryKind::end, subject, ticks, &id, 1, &event);
}

char* Recorder::stats_space(ThreadWriter& writer, std::size_t bytes) {
  auto* at = reinterpret_cast<char*>(writer.cursor);
  if (writer.chunk == nullptr ||
      reinterpret_cast<char*>(writer.chunk_end) - at < static_cast<std::ptrdiff_t>(bytes + word)) {
    constexpr std::uint32_t largest_stats_chunk = 16 * 1024;
    const std::size_t chunk_bytes = std::min(writer.next_chunk_bytes, largest_stats_chunk);
    guard_faults();
    if (notice_cut() || exhausted_) return nullptr;
    at = allocate(chunk_bytes);
    if (at == nullptr) {
      report(segment_.error());
      return nullptr;
    }
    writer.next_chunk_bytes = std::min(4 * writer.next_chunk_bytes, largest_stats_chunk);
    writer.chunk = reinterpret_cast<ChunkHeader*>(at);
    start_chunk(writer.chunk, ChunkKey{ChunkType::stats, writer.thread, writer.tid}, chunk_bytes);
    try {
      stats_chunks_.push_back(StatsChunk{writer.chunk, &writer});
    } catch (...) {
      stats_chunks_missing_ = true;
    }
    sample();
    writer.chunk_end = reinterpret_cast<std::atomic<std::uint64_t>*>(at + chunk_bytes);
    at += sizeof(ChunkHeader);
  }
  writer.cursor = reinterpret_cast<std::atomic<std::uint64_t>*>(at + bytes);
  return at;
}

void Recorder::count(ThreadWriter& writer, std::uint32_t site, EntryKind kind, std::uint64_t ticks,
                     std::uint64_t self) {
  if (site == no_site) return lose(writer, LossReason::no_space);
  if (writer.count(site, kind, ticks, self)) return;
  const std::uint32_t counted = counted_site(writer, site, kind);
  if (counted != site) return count(writer, counted, kind, ticks, self);
  StatsTable& table = writer.stats;
  const std::uint32_t key = StatsTable::key_of(site, kind);
  const auto place = [&](StatsSlot* slots, std::size_t capacity, std::uint32_t wanted) {
    std::size_t i = wanted * 0x9E3779B1u & (capacity - 1);
    while (slots[i].site_and_kind != 0) i = (i + 1) & (capacity - 1);
    return slots + i;
  };
  if (2 * (table.used + 1) > table.capacity) {
    const std::size_t grown = table.capacity == 0 ? 64 : 2 * table.capacity;
    auto* slots = static_cast<StatsSlot*>(pool_.allocate(grown * sizeof(StatsSlot)));
    std::memset(static_cast<void*>(slots), 0, grown * sizeof(StatsSlot));
    for (std::size_t i = 0; i < table.capacity; ++i) {
      if (table.slots[i].site_and_kind == 0) continue;
      *place(slots, grown, table.slots[i].site_and_kind) = table.slots[i];
    }
    if (table.slots != nullptr) {
      pool_.deallocate(table.slots, table.capacity * sizeof(StatsSlot));
    }
    table.slots = slots;
    table.capacity = grown;
  }
  StatsSlot* slot = table.find(key);
  if (slot == nullptr) {
    char* space = stats_space(writer, sizeof(StatsCell));
    if (space == nullptr) return lose(writer, LossReason::no_space);
    slot = place(table.slots, table.capacity, key);
    slot->cell = reinterpret_cast<StatsCell*>(space);
    slot->cell->site = site;
    slot->cell->counted_as = static_cast<std::uint32_t>(kind);
    slot->cell->shortest = static_cast<std::uint64_t>(-1);
    slot->site_and_kind = key;
    ++table.used;
    reinterpret_cast<std::atomic<std::uint64_t>&>(slot->cell->kind)
        .store(1, std::memory_order_release);
  } else {
    budget_.spend(sizeof(StatsBlock));
  }
  const unsigned octave = octave_of(ticks);
  char* space = stats_space(writer, sizeof(StatsBlock));
  if (space == nullptr) return lose(writer, LossReason::no_space);
  slot->blocks[octave] = reinterpret_cast<StatsBlock*>(space);
  slot->blocks[octave]->site = site;
  slot->blocks[octave]->octave = octave;
  slot->blocks[octave]->counted_as = static_cast<std::uint32_t>(kind);
  reinterpret_cast<std::atomic<std::uint64_t>&>(slot->blocks[octave]->kind)
      .store(2, std::memory_order_release);
  writer.count(site, kind, ticks, self);
}

}  // namespace nvspan::record
