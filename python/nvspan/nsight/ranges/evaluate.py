# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a range filter of Nsight Compute hits in a recording, by columns."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import compress
from operator import itemgetter
from typing import NamedTuple

from nvspan.nsight.ranges.range_syntax import Between

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from nvspan.nsight.ranges.range_filter import RangeFilter
    from nvspan.recording import Recording

PUSH_POP, START_END = 0, 1


@dataclass(frozen=True)
class FilterHits:
    """What a filter hits: `rows`, and all of them together. True if it hits anything.

    Attributes:
        filter: the filter.
        rows: a dict for each range, the one with most calls first: domain, name, calls, total (ns
            of the calls that ended) and threads (a tuple of rows of `Recording.threads`). Of a
            stack it is the last range of the path.
        calls: how many ranges complete the stack; of several start/end ranges, how many times all
            of them came to be open.
        threads: the rows of `Recording.threads` in which the ranges began.
    """

    filter: RangeFilter
    rows: list[dict[str, Any]]
    calls: int
    threads: tuple[int, ...]

    def __bool__(self) -> bool:
        return self.calls > 0


def matcher(pattern: str, is_regex: bool, is_searched: bool) -> Callable[[str], bool]:
    """Whether a name is one that a filter names; some expressions are searched for in it."""
    if not is_regex:
        return pattern.__eq__
    expression = re.compile(pattern)
    match = expression.search if is_searched else expression.fullmatch
    return lambda name: match(name) is not None


def require_ranges(recording: Recording) -> None:
    """Raises ValueError for a recording that has only statistics."""
    for process in recording.processes:
        if process["mode"] == "stats":
            raise ValueError(
                f"recording {process['path']!r} has statistics only: record without --mode stats"
            )


def evaluate(filter: RangeFilter, recording: Recording) -> FilterHits:
    """What `filter` hits; see `RangeFilter.evaluate`."""
    require_ranges(recording)
    parts: list[_Part] = []
    for place in places(filter, recording):
        kinds = _spans if filter.span else _stacks
        parts.append(kinds(filter, recording, place))
    rows = sorted((row for part in parts for row in part.rows), key=lambda r: -int(r["calls"]))
    threads = {thread for row in rows for thread in row["threads"]}
    return FilterHits(filter, rows, sum(part.calls for part in parts), tuple(sorted(threads)))


class Place(NamedTuple):
    """A domain that has names for every part of a filter.

    Attributes:
        name, number: of the domain.
        pairs: the domain and name of all its events.
        alike: the names for each part.
    """

    name: str | None
    number: int
    pairs: set[tuple[int, int]]
    alike: list[frozenset[int]]

    def named(self) -> set[tuple[int, int]]:
        """The pairs that the filter names."""
        return {(self.number, name) for names in self.alike for name in names}


def places(filter: RangeFilter, recording: Recording) -> Iterator[Place]:
    """The domains in which the filter may hit something."""
    domains, strings = recording._reader.domains(), recording.strings
    is_domain = matcher(filter.domain or "", filter.regex, True)
    is_searched = filter.span or len(filter.path) == 1
    chosen = {
        number
        for number, name in enumerate(domains)
        if (name is None if filter.domain is None else name is not None and is_domain(name))
    }
    of: dict[int, set[tuple[int, int]]] = {}
    for domain, name in recording._reader.pairs():
        if domain in chosen:
            of.setdefault(domain, set()).add((domain, name))
    tests = [matcher(name, filter.regex, is_searched) for name in filter.names]
    for domain, pairs in sorted(of.items()):
        alike = [frozenset(n for _, n in pairs if n >= 0 and test(strings[n])) for test in tests]
        if all(alike):
            yield Place(domains[domain], domain, pairs, alike)


@dataclass
class _Part:
    """The hits in one domain."""

    rows: list[dict[str, Any]]
    calls: int


def _grouped(
    recording: Recording, domain: str | None, found: Iterable[tuple[int, int, int]]
) -> list[dict[str, Any]]:
    """Rows by name, of the name, thread and duration of ranges."""
    calls: dict[int, int] = {}
    totals: dict[int, int] = {}
    threads: dict[int, set[int]] = {}
    for name, thread, duration in found:
        calls[name] = calls.get(name, 0) + 1
        totals[name] = totals.get(name, 0) + duration
        threads.setdefault(name, set()).add(thread)
    return [
        {
            "domain": domain,
            "name": None if name < 0 else recording.strings[name],
            "calls": count,
            "total": totals[name],
            "threads": tuple(sorted(threads[name])),
        }
        for name, count in calls.items()
    ]


def _of_kind(recording: Recording, pairs: set[tuple[int, int]], kind: int) -> _Columns:
    return _Columns(recording, recording._reader.filtered(
        pairs, None, -(2**63), 2**63 - 1, 0
    ), kind)  # fmt: skip


class _Columns:
    """The ranges of some names, and which of them are of a kind."""

    def __init__(self, recording: Recording, reader: Any, kind: int) -> None:
        self.reader = reader
        self.kinds = bytes(self["kind"])
        self.all = self.kinds.count(kind) == len(self.kinds)
        self.mask = self.kinds.translate(bytes(value == kind for value in range(256)))

    def __getitem__(self, name: str) -> memoryview:
        return memoryview(self.reader.column("ranges", name))

    def chosen(self, name: str) -> Iterator[int]:
        values = self[name]
        return iter(values) if self.all else compress(values, self.mask)

    def durations(self) -> Iterator[int]:
        """Of ranges that ended; 0 of the others."""
        reasons = bytes(self["end_reason"])
        values = self.chosen("duration")
        if reasons.count(0) == len(reasons):
            return values
        kept = iter(reasons) if self.all else compress(reasons, self.mask)
        return (0 if reason else value for value, reason in zip(values, kept, strict=True))


def stack_columns(
    filter: RangeFilter, recording: Recording, place: Place
) -> tuple[_Columns, Iterator[bool] | None]:
    """The push/pop ranges of a place, and which of them complete the stack; None: all."""
    ends_open = isinstance(filter.path[-1], Between)
    columns = _of_kind(recording, place.pairs if ends_open else place.named(), PUSH_POP)
    if len(filter.path) == 1 and not filter.bottom:
        return columns, None
    return columns, _accepted(filter, place.alike, columns)


def span_columns(recording: Recording, place: Place) -> _Columns:
    """The start/end ranges of a place that a filter names."""
    return _of_kind(recording, place.named(), START_END)


def _stacks(filter: RangeFilter, recording: Recording, place: Place) -> _Part:
    """Push/pop ranges that complete the stack of a filter."""
    columns, accepted = stack_columns(filter, recording, place)
    found: Iterator[tuple[int, int, int]] = zip(
        columns.chosen("name"), columns.chosen("thread"), columns.durations(), strict=True
    )
    if accepted is not None:
        found = compress(found, accepted)
    rows = _grouped(recording, place.name, found)
    return _Part(rows, sum(row["calls"] for row in rows))


def _accepted(
    filter: RangeFilter, alike: list[frozenset[int]], columns: _Columns
) -> Iterator[bool]:
    """Whether each push/pop range completes the stack, in the order of the columns."""
    machine = _Machine(filter, alike)
    after, accepts, start = machine.after, machine.accepts, machine.start
    names = ("thread", "name", "depth", "start", "end")
    current = -1
    # Depth, end and state of the open ranges. `parent` is no help: ranges of several domains need
    # not nest, and then it can be one that has ended.
    is_open: list[tuple[int, int, int]] = []
    for thread, name, depth, begin, end in zip(*map(columns.chosen, names), strict=True):
        if thread != current:
            current, is_open = thread, []
        while is_open:
            around, until, state = is_open[-1]
            if around < depth and (until > begin or until == begin == end):
                state = after(state, depth - around - 1, name)
                break
            is_open.pop()
        else:
            state = after(start, depth, name)
        is_open.append((depth, end, state))
        yield state & accepts != 0


class _Machine:
    """A stack's path as a state machine: a state is a set of bits, one for each place in it."""

    def __init__(self, filter: RangeFilter, alike: list[frozenset[int]]) -> None:
        names = iter(alike)
        self.items = [None if isinstance(item, Between) else next(names) for item in filter.path]
        self.any = [item is Between.ANY for item in filter.path]
        self.anywhere = not filter.bottom
        self.accepts = 1 << len(self.items)
        self.start = self._closed(1)
        self.known: dict[tuple[int, int, int], int] = {}
        self.most = len(self.items) + 1  # more ranges of other names change nothing further

    def _closed(self, state: int) -> int:
        """With the places that are reached by any ranges being none."""
        for place, is_any in enumerate(self.any):
            if is_any and state >> place & 1:
                state |= 1 << place + 1
        return state

    def _step(self, state: int, name: int | None) -> int:
        made = 1 if self.anywhere else 0
        for place, item in enumerate(self.items):
            if not state >> place & 1:
                continue
            if item is None:
                made |= 1 << (place if self.any[place] else place + 1)
            elif name is not None and name in item:
                made |= 1 << place + 1
        return self._closed(made)

    def after(self, state: int, between: int, name: int) -> int:
        """The state in a range that has `between` others around it, up to that of `state`."""
        key = (state, min(between, self.most), name)
        made = self.known.get(key)
        if made is None:
            made = state
            for _ in range(key[1]):
                made = self._step(made, None)
            made = self.known[key] = self._step(made, name)
        return made


def _spans(filter: RangeFilter, recording: Recording, place: Place) -> _Part:
    """Start/end ranges, which count while all that a filter names are open in the process."""
    columns, domain, alike = span_columns(recording, place), place.name, place.alike
    names, threads = list(columns.chosen("name")), list(columns.chosen("thread"))
    durations = list(columns.durations())
    if len(alike) == 1:
        rows = _grouped(recording, domain, zip(names, threads, durations, strict=True))
        return _Part(rows, len(names))
    calls = 0
    hit: set[int] = set()
    for changes in span_changes(columns).values():
        found, taking_part = _together(changes, names, alike)
        calls += found
        hit |= taking_part
    taken = sorted(hit)
    rows = _grouped(recording, domain, ((names[r], threads[r], durations[r]) for r in taken))
    return _Part(rows, calls)


def span_changes(columns: _Columns) -> dict[int, list[tuple[int, int, int]]]:
    """By process the times at which ranges begin (1) and end (0, 2), with their rows, in order."""
    starts, ends = list(columns.chosen("start")), list(columns.chosen("end"))
    moments: dict[int, list[tuple[int, int, int]]] = {}
    for row, process in enumerate(columns.chosen("process")):
        # What ends at a moment does so before what begins then.
        # ... but for the end of one that took no time.
        closing = 0 if ends[row] > starts[row] else 2
        moments.setdefault(process, []).extend(((starts[row], 1, row), (ends[row], closing, row)))
    for changes in moments.values():
        changes.sort(key=itemgetter(0, 1))
    return moments


def _together(
    changes: list[tuple[int, int, int]], names: list[int], alike: list[frozenset[int]]
) -> tuple[int, set[int]]:
    """How many times all names came to be open, and the ranges that were open then."""
    is_open: set[int] = set()
    counts: Counter[int] = Counter()
    calls = 0
    hit: set[int] = set()
    was = False
    for _, order, row in changes:
        begins = order == 1
        if begins:
            is_open.add(row)
        else:
            is_open.remove(row)
        for place, wanted in enumerate(alike):
            if names[row] in wanted:
                counts[place] += 1 if begins else -1
        now = all(counts[place] > 0 for place in range(len(alike)))
        if now:
            calls += not was
            hit |= is_open if not was else {row} if begins else set()
        was = now
    return calls, hit
