// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <time.h>

#include <cstdint>

namespace nvspan::core {

inline std::uint64_t now() noexcept {  // ns, CLOCK_MONOTONIC
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace nvspan::core
