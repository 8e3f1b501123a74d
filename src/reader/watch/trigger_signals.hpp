// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Signals that a program gets are triggers of its watcher.

#pragma once

#include "reader/watch/bell.hpp"

namespace nvspan::reader {

// From now on the signal is a trigger. The thread that gets it waits for the bundle, 2 s at most,
// where this process has a watcher; then comes what would have come without: the handler that the
// program had is called, or the default action ends or stops the process. What was ignored stays
// ignored. SIGUSR1, SIGUSR2 and the real-time signals mean what the program says: without a handler
// of its own they write a bundle and no more.
void take_signal(int number) noexcept;
// Who writes this process's bundles from now on; null: nobody. A forked child has nobody.
void serve_signals(Bell* bell) noexcept;
// Whether it came since the last call.
bool was_signalled(int number) noexcept;
// Its bundle is written, or cannot be: who waits for it goes on.
void signal_served(int number) noexcept;
// Whether the program has put another handler in its place; true once in a process and its forks.
// That one stays: a library that removes its handler puts back what it found, and a handler in
// front would go on to call one that is gone. A default action is what the program wants, too.
bool was_replaced(int number) noexcept;

}  // namespace nvspan::reader
