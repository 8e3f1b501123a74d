# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Calls, time and histograms of ranges, which summaries are added to."""

from __future__ import annotations

import math

from nvspan import _reader
from nvspan.watch.buckets import unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from nvspan._results import JobRow
    from nvspan.recording import Recording


class RangeTally:
    """The ended ranges of one name.

    Attributes:
        calls: how many.
        sum: the time of all of them, in ns; of ranges within one another each counts.
        shortest, longest: of them, in ns.
        counts: how many lie in each bucket of the histogram: `nvspan.watch.buckets`.
    """

    __slots__ = ("calls", "counts", "longest", "shortest", "sum")

    def __init__(self) -> None:
        self.calls = 0
        self.sum = 0.0
        self.shortest = math.inf
        self.longest = 0.0
        self.counts: dict[int, int] = {}

    def merge(self, other: RangeTally) -> None:
        self.calls += other.calls
        self.sum += other.sum
        self.shortest = min(self.shortest, other.shortest)
        self.longest = max(self.longest, other.longest)
        for bucket, count in other.counts.items():
            self.counts[bucket] = self.counts.get(bucket, 0) + count

    def grow(self, now: RangeTally) -> None:
        """Takes a later reading of the same ranges.

        Readings convert ticks by an estimate of the clock's rate that gets better: a duration may
        move to a bucket nearby, and the sum shrink. Monitoring systems take a counter that shrinks
        for a restart of the process.
        """
        new = {
            bucket: now.counts.get(bucket, 0) - self.counts.get(bucket, 0)
            for bucket in {*now.counts, *self.counts}
        }
        for bucket in sorted(bucket for bucket, count in new.items() if count < 0):
            positive = (other for other, count in new.items() if count > 0)
            for _, other in sorted((abs(other - bucket), other) for other in positive):
                moved = min(new[other], -new[bucket])
                new[other] -= moved
                new[bucket] += moved
        for bucket, count in new.items():
            if count > 0:
                self.counts[bucket] = self.counts.get(bucket, 0) + count
        self.calls = max(self.calls, now.calls)
        self.sum = max(self.sum, now.sum)
        self.shortest = min(self.shortest, now.shortest)
        self.longest = max(self.longest, now.longest)

    def add(self, row: JobRow, counts: dict[int, int]) -> None:
        """Adds a row of a summary."""
        # The process goes on while its file is read: what the histogram has counts.
        self.calls += sum(counts.values())
        self.sum += row.sum
        self.shortest = min(self.shortest, row.min)
        self.longest = max(self.longest, row.max)
        for bucket, count in counts.items():
            self.counts[bucket] = self.counts.get(bucket, 0) + count


class Tally:
    """Attributes:
    ranges: of each (domain, name, kind): domain None is the default domain, kind "push_pop",
        "start_end" or "device".
    marks: how many, by (domain, name).
    lost: how many events could not be recorded; what a ring let go is none of them.
    missed: of a ring, how many ranges were overwritten while they were open.
    unseen: of a ring, how many ns of events were overwritten before they were read.
    """

    def __init__(self) -> None:
        self.ranges: dict[tuple[str | None, str | None, str], RangeTally] = {}
        self.marks: dict[tuple[str | None, str | None], int] = {}
        self.lost = 0
        self.missed = 0
        self.unseen = 0

    def merge(self, other: Tally) -> None:
        """Adds what another has."""
        for key, of in other.ranges.items():
            self.ranges.setdefault(key, RangeTally()).merge(of)
        for mark, count in other.marks.items():
            self.marks[mark] = self.marks.get(mark, 0) + count
        self.lost += other.lost
        self.missed += other.missed
        self.unseen += other.unseen

    def grow(self, now: Tally) -> None:
        """Takes a later reading of the same recording."""
        for key, of in now.ranges.items():
            self.ranges.setdefault(key, RangeTally()).grow(of)
        for mark, count in now.marks.items():
            self.marks[mark] = max(self.marks.get(mark, 0), count)
        self.lost = max(self.lost, now.lost)

    def add(
        self,
        summary: _reader.RankSummary,
        kinds: Collection[str] = ("push_pop", "start_end", "device"),
        marks: bool = True,
    ) -> None:
        """Adds the ranges of these kinds that a summary has."""
        for row, packed in zip(summary.rows(), summary.histograms(), strict=True):
            if row.calls and row.kind in kinds:
                key = (row.domain, _name(row.name, row.backward), row.kind)
                self.ranges.setdefault(key, RangeTally()).add(row, unpacked(packed))
        self.lost = max(self.lost, sum(summary.table("processes")["lost"]))
        for mark in summary.marks() if marks else ():
            of = (mark.domain, mark.name)
            self.marks[of] = self.marks.get(of, 0) + mark.calls


def summary_of(recording: Recording) -> _reader.RankSummary:
    """The figures of a recording, or of a part of it."""
    summary = _reader.RankSummary()
    summary.add(recording._reader.handle())
    return summary


def _name(name: str | None, backward: bool) -> str | None:
    return f"{name or ''} (backward)" if backward else name


def text(name: str | None, otherwise: str = "") -> str:
    """A name as valid Unicode: what a program sent need not be."""
    return otherwise if name is None else name.encode("utf-8", "backslashreplace").decode()
