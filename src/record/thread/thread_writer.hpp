// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// One thread's end of a recording; the cost of an event is spent here. Only its thread writes, and
// a signal handler in that thread that finds it busy drops its event, which is counted.

#pragma once

#include "core/log_histogram.hpp"
#include "record/file/format.hpp"
#include "record/file/ticks.hpp"
#include "record/live/live_stack.hpp"
#include "record/thread/suspended_calls.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nvspan::record {

// A site's statistics in one thread; the cells lie in the file.
struct StatsSlot {
  std::uint32_t site_and_kind;  // 0: free
  StatsCell* cell;
  StatsNested* nested;    // null: none yet
  StatsAwaited* awaited;  // null: none yet
  StatsBlock* blocks[stats_octaves];
};
struct StatsTable {
  StatsSlot* slots;
  std::size_t capacity;  // a power of two
  std::size_t used;

  static std::uint32_t key_of(std::uint32_t site, EntryKind kind) noexcept {
    return (site << 3 | static_cast<std::uint32_t>(kind)) + 1;
  }
  StatsSlot* find(std::uint32_t key) const noexcept {
    if (capacity == 0) return nullptr;
    for (std::size_t i = key * 0x9E3779B1u;; ++i) {
      StatsSlot& slot = slots[i & (capacity - 1)];
      if (slot.site_and_kind == key) return &slot;
      if (slot.site_and_kind == 0) return nullptr;
    }
  }
};

inline unsigned octave_of(std::uint64_t ticks) noexcept {
  const unsigned octave = core::log_octave(ticks);
  return octave < stats_octaves ? octave : stats_octaves - 1;
}

// Shared by all threads and wiped to zeros in a forked child by the kernel, so that one comparison
// shows a writer that its recording ended or belongs to the parent process.
struct LivePage {
  std::atomic<std::uint64_t> epoch;  // 0: nothing records
};
extern LivePage* live_page;

// What a program passed for an event, as it is compared before anything is looked up. The small
// fields are one word: bytes written one by one and read together make the processor wait.
struct SiteKey {
  std::uint64_t domain = 0;   // handle
  std::uint64_t message = 0;  // address or handle
  std::uint32_t color = 0;
  std::uint32_t category = 0;
  std::uint32_t types = 0;  // of the message, the payload, the color: 8 bits each

  void set_types(std::uint32_t message_type, std::uint32_t payload_type, bool has_color) noexcept {
    types = message_type | payload_type << 8 | std::uint32_t{has_color} << 16;
  }
  std::uint32_t message_type() const noexcept { return types & 0xFF; }
  std::uint32_t payload_type() const noexcept { return types >> 8 & 0xFF; }
};

struct DomainCell {
  std::uint64_t handle;
  std::uint32_t id;
  std::int32_t depth;  // open push ranges
  bool hidden;
};

struct CachedSite {
  SiteKey key;
  const char* text;  // of a plain message: the address alone does not identify it
  DomainCell* domain;
  std::uint64_t entry;  // of LiveBlock
  std::uint32_t site;
  bool used;
  StretchKind stretch;
};

// An open push range, where a mode needs it at the pop.
struct OpenPush {
  std::uint64_t ticks;
  std::uint64_t inner;  // ticks of the ranges directly inside
  union {
    std::atomic<std::uint64_t>* entry;
    OpenStretch stretch;  // in mode `stats`
  };
  std::uint32_t site;
  std::uint32_t domain;
};
// Of it, in mode `stats`.
struct OpenAround {
  std::uint64_t sites;  // a bit for each that is open around it, modulo 64
  std::uint64_t same;   // ticks of the ranges of its own site within it that counted
};

struct ThreadWriter {
  static constexpr std::size_t cache_sites = 1024;
  static constexpr std::size_t most_domains = 64;
  static constexpr std::size_t own_text_bytes = 64;
  static constexpr std::size_t most_open = 4096;
  static constexpr std::size_t reserved_words = 4;  // at the end of a chunk, for a loss

  std::atomic<std::uint64_t>* cursor;
  std::atomic<std::uint64_t>* end;  // null: the next event takes the slow path
  LiveBlock* live;                  // never null from ThreadList::begin() on
  std::uint64_t base;
  std::uint64_t written;  // events in all chunks
  std::uint64_t lost;     // events in none
  std::uint64_t epoch;
  std::atomic<std::uint8_t> busy;
  bool plain;  // full mode without a shortest duration: a push and a pop are only written
  std::uint8_t mode;
  bool by_handle;  // armed: the handle of a registered string is all that is needed
  std::uint64_t min_ticks;
  std::uint64_t next_range;
  ChunkHeader* chunk;
  std::uint64_t chunk_count;
  std::uint64_t written_before;  // this chunk
  std::atomic<std::uint64_t>* chunk_end;
  std::uint32_t thread;
  std::uint32_t tid;
  std::uint32_t next_chunk_bytes;
  SuspendedCalls* suspended;  // of the recording, in mode `stats`; null: not needed yet
  LossWindow dropped;
  LossReason drop_reason;
  std::atomic<std::uint64_t>* loss_entry;  // of dropped, where the chunk has one
  ThreadWriter* next;                      // of all, and of the free
  ThreadWriter* next_free;
  StatsTable stats;
  std::size_t open_count;
  std::size_t open_beyond;  // opened when there was no room to remember them
  OpenPush open[most_open];
  OpenAround around[most_open];
  std::size_t domain_count;
  DomainCell domains[most_domains];
  CachedSite cache[cache_sites];
  LiveBlock unseen;  // where the file has no space for a block
  char* own_texts;   // for each site, the text of a name that nothing else keeps; null: none yet

  void enter() noexcept {
    busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void leave() noexcept { busy.store(0, std::memory_order_release); }
  // Of RecordMode.
  bool is(RecordMode other) const noexcept { return mode == static_cast<std::uint8_t>(other); }
  // A request of another process waits for the slow path.
  bool is_asked() const noexcept { return live->asked.load(std::memory_order_relaxed) != 0; }
  bool is_live() const noexcept {
    return epoch == live_page->epoch.load(std::memory_order_relaxed);
  }

  // In mode `stats`, whether a range that took so long is one of its figures.
  bool takes(const OpenPush& range, std::uint64_t duration) const noexcept {
    return duration >= min_ticks || range.stretch.kind() == StretchKind::unfinished;
  }

  // Counts an event that could not be kept; the next event writes the count.
  void drop(LossReason reason) noexcept {
    const std::uint64_t at = ticks_now();
    if (dropped.count++ == 0) dropped.from = at;
    dropped.to = at;
    ++lost;
    drop_reason = reason;
    end = nullptr;
  }

  static std::size_t slot_of(const SiteKey& key) noexcept {
    std::uint64_t hash = (key.message ^ key.domain << 17) * 0x9E3779B97F4A7C15u;
    hash ^= (std::uint64_t{key.category} << 32 | key.color) * 0xC2B2AE3D27D4EB4Fu;
    hash ^= hash >> 29;
    return static_cast<std::size_t>(hash >> 7) % (cache_sites / 2) * 2;
  }

  static bool same_text(const char* a, const char* b) noexcept {
    for (; *a == *b; ++a, ++b) {
      if (*a == '\0') return true;
    }
    return false;
  }

  const CachedSite* find(const SiteKey& key, bool by_text) noexcept {
    const CachedSite* at = cache + slot_of(key);
    for (const CachedSite* last = at + 2; at != last; ++at) {
      if (!at->used || at->key.message != key.message || at->key.domain != key.domain ||
          at->key.color != key.color || at->key.category != key.category ||
          at->key.types != key.types) {
        continue;
      }
      if (by_text && !same_text(reinterpret_cast<const char*>(key.message), at->text)) continue;
      return at;
    }
    return nullptr;
  }

  void remember(const SiteKey& key, const char* text, DomainCell* domain, std::uint32_t site,
                StretchKind stretch = StretchKind::none) noexcept {
    CachedSite* at = cache + slot_of(key);
    if (at->used) {
      at[1] = at[0];  // the newer one first
      if (own_texts != nullptr && at->text == own_text(at)) {
        std::memcpy(own_text(at + 1), at->text, own_text_bytes);
        at[1].text = own_text(at + 1);
      }
    }
    at->key = key;
    at->text = text;
    at->domain = domain;
    at->site = site;
    at->entry = live_entry(LiveName::site, key.domain, site);
    at->used = true;
    at->stretch = stretch;
  }

  char* own_text(const CachedSite* site) const noexcept {
    return own_texts + static_cast<std::size_t>(site - cache) * own_text_bytes;
  }

  // The same, with a copy of the text, which is shorter than own_text_bytes.
  void remember_copy(const SiteKey& key, std::string_view text, DomainCell* domain,
                     std::uint32_t site, StretchKind stretch) noexcept {
    CachedSite* at = cache + slot_of(key);
    remember(key, nullptr, domain, site, stretch);
    std::memcpy(own_text(at), text.data(), text.size());
    own_text(at)[text.size()] = '\0';
    at->text = own_text(at);
  }

  DomainCell* find_domain(std::uint64_t handle) noexcept {
    for (std::size_t i = 0; i < domain_count; ++i) {
      if (domains[i].handle == handle) return domains + i;
    }
    return nullptr;
  }

  // Writes an entry of `count` words after its first. False: the slow path has to.
  bool put(EntryKind kind, std::uint32_t subject, std::uint64_t ticks, std::uint64_t bits,
           const std::uint64_t* words, std::size_t count) noexcept {
    const std::uint64_t delta = ticks - base;
    if (__builtin_expect(delta > entry_ticks_mask || subject >= entry_wide_subject, 0)) {
      return false;
    }
    if (__builtin_expect(end == nullptr || cursor + count >= end, 0)) return false;
    for (std::size_t i = 0; i < count; ++i) {
      cursor[1 + i].store(words[i], std::memory_order_relaxed);
    }
    cursor->store(make_entry(kind, subject, delta) | bits, std::memory_order_release);
    cursor += 1 + count;
    ++written;
    return true;
  }

  // Remembers a push for its pop, where `plain` is false.
  void opened(std::uint32_t site, std::uint32_t domain, std::uint64_t ticks,
              std::atomic<std::uint64_t>* entry) noexcept {
    if (open_count == most_open) {
      ++open_beyond;
      return;
    }
    open[open_count++] = OpenPush{ticks, 0, {entry}, site, domain};
  }
  // The same in mode `stats`.
  void opened_to_count(std::uint32_t site, std::uint32_t domain, std::uint64_t ticks,
                       OpenStretch stretch) noexcept {
    if (open_count == most_open) {
      ++open_beyond;
      return;
    }
    std::uint64_t sites = 0;
    if (open_count != 0) {
      const std::size_t top = open_count - 1;
      sites = around[top].sites | std::uint64_t{1} << (open[top].site % 64);
    }
    around[open_count] = OpenAround{sites, 0};
    OpenPush& range = open[open_count++];
    range = OpenPush{ticks, 0, {nullptr}, site, domain};
    range.stretch = stretch;
  }
  // Of a range that is no longer open and took so long: the next one of its site around it learns
  // what within it has counted.
  void leave_to_outer(const OpenPush& range, const OpenAround& of, std::uint64_t ticks,
                      bool counts) noexcept {
    if (__builtin_expect((of.sites >> (range.site % 64) & 1) == 0, 1)) return;
    for (std::size_t i = open_count; i-- > 0;) {
      if (open[i].site != range.site) continue;
      around[i].same += counts ? ticks : of.same;
      return;
    }
  }

  // `same`: of the ticks, those that ranges of the site within this one have counted. False: the
  // cell or one of its parts has to be created first.
  bool count(std::uint32_t site, EntryKind kind, std::uint64_t ticks, std::uint64_t self,
             std::uint64_t same) noexcept {
    return count_if(site, kind, ticks, self, same, [] { return true; });
  }

  // The same, where `taken()` returns true; it is called when nothing has to be created.
  template <typename Taken>
  bool count_if(std::uint32_t site, EntryKind kind, std::uint64_t ticks, std::uint64_t self,
                std::uint64_t same, Taken&& taken) noexcept {
    StatsSlot* slot = stats.find(StatsTable::key_of(site, kind));
    if (slot == nullptr || (same != 0 && slot->nested == nullptr)) return false;
    const unsigned octave = octave_of(ticks);
    StatsBlock* block = slot->blocks[octave];
    if (block == nullptr) return false;
    if (!taken()) return true;
    StatsCell& cell = *slot->cell;
    ++cell.count;
    cell.total += ticks;
    cell.self += self;
    if (ticks < cell.shortest) cell.shortest = ticks;
    if (ticks > cell.longest) cell.longest = ticks;
    cell.squares += static_cast<double>(ticks) * static_cast<double>(ticks);
    ++block->counts[core::log_bucket(ticks, octave)];
    if (same != 0) slot->nested->total += same;
    return true;
  }

  // Whether count_awaited() has what it needs for an open range.
  bool can_count_awaited(const OpenPush& range, bool counts) const noexcept {
    if (!range.stretch) return true;
    if (suspended == nullptr) return false;
    if (!counts || range.stretch.kind() == StretchKind::begins) return true;
    const StatsSlot* slot = stats.find(StatsTable::key_of(range.site, EntryKind::push));
    return slot != nullptr && slot->awaited != nullptr;
  }
  // The range took so long. Of a stretch, its call is suspended now, and awaited something before.
  void count_awaited(const OpenPush& range, std::uint64_t ticks, bool counts) noexcept {
    if (!range.stretch) return;
    const std::uint64_t awaited =
        range.stretch.call() == 0
            ? 0
            : suspended->suspend(range.stretch, range.ticks, range.ticks + ticks);
    if (!counts || range.stretch.kind() == StretchKind::begins) return;
    StatsAwaited& cell = *stats.find(StatsTable::key_of(range.site, EntryKind::push))->awaited;
    if (range.stretch.call() == 0) ++cell.unknown;
    cell.total += awaited;
  }

  // The innermost open range of `domain`. Null: there is none, or it is not remembered.
  const OpenPush* innermost(std::uint32_t domain) const noexcept {
    for (std::size_t i = open_beyond != 0 ? 0 : open_count; i-- > 0;) {
      if (open[i].domain == domain) return open + i;
    }
    return nullptr;
  }

  // Removes the innermost open range of `domain`. False: there is none.
  bool closed(std::uint32_t domain, OpenPush& range, OpenAround& of) noexcept {
    if (open_beyond != 0) {
      --open_beyond;
      return false;
    }
    const OpenPush* found = innermost(domain);
    if (found == nullptr) return false;
    range = *found;
    const auto i = static_cast<std::size_t>(found - open);
    of = around[i];
    std::memmove(open + i, open + i + 1, (open_count - i - 1) * sizeof(OpenPush));
    std::memmove(around + i, around + i + 1, (open_count - i - 1) * sizeof(OpenAround));
    --open_count;
    return true;
  }

  // A range shorter than the shortest to keep, with nothing kept inside, was never written.
  bool take_back(const OpenPush& range, std::uint64_t now) noexcept {
    if (range.entry == nullptr || now - range.ticks >= min_ticks || range.entry < first_word()) {
      return false;
    }
    const bool payload = (range.entry->load(std::memory_order_relaxed) & entry_payload_bit) != 0;
    if (range.entry + (payload ? 2 : 1) != cursor) return false;
    range.entry->store(0, std::memory_order_release);
    if (payload) range.entry[1].store(0, std::memory_order_relaxed);
    cursor = range.entry;
    --written;
    return true;
  }

  // Adds to the loss that the full chunk already holds. False: it holds none.
  bool drop_in_place() noexcept {
    if (loss_entry == nullptr) return false;
    ++lost;
    loss_entry[1].store(++dropped.count, std::memory_order_relaxed);
    dropped.to = ticks_now();
    loss_entry[3].store(dropped.to, std::memory_order_relaxed);
    return true;
  }

  std::atomic<std::uint64_t>* first_word() const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(chunk + 1);
  }
};

}  // namespace nvspan::record
