# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Each time that a filter hits something in a recording: where, from when to when."""

from __future__ import annotations

from collections import Counter
from itertools import compress, repeat
from typing import NamedTuple

from nvspan.nsight.ranges.evaluate import (
    Place,
    places,
    require_ranges,
    span_changes,
    span_columns,
    stack_columns,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nvspan.nsight.ranges.range_filter import RangeFilter
    from nvspan.recording import Recording

_ENDED = 0


class Occurrence(NamedTuple):
    """One time that a filter is fulfilled. The process and the thread are rows of the recording's
    tables; the times are ns of its clock."""

    process: int
    start: int
    end: int
    thread: int


def occurrences(filter: RangeFilter, recording: Recording) -> list[Occurrence]:
    """What `filter` hits, by process and in the order of the beginnings, as Nsight Compute numbers
    it. What had not ended when the recording did is left out.

    Raises:
        ValueError: the recording has statistics only.
    """
    require_ranges(recording)
    found: list[Occurrence] = []
    for place in places(filter, recording):
        found += (_spans if filter.span else _stacks)(filter, recording, place)
    return sorted(found)


def _stacks(filter: RangeFilter, recording: Recording, place: Place) -> Iterator[Occurrence]:
    columns, accepted = stack_columns(filter, recording, place)
    names = ("process", "start", "end", "thread", "end_reason")
    rows = zip(*map(columns.chosen, names), strict=True)
    for *row, reason in compress(rows, repeat(True) if accepted is None else accepted):
        if reason == _ENDED:
            yield Occurrence(*row)


def _spans(filter: RangeFilter, recording: Recording, place: Place) -> Iterator[Occurrence]:
    """The times in which all that the filter names are open."""
    columns = span_columns(recording, place)
    names, threads = list(columns.chosen("name")), list(columns.chosen("thread"))
    reasons = list(columns.chosen("end_reason"))
    if len(place.alike) == 1:
        rows = zip(*map(columns.chosen, ("process", "start", "end")), threads, reasons, strict=True)
        yield from (Occurrence(*row) for *row, reason in rows if reason == _ENDED)
        return
    for process, changes in span_changes(columns).items():
        counts: Counter[int] = Counter()
        began: tuple[int, int] | None = None
        for time, order, row in changes:
            for number, alike in enumerate(place.alike):
                if names[row] in alike:
                    counts[number] += 1 if order == 1 else -1
            if all(counts[number] > 0 for number in range(len(place.alike))):
                began = began or (time, threads[row])
            elif began is not None:
                if reasons[row] == _ENDED:
                    yield Occurrence(process, began[0], time, began[1])
                began = None
