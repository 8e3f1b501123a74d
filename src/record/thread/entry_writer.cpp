// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/thread/entry_writer.hpp"

#include "record/chunks/chunk_header.hpp"
#include "record/file/fault_guard.hpp"
#include "record/file/ticks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::size_t loss_words = 4;

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

void store_base(ThreadWriter& writer, std::uint64_t ticks) {
  store(writer.cursor + 1, ticks);
  writer.cursor->store(make_entry(EntryKind::base, 0, 0), std::memory_order_release);
  writer.cursor += 2;
  writer.base = ticks;
}

}  // namespace

bool EntryWriter::has_payload(const trace::Event& event) noexcept {
  return event.payload_type != trace::PayloadType::none &&
         event.payload_type != trace::PayloadType::unknown;
}

bool EntryWriter::refill(ThreadWriter& writer, std::size_t words) {
  guard_faults();
  if (file_.notice_cut()) return false;
  const std::size_t needed =
      sizeof(ChunkHeader) + (words + ThreadWriter::reserved_words + entry_most_words) * word;
  const ChunkPool::Place place = chunks_.take(needed, writer.chunk, writer.next_chunk_bytes);
  if (place.chunk == nullptr) return false;
  ChunkHeader* chunk = place.chunk;
  // The new one begins before the old one is sealed: a thread whose last chunk is sealed has ended.
  const std::uint64_t pending = writer.loss_entry == nullptr ? writer.dropped.count : 0;
  const ChunkKey key{ChunkType::events, writer.thread, writer.tid, ++writer.chunk_count,
                     writer.written + writer.lost - pending};
  chunks_.start(chunk, key, place.bytes, place.sequence);
  if (writer.chunk != nullptr && writer.chunk != chunk) {
    seal(writer, false);
    if (file_.mode() == RecordMode::ring) chunks_.queue(writer.chunk);
  }
  writer.chunk = chunk;
  writer.written_before = writer.written;
  writer.base = chunk->base_ticks;
  writer.cursor = writer.first_word();
  writer.chunk_end =
      reinterpret_cast<std::atomic<std::uint64_t>*>(reinterpret_cast<char*>(chunk) + place.bytes);
  writer.end = writer.chunk_end - ThreadWriter::reserved_words;
  if (writer.loss_entry != nullptr) writer.dropped = LossWindow{};
  writer.loss_entry = nullptr;
  file_.sample();
  if (file_.mode() == RecordMode::ring) write_open(writer, words + entry_most_words);
  return true;
}

// Makes a ring's chunk readable after those before it were overwritten. The innermost ranges end
// first: where there is no room for all, or not all are known, an end without a beginning is better
// than one that is paired with another range's.
void EntryWriter::write_open(ThreadWriter& writer, std::size_t words) noexcept {
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

// Among the entries, or, in a chunk that is full, in the words reserved for it.
void EntryWriter::write_loss(ThreadWriter& writer) noexcept {
  if (writer.loss_entry != nullptr) {
    store(writer.loss_entry + 1, writer.dropped.count);
    store(writer.loss_entry + 3, writer.dropped.to);
    return;
  }
  if (writer.cursor == nullptr || file_.mode() == RecordMode::stats) {
    file_.add_loss(writer.drop_reason, writer.dropped);
    writer.dropped = LossWindow{};
    return;
  }
  constexpr auto needed = static_cast<std::ptrdiff_t>(loss_words);
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

void EntryWriter::write_losses(ThreadWriter& writer) noexcept {
  if (writer.dropped.count != 0) write_loss(writer);
}

void EntryWriter::lose(ThreadWriter& writer, LossReason reason) noexcept {
  writer.drop(reason);
  if (file_.is_exhausted() || file_.mode() != RecordMode::full) write_loss(writer);
}

// For an entry of so many words. False: there is no space, and the event is counted as lost.
bool EntryWriter::make_room(ThreadWriter& writer, std::size_t words) {
  constexpr std::size_t before = 2 + loss_words;  // a new base
  if (writer.loss_entry == nullptr && writer.cursor != nullptr) {
    writer.end = writer.chunk_end - ThreadWriter::reserved_words;
  }
  if (writer.end == nullptr || writer.loss_entry != nullptr ||
      writer.cursor + words + before > writer.end) {
    if (!refill(writer, words + before)) {
      lose(writer, LossReason::no_space);
      return false;
    }
  }
  write_losses(writer);
  return true;
}

bool EntryWriter::put_words(ThreadWriter& writer, const WordEntry& entry) {
  if (entry.subject >= entry_wide_subject) {
    lose(writer, entry.subject == no_site ? LossReason::no_space : LossReason::name_budget);
    return false;
  }
  if (!make_room(writer, 1 + entry.count)) return false;
  if (entry.ticks < writer.base || entry.ticks - writer.base > entry_ticks_mask) {
    store_base(writer, entry.ticks);
  }
  const std::uint64_t bits = entry.has_payload ? entry_payload_bit : 0;
  return writer.put(entry.kind, entry.subject, entry.ticks, bits, entry.words, entry.count);
}

bool EntryWriter::put(ThreadWriter& writer, const NewEntry& entry) {
  const auto& [kind, subject, ticks, value, payload] = entry;
  if (subject == no_site) {
    lose(writer, LossReason::no_space);
    return false;
  }
  const bool with_payload = payload != nullptr && has_payload(*payload);
  const bool closes = kind == EntryKind::pop || kind == EntryKind::end;
  if (closes && with_payload && payload->payload_type == trace::PayloadType::ext) {
    payloads_.describe(*payload);
  }
  std::size_t needed = value == nullptr ? 2 : 3;
  if (with_payload) {
    needed += 1;
    if (payload->payload_type == trace::PayloadType::ext)
      needed += words_of(payload_bytes(*payload));
  }
  if (!make_room(writer, needed)) return false;
  std::uint64_t delta = ticks > writer.base ? ticks - writer.base : 0;
  if (delta > entry_ticks_mask) {
    store_base(writer, ticks);
    delta = 0;
  }
  std::atomic<std::uint64_t>* at = writer.cursor + 1;
  const bool wide = subject >= entry_wide_subject;
  if (wide) store(at++, subject);
  if (value != nullptr) store(at++, *value);
  if (with_payload) at = store_payload(at, *payload);
  writer.cursor->store(make_entry(kind, wide ? entry_wide_subject : subject, delta) |
                           (with_payload ? entry_payload_bit : 0),
                       std::memory_order_release);
  writer.cursor = at;
  ++writer.written;
  return true;
}

void EntryWriter::put_samples(ThreadWriter& writer, const trace::Event& event,
                              std::uint32_t counter, std::uint64_t ticks) {
  trace::PayloadBlob blob;
  blob.schema_id = event.row_schema;
  blob.size = event.rows.size();
  blob.data = event.rows;
  trace::Event samples = event;
  samples.payload_type = trace::PayloadType::ext;
  samples.blobs = &blob;
  samples.blob_count = 1;
  put(writer, {EntryKind::counter_bytes, counter, ticks, nullptr, &samples});
}

void EntryWriter::move_to(ThreadWriter& writer, std::uint64_t ticks, std::size_t words) {
  constexpr std::size_t most = 16;
  if (writer.loss_entry != nullptr || file_.is_exhausted()) return;
  if (writer.end == nullptr || writer.cursor == nullptr ||
      writer.cursor + words + most > writer.end) {
    if (!refill(writer, words + most)) return;
  }
  if (ticks >= writer.base && ticks - writer.base <= entry_ticks_mask) return;
  store_base(writer, ticks);
}

void EntryWriter::seal(const ThreadWriter& writer, bool last) noexcept {
  if (file_.mode() == RecordMode::stats || writer.cursor == nullptr) return;
  seal_chunk(writer.chunk, static_cast<const void*>(writer.cursor),
             writer.written - std::min(writer.written, writer.written_before), last);
}

void EntryWriter::give_back(ThreadWriter& writer) noexcept {
  ChunkHeader* chunk = writer.chunk;
  if (file_.is_cut()) {
    writer.chunk = nullptr;
    return;
  }
  if (file_.mode() == RecordMode::stats || writer.cursor == nullptr) return;
  if (file_.mode() == RecordMode::full && writer.loss_entry == nullptr) {
    const auto used =
        reinterpret_cast<const char*>(writer.cursor + 1) - reinterpret_cast<const char*>(chunk);
    chunks_.keep_leftover(chunk, static_cast<std::size_t>(used));
  }
  seal(writer, true);
  if (file_.mode() == RecordMode::ring) chunks_.queue(chunk);
  writer.chunk = nullptr;
}

void EntryWriter::shorten(ThreadWriter& writer) noexcept {
  if (writer.chunk == nullptr || file_.mode() != RecordMode::full) return;
  auto* const chunk = reinterpret_cast<char*>(writer.chunk);
  const auto* after = reinterpret_cast<const char*>(writer.cursor + 1 + entry_most_words);
  const std::size_t bytes = round_to_chunk(static_cast<std::size_t>(after - chunk));
  Segment& segment = file_.segment();
  if (bytes >= writer.chunk->size || !segment.ends_at(chunk + writer.chunk->size)) return;
  set_chunk_size(writer.chunk, bytes);
  writer.chunk_end = reinterpret_cast<std::atomic<std::uint64_t>*>(chunk + bytes);
  writer.end = writer.chunk_end - ThreadWriter::reserved_words;
  segment.shrink_last(chunk + bytes);
}

}  // namespace nvspan::record
