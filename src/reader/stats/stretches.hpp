// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Calls of generators and coroutines in a profile, from the stretches in which they ran.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/scan/range_scan.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

class StretchCalls {
 public:
  void begin_thread() noexcept {
    open_.clear();
    thread_has_any_ = false;
  }

  // A stretch of the thread begins. Its payload is the same for all stretches of a call; another
  // call may get it later.
  void open(const EntryPayload& payload) {
    open_.push_back(payload.present && payload.bytes == nullptr ? payload.bits : unknown);
  }
  // The one that began last ends: `row` is of the caller's choice, a multiple of 4, and 0 where the
  // stretch is not counted.
  void close(const Recording& recording, const ScannedRange& range, std::uint64_t row) {
    const std::uint64_t call = open_.empty() ? unknown : open_.back();
    if (!open_.empty()) open_.pop_back();
    if (range.reason != EndReason::closed) return;
    if (!thread_has_any_) ++threads_;
    thread_has_any_ = true;
    const StretchKind kind = recording.sites()[range.site].stretch;
    const std::uint64_t flag = kind == StretchKind::resumes      ? resumes
                               : kind == StretchKind::unfinished ? unfinished
                                                                 : 0;
    stretches_.push_back(Entry{call, range.start, range.end, row | flag});
  }

  // Calls resumed(row, awaited) for each stretch that resumes its call: the time since the one
  // before, 0 where that was not seen, and -1 where it is not known whose the stretch is;
  // left(row, awaited) for each call that was suspended and never went on, of its last stretch; and
  // called(row, running) for each call that was seen to begin, in the order of their begins.
  // Forgets the stretches.
  template <typename Resumed, typename Left, typename Called>
  void finish(const Resumed& resumed, const Left& left, const Called& called) {
    if (threads_ > 1) {
      std::stable_sort(stretches_.begin(), stretches_.end(),
                       [](const Entry& a, const Entry& b) { return a.start < b.start; });
    }
    struct Call {
      std::uint64_t row;
      std::int64_t running;
    };
    struct Latest {
      std::int64_t end;
      std::size_t call;
      std::uint64_t row;
    };
    constexpr auto unseen = static_cast<std::size_t>(-1);
    core::LargeVector<Call> calls;
    std::unordered_map<std::uint64_t, Latest> latest;
    for (const Entry& stretch : stretches_) {
      const std::uint64_t row = stretch.row & ~(resumes | unfinished);
      const std::int64_t running =
          row == 0 ? 0 : std::max<std::int64_t>(stretch.end - stretch.start, 0);
      if ((stretch.row & unfinished) != 0) {
        const auto before = latest.find(stretch.call);
        if (before == latest.end() || before->second.row == 0) continue;
        left(before->second.row, std::max<std::int64_t>(stretch.start - before->second.end, 0));
        continue;
      }
      const bool begins = (stretch.row & resumes) == 0;
      if (begins) calls.push_back({row, running});
      if (stretch.call == unknown) {
        if (!begins && row != 0) resumed(row, std::int64_t{-1});
        continue;
      }
      if (begins) {
        latest[stretch.call] = {stretch.end, calls.size() - 1, row};
        continue;
      }
      Latest& before =
          latest.try_emplace(stretch.call, Latest{stretch.start, unseen, row}).first->second;
      if (row != 0) resumed(row, std::max<std::int64_t>(stretch.start - before.end, 0));
      if (before.call != unseen) calls[before.call].running += running;
      before.end = stretch.end;
      before.row = row;
    }
    for (const Call& call : calls) {
      if (call.row != 0) called(call.row, call.running);
    }
    stretches_.clear();
    threads_ = 0;
    thread_has_any_ = false;
  }

 private:
  static constexpr std::uint64_t unknown = 0;
  static constexpr std::uint64_t resumes = 1, unfinished = 2;

  struct Entry {
    std::uint64_t call;
    std::int64_t start, end;
    std::uint64_t row;  // and what the stretch does
  };
  std::vector<std::uint64_t> open_;  // calls
  core::LargeVector<Entry> stretches_;
  std::uint32_t threads_ = 0;
  bool thread_has_any_ = false;
};

}  // namespace nvspan::reader
