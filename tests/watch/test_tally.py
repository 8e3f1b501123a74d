# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of a recording that grows, read again and again."""

from __future__ import annotations

from collections import Counter

from nvspan.watch.tally import RangeTally, Tally


def reading(counts, total):
    return RangeTally(sum(counts.values()), total, Counter(counts))


def test_a_better_estimate_of_the_clock_is_no_new_range():
    grown = RangeTally()
    grown.grow(reading({900: 10, 1200: 1}, 100.0))
    # All moved down a bucket, and the sum is a bit less.
    grown.grow(reading({899: 10, 1199: 1}, 99.9))
    assert (grown.calls, grown.sum, grown.counts) == (11, 100.0, {900: 10, 1200: 1})
    # Three of ten moved, and two ranges are new.
    grown.grow(reading({900: 7, 901: 3, 1200: 1, 1500: 2}, 120.0))
    assert (grown.calls, grown.sum) == (13, 120.0)
    assert grown.counts == {900: 10, 1200: 1, 1500: 2}


def test_marks_and_losses_only_grow():
    grown, now = Tally(), Tally()
    now.marks[(None, "a")], now.lost = 3, 2
    now.ranges[(None, "r", "push_pop")] = reading({5: 1}, 5.0)
    grown.grow(now)
    grown.grow(Tally())
    assert (grown.marks, grown.lost) == ({(None, "a"): 3}, 2)
    assert grown.ranges[(None, "r", "push_pop")].counts == {5: 1}
