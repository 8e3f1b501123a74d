# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What an annotation costs a program that is recorded, measured before it starts."""

from __future__ import annotations

import os
import tempfile
import time

import nvspan

_RANGES = 20_000  # fills some chunks: taking a new one is a quarter of what a range costs


def measure_annotate_cost() -> int:
    """Nanoseconds of CPU time of one ``with nvspan.annotate(...)``, recorded into a file that is
    removed; the loop around it is not counted. 0: nothing can be recorded here."""
    try:
        with (
            tempfile.TemporaryDirectory(prefix="nvspan-") as folder,
            nvspan.record(os.path.join(folder, "cost.nvspan")),
        ):
            if not nvspan.is_active(nvspan.get_domain()):
                return 0
            _annotate(20)  # what only the first ranges cost
            annotated = _annotate(_RANGES)
    except (OSError, RuntimeError):
        return 0
    return max(1, round((annotated - _loop(_RANGES)) / _RANGES))


def _annotate(ranges: int) -> int:
    begin = time.thread_time_ns()
    for _ in range(ranges):
        with nvspan.annotate("range"):
            pass
    return time.thread_time_ns() - begin


def _loop(ranges: int) -> int:
    begin = time.thread_time_ns()
    for _ in range(ranges):
        pass
    return time.thread_time_ns() - begin
