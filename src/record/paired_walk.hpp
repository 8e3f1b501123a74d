// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A pass over whole recordings in which start/end ranges are paired too, whichever threads their
// ends are on. Derived gives ended(const PairedRange&) and may hide what WalkVisitor has.

#pragma once

#include "record/walk.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace nvspan {

struct PairedRange {
  std::uint32_t site = 0;
  RangeKind kind = RangeKind::push_pop;
  EndReason reason = EndReason::closed;
  std::int64_t start = 0;  // ns
  std::uint64_t start_ticks = 0;  // of start/end ranges
  std::int64_t end = 0;    // the last known moment when it is unclosed
  std::int64_t self = 0;
  std::uint32_t thread = 0;
  std::uint32_t end_thread = 0;
  std::uint32_t level = 0;
  std::uint64_t row = WalkVisitor::no_row;  // whatever open() returned, of push ranges
  WalkPayload payload;                      // of start/end ranges
};

template <typename Derived>
class PairedWalk : public WalkVisitor {
 public:
  void run() {
    const auto& threads = recording_.threads();
    for (std::uint32_t process = 0; process < recording_.processes().size(); ++process) {
      process_ = &recording_.processes()[process];
      for (std::uint32_t i = 0; i < threads.size(); ++i) {
        if (threads[i].process != process) continue;
        thread_ = i;
        self().begin_thread(i);
        walk_thread(recording_, threads[i], self());
        self().end_thread(i);
      }
      for (const auto& entry : started_) {
        PairedRange range = entry.second;
        range.reason = process_->closed ? EndReason::process_end : EndReason::killed;
        range.end = std::max(process_->end, range.start);
        range.self = range.end - range.start;
        self().ended(range);
      }
      started_.clear();
      ended_.clear();
      self().end_process(process);
    }
  }

  void close(const WalkRange& range, std::uint64_t ticks, const WalkPayload&) {
    finish(range, ticks, EndReason::closed);
  }
  void unclosed(const WalkRange& range, std::uint64_t ticks, EndReason reason) {
    finish(range, ticks, reason);
  }
  void start(std::uint32_t site, std::uint64_t ticks, std::uint64_t id,
             const WalkPayload& payload) {
    PairedRange range;
    range.site = site;
    range.kind = recording_.sites()[site].started_kind();
    range.start = process_->time(ticks);
    range.start_ticks = ticks;
    range.thread = range.end_thread = thread_;
    range.payload = payload;
    const auto ended = ended_.find(id);
    if (ended == ended_.end()) {
      started_[id] = range;
      return;
    }
    finish(range, ended->second);
    ended_.erase(ended);
  }
  void end(std::uint32_t, std::uint64_t ticks, std::uint64_t id, const WalkPayload&) {
    const End end{process_->time(ticks), thread_};
    const auto found = started_.find(id);
    if (found == started_.end()) {
      ended_.emplace(id, end);
      return;
    }
    finish(found->second, end);
    started_.erase(found);
  }

  void begin_thread(std::uint32_t) {}
  void end_thread(std::uint32_t) {}
  void end_process(std::uint32_t) {}

 protected:
  std::int64_t time(std::uint64_t ticks) const { return process_->time(ticks); }

  const Recording& recording_;
  const ReadProcess* process_ = nullptr;
  std::uint32_t thread_ = 0;

 private:
  friend Derived;
  explicit PairedWalk(const Recording& recording) : recording_(recording) {}

  struct End {
    std::int64_t time;
    std::uint32_t thread;
  };

  Derived& self() { return static_cast<Derived&>(*this); }

  void finish(const WalkRange& walked, std::uint64_t ticks, EndReason reason) {
    PairedRange range;
    range.site = walked.site;
    range.reason = reason;
    range.start = process_->time(walked.start);
    range.end = process_->time(ticks);
    range.self = process_->duration(walked.self);
    range.thread = range.end_thread = thread_;
    range.level = walked.level;
    range.row = walked.row;
    self().ended(range);
  }
  void finish(PairedRange range, const End& end) {
    range.end = std::max(end.time, range.start);
    range.self = range.end - range.start;
    range.end_thread = end.thread;
    self().ended(range);
  }

  std::unordered_map<std::uint64_t, PairedRange> started_;
  std::unordered_map<std::uint64_t, End> ended_;
};

}  // namespace nvspan
