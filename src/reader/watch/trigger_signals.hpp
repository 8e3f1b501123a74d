// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace nvspan::reader {

// From now on the signal is remembered, also while the program's threads never come to run a
// handler of theirs. A handler that the program had is called as well.
void take_signal(int number) noexcept;
// Whether it came since the last call.
bool was_signalled(int number) noexcept;
// Whether the program has put another handler in its place; true once in a process and its forks.
// That one stays: a library that removes its handler puts back what it found, and a handler in
// front would go on to call one that is gone. A default action is what the program wants, too.
bool was_replaced(int number) noexcept;

}  // namespace nvspan::reader
