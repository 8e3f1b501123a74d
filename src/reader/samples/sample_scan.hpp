// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// One pass over a process's samples in the order of their times, with the time that each stands
// for. CPU time since the thread was last looked at goes to the stacks that were seen running, the
// rest to those that were not, so that a sampler that comes late hides nothing.

#pragma once

#include "reader/chunks/sample_records.hpp"
#include "reader/file/recording.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nvspan::reader {

enum class TimeKind : std::uint8_t { running, ready, waiting };
constexpr std::size_t time_kinds = 3;

// What the sampler says of itself, and what was not read.
struct SampleFacts {
  record::SampleCounts counts;  // the latest in the file
  std::int64_t period = 0;      // ns, the latest; 0: not known
  std::uint64_t chunks = 0;
  std::uint64_t unknown = 0;  // samples of threads that the file does not define
  std::uint64_t damaged = 0;  // chunks that could be read up to some record
};

// Derived gives
//   std::uint32_t sampled(std::uint32_t thread, std::uint32_t stack, std::int64_t time);
// which returns a number for what the sample is of, and is told
//   void reach(std::int64_t time);  // of what follows
//   void count(std::uint32_t number, std::uint64_t samples);
//   void credit(std::uint32_t number, TimeKind kind, std::int64_t from, std::int64_t ns);
//   void ended(std::uint32_t thread, std::int64_t time);
//   void parted(std::uint32_t thread);  // what comes next of it does not follow
// It may have this as well, instead of a count and a credit of a thread that did not run:
//   void stood(std::uint32_t number, TimeKind kind, std::int64_t from, std::int64_t ns,
//              std::uint64_t looks);
// Times of all never go back; `thread` is an index of SampleTables::threads.
template <typename Derived>
class SampleScan {
 public:
  SampleScan(const ReadProcess& process, Derived& derived)
      : process_(process), derived_(derived), threads_(process.samples.threads.size()) {}

  SampleFacts run() {
    const SampleTables& tables = process_.samples;
    SampleReader reader(tables.threads.size(), tables.stacks.size());
    SampleRecord record;
    std::uint64_t number = 0;
    for (const ReadChunk& chunk : tables.chunks) {
      if (chunk.number != number + 1) forget();
      number = chunk.number;
      ++facts_.chunks;
      reader.start(chunk);
      SampleStep step;
      while ((step = reader.next(record)) <= SampleStep::note) {
        const std::int64_t time = process_.time(record.ticks);
        if (time < now_) {  // of another chunk
          record.looks = 0;
        } else {
          now_ = time;
          derived_.reach(now_);
        }
        step == SampleStep::sample ? sample(record) : note(record);
      }
      if (step != SampleStep::damaged) continue;
      ++facts_.damaged;
      forget();
    }
    forget();
    return facts_;
  }

 private:
  static constexpr std::int64_t longest_period = 10'000'000'000;  // ns
  // Nothing is said to have stood for longer: 100 days.
  static constexpr std::uint64_t longest = std::uint64_t{1} << 53;  // ns

  struct Seen {
    std::uint32_t number = 0;
    record::SampleState state = record::SampleState::waiting;

    bool may_run() const { return state != record::SampleState::waiting; }
    bool may_rest() const { return state != record::SampleState::running; }
    TimeKind rest() const { return may_run() ? TimeKind::ready : TimeKind::waiting; }
  };
  struct Thread {
    bool is_known = false;
    bool ran = false;  // `on` is known
    std::int64_t last = 0;
    Seen now;
    Seen on;  // the last one that may have run
  };

  // From `from` to now; 0: unbelievable.
  std::int64_t span_from(std::int64_t from) const {
    const std::uint64_t span = static_cast<std::uint64_t>(now_) - static_cast<std::uint64_t>(from);
    return span > longest ? 0 : static_cast<std::int64_t>(span);
  }

  void sample(const SampleRecord& record) {
    if (record.thread == 0) {
      facts_.unknown += 1 + record.looks;
      return;
    }
    Thread& thread = threads_[record.thread];
    std::int64_t span = 0;
    if (thread.is_known) {
      span = span_from(thread.last);
      if (record.looks != 0) {
        const std::int64_t since = process_.duration(record.ticks - record.stood_to);
        const std::int64_t stood = span - std::min(span, since);
        stand(derived_, thread, stood, record.looks, 0);
        span -= stood;
      }
    } else {
      span = facts_.period;
    }
    Seen seen;
    seen.number = derived_.sampled(record.thread, record.stack, now_);
    seen.state = record.state;
    derived_.count(seen.number, 1);
    share(thread, seen, span, span * record.part / record::sample_whole);
    if (!thread.is_known) known_.push_back(record.thread);
    thread.is_known = true;
    thread.last = now_;
    thread.now = seen;
    if (!seen.may_run()) return;
    thread.on = seen;
    thread.ran = true;
  }

  void share(const Thread& thread, const Seen& seen, std::int64_t span, std::int64_t ran) {
    const std::int64_t from = now_ - span;
    const bool before_ran = thread.is_known && thread.now.may_run();
    if (before_ran && seen.may_run()) {
      give(thread.now.number, TimeKind::running, from, ran / 2);
      give(seen.number, TimeKind::running, from, ran - ran / 2);
    } else if (before_ran || seen.may_run() || !thread.is_known || !thread.ran) {
      give(before_ran ? thread.now.number : seen.number, TimeKind::running, from, ran);
    } else {
      give(thread.on.number, TimeKind::running, from, ran);
    }
    const std::int64_t rest = span - ran;
    bool before = thread.is_known && thread.now.may_rest();
    bool now = seen.may_rest();
    if (before && now && thread.now.state != seen.state) {  // rather the one that waited
      before = thread.now.state == record::SampleState::waiting;
      now = !before;
    }
    if (before && now) {
      give(thread.now.number, thread.now.rest(), from, rest / 2);
      give(seen.number, seen.rest(), from, rest - rest / 2);
    } else {
      const Seen& one = before ? thread.now : seen;
      give(one.number, one.rest(), from, rest);
    }
  }
  void give(std::uint32_t number, TimeKind kind, std::int64_t from, std::int64_t ns) {
    if (ns != 0) derived_.credit(number, kind, from, ns);
  }

  void note(const SampleRecord& record) {
    switch (record.note) {
      case record::SampleNote::period: {
        constexpr std::uint64_t us = 1000;
        facts_.period = static_cast<std::int64_t>(std::min(record.numbers[0], longest / us) * us);
        facts_.period = std::min(facts_.period, longest_period);
        break;
      }
      case record::SampleNote::counts: {
        const std::uint64_t* const read = record.numbers;
        facts_.counts = {read[0], read[1], read[2], read[3], read[4], read[5], read[6]};
        break;
      }
      case record::SampleNote::ended:
        if (record.numbers[0] == 0 || record.numbers[0] >= threads_.size()) break;
        end(static_cast<std::uint32_t>(record.numbers[0]));
        derived_.ended(static_cast<std::uint32_t>(record.numbers[0]), now_);
        break;
    }
  }

  template <typename D>
  static auto stand(D& derived, const Thread& thread, std::int64_t ns, std::uint64_t looks, int)
      -> decltype(derived.stood(0, TimeKind::waiting, ns, ns, looks)) {
    derived.stood(thread.now.number, thread.now.rest(), thread.last, ns, looks);
  }
  template <typename D>
  static void stand(D& derived, const Thread& thread, std::int64_t ns, std::uint64_t looks, long) {
    derived.count(thread.now.number, looks);
    derived.credit(thread.now.number, thread.now.rest(), thread.last, ns);
  }

  // A thread without a record has stood still at every look since; in its last period it may have
  // done anything.
  void end(std::uint32_t number) {
    Thread& thread = threads_[number];
    if (!thread.is_known) return;
    const std::int64_t stood = span_from(thread.last) - facts_.period;
    if (stood > 0) {
      const std::uint64_t looks =
          facts_.period > 0 ? static_cast<std::uint64_t>(stood / facts_.period) : 0;
      stand(derived_, thread, stood, looks, 0);
    }
    thread = Thread();
  }
  // What comes next does not follow.
  void forget() {
    for (const std::uint32_t number : known_) {
      end(number);
      derived_.parted(number);
    }
    known_.clear();
  }

  const ReadProcess& process_;
  Derived& derived_;
  SampleFacts facts_;
  std::int64_t now_ = std::numeric_limits<std::int64_t>::min();
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> known_;  // numbers, of threads that have ended too
};

}  // namespace nvspan::reader
