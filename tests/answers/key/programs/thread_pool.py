# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A loop that waits for the result of what a thread of a pool does."""

from concurrent.futures import ThreadPoolExecutor

from measured import phase, work


def resize() -> bytes:
    with phase("resize"):
        return work(80)


with ThreadPoolExecutor(1) as pool:
    for _ in range(40):
        with phase("step"):
            future = pool.submit(resize)
            with phase("future.result"):
                future.result()
            with phase("store"):
                work(30)
