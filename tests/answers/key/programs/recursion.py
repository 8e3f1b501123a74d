# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A tree that is built and walked recursively, in steps."""

from measured import phase, work


def visit(depth: int) -> None:
    with phase("visit"):
        work(4)
        for _ in range(2 if depth else 0):
            visit(depth - 1)


for number in range(12):
    with phase(f"step {number}"):
        with phase("read"):
            work(15)
        with phase("walk"):
            visit(3)
