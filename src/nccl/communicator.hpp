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
  Operation* begin(const char* function, uint64_t sequence, unsigned channels) noexcept;
  // The operation is over, and NCCL has let go of it.
  void forget(Operation* operation) noexcept;

 private:
  // As many as NCCL can have under way; more means that it does not report their ends.
  static constexpr unsigned most_open = 65536;

  struct Function {
    const char* address;  // NCCL's constant
    std::string name;
    annotate::ReadyEvent event;
  };
  annotate::ReadyEvent& event_of(const char* function);

  cuda::DeviceContext& context_;
  annotate::Domain& domain_;
  const uint64_t id_;
  uint32_t category_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Function>> functions_;
  Operation* newest_ = nullptr;
  unsigned open_ = 0;
};

}  // namespace nvspan::nccl
