# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which range of a result a filter means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from nvspan.nsight.ranges.evaluate import matcher
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.ranges.range_syntax import Between
from nvspan.nsight.results.profiled import PUSH_POP, START_END, OpenRange, Profiled

Test = Callable[[str], bool]


def finder(filter: RangeFilter) -> Callable[[Profiled], list[OpenRange]]:
    """What finds the ranges that `filter` names around a result: of a stack the last of its path,
    the innermost first; none where the filter does not hit."""
    is_searched = filter.span or len(filter.path) == 1
    is_domain = matcher(filter.domain or "", filter.regex, True)
    path: list[Test | Between] = [
        item if isinstance(item, Between) else matcher(item, filter.regex, is_searched)
        for item in filter.path
    ]

    def in_domain(each: OpenRange) -> bool:
        if filter.domain is None:
            return each.domain is None
        return each.domain is not None and is_domain(each.domain)

    def find(result: Profiled) -> list[OpenRange]:
        of: dict[str | None, list[OpenRange]] = {}
        kind = START_END if filter.span else PUSH_POP
        for each in result.ranges:
            if each.kind == kind and in_domain(each):
                of.setdefault(each.domain, []).append(each)
        found: list[OpenRange] = []
        for ranges in of.values():
            found += _together(path, ranges) if filter.span else _in_stack(path, filter, ranges)
        return found

    return find


def _together(path: Sequence[Test | Between], ranges: list[OpenRange]) -> list[OpenRange]:
    """Start/end ranges, if all that the filter names are open."""
    tests = [item for item in path if not isinstance(item, Between)]
    if not all(any(test(each.name) for each in ranges) for test in tests):
        return []
    return [each for each in ranges if any(test(each.name) for test in tests)]


def _in_stack(
    path: Sequence[Test | Between], filter: RangeFilter, stack: list[OpenRange]
) -> list[OpenRange]:
    starts = [0] if filter.bottom else range(len(stack))
    ends = {end for start in starts for end in _ends(path, stack, start)}
    if filter.top:
        ends &= {len(stack)}
    return [stack[end - 1] for end in sorted(ends, reverse=True) if end]


def _ends(path: Sequence[Test | Between], stack: list[OpenRange], start: int) -> Iterable[int]:
    """Where the path can end if it begins at `start` of the stack: after which of its ranges."""
    places = {start}
    for item in path:
        if item is Between.ANY:
            places = set(range(min(places), len(stack) + 1)) if places else places
        elif item is Between.ONE:
            places = {at + 1 for at in places if at < len(stack)}
        else:
            assert not isinstance(item, Between)
            places = {at + 1 for at in places if at < len(stack) and item(stack[at].name)}
    return places
