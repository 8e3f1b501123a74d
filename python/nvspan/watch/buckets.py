# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Histograms of durations: those of recordings, and cumulative ones for other tools."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Of each power of two ns, as src/core/log_histogram.hpp lays them out.
_IN_AN_OCTAVE = 128
_EXACT = 7  # below this power of two each ns has a bucket of its own

#: The default ends of buckets, in seconds: from 10 us to 100 s.
DEFAULT_LIMITS = (
    *(float(f"{digit}e{power}") for power in range(-5, 2) for digit in ("1", "2.5", "5")),
    100.0,
)


def unpacked(packed: bytes) -> Counter[int]:
    """The counts of `_reader.RankSummary.histograms()`, by the number of the bucket."""
    numbers = []
    value = shift = 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(value)
            value = shift = 0
    counts: Counter[int] = Counter()
    buckets = itertools.accumulate(numbers[::2])
    for bucket, count in zip(buckets, numbers[1::2], strict=True):
        counts[bucket] += count
    return counts


def duration(bucket: int) -> float:
    """The duration in ns that represents a bucket: within 0.4% of each in it."""
    octave, place = divmod(bucket, _IN_AN_OCTAVE)
    if octave < _EXACT:
        return math.floor(math.ldexp(1 + place / _IN_AN_OCTAVE, octave))
    return math.ldexp(1 + (place + 0.5) / _IN_AN_OCTAVE, octave)


def checked_limits(limits: Iterable[float] | None) -> tuple[float, ...]:
    """The ends of buckets in seconds, ascending.

    Raises:
        ValueError: there is none, one is not above 0, or they do not ascend.
    """
    found = DEFAULT_LIMITS if limits is None else tuple(float(limit) for limit in limits)
    ascends = all(one < other for one, other in itertools.pairwise(found))
    if not found or not ascends or not found[0] > 0 or not math.isfinite(found[-1]):
        raise ValueError(f"buckets must be seconds above 0 that ascend, not {list(found)!r}")
    return found


@functools.lru_cache(maxsize=16)
def _last_buckets(limits: tuple[float, ...]) -> list[int]:
    """The last bucket that lies below each limit."""
    every = range(64 * _IN_AN_OCTAVE)
    return [bisect.bisect_right(every, limit * 1e9, key=duration) - 1 for limit in limits]


def cumulative(counts: Mapping[int, int], limits: Sequence[float]) -> list[int]:
    """How many durations are at most as long as each of `limits`, and last how many there are."""
    lasts = _last_buckets(tuple(limits))
    found = [0] * (len(lasts) + 1)
    for bucket, count in counts.items():
        found[bisect.bisect_left(lasts, bucket)] += count
    return list(itertools.accumulate(found))
