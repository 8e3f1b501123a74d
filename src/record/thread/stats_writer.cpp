// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/thread/stats_writer.hpp"

#include "record/chunks/chunk_header.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::uint64_t cell_kind = 1;   // StatsCell::kind
constexpr std::uint64_t block_kind = 2;  // StatsBlock::kind
constexpr std::uint64_t nested_kind = 3;
constexpr std::uint64_t awaited_kind = 4;

std::uint64_t calls_in(const ChunkHeader* chunk) {
  const auto* at = reinterpret_cast<const char*>(chunk + 1);
  const auto* end = reinterpret_cast<const char*>(chunk) + chunk->size;
  std::uint64_t calls = 0;
  for (;;) {
    const auto kind = end - at >= static_cast<std::ptrdiff_t>(sizeof(StatsNested))
                          ? *reinterpret_cast<const std::uint64_t*>(at)
                          : 0;
    if (kind == cell_kind) calls += reinterpret_cast<const StatsCell*>(at)->count;
    if (kind == 0 || kind > awaited_kind) return calls;
    constexpr std::size_t sizes[] = {sizeof(StatsCell), sizeof(StatsBlock), sizeof(StatsNested),
                                     sizeof(StatsAwaited)};
    at += sizes[kind - 1];
  }
}

StatsSlot* free_slot(StatsSlot* slots, std::size_t capacity, std::uint32_t key) {
  std::size_t i = key * 0x9E3779B1u & (capacity - 1);
  while (slots[i].site_and_kind != 0) i = (i + 1) & (capacity - 1);
  return slots + i;
}

}  // namespace

void StatsWriter::clear() noexcept {
  started_.clear();
  listed_.clear();
  chunks_missing_ = false;
  if (suspended_ != nullptr) pool_.deallocate(suspended_, sizeof *suspended_);
  suspended_ = nullptr;
}

void StatsWriter::count(ThreadWriter& writer, std::uint32_t site, EntryKind kind,
                        std::uint64_t ticks, std::uint64_t self, std::uint64_t same) {
  if (site == no_site) return entries_.lose(writer, LossReason::no_space);
  if (writer.count(site, kind, ticks, self, same)) return;
  StatsSlot* slot = writer.stats.find(StatsTable::key_of(site, kind));
  if (slot == nullptr) {
    const std::uint32_t counted = names_.counted_site(site, sizeof(StatsCell) + sizeof(StatsBlock));
    if (counted != site) return count(writer, counted, kind, ticks, self, same);
  }
  make_room(writer.stats);
  slot = writer.stats.find(StatsTable::key_of(site, kind));
  if (slot == nullptr) {
    slot = add_cell(writer, site, kind);
  } else {
    names_.budget().spend(sizeof(StatsBlock));
  }
  const bool has_parts = slot != nullptr && add_block(writer, *slot, octave_of(ticks)) &&
                         (same == 0 || add_nested(writer, *slot));
  if (!has_parts) return entries_.lose(writer, LossReason::no_space);
  writer.count(site, kind, ticks, self, same);
}

bool StatsWriter::prepare_awaited(ThreadWriter& writer, const OpenPush& range, bool counts) {
  if (writer.can_count_awaited(range, counts)) return true;
  if (suspended_ == nullptr) {  // fresh pages: they are zero, and cost nothing while untouched
    suspended_ = static_cast<SuspendedCalls*>(pool_.allocate(sizeof *suspended_));
  }
  writer.suspended = suspended_;
  if (writer.can_count_awaited(range, counts)) return true;
  StatsSlot* slot = writer.stats.find(StatsTable::key_of(range.site, EntryKind::push));
  return slot != nullptr && add_awaited(writer, *slot);
}

void StatsWriter::start(std::uint64_t id, std::uint32_t site, std::uint64_t ticks) {
  started_[id] = OpenStart{ticks, site};
}

void StatsWriter::end(ThreadWriter& writer, std::uint64_t id, std::uint64_t ticks,
                      LiveStart* place) {
  OpenStart start{};
  if (place != nullptr) {
    start = OpenStart{place->ticks.load(), live_site(place->entry.load())};
    if (!live_free_place(*place, id)) return;
  } else {
    const auto found = started_.find(id);
    if (found == started_.end()) return;
    start = found->second;
    started_.erase(found);
  }
  const std::uint64_t duration = ticks - start.ticks;
  if (duration < writer.min_ticks) return;
  count(writer, start.site, EntryKind::start, duration, duration, 0);
}

void StatsWriter::make_room(StatsTable& table) {
  if (2 * (table.used + 1) <= table.capacity) return;
  const std::size_t grown = table.capacity == 0 ? 64 : 2 * table.capacity;
  auto* slots = static_cast<StatsSlot*>(pool_.allocate(grown * sizeof(StatsSlot)));
  std::memset(static_cast<void*>(slots), 0, grown * sizeof(StatsSlot));
  for (std::size_t i = 0; i < table.capacity; ++i) {
    const std::uint32_t key = table.slots[i].site_and_kind;
    if (key != 0) *free_slot(slots, grown, key) = table.slots[i];
  }
  if (table.slots != nullptr) {
    pool_.deallocate(table.slots, table.capacity * sizeof(StatsSlot));
  }
  table.slots = slots;
  table.capacity = grown;
}

void StatsWriter::free_table(ThreadWriter& writer) noexcept {
  if (writer.stats.slots != nullptr) {
    pool_.deallocate(writer.stats.slots, writer.stats.capacity * sizeof(StatsSlot));
  }
  writer.stats = StatsTable{};
  writer.suspended = nullptr;
}

StatsSlot* StatsWriter::add_cell(ThreadWriter& writer, std::uint32_t site, EntryKind kind) {
  auto* cell = reinterpret_cast<StatsCell*>(take(writer, sizeof(StatsCell)));
  if (cell == nullptr) return nullptr;
  StatsTable& table = writer.stats;
  const std::uint32_t key = StatsTable::key_of(site, kind);
  StatsSlot* slot = free_slot(table.slots, table.capacity, key);
  slot->cell = cell;
  cell->site = site;
  cell->counted_as = static_cast<std::uint32_t>(kind);
  cell->shortest = static_cast<std::uint64_t>(-1);
  slot->site_and_kind = key;
  ++table.used;
  atomic_word(cell->kind).store(cell_kind, std::memory_order_release);
  return slot;
}

bool StatsWriter::add_block(ThreadWriter& writer, StatsSlot& slot, unsigned octave) {
  if (slot.blocks[octave] != nullptr) return true;
  auto* block = reinterpret_cast<StatsBlock*>(take(writer, sizeof(StatsBlock)));
  if (block == nullptr) return false;
  slot.blocks[octave] = block;
  block->site = slot.cell->site;
  block->octave = octave;
  block->counted_as = slot.cell->counted_as;
  atomic_word(block->kind).store(block_kind, std::memory_order_release);
  return true;
}

bool StatsWriter::add_nested(ThreadWriter& writer, StatsSlot& slot) {
  if (slot.nested != nullptr) return true;
  auto* nested = reinterpret_cast<StatsNested*>(take(writer, sizeof(StatsNested)));
  if (nested == nullptr) return false;
  slot.nested = nested;
  nested->site = slot.cell->site;
  nested->counted_as = slot.cell->counted_as;
  atomic_word(nested->kind).store(nested_kind, std::memory_order_release);
  return true;
}

bool StatsWriter::add_awaited(ThreadWriter& writer, StatsSlot& slot) {
  if (slot.awaited != nullptr) return true;
  auto* awaited = reinterpret_cast<StatsAwaited*>(take(writer, sizeof(StatsAwaited)));
  if (awaited == nullptr) return false;
  slot.awaited = awaited;
  awaited->site = slot.cell->site;
  atomic_word(awaited->kind).store(awaited_kind, std::memory_order_release);
  return true;
}

// Null: there is no space.
char* StatsWriter::take(ThreadWriter& writer, std::size_t bytes) {
  constexpr std::uint32_t largest_chunk = 16 * 1024;
  auto* at = reinterpret_cast<char*>(writer.cursor);
  if (writer.chunk == nullptr ||
      reinterpret_cast<char*>(writer.chunk_end) - at < static_cast<std::ptrdiff_t>(bytes + word)) {
    const std::size_t chunk_bytes = std::min(writer.next_chunk_bytes, largest_chunk);
    if (!file_.takes_more()) return nullptr;
    at = chunks_.allocate(chunk_bytes);
    if (at == nullptr) return nullptr;
    writer.next_chunk_bytes = std::min(4 * writer.next_chunk_bytes, largest_chunk);
    writer.chunk = reinterpret_cast<ChunkHeader*>(at);
    chunks_.start(writer.chunk, ChunkKey{ChunkType::stats, writer.thread, writer.tid}, chunk_bytes);
    try {
      listed_.push_back(Listed{writer.chunk, &writer});
    } catch (...) {
      chunks_missing_ = true;
    }
    file_.sample();
    writer.chunk_end = reinterpret_cast<std::atomic<std::uint64_t>*>(at + chunk_bytes);
    at += sizeof(ChunkHeader);
  }
  writer.cursor = reinterpret_cast<std::atomic<std::uint64_t>*>(at + bytes);
  return at;
}

void StatsWriter::seal() noexcept {
  for (const Listed& listed : listed_) {
    ChunkHeader* chunk = listed.chunk;
    seal_chunk(chunk, reinterpret_cast<const char*>(chunk) + chunk->size, calls_in(chunk), false);
  }
}

void StatsWriter::unseal(const ThreadWriter& writer) noexcept {
  for (const Listed& listed : listed_) {
    if (listed.writer == &writer) chunks_.unseal(listed.chunk);
  }
}

}  // namespace nvspan::record
