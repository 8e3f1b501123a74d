// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The end of a thread that CPython up to 3.13 ends from within: when the interpreter goes away, a
// daemon thread that wants the GIL calls pthread_exit(), in whatever call into Python it is. Where
// that unwinds the stack (glibc does, musl and macOS do not), each frame between there and the
// thread's first one would drop its references without the GIL, or end the process if it is
// noexcept.
//
// Before the unwinder runs anything in a C++ frame it asks the frame's personality routine. The
// linker puts this one into every frame of the extension modules (--wrap in CMakeLists.txt), ours
// and pybind11's alike: it holds the thread for ever, as CPython does from 3.14 on. What the thread
// holds stays held, so no frame may lock a mutex across a call into Python.

#include <csignal>
#include <cstdint>

#include <unistd.h>
#include <unwind.h>

namespace {

// As if the thread were gone: it takes no signal either.
[[noreturn]] void park() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) pause();
}

}  // namespace

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): names that the linker makes
_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                uint64_t exception_class,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);

_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions,
                                                uint64_t exception_class,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context) {
  if (actions & _UA_FORCE_UNWIND) park();
  return __real___gxx_personality_v0(version, actions, exception_class, exception, context);
}
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
