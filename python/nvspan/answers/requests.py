# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Slow requests: what the slowest take, and what they spend it in that the others do not."""

from __future__ import annotations

from collections.abc import Iterator

from nvspan import _reader
from nvspan.answers.changes import Means
from nvspan.answers.difference import difference
from nvspan.answers.finding import LIKELY, MEASURED, Finding
from nvspan.answers.parts import Parts
from nvspan.recording.statistics import average, median
from nvspan.recording.time_text import duration, percent

_MIN_REQUESTS = 10
_TAIL, _CLEARLY = 1.5, 1.2  # times the median: the slowest tenth's mean, each of the slow ones
_DOUBTFUL = 0.2  # of the ranges within requests


def slow_findings(parts: Parts, means: Means, unit: str) -> Iterator[Finding]:
    """The slow mode of requests, or the slowest tenth, against the faster half."""
    latency = memoryview(parts.tree.steps).tolist()
    count = len(latency)
    if count < _MIN_REQUESTS:
        return
    order = sorted(range(count), key=latency.__getitem__)
    usual = median(latency)
    mode = _reader.two_modes(parts.tree.steps)
    slow = order[-max(2, count // 10) :]
    if mode is not None and len(mode) <= count / 2:
        slow = mode.tolist()
    if average([latency[index] for index in slow]) < _TAIL * usual:
        return
    slow = [index for index in slow if latency[index] > _CLEARLY * usual]
    fast = order[: count // 2]
    if not slow:
        return
    compared = means(slow, fast)
    evidence = difference(parts, compared)
    is_doubtful = parts.tree.is_followed and parts.tree.doubtful > _DOUBTFUL
    if is_doubtful:
        evidence.append(
            f"{percent(parts.tree.doubtful)} of the inner ranges may belong to another {unit}: "
            f"threads and tasks do not say; each counts for the {unit} that was active last"
        )
    time = sum(latency[index] - usual for index in slow)
    yield Finding(
        "slow",
        f"the slowest {len(slow)} of {count:,} {unit}s take {duration(compared.steps[0])}, the "
        f"faster half {duration(compared.steps[1])}",
        LIKELY if is_doubtful else MEASURED,
        evidence,
        cost=max(time, 0.0) / max(parts.tree.total, 1),
    )
