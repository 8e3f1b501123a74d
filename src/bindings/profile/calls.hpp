// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The calls of generators and coroutines that the profile has seen and that have not ended.
//
// A call that ends unseen keeps its place until another one begins in a frame at its address, or
// the profile ends.

#include <cstdint>
#include <vector>

namespace nvspan::bindings {

struct ProfileCode;

struct ProfileCall {
  uintptr_t frame = 0;
  const ProfileCode* code = nullptr;
  uint64_t number = 0;
  bool is_suspended = false;
};

// The number of the call that begins in `frame`, one of `code`; 0: too many have one, or there is
// no memory for it.
uint64_t profile_begin_call(uintptr_t frame, const ProfileCode* code) noexcept;
// The same of a call that goes on: a new one if nobody saw it before.
uint64_t profile_resume_call(uintptr_t frame, const ProfileCode* code) noexcept;
// The call in `frame` is suspended, or ends.
void profile_leave_call(uintptr_t frame, bool is_suspended) noexcept;

void profile_forget_calls() noexcept;
// Those that are suspended, by their frames. Forgets all.
std::vector<ProfileCall> profile_take_suspended_calls() noexcept;

}  // namespace nvspan::bindings
