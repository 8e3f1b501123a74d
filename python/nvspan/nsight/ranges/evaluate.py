# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Matching of range filters: hits in a stack, and in a recording."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import partial
from itertools import compress
from operator import mul

from nvspan._result import Row
from nvspan.nsight.ranges.range_syntax import Between, FilterParts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nvspan._reader import Reader
    from nvspan.recording import Recording

    Test = Callable[[str], bool]
    Reached = frozenset[int]  # numbers of items of a path that are complete
    Hit = tuple[int, ...]  # the name, the thread and the duration of a range

_PUSH_POP, _START_END = 0, 1
_BEGIN = 1


class FilterRow(Row):
    """The ranges of one name that a filter hits."""

    domain: str | None  #: None: the default domain
    name: str | None  #: None: ranges without a message
    calls: int  #: how many
    total: int  #: ns, of those that ended
    threads: tuple[int, ...]  #: rows of `Recording.threads`


class Pattern:
    """What a filter means: its domain and its path, as tests of names."""

    def __init__(self, filter: FilterParts) -> None:
        test = partial(_test, is_regex=filter.regex, is_searched=filter.is_searched)
        self.path = [item if isinstance(item, Between) else test(item) for item in filter.path]
        self.names = [item for item in self.path if not isinstance(item, Between)]
        self.span, self.bottom, self._top = filter.span, filter.bottom, filter.top
        self._domain = None if filter.domain is None else test(filter.domain, is_searched=True)

    def takes_domain(self, domain: str | None) -> bool:
        """Whether a domain is the filter's; None is the default domain."""
        if self._domain is None or domain is None:
            return self._domain is None and domain is None
        return self._domain(domain)

    def hits(self, stack: Sequence[str]) -> list[int]:
        """The positions in a thread's stack of what the filter names, the innermost first."""
        found = []
        reached = self.start()
        for position, name in enumerate(stack):
            reached = self.after(reached, name)
            if self.is_complete(reached) and (position + 1 == len(stack) or not self._top):
                found.append(position)
        return found[::-1]

    def start(self) -> Reached:
        """How much of the path is complete outside of all ranges."""
        return self._with_any({0})

    def after(self, reached: Reached, name: str | None) -> Reached:
        """How much of the path is complete within a further range; None is a name not known."""
        found = set() if self.bottom else {0}
        for count in reached - {len(self.path)}:
            item = self.path[count]
            if item is Between.ANY:
                found.add(count)
            elif isinstance(item, Between) or (name is not None and item(name)):
                found.add(count + 1)
        return self._with_any(found)

    def _with_any(self, counts: set[int]) -> Reached:
        """With what is complete because Between.ANY may be no range."""
        for count, item in enumerate(self.path):
            if item is Between.ANY and count in counts:
                counts.add(count + 1)
        return frozenset(counts)

    def is_complete(self, reached: Reached) -> bool:
        """Whether a range completes the path."""
        return len(self.path) in reached

    def are_open(self, names: Iterable[str]) -> bool:
        """Whether ranges of all names that the filter has are among these."""
        found = list(names)
        return all(any(map(test, found)) for test in self.names)


def _test(pattern: str, *, is_regex: bool, is_searched: bool) -> Test:
    if not is_regex:
        return pattern.__eq__
    expression = re.compile(pattern)
    match = expression.search if is_searched else expression.fullmatch
    return lambda name: match(name) is not None


def require_ranges(recording: Recording) -> None:
    """Raises ValueError for a recording that has only statistics."""
    for process in recording.processes:
        if process.mode == "stats":
            raise ValueError(
                f"recording {process.path!r} has statistics only: record without --mode stats"
            )


def evaluate(filter: FilterParts, recording: Recording) -> tuple[list[FilterRow], int]:
    """The rows and the calls of `FilterHits`."""
    require_ranges(recording)
    pattern = Pattern(filter)
    strings, domains = recording.strings, recording._reader.domains()
    pairs_of: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    for pair in recording._reader.pairs():
        pairs_of[pair[0]].add(pair)
    rows: list[FilterRow] = []
    calls = 0
    for domain, pairs in sorted(pairs_of.items()):
        if not pattern.takes_domain(domains[domain]):
            continue
        if not isinstance(pattern.path[-1], Between):  # else ranges of any name can be the last
            pairs = {
                (domain, name)
                for _, name in pairs
                if name >= 0 and any(test(strings[name]) for test in pattern.names)
            }
        reader = recording._reader.filtered(pairs, None, -(2**63), 2**63 - 1, 0)
        found: Iterable[Hit]
        times = None
        if len(pattern.path) == 1 and not pattern.bottom:
            found = _ranges(reader, _START_END if pattern.span else _PUSH_POP)
        elif pattern.span:
            found, times = _together(pattern, strings, reader)
        else:
            found = _nested(pattern, strings, reader)
        named = _by_name(domains[domain], strings, found)
        rows += named
        calls += sum(row.calls for row in named) if times is None else times
    return sorted(rows, key=lambda row: -row.calls), calls


def _ranges(reader: Reader, kind: int, *columns: str) -> Iterator[Hit]:
    """The ranges of a kind: name, thread, duration (0 if it did not end), and further columns."""
    names, threads, durations, *others = (
        memoryview(reader.column("ranges", column))
        for column in ("name", "thread", "duration", *columns)
    )
    closed_durations = map(mul, durations, _equal(reader, "end_reason", 0))
    ranges = zip(names, threads, closed_durations, *others, strict=True)
    return compress(ranges, _equal(reader, "kind", kind))


def _equal(reader: Reader, column: str, value: int) -> bytes:
    """1 for each range that has this value in a column of bytes, else 0."""
    is_equal = bytes(byte == value for byte in range(256))
    return bytes(reader.column("ranges", column)).translate(is_equal)


def _nested(pattern: Pattern, strings: Sequence[str], reader: Reader) -> Iterator[Hit]:
    """The push/pop ranges that complete the stack of a filter."""
    most_between = len(pattern.path) + 1  # more ranges of other names change nothing
    known: dict[tuple[Reached, int, int], Reached] = {}
    # Depth, end, and what is complete in the open ranges. The column `parent` is no help: ranges of
    # several domains need not nest, and then it can be one that has ended.
    around: list[tuple[int, int, Reached]] = []
    current = -1
    columns = ("depth", "start", "end")
    for name, thread, duration, depth, begin, end in _ranges(reader, _PUSH_POP, *columns):
        if thread != current:
            current, around = thread, []
        while around:
            outer, until, reached = around[-1]
            if outer < depth and (until > begin or until == begin == end):
                break
            around.pop()
        else:
            outer, reached = -1, pattern.start()
        key = reached, min(depth - outer - 1, most_between), name
        if key not in known:
            for _ in range(key[1]):
                reached = pattern.after(reached, None)
            known[key] = pattern.after(reached, strings[name] if name >= 0 else None)
        around.append((depth, end, known[key]))
        if pattern.is_complete(known[key]):
            yield name, thread, duration


def _together(pattern: Pattern, strings: Sequence[str], reader: Reader) -> tuple[list[Hit], int]:
    """The start/end ranges that are open while all that a filter names are open in their process,
    and how many times all of them came to be open."""
    rows = list(_ranges(reader, _START_END, "process", "start", "end"))
    moments: list[tuple[int, int, int, int]] = []
    for at, (_, _, _, process, start, end) in enumerate(rows):
        # What ends at a moment does so before what begins then, unless it took no time.
        moments += (process, start, _BEGIN, at), (process, end, 0 if end > start else 2, at)
    wanted = [{row[0] for row in rows if test(strings[row[0]])} for test in pattern.names]
    are_open: set[int] = set()
    names: Counter[int] = Counter()
    hit: set[int] = set()
    times = 0
    was_complete = False
    for _, _, order, at in sorted(moments):
        (are_open.add if order == _BEGIN else are_open.remove)(at)
        names[rows[at][0]] += 1 if order == _BEGIN else -1
        is_complete = all(any(map(names.__getitem__, alike)) for alike in wanted)
        if is_complete:
            hit.update({at} if was_complete else are_open)
            times += not was_complete
        was_complete = is_complete
    return [rows[at][:3] for at in sorted(hit)], times


def _by_name(domain: str | None, strings: Sequence[str], found: Iterable[Hit]) -> list[FilterRow]:
    """A row for each name, of the names, threads and durations of ranges."""
    calls: Counter[int] = Counter()
    totals: Counter[int] = Counter()
    threads: defaultdict[int, set[int]] = defaultdict(set)
    for name, thread, duration in found:
        calls[name] += 1
        totals[name] += duration
        threads[name].add(thread)
    return [
        FilterRow(
            domain=domain,
            name=None if name < 0 else strings[name],
            calls=count,
            total=totals[name],
            threads=tuple(sorted(threads[name])),
        )
        for name, count in calls.items()
    ]
