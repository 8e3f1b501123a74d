// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where check mode looks at what closes: the emitting code asks for it only where a close finds no
// matching open, so that check mode costs nothing while it is off.

#include <atomic>

namespace nvspan::annotate {

class Domain;

// Of check mode; constant.
struct CheckHook {
  void (*pop_without_push)(const Domain& domain) noexcept;
  void (*exit_without_enter)(const void* owner) noexcept;
  // Around the pop of a range of `owner` that is not the innermost.
  void (*enter_buried_exit)(const void* owner) noexcept;
  void (*leave_buried_exit)() noexcept;
};

namespace detail {
extern std::atomic<const CheckHook*> active_check_hook;
}  // namespace detail

// Null while check mode is off.
[[gnu::always_inline]] inline const CheckHook* check_hook() noexcept {
  return detail::active_check_hook.load(std::memory_order_relaxed);
}

[[gnu::always_inline]] inline bool checking() noexcept { return check_hook() != nullptr; }

}  // namespace nvspan::annotate
