// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A pass over whole recordings in which start/end ranges are paired too, whichever threads their
// ends are on. Derived gives ended(const ScannedRange&) and may hide what ThreadVisitor has. With a
// selection it is told of those ranges alone, nested as they are without the others; marks and
// counters are for it to leave out.

#pragma once

#include "record/selection.hpp"
#include "record/thread_scan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nvspan {

struct ScannedRange {
  std::uint32_t site = 0;
  RangeKind kind = RangeKind::push_pop;
  EndReason reason = EndReason::closed;
  std::int64_t start = 0;         // ns
  std::uint64_t start_ticks = 0;  // of start/end ranges
  std::int64_t end = 0;           // the last known moment when it is unclosed
  std::int64_t self = 0;
  std::uint32_t thread = 0;
  std::uint32_t end_thread = 0;
  std::uint32_t level = 0;
  std::uint64_t row = ThreadVisitor::no_row;  // whatever open() returned, of push ranges
  EntryPayload payload;                       // of start/end ranges
};

// Which of a thread's push ranges a selection takes.
class KeepSelected {
 public:
  KeepSelected(const Recording& recording, std::uint32_t thread, const Selection& selection)
      : process_(recording.processes()[recording.threads()[thread].process]),
        selection_(selection),
        wanted_(selection.takes_thread(thread)) {
    // How long a range took is known at its end: an earlier pass finds it.
    if (!wanted_ || selection.shortest <= 0) return;
    Lengths lengths(process_, selection, long_);
    scan_thread(recording, recording.threads()[thread], lengths);
  }

  bool operator()(std::uint32_t site, std::uint64_t ticks) {
    const std::size_t number = next_++;
    return wanted_ && selection_.takes_site(site) && selection_.takes_time(process_.time(ticks)) &&
           (long_.empty() || long_[number]);
  }

 private:
  struct Lengths : ThreadVisitor {
    const ReadProcess& process;
    const Selection& selection;
    std::vector<bool>& made;

    Lengths(const ReadProcess& of, const Selection& by, std::vector<bool>& into)
        : process(of), selection(by), made(into) {}
    std::uint64_t open(const PushRange&, std::uint64_t, const EntryPayload&) {
      made.push_back(true);
      return made.size() - 1;
    }
    void close(const PushRange& range, std::uint64_t ticks, const EntryPayload&) {
      made[range.row] = selection.takes_duration(process.time(ticks) - process.time(range.start));
    }
  };

  const ReadProcess& process_;
  const Selection& selection_;
  bool wanted_;
  std::size_t next_ = 0;
  std::vector<bool> long_;
};

template <typename Derived>
class RangeScan : public ThreadVisitor {
 public:
  void run() {
    const auto& threads = recording_.threads();
    for (std::uint32_t process = 0; process < recording_.processes().size(); ++process) {
      process_ = &recording_.processes()[process];
      for (std::uint32_t i = 0; i < threads.size(); ++i) {
        if (threads[i].process != process) continue;
        thread_ = i;
        self().begin_thread(i);
        if (whole_) {
          scan_thread(recording_, threads[i], self());
        } else {
          scan_thread(recording_, threads[i], self(), KeepSelected(recording_, i, selection_));
        }
        self().end_thread(i);
      }
      for (const auto& entry : started_) {
        ScannedRange range = entry.second;
        range.reason = process_->closed ? EndReason::process_end : EndReason::killed;
        range.end = std::max(process_->end, range.start);
        range.self = range.end - range.start;
        deliver(range);
      }
      started_.clear();
      ended_.clear();
      self().end_process(process);
    }
  }

  void close(const PushRange& range, std::uint64_t ticks, const EntryPayload&) {
    finish(range, ticks, EndReason::closed);
  }
  void unclosed(const PushRange& range, std::uint64_t ticks, EndReason reason) {
    finish(range, ticks, reason);
  }
  void start(std::uint32_t site, std::uint64_t ticks, std::uint64_t id,
             const EntryPayload& payload) {
    ScannedRange range;
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
  void end(std::uint32_t, std::uint64_t ticks, std::uint64_t id, const EntryPayload&) {
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
  bool takes(std::uint32_t site, std::int64_t start, std::uint32_t thread) const {
    return whole_ || (selection_.takes_site(site) && selection_.takes_time(start) &&
                      selection_.takes_thread(thread));
  }

  const Recording& recording_;
  const Selection& selection_;
  const ReadProcess* process_ = nullptr;
  std::uint32_t thread_ = 0;

 private:
  friend Derived;
  RangeScan(const Recording& recording, const Selection& selection)
      : recording_(recording), selection_(selection), whole_(selection.is_whole()) {}

  struct End {
    std::int64_t time;
    std::uint32_t thread;
  };

  Derived& self() { return static_cast<Derived&>(*this); }

  void finish(const PushRange& push, std::uint64_t ticks, EndReason reason) {
    ScannedRange range;
    range.site = push.site;
    range.reason = reason;
    range.start = process_->time(push.start);
    range.end = process_->time(ticks);
    range.self = process_->duration(push.self);
    range.thread = range.end_thread = thread_;
    range.level = push.level;
    range.row = push.row;
    self().ended(range);
  }
  void finish(ScannedRange range, const End& end) {
    range.end = std::max(end.time, range.start);
    range.self = range.end - range.start;
    range.end_thread = end.thread;
    // The recorder leaves short push ranges out. Where a start/end range ends nobody looks back.
    if (static_cast<std::uint64_t>(range.self) >= process_->header.min_duration) deliver(range);
  }
  void deliver(const ScannedRange& range) {
    const bool closed = range.reason == EndReason::closed;
    if (takes(range.site, range.start, range.thread) &&
        (!closed || selection_.takes_duration(range.end - range.start))) {
      self().ended(range);
    }
  }

  const bool whole_;
  std::unordered_map<std::uint64_t, ScannedRange> started_;
  std::unordered_map<std::uint64_t, End> ended_;
};

}  // namespace nvspan
