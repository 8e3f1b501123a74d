// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the generated bodies of generators, async generators and coroutines are driven with.
//
//     d = RESUMER(CALLEE()(a, b))                  generator
//     while RESUME(d):                             push, resume the original, pop
//         try:
//             SENT(d, (yield TAKE(d)))
//         except:
//             CAUGHT(d)                            thrown into the original at the next RESUME
//     return RESULT(d)
//
// `yield from` would not do: it turns a GeneratorExit that is thrown in into close(), and drops
// what the original answers to it. No value stays in a local of the generated body while it is
// suspended.
//
//     d = RESUMER(CALLEE()(a, b))                  async generator
//     while True:
//         try:
//             while await STEP(d):                 push and pop around every send into asend()
//                 try:
//                     SENT(d, (yield TAKE(d)))
//                 except:
//                     CAUGHT(d)
//             return
//         except:
//             PASS_ON(d)                           GeneratorExit at the await goes to the original
//
// A coroutine of kind "nested" has `return await WAIT(d)` in place of the inner loop.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// Makes the type and adds what the generated bodies call to the builtins. 0, or -1 with an
// exception set.
int decorated_resume_init();

// Drives `inner`, a generator, coroutine or async generator that has not started: with a push/pop
// around each resumption, or with one start/end range from the first to the last. `annotation` may
// be null. A new reference, or null with an exception set.
PyObject* resumer_new(PyObject* annotation, PyObject* inner, bool as_span);

}  // namespace nvspan::bindings
