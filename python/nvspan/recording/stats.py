# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The statistics of a recording's ranges, and what they leave out."""

from __future__ import annotations

from nvspan.recording.frame import Frame
from nvspan.recording.label import label
from nvspan.recording.time_text import time_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_SHOWN = ("total", "self", "p50", "typical", "p99", "max")


class Stats(Frame):
    """Statistics of a recording's ranges: `rows`, and what they do not hold.

    Of a row, times in ns:

    ======================  ====================================================================
    key                     what it is
    ======================  ====================================================================
    domain, name, kind      "push_pop", "start_end" or "device"
    backward                whether its category says that it is the backward pass of `name`
    calls, unclosed         ranges that ended, and that did not; all that follows is of the former
    total                   time in which a range of the row was open, added up over threads (of
                            devices: streams): of ranges within one another the outermost counts
    sum                     of all durations, those of ranges within one another as well
    self                    time in which a range of the row was the innermost
    mean, std, min, max,    of single calls
    p50, p90, p99, p999
    typical                 mean of the calls without `outliers`, within 0.4 % of it
    outliers, warmup        calls longer than 3 p50, 2 p75 and 10 us; those of them among the
                            first 16 calls of a thread; none where calls lie within others
    outlier_total,          their time
    warmup_total
    first                   when the first call of it began
    threads                 how many threads it ran in
    overhead                the recorder's part of `total`
    devices                 of a "device": on how many of them it ran
    ======================  ====================================================================

    A recording of mode "stats" holds no order of calls, so `warmup` and `first` are 0 there.

    Attributes:
        rows: a dict for each range, the largest total first; times are ns.
        lost: how many events could not be recorded, where that is known.
        gaps: in how many places a ring overwrote older events.
        overwritten: how many events it overwrote there.
        orphans: how many ends and pops had nothing to close.
        others: how many ranges and marks had names past the budget for names; each domain has them
            in one row, "(other names)".
        losses: a dict for each time in which events were lost: process, thread, from, to, count,
            reason.
        first: when the first of these ranges began, in ns.
        last: when the last of them ended.
        wall: the ns between the two.
        whole: the ns between the first begin and the last end of all ranges, of those that a filter
            by name or domain leaves out as well.
        marks: a dict for each mark with its domain, name and calls.
    """

    __module__ = "nvspan.recording"

    def __init__(self, found: dict[str, Any]) -> None:
        self.rows: list[dict[str, Any]] = found["rows"]
        self.lost: int = found["lost"]
        self.gaps: int = found["gaps"]
        self.overwritten: int = found["overwritten"]
        self.orphans: int = found["orphans"]
        self.others: int = found["others"]
        self.losses: list[dict[str, Any]] = found["losses"]
        self.first: int = found["first"]
        self.last: int = found["last"]
        self.wall: int = self.last - self.first
        self.whole: int = found["whole"]
        self.marks: list[dict[str, Any]] = found["marks"]

    def _records(self) -> list[dict[str, Any]]:
        return self.rows

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[str]], int]:
        rows = (
            (
                label(row["domain"], row["name"], row["backward"]),
                row["kind"].replace("_", "/"),
                f"{row['calls']:,}",
                *(time_cell(row[key]) for key in _SHOWN),
            )
            for row in self.rows
        )
        return ("name", "kind", "calls", *_SHOWN), rows, len(self.rows)

    def __repr__(self) -> str:
        return f"<nvspan Stats of {len(self.rows)} ranges>"
