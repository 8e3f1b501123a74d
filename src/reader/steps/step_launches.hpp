// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The work of GPUs in one process, each piece with the time and the thread of its launch.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/range_scan.hpp"
#include "reader/steps/step_work.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nvspan::reader {

class StepLaunches {
 public:
  // The domains of calls, and of what they launched, as a tool saw them.
  StepLaunches(const Recording& recording, const std::string& call_domain,
               const std::vector<std::string>& work_domains);

  // One that add_call() is to be told of: our recorder's are known by their numbers.
  bool is_call(std::uint32_t site, const ReadProcess& of) const {
    return !is_call_.empty() && is_call_[site] != 0 && of.launches == nullptr;
  }
  void add_call(std::int64_t at, std::uint32_t thread, const EntryPayload& payload);
  // Returns what end() wants.
  std::uint64_t begin(std::uint32_t process, std::uint32_t thread, std::uint32_t site,
                      std::int32_t phase, const EntryPayload& payload);
  void end(std::uint64_t begun, const ScannedRange& range);

  // All of the process, which is forgotten. What a tool saw stands for all of it where there is
  // any, as device ranges are around it.
  core::LargeVector<StepOp> take();
  bool has_seen() const noexcept { return has_seen_; }

 private:
  // A call that may launch work.
  struct Call {
    std::int64_t time;
    std::uint32_t thread;
  };
  struct Begun {
    StepOp op;
    bool is_seen;
  };

  void reserve(std::uint32_t thread);

  const Recording& recording_;
  std::uint32_t reserved_ = 0xFFFFFFFF;                   // the thread for whose work there is room
  std::vector<std::uint8_t> is_call_, is_work_, is_own_;  // of each site; a kernel of nvspan's
  std::vector<StepOp::Kind> kinds_;                       // likewise
  bool has_seen_ = false;
  NumberedCalls<Call> calls_;
  core::LargeVector<Begun> begun_;
  std::vector<std::uint64_t> free_;  // of begun_
  core::LargeVector<StepOp> ops_, seen_;
  std::unique_ptr<LaunchThreads> launch_threads_;
};

}  // namespace nvspan::reader
