# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Histograms as Prometheus has them, made of those of a recording."""

from __future__ import annotations

import math
import random

import pytest

from helpers.written import written
from nvspan.watch.buckets import (
    DEFAULT_LIMITS,
    checked_limits,
    cumulative,
    duration,
    unpacked,
)
from nvspan.watch.tally import Tally


def counts_of(tmp_path, durations):
    ends = 0
    calls = []
    for ns in durations:
        calls.append((ends, ends + ns, "r"))
        ends += ns + 1
    tally = Tally()
    tally.add(written(tmp_path / "a.nvspan", calls))
    (found,) = tally.ranges.values()
    assert (found.calls, found.sum) == (len(durations), sum(durations))
    return found.counts


def test_a_bucket_is_within_0_4_percent_of_what_it_holds(tmp_path):
    chance = random.Random(5)
    durations = [int(10 ** chance.uniform(0, 11)) for _ in range(500)]
    counts = counts_of(tmp_path, durations)
    found = [duration(bucket) for bucket in sorted(counts) for _ in range(counts[bucket])]
    assert len(found) == len(durations)
    for ns, near in zip(sorted(durations), found, strict=True):
        assert abs(near - ns) <= 0.004 * ns


def test_each_ns_below_128_has_a_bucket(tmp_path):
    durations = [*range(1, 128)]
    assert sorted(map(duration, counts_of(tmp_path, durations))) == durations


def test_nothing_is_a_histogram_of_nothing():
    assert unpacked(b"") == {}
    assert cumulative({}, [1.0]) == [0, 0]


def test_counts_up_to_a_limit(tmp_path):
    counts = counts_of(tmp_path, [1_000_000, 3_000_000, 3_000_000, 2_000_000_000, 200_000_000_000])
    assert cumulative(counts, [0.0005, 0.002, 0.01, 10.0]) == [0, 1, 3, 4, 5]


@pytest.mark.parametrize("limits", [[], [0.0, 1.0], [2.0, 1.0], [1.0, math.inf], [math.nan]])
def test_limits_that_are_refused(limits):
    with pytest.raises(ValueError, match=r"^buckets must be seconds above 0 that ascend, not \["):
        checked_limits(limits)


def test_the_limits_that_nobody_chose():
    assert checked_limits(None) == DEFAULT_LIMITS
    assert (len(DEFAULT_LIMITS), DEFAULT_LIMITS[0], DEFAULT_LIMITS[-1]) == (22, 1e-5, 100.0)
