// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Turns a lane's records, in the order of their times, into the entries of a thread.

#pragma once

#include "record/external/lane_record.hpp"
#include "record/external/section_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nvspan::record {

class EntryNesting {
 public:
  // `domain_of_site` are the section's; range ids are taken from `next_id` on.
  EntryNesting(SectionFile& file, const std::vector<std::uint32_t>& domain_of_site,
               std::uint64_t& next_id)
      : file_(file), domain_of_site_(domain_of_site), next_id_(next_id) {}

  void add(const LaneRecord& record) {
    close_until(record.time());
    switch (record.event()) {
      case LaneEvent::range:
        return range(record);
      case LaneEvent::start_end:
        return start_end(record);
      case LaneEvent::start:
        entry(EntryKind::start, record, record.value_at());
        return;
      case LaneEvent::end:
        entry(EntryKind::end, record, record.value_at());
        return;
      case LaneEvent::mark:
        entry(EntryKind::mark, record, nullptr);
        return;
      case LaneEvent::sample_i64:
        entry(EntryKind::counter_i64, record, record.value_at());
        return;
      case LaneEvent::sample_f64:
        entry(EntryKind::counter_f64, record, record.value_at());
        return;
      case LaneEvent::sample_none:
        entry(EntryKind::counter_none, record, record.value_at());
        return;
      case LaneEvent::sample_bytes:
        entry(EntryKind::counter_bytes, record, nullptr);
        return;
      case LaneEvent::push:
      case LaneEvent::pop:
        return;
    }
  }
  void finish() {
    close_until(never_ended - 1);
    open_.clear();
  }

  // Ranges that began within another of their domain and ended after it.
  std::uint64_t overlapping() const noexcept { return overlapping_; }

 private:
  struct Open {
    std::uint64_t end;
    std::uint32_t domain;
  };

  void close_until(std::uint64_t time) {
    while (!open_.empty() && open_.back().end <= time) {
      simple(EntryKind::pop, open_.back().domain, open_.back().end);
      open_.pop_back();
    }
  }

  void range(const LaneRecord& record) {
    const std::uint64_t end = record.value();
    const std::uint32_t domain = domain_of_site_[record.subject()];
    // The innermost ends first; those of other domains may end in between.
    std::size_t at = open_.size();
    for (; at != 0 && open_[at - 1].end < end; --at) {
      if (open_[at - 1].domain != domain) continue;
      ++overlapping_;
      return start_end(record);
    }
    if (record.payload_words() == 0)
      simple(EntryKind::push, record.subject(), record.time());
    else
      entry(EntryKind::push, record, nullptr);
    if (at == open_.size())
      open_.push_back(Open{end, domain});
    else
      open_.insert(open_.begin() + static_cast<std::ptrdiff_t>(at), Open{end, domain});
  }

  // Both ends in one place: the reader pairs them by their id.
  void start_end(const LaneRecord& record) {
    const std::uint64_t id = next_id_++;
    entry(EntryKind::start, record, &id);
    if (record.value() == never_ended) return;
    const std::uint32_t domain = domain_of_site_[record.subject()];
    const bool wide = domain >= entry_wide_subject;
    std::uint64_t* at = file_.reserve(record.value(), wide ? 3 : 2);
    *at++ = make_entry(EntryKind::end, wide ? entry_wide_subject : domain, file_.entry_delta());
    if (wide) *at++ = domain;
    *at = id;
  }

  void simple(EntryKind kind, std::uint32_t subject, std::uint64_t time) {
    const bool wide = subject >= entry_wide_subject;
    std::uint64_t* at = file_.reserve(time, wide ? 2 : 1);
    *at = make_entry(kind, wide ? entry_wide_subject : subject, file_.entry_delta());
    if (wide) at[1] = subject;
  }

  void entry(EntryKind kind, const LaneRecord& record, const std::uint64_t* value) {
    const std::uint32_t subject = record.subject();
    const bool wide = subject >= entry_wide_subject;
    const std::size_t payload = record.payload_words();
    const std::size_t words = 1 + (wide ? 1 : 0) + (value != nullptr ? 1 : 0) + payload;
    std::uint64_t* at = file_.reserve(record.time(), words);
    *at++ = make_entry(kind, wide ? entry_wide_subject : subject, file_.entry_delta()) |
            (payload != 0 ? entry_payload_bit : 0);
    if (wide) *at++ = subject;
    if (value != nullptr) *at++ = *value;
    std::memcpy(at, record.payload(), payload * word);
  }

  SectionFile& file_;
  const std::vector<std::uint32_t>& domain_of_site_;
  std::uint64_t& next_id_;
  std::vector<Open> open_;
  std::uint64_t overlapping_ = 0;
};

}  // namespace nvspan::record
