// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace nvspan::lines {

// The sampler's thread says in its name how often it looks, once it has found out what that costs:
// a program that is started by a sampled one goes on from there.
void name_sampler_thread() noexcept;
void name_sampler_thread(std::int64_t period) noexcept;  // ns, at most 99 ms

// What the nearest ancestor of this process says, in ns; 0: none says anything.
std::int64_t period_of_ancestors() noexcept;

}  // namespace nvspan::lines
