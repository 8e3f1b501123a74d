# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Histograms of durations: what a recording has, and the forms that other tools take."""

from __future__ import annotations

import bisect
import functools
import itertools
import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Of each power of two ns, as src/core/log_histogram.hpp lays them out.
_IN_AN_OCTAVE = 128
_EXACT = 7  # below this power of two each ns has a bucket of its own

#: Where buckets end that nobody chose, in seconds: from 10 us to 100 s.
DEFAULT_LIMITS = (
    *(float(f"{digit}e{power}") for power in range(-5, 2) for digit in ("1", "2.5", "5")),
    100.0,
)


def unpacked(packed: bytes) -> dict[int, int]:
    """The counts of `_reader.RankSummary.histograms()`, by the number of the bucket."""
    numbers = []
    value = shift = 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(value)
            value = shift = 0
    counts: dict[int, int] = {}
    bucket = 0
    for distance, count in zip(numbers[::2], numbers[1::2], strict=True):
        bucket += distance
        counts[bucket] = counts.get(bucket, 0) + count
    return counts


def duration(bucket: int) -> float:
    """What stands for the durations in a bucket, in ns: within 0.4 % of each."""
    octave, place = divmod(bucket, _IN_AN_OCTAVE)
    if octave < _EXACT:
        return math.floor(math.ldexp(1 + place / _IN_AN_OCTAVE, octave))
    return math.ldexp(1 + (place + 0.5) / _IN_AN_OCTAVE, octave)


def checked_limits(limits: Iterable[float] | None) -> tuple[float, ...]:
    """Where buckets end, in seconds, ascending.

    Raises:
        ValueError: there is none, or one is not above 0, or they do not ascend.
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
