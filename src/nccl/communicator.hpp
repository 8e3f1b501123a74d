// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A communicator as NCCL's profiler interface shows it: its id, which all its ranks share, and its
// operations that are not over.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "annotate/event/event.hpp"
#include "cuda/external_ranges.hpp"

namespace nvspan::nccl {

class Communicator;
class Operation;

// What NCCL holds: the first member of what a handle points to.
struct Handle {
  Operation* operation;
  bool is_channel;
};

// One collective, send or receive, from its call to the end of its last channel. Its kernel runs as
// several channels, each of which NCCL reports by a handle of its own: the operation took from the
// first beginning to the last end.
//
// The thread that calls NCCL begins it, NCCL's proxy thread reports its channels.
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

class Communicator {
 public:
  Communicator(cuda::DeviceContext& context, uint64_t id, int ranks, int rank);
  ~Communicator();

  // The call of an operation on `channels` channels. Null: it is not shown.
  //
  // `sequence` is NCCL's number of a collective among those of its function, which is the same on
  // all ranks, and which each replay of a CUDA graph repeats. The range's number goes on counting.
  Operation* begin_collective(const char* function, uint64_t sequence, unsigned channels) noexcept;
  // A send or receive; the range's number is the peer.
  Operation* begin_pair(const char* function, uint64_t peer, unsigned channels) noexcept;
  // The operation is over, and NCCL has let go of it.
  void forget(Operation* operation) noexcept;

 private:
  // As many as NCCL can have under way; more means that it does not report their ends.
  static constexpr unsigned most_open = 65536;

  struct Function {
    const char* address;  // NCCL's constant
    std::string name;
    annotate::ReadyEvent event;
    uint64_t next = 0;  // number of its next operation
  };
  Function& function_of(const char* function);
  Operation* begin(Function& function, uint64_t number, unsigned channels) noexcept;

  cuda::DeviceContext& context_;
  annotate::Domain& domain_;
  const uint64_t id_;
  const uint32_t rank_;
  const uint32_t ranks_;
  uint32_t category_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Function>> functions_;
  Operation* newest_ = nullptr;
  unsigned open_ = 0;
};

}  // namespace nvspan::nccl
