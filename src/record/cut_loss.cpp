// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What is missing in a file that another process made shorter while it was written: all events that
// its header speaks of, less those that are there or that it says itself are lost.

#include "record/reader.hpp"
#include "record/walk.hpp"

#include <algorithm>

namespace nvspan {
namespace {

struct CountEvents : WalkVisitor {
  std::uint64_t known = 0;
  std::uint64_t last = 0;  // ticks

  void see(std::uint64_t ticks) { last = std::max(last, ticks); }
  std::uint64_t open(const WalkRange& range, std::uint64_t, const WalkPayload&) {
    see(range.start);
    return no_row;
  }
  void close(const WalkRange&, std::uint64_t ticks, const WalkPayload&) { see(ticks); }
  void mark(std::uint32_t, std::uint64_t ticks, const WalkPayload&) { see(ticks); }
  void start(std::uint32_t, std::uint64_t ticks, std::uint64_t, const WalkPayload&) { see(ticks); }
  void end(std::uint32_t, std::uint64_t ticks, std::uint64_t, const WalkPayload&) { see(ticks); }
  void lost(const LossWindow& window, LossReason) { known += window.count; }
  void gap(std::uint64_t, std::uint64_t, std::uint64_t count) { known += count; }
  void walked(std::uint64_t kept) { known += kept; }
};

}  // namespace

void Recording::add_cut_loss(std::uint32_t process) {
  const FileHeader& header = processes_[process].header;
  CountEvents seen;
  for (const ReadThread& thread : threads_) {
    if (thread.process == process) walk_thread(*this, thread, seen);
  }
  if (header.made != 0 && header.made <= seen.known) return;
  ReadLoss lost;
  lost.process = process;
  lost.from = processes_[process].time(std::max(header.loss.from, seen.last));
  lost.to = std::max(lost.from, processes_[process].time(header.loss.to));
  lost.count = header.made == 0 ? 0 : header.made - seen.known;
  lost.reason = "cut off";
  losses_.push_back(lost);
}

}  // namespace nvspan
