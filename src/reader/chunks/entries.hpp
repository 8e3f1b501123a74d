// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The entries of an event chunk, one after the other.

#pragma once

#include "record/file/work_format.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::reader {

struct EntryPayload {
  bool present = false;
  std::uint64_t bits = 0;  // or, of PayloadType::ext, the number of bytes
  const std::uint64_t* bytes = nullptr;
  bool is_work = false;  // of a GPU: the bytes are the words of its entry
};

struct Entry {
  const std::uint64_t* begin = nullptr;
  record::EntryKind kind = record::EntryKind::base;
  std::uint32_t subject = 0;
  std::uint32_t site = 0;   // of Recording::sites(), where the subject is one
  std::uint64_t delta = 0;  // ticks
  const std::uint64_t* value = nullptr;
  EntryPayload payload;

  bool is_event() const noexcept {
    return kind != record::EntryKind::lost && kind != record::EntryKind::base;
  }
  // What a GPU did, or the call that launched it: their payload is one word.
  bool is_of_work() const noexcept {
    return kind == record::EntryKind::call || kind == record::EntryKind::work;
  }
  // As ChunkHeader::before counts them.
  bool is_counted() const noexcept { return is_event() && kind != record::EntryKind::open; }
};

enum class EntryStep { entry, end, incomplete, damaged };

// Takes the entry at `at` and moves behind it. `sites.site(number)` makes a site of the file one of
// Recording::sites(); `sites.payload_type(site)` is that one's, or -1 where the site is not known:
// then nobody knows how long its payload is. Incomplete: the entry goes on behind `end`.
template <typename Sites>
inline EntryStep next_entry(const std::uint64_t*& at, const std::uint64_t* end, Sites&& sites,
                            Entry& entry) {
  if (at >= end || *at == 0) return EntryStep::end;
  entry.begin = at;
  const std::uint64_t first = *at++;
  const auto left = [&] { return static_cast<std::size_t>(end - at); };
  entry.subject = static_cast<std::uint32_t>(first >> record::entry_subject_shift);
  entry.delta = first & record::entry_ticks_mask;
  entry.site = 0;
  entry.payload = EntryPayload{};
  // Nearly all are a push or a pop of one word.
  constexpr std::uint64_t kinds = record::entry_payload_bit >> record::entry_kind_shift | 15;
  const std::uint64_t kind = first >> record::entry_kind_shift & kinds;
  if (__builtin_expect(kind - 1 < 2 && entry.subject != record::entry_wide_subject, 1)) {
    entry.kind = static_cast<record::EntryKind>(kind);
    if (entry.kind == record::EntryKind::push) entry.site = sites.site(entry.subject);
    return EntryStep::entry;
  }
  entry.kind = static_cast<record::EntryKind>(kind & 15);
  if (entry.subject == record::entry_wide_subject) {
    if (left() == 0) return EntryStep::incomplete;
    entry.subject = static_cast<std::uint32_t>(*at++);
  }
  std::size_t values = 0;
  bool by_site = false;
  switch (entry.kind) {
    case record::EntryKind::push:
    case record::EntryKind::mark:
      by_site = true;
      break;
    case record::EntryKind::pop:
    case record::EntryKind::counter_bytes:
      break;
    case record::EntryKind::lost:
      values = 3;
      break;
    case record::EntryKind::call:
      by_site = true;
      values = record::call_words;
      break;
    case record::EntryKind::work:
      by_site = true;
      values = record::work_words;
      break;
    case record::EntryKind::start:
    case record::EntryKind::open:
      by_site = true;
      values = 1;
      break;
    case record::EntryKind::end:
    case record::EntryKind::base:
    case record::EntryKind::counter_i64:
    case record::EntryKind::counter_f64:
    case record::EntryKind::counter_none:
      values = 1;
      break;
    default:
      return EntryStep::damaged;
  }
  if (values > left()) return EntryStep::incomplete;
  entry.value = at;
  at += values;
  if (by_site) entry.site = sites.site(entry.subject);
  if ((first & record::entry_payload_bit) == 0) return EntryStep::entry;
  if (left() == 0) return EntryStep::incomplete;
  entry.payload.present = true;
  entry.payload.bits = *at++;
  if (entry.is_of_work()) return EntryStep::entry;
  constexpr int extended = 7;  // PayloadType::ext
  const int type = by_site ? sites.payload_type(entry.site) : extended;
  if (type < 0) return EntryStep::damaged;
  if (type != extended) return EntryStep::entry;
  const std::size_t words = entry.payload.bits / 8 + (entry.payload.bits % 8 != 0);
  if (words > left()) return EntryStep::incomplete;
  entry.payload.bytes = at;
  at += words;
  return EntryStep::entry;
}

// Calls take(entry, ticks) for the entries from `at` on, whose time counts from `base`, until that
// says false, which is an end. `at` is left at the first one that was not taken.
template <typename Sites, typename Take>
inline EntryStep each_entry(const std::uint64_t*& at, const std::uint64_t* end, std::uint64_t& base,
                            Sites&& sites, Take&& take) {
  Entry entry;
  for (;;) {
    const std::uint64_t* const begin = at;
    const EntryStep step = next_entry(at, end, sites, entry);
    const std::uint64_t ticks = base + entry.delta;
    if (step == EntryStep::entry && entry.kind == record::EntryKind::base) base = *entry.value;
    if (step == EntryStep::entry && take(entry, ticks)) continue;
    at = begin;
    return step == EntryStep::entry ? EntryStep::end : step;
  }
}

}  // namespace nvspan::reader
