// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A pass over whole recordings in which start/end ranges are paired too, whichever threads their
// ends are on: what tables, statistics and exports stand on. Derived gives ended(const
// ScannedRange&), may hide what ThreadVisitor has, and any of the hooks below. With a selection it
// is told of those ranges alone, nested as they are without the others; marks and counters are for
// it to leave out.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/payloads.hpp"
#include "reader/scan/selection.hpp"
#include "reader/scan/thread_scan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nvspan::reader {

// The call that began a start/end range.
struct StartCall {
  std::uint64_t id = 0;
  std::uint64_t ticks = 0;
  EntryPayload payload;
};

struct ScannedRange {
  std::uint32_t site = 0;
  RangeKind kind = RangeKind::push_pop;
  EndReason reason = EndReason::closed;
  std::uint32_t thread = 0;
  std::uint32_t end_thread = 0;
  std::uint32_t level = 0;
  std::int64_t start = 0;  // ns
  std::int64_t end = 0;    // the last known moment when it is unclosed
  std::int64_t self = 0;
  std::uint64_t inside = 0;                   // how many events its thread sent while it was open
  std::uint64_t row = ThreadVisitor::no_row;  // whatever open() or opened() returned
  const StartCall* call = nullptr;            // for ended(), where calls are kept
};

enum class LossKind : std::uint8_t { by_recorder, overwritten, payload };

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
    std::vector<bool>& shown;

    Lengths(const ReadProcess& of, const Selection& by, std::vector<bool>& into)
        : process(of), selection(by), shown(into) {}
    std::uint64_t open(const PushRange&, std::uint64_t, const EntryPayload&) {
      shown.push_back(true);
      return shown.size() - 1;
    }
    void close(const PushRange& range, std::uint64_t ticks, const EntryPayload&) {
      shown[range.row] = selection.takes_duration(process.time(ticks) - process.time(range.start));
    }
  };

  const ReadProcess& process_;
  const Selection& selection_;
  bool wanted_;
  std::size_t next_ = 0;
  std::vector<bool> long_;
};

// `keeps_calls`: ended() is given the calls that began start/end ranges.
template <typename Derived, bool keeps_calls = false>
class RangeScan : public ThreadVisitor {
 public:
  // All of it, or what the selection takes.
  void run() {
    if (whole_) return run_whole();
    run([&](std::uint32_t thread) { return KeepSelected(recording_, thread, selection_); });
  }
  // For who selects nothing: code for a selection beside it keeps close() from being inlined, which
  // costs statistics a quarter.
  void run_whole() {
    run([](std::uint32_t) { return KeepAll(); });
  }

  void close(const PushRange& range, std::uint64_t ticks, const EntryPayload&) {
    finish(range, ticks, EndReason::closed);
  }
  [[gnu::noinline]] void unclosed(const PushRange& range, std::uint64_t ticks, EndReason reason) {
    finish(range, ticks, reason);
  }
  void start(std::uint32_t site, std::uint64_t ticks, std::uint64_t id,
             const EntryPayload& payload) {
    Started started;
    started.site = site;
    started.kind = recording_.sites()[site].started_kind();
    started.thread = thread_;
    started.start = process_->time(ticks);
    started.keep(id, ticks, payload);
    started.row = self().opened(range_of(started), id, ticks, payload);
    const auto ended = ended_.empty() ? ended_.end() : ended_.find(id);
    if (ended == ended_.end()) return remember(id, started);
    finish(started, ended->second);
    ended_.erase(ended);
  }
  void end(std::uint32_t, std::uint64_t ticks, std::uint64_t id, const EntryPayload&) {
    const End end{process_->time(ticks), thread_};
    const auto found = started_.find(id);
    if (found == started_.end()) {
      if (!ended_.emplace(id, end).second) self().lone_ends(1);
      return;
    }
    finish(found->second, end);
    spare_ = started_.extract(found);
  }

  // Of whatever length: `min_duration` is for what the program annotated.
  void whole(std::uint32_t site, std::uint64_t begin, std::uint64_t end,
             const EntryPayload& payload) {
    Started started;
    started.site = site;
    started.kind = recording_.sites()[site].started_kind();
    started.thread = thread_;
    started.start = process_->time(begin);
    started.keep(0, begin, payload);
    started.row = self().opened(range_of(started), 0, begin, payload);
    ScannedRange range = range_of(started);
    range.end = std::max(process_->time(end), range.start);
    range.self = range.end - range.start;
    deliver(range);
  }

  void lost(const record::LossWindow& window, record::LossReason reason) {
    self().loss(LossKind::by_recorder, recording_.loss_in(thread_, window.from, window.to,
                                                          window.count, loss_reason_text(reason)));
  }
  void gap(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    self().loss(LossKind::overwritten,
                recording_.loss_in(thread_, from, to, count, overwritten_text));
  }

  // A start/end range begins: what it returns is the range's `row`.
  std::uint64_t opened(const ScannedRange&, std::uint64_t /* id */, std::uint64_t /* ticks */,
                       const EntryPayload&) {
    return no_row;
  }
  // A start/end range ended and is left out, as it is shorter than the recording keeps them.
  void left_out(const ScannedRange&) {}
  // So many calls ended start/end ranges that were not open.
  void lone_ends(std::uint64_t) {}
  void loss(LossKind, const ReadLoss&) {}
  void begin_thread(std::uint32_t) {}
  void end_thread(std::uint32_t) {}
  void end_process(std::uint32_t) {}

 protected:
  std::int64_t time(std::uint64_t ticks) const { return process_->time(ticks); }
  // Derived calls this for each payload: pieces that were not kept become a loss.
  void see_payload(const EntryPayload& payload, std::uint64_t ticks) {
    if (payload.bytes == nullptr || payload.is_work) return;
    const std::uint64_t count = payloads_not_kept(payload);
    if (count == 0) return;
    if (not_kept_.count == 0) not_kept_.from = ticks;
    not_kept_.count += count;
    not_kept_.to = ticks;
  }
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

  // A start/end range that has not ended.
  struct NoCall {
    void keep(std::uint64_t, std::uint64_t, const EntryPayload&) {}
    const StartCall* call() const { return nullptr; }
  };
  struct KeptCall {
    void keep(std::uint64_t id, std::uint64_t ticks, const EntryPayload& payload) {
      kept = StartCall{id, ticks, payload};
    }
    const StartCall* call() const { return &kept; }
    StartCall kept;
  };
  struct Started : std::conditional_t<keeps_calls, KeptCall, NoCall> {
    std::int64_t start;
    std::uint64_t row = 0;
    std::uint32_t site;
    std::uint32_t thread;
    RangeKind kind;
  };
  using StartedMap = std::unordered_map<std::uint64_t, Started>;

  Derived& self() { return static_cast<Derived&>(*this); }

  static ScannedRange range_of(const Started& started) {
    ScannedRange range;
    range.site = started.site;
    range.kind = started.kind;
    range.start = started.start;
    range.thread = range.end_thread = started.thread;
    range.row = started.row;
    range.call = started.call();
    return range;
  }
  // In the place of the last one that ended, if there is one: most are closed before the next.
  void remember(std::uint64_t id, const Started& started) {
    if (!spare_) {
      started_.insert_or_assign(id, started);
      return;
    }
    spare_.key() = id;
    spare_.mapped() = started;
    auto inserted = started_.insert(std::move(spare_));
    if (inserted.inserted) return;
    inserted.position->second = started;
    spare_ = std::move(inserted.node);
  }

  template <typename KeepOf>
  void run(KeepOf&& keep_of) {
    const auto& threads = recording_.threads();
    for (std::uint32_t process = 0; process < recording_.processes().size(); ++process) {
      process_ = &recording_.processes()[process];
      for (std::uint32_t i = 0; i < threads.size(); ++i) {
        if (threads[i].process != process) continue;
        thread_ = i;
        self().begin_thread(i);
        scan_thread(recording_, threads[i], self(), keep_of(i));
        add_payload_loss();
        self().end_thread(i);
      }
      for (const auto& entry : started_) {
        ScannedRange range = range_of(entry.second);
        range.reason = process_->closed ? EndReason::process_end : EndReason::killed;
        range.end = std::max(process_->end, range.start);
        range.self = range.end - range.start;
        deliver(range);
      }
      started_.clear();
      self().lone_ends(ended_.size());
      ended_.clear();
      self().end_process(process);
    }
  }

  void add_payload_loss() {
    if (not_kept_.count == 0) return;
    self().loss(LossKind::payload, recording_.loss_in(thread_, not_kept_.from, not_kept_.to,
                                                      not_kept_.count, payload_loss_text));
    not_kept_ = record::LossWindow{};
  }

  [[gnu::always_inline]] void finish(const PushRange& push, std::uint64_t ticks, EndReason reason) {
    ScannedRange range;
    range.site = push.site;
    range.reason = reason;
    range.start = process_->time(push.start);
    range.end = process_->time(ticks);
    range.self = process_->duration(push.self);
    range.thread = range.end_thread = thread_;
    range.level = push.level;
    range.inside = push.inside;
    range.row = push.row;
    self().ended(range);
  }
  void finish(const Started& started, const End& end) {
    ScannedRange range = range_of(started);
    range.end = std::max(end.time, range.start);
    range.self = range.end - range.start;
    range.end_thread = end.thread;
    // The recorder leaves short push ranges out. Where a start/end range ends nobody looks back.
    const auto duration = static_cast<std::uint64_t>(range.self);
    if (duration < process_->header.min_duration) return self().left_out(range);
    deliver(range);
  }
  [[gnu::always_inline]] void deliver(const ScannedRange& range) {
    const bool closed = range.reason == EndReason::closed;
    if (whole_ || (takes(range.site, range.start, range.thread) &&
                   (!closed || selection_.takes_duration(range.end - range.start)))) {
      self().ended(range);
    }
  }

  const bool whole_;
  record::LossWindow not_kept_ = {};  // payloads of this thread
  StartedMap started_;
  typename StartedMap::node_type spare_;
  std::unordered_map<std::uint64_t, End> ended_;
};

}  // namespace nvspan::reader
