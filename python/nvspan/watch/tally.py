# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Counts, total times and histograms of ranges, added up over summaries of recordings."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from nvspan import _reader
from nvspan.watch.buckets import unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from nvspan.recording import Recording

Name = tuple["str | None", "str | None"]  # domain, None for the default one, and name


@dataclass
class RangeTally:
    """The ended ranges of one name.

    Attributes:
        calls: how many.
        sum: their total time in ns; nested ranges of the name all count.
        counts: how many are in each bucket of the histogram: `nvspan.watch.buckets`.
    """

    calls: int = 0
    sum: float = 0.0
    counts: Counter[int] = field(default_factory=Counter)

    def merge(self, other: RangeTally) -> None:
        """Adds other ranges."""
        self.calls += other.calls
        self.sum += other.sum
        self.counts.update(other.counts)

    def grow(self, now: RangeTally) -> None:
        """Takes a later reading of the same ranges.

        Readings convert ticks by an estimate of the clock's rate that gets better: a duration may
        move to a bucket nearby, and the sum shrink. Monitoring systems take a counter that shrinks
        for a restart of the process.
        """
        new = now.counts.copy()
        new.subtract(self.counts)
        for bucket in sorted(bucket for bucket, count in new.items() if count < 0):
            positive = (other for other, count in new.items() if count > 0)
            for _, other in sorted((abs(other - bucket), other) for other in positive):
                moved = min(new[other], -new[bucket])
                new[other] -= moved
                new[bucket] += moved
        self.counts.update(+new)
        self.calls = max(self.calls, now.calls)
        self.sum = max(self.sum, now.sum)


@dataclass
class Tally:
    """The ranges, marks and losses of a recording.

    Attributes:
        ranges: of each domain, name and kind: "push_pop", "start_end" or "device".
        marks: how many of each domain and name.
        lost: events that could not be recorded, without those that a ring overwrote.
        missed: ranges that a ring overwrote while they were open.
        unseen: ns of events that a ring overwrote before they were read.
    """

    ranges: defaultdict[tuple[str | None, str | None, str], RangeTally] = field(
        default_factory=lambda: defaultdict(RangeTally)
    )
    marks: Counter[Name] = field(default_factory=Counter)
    lost: int = 0
    missed: int = 0
    unseen: int = 0

    def merge(self, other: Tally) -> None:
        """Adds another recording."""
        for key, tally in other.ranges.items():
            self.ranges[key].merge(tally)
        self.marks.update(other.marks)
        self.lost += other.lost
        self.missed += other.missed
        self.unseen += other.unseen

    def grow(self, now: Tally) -> None:
        """Takes a later reading of the same recording."""
        for key, tally in now.ranges.items():
            self.ranges[key].grow(tally)
        self.marks |= now.marks
        self.lost = max(self.lost, now.lost)

    def add(
        self,
        recording: Recording,
        kinds: Collection[str] = ("push_pop", "start_end", "device"),
        *,
        marks: bool = True,
    ) -> None:
        """Adds the ranges of these kinds in a recording, or in a part of it."""
        summary = _reader.RankSummary()
        summary.add(recording._reader.handle())
        for row, packed in zip(summary.rows(), summary.histograms(), strict=True):
            if row.calls and row.kind in kinds:
                name = f"{row.name or ''} (backward)" if row.backward else row.name
                # The process goes on while its file is read: the histogram has the latest count.
                counts = unpacked(packed)
                tally = RangeTally(sum(counts.values()), row.sum, counts)
                self.ranges[row.domain, name, row.kind].merge(tally)
        self.lost = max(self.lost, sum(summary.table("processes")["lost"]))
        for mark in summary.marks() if marks else ():
            self.marks[mark.domain, mark.name] += mark.calls


def text(name: str | None, otherwise: str = "") -> str:
    """A name as valid Unicode: what a program sent need not be."""
    return otherwise if name is None else name.encode("utf-8", "backslashreplace").decode()
