// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// The interpreter counts most calls of builtins as a level of recursion. A builtin that runs the
// original function or generator gives its level back for that time, so that a decorated recursion
// goes half as deep as the bare one and not a third as deep. From 3.14 on the C stack itself is
// measured.
class UncountedLevel {
 public:
  UncountedLevel() noexcept : thread_(PyThreadState_Get()) { add(1); }
  ~UncountedLevel() { add(-1); }
  UncountedLevel(const UncountedLevel&) = delete;
  UncountedLevel& operator=(const UncountedLevel&) = delete;

 private:
  void add(int levels) noexcept {
#if PY_VERSION_HEX < 0x030B0000
    thread_->recursion_depth -= levels;
#elif PY_VERSION_HEX < 0x030C0000
    thread_->recursion_remaining += levels;
#elif PY_VERSION_HEX < 0x030E0000
    thread_->c_recursion_remaining += levels;
#else
    static_cast<void>(levels);
#endif
  }

  PyThreadState* thread_;
};

// For resuming a generator, as against closing or throwing. From 3.12 on what is counted here is C
// stack, of which closing nested generators must never need more than resuming them did: it happens
// in destructors, where running out of it is fatal.
#if PY_VERSION_HEX < 0x030C0000
using UncountedResumption = UncountedLevel;
#else
struct UncountedResumption {
  UncountedResumption() noexcept {}
};
#endif

}  // namespace nvspan::bindings
