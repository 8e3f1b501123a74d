// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A communicator as NCCL's profiler interface shows it: its id, which all its ranks share, and its
// operations that are not over.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "annotate/event/event.hpp"
#include "cuda/given_ranges.hpp"
#include "nccl/operation.hpp"

namespace nvspan::nccl {

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
