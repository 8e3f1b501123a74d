// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Wakes a thread, also from a signal handler.

#pragma once

#include "core/immovable.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace nvspan::reader {

class Bell : public core::Immovable {
 public:
  void ring() noexcept {
    rings_.fetch_add(1);
    ::syscall(SYS_futex, &rings_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  // For at most so many ns, where it has not rung since the last call. Of one thread.
  void wait(std::uint64_t most) noexcept {
    const timespec pause = {static_cast<time_t>(most / 1'000'000'000),
                            static_cast<long>(most % 1'000'000'000)};
    ::syscall(SYS_futex, &rings_, FUTEX_WAIT_PRIVATE, heard_, &pause, nullptr, 0);
    heard_ = rings_.load();
  }

 private:
  std::atomic<std::uint32_t> rings_{0};
  std::uint32_t heard_ = 0;
};

}  // namespace nvspan::reader
