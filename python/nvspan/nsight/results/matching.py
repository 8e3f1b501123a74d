# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The ranges around a result that a filter names."""

from __future__ import annotations

from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.results.profiled import PUSH_POP, START_END, OpenRange, Profiled


def named_ranges(filter: RangeFilter, result: Profiled) -> list[OpenRange]:
    """The ranges that `filter` names around a result: of a stack the last of its path, the
    innermost first; none where the filter does not hit."""
    pattern = filter.pattern
    kind = START_END if pattern.span else PUSH_POP
    of_domain: dict[str | None, list[OpenRange]] = {}
    for each in result.ranges:
        if each.kind == kind and pattern.takes_domain(each.domain):
            of_domain.setdefault(each.domain, []).append(each)
    found: list[OpenRange] = []
    for ranges in of_domain.values():
        names = [each.name for each in ranges]
        if not pattern.span:
            found += [ranges[at] for at in pattern.hits(names)]
        elif pattern.are_open(names):
            found += [each for each in ranges if any(test(each.name) for test in pattern.names)]
    return found
