# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How far a clock is from the time since 1970."""

from __future__ import annotations

import time

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable


def unix_offset(now: Callable[[], int] = time.monotonic_ns) -> int:
    """ns to add to a clock to get the time since 1970 that the system believes in.

    It is read five times and the closest counts, as a thread may lose its core between the clocks.

    Args:
        now: ns of the clock.
    """
    tries = []
    for _ in range(5):
        before, unix, after = now(), time.time_ns(), now()
        tries.append((after - before, unix - (before + after) // 2))
    return min(tries)[1]
