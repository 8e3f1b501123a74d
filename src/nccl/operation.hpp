// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One collective, send or receive, from its call to the end of its last channel. Its kernel runs as
// several channels, each of which NCCL reports by a handle of its own: the operation took from the
// first beginning to the last end.
//
// The thread that calls NCCL begins it, NCCL's proxy thread reports its channels.

#include <atomic>
#include <cstdint>

#include "cuda/given_ranges.hpp"

namespace nvspan::nccl {

class Communicator;
class Operation;

// What NCCL holds: the first member of what a handle points to.
struct Handle {
  Operation* operation;
  bool is_channel;
};

class Operation {
 public:
  // `range` is ended when `channels` channels, at least one, have ended.
  Operation(Communicator& owner, cuda::DeviceRange* range, cuda::DeviceContext& context,
            unsigned channels) noexcept
      : owner_(owner),
        call_{this, false},
        range_(range),
        context_(context),
        channels_(channels),
        held_(channels + 1) {}

  Communicator& owner() const noexcept { return owner_; }

  Handle* call() noexcept { return &call_; }

  // Null: more than were announced.
  Handle* channel_began(uint64_t time) noexcept;
  void channel_stopped(uint64_t time) noexcept;

  // One of NCCL's handles, of the call or of a channel, is used no more. True: it was the last.
  bool let_go() noexcept { return held_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // For an operation whose channels NCCL does not report.
  void give_up() noexcept;

  // Of the list that its communicator keeps.
  Operation* before = nullptr;
  Operation* after = nullptr;

  static constexpr unsigned most_channels = 64;

 private:
  Communicator& owner_;
  Handle call_;
  Handle channel_handles_[most_channels];
  cuda::DeviceRange* range_;
  cuda::DeviceContext& context_;
  const uint32_t channels_;
  std::atomic<uint32_t> begun_{0};
  std::atomic<uint32_t> stopped_{0};
  std::atomic<uint32_t> held_;
  std::atomic<uint64_t> begin_{UINT64_MAX};
  std::atomic<uint64_t> end_{0};
};

}  // namespace nvspan::nccl
