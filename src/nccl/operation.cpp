// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/operation.hpp"

namespace nvspan::nccl {

namespace {

template <class Better>
void keep(std::atomic<uint64_t>& kept, uint64_t time, Better better) noexcept {
  uint64_t now = kept.load(std::memory_order_relaxed);
  while (better(time, now) && !kept.compare_exchange_weak(now, time, std::memory_order_relaxed)) {
  }
}

}  // namespace

Handle* Operation::channel_began(uint64_t time) noexcept {
  const uint32_t number = begun_.fetch_add(1, std::memory_order_relaxed);
  if (number >= channels_) return nullptr;
  if (number == 0) cuda::given_began(range_);
  keep(begin_, time, [](uint64_t a, uint64_t b) { return a < b; });
  channel_handles_[number] = {this, true};
  return &channel_handles_[number];
}

void Operation::channel_stopped(uint64_t time) noexcept {
  keep(end_, time, [](uint64_t a, uint64_t b) { return a > b; });
  if (stopped_.fetch_add(1, std::memory_order_acq_rel) + 1 != channels_) return;
  cuda::end_given(range_, context_, static_cast<int64_t>(begin_.load()),
                  static_cast<int64_t>(end_.load()));
  range_ = nullptr;
}

void Operation::give_up() noexcept {
  if (range_) cuda::drop_given(range_);
  range_ = nullptr;
}

}  // namespace nvspan::nccl
