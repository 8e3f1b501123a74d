// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A process's samples as stretches of time in which a thread was seen at one stack.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/samples/sample_scan.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace nvspan::reader {

// Which of the sampled threads of a process are wanted.
inline std::vector<bool> wanted_threads(const Recording& recording, std::uint32_t process,
                                        const Selection& selection) {
  const auto& sampled = recording.processes()[process].samples.threads;
  if (selection.threads.empty()) return std::vector<bool>(sampled.size(), true);
  std::unordered_set<std::uint32_t> tids;
  for (std::uint32_t i = 0; i < recording.threads().size(); ++i) {
    const ReadThread& thread = recording.threads()[i];
    if (thread.process == process && selection.takes_thread(i)) tids.insert(thread.tid);
  }
  std::vector<bool> wanted;
  for (const auto& thread : sampled) wanted.push_back(tids.count(thread.tid) != 0);
  return wanted;
}

// `take(thread, stack, from, to)` is called with the stretches of each thread in the order of their
// times. The stack of a sample is there from the middle between it and the look before to the
// middle between the last look that saw it and the next one.
template <typename Take>
class SampleStretches {
 public:
  explicit SampleStretches(const ReadProcess& process, Take take)
      : process_(process), take_(take), threads_(process.samples.threads.size()) {}

  SampleFacts run() {
    SampleScan<SampleStretches> scan(process_, *this);
    return scan.run();
  }

  // What SampleScan calls: its numbers are those of threads.
  std::uint32_t sampled(std::uint32_t thread, std::uint32_t stack, std::int64_t time) {
    Thread& of = threads_[thread];
    const bool is_same = of.is_open && of.stack == stack;
    if (!is_same) {
      const std::int64_t from =
          of.is_open ? time - static_cast<std::int64_t>(span(of.seen, time) / 2) : time;
      close(thread, from);
      of = {true, stack, from, time};
    }
    of.seen = time;
    return thread;
  }
  // A stack that stood still is told of before the next sample, from the last one on.
  void credit(std::uint32_t thread, TimeKind, std::int64_t from, std::int64_t ns) {
    if (from == threads_[thread].seen) threads_[thread].seen = from + ns;
  }
  void ended(std::uint32_t thread, std::int64_t) { close(thread, threads_[thread].seen); }
  void parted(std::uint32_t thread) { close(thread, threads_[thread].seen); }
  void reach(std::int64_t) {}
  void count(std::uint32_t, std::uint64_t) {}

 private:
  static constexpr std::uint64_t longest = std::uint64_t{1} << 53;  // ns

  struct Thread {
    bool is_open = false;
    std::uint32_t stack = 0;
    std::int64_t from = 0;
    std::int64_t seen = 0;  // the last look that saw it
  };

  // As times of damaged files may be any.
  static std::uint64_t span(std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  }
  void close(std::uint32_t thread, std::int64_t to) {
    Thread& of = threads_[thread];
    if (of.is_open && to > of.from && span(of.from, to) <= longest) {
      take_(thread, of.stack, of.from, to);
    }
    of.is_open = false;
  }

  const ReadProcess& process_;
  Take take_;
  std::vector<Thread> threads_;
};

}  // namespace nvspan::reader
