// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cupti/abi.hpp"

#include <cstdint>

namespace nvspan::cupti {

constexpr int most_launch_ids = 4;

// A function of the driver or of the runtime that launches kernels, copies, sets or graphs.
struct LaunchFunction {
  CuptiDomain domain;
  const char* name;
  std::uint16_t ids[most_launch_ids];  // 0: there are no more
};

struct LaunchFunctions {
  const LaunchFunction* first;
  const LaunchFunction* last;

  const LaunchFunction* begin() const noexcept { return first; }
  const LaunchFunction* end() const noexcept { return last; }
};
LaunchFunctions launch_functions() noexcept;

}  // namespace nvspan::cupti
