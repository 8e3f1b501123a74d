# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Plain names of ranges, resolved to range filters."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from fnmatch import fnmatchcase
from itertools import product

from nvspan.nsight.ranges.evaluate import require_ranges
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.ranges.range_syntax import REGEX_PREFIX, Between, FilterParts, exact_regex
from nvspan.recording.nearest import nearest
from nvspan.recording.opened import WORK_DOMAINS
from nvspan.recording.projection import CALL_DOMAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording import Recording

MOST_FILTERS = 256
_OF_GPU = {CALL_DOMAIN, *WORK_DOMAINS}  # of which ncu knows no ranges

# domain (None: the default one) -> name -> the kinds of its ranges: "push_pop", "start_end"
Known = dict["str | None", dict[str, set[str]]]


def range_filters(
    ranges: str | Iterable[str | RangeFilter], recording: Recording
) -> list[RangeFilter]:
    """The filters that find ranges of a program, of which `recording` says what it emits.

    Args:
        ranges: names, in one string with ``;`` between them or in several. A name has ``*`` and
            ``?`` for any text and any character, and may have its domain and ``:`` before it
            (``torch:layers.*.mlp``; ``NVTX`` is the default domain). ``forward > layers.3`` is a
            range within another, at any depth. What is written as ncu takes it
            (``torch@layers.3/``), and a `RangeFilter`, stays as it is.
        recording: of the program, one step of it or more. The domain comes from it where none is
            given, and the kind: push/pop or start/end.

    Returns:
        A filter for each name that exists: what a pattern is like is written out.

    Raises:
        TypeError: `ranges` holds something else.
        ValueError: a name is not in the recording (the message has the three that are most like
            it), or does not lie within the other one; more than 256 filters would be needed.

    >>> range_filters("layers.*.mlp; loss", recording)                  # doctest: +SKIP
    [RangeFilter('layers.0.mlp', domain='torch'), RangeFilter('loss', span=True)]
    """
    require_ranges(recording)
    names = RangeNames(
        known_ranges(recording), lambda filter: bool(filter.evaluate(recording)), "recording"
    )
    return names.filters(ranges)


def known_ranges(recording: Recording) -> Known:
    """The ranges of a recording, which may have what a GPU did, and its calls, too."""
    rows = recording.stats().rows
    return known_of((row.domain, row.name, row.kind) for row in rows if row.domain not in _OF_GPU)


def known_of(ranges: Iterable[tuple[str | None, str | None, str]]) -> Known:
    """The same of domains, names and kinds."""
    found: Known = {}
    for domain, name, kind in ranges:
        if name and kind in ("push_pop", "start_end"):
            found.setdefault(domain, {}).setdefault(name, set()).add(kind)
    return found


def whole_name(domain: str | None, name: str) -> str:
    """A range's name with its domain, as `range_filters` takes it."""
    return f"{'NVTX' if domain is None else domain}:{name}"


def is_written_for_ncu(text: str) -> bool:
    """Whether a range is a filter's text by its looks, and no plain name."""
    return "@" in text or text.endswith(("/", "]")) or text.startswith(("[", REGEX_PREFIX))


class RangeNames:
    """Looks up names among the ranges of a recording or a report.

    Args:
        known: the ranges.
        occurs: whether a filter hits anything.
        place: what has the ranges: "recording" or "report".
    """

    def __init__(self, known: Known, occurs: Callable[[RangeFilter], bool], place: str) -> None:
        self._known = known
        self._occurs = occurs
        self._place = place

    def filters(self, ranges: str | Iterable[str | RangeFilter]) -> list[RangeFilter]:
        """As `range_filters`."""
        filters: dict[RangeFilter, None] = {}
        for item in [ranges] if isinstance(ranges, str) else ranges:
            if isinstance(item, RangeFilter):
                filters[item] = None
                continue
            if not isinstance(item, str):
                raise TypeError(f"ranges must hold str and RangeFilter, not {type(item).__name__}")
            # A name that has a semicolon is whole.
            for text in [item] if self._is_name(item) else item.split(";"):
                if text.strip():
                    filters.update(dict.fromkeys(self._filters(text.strip())))
        if not filters:
            raise ValueError(f"ranges names no range: {ranges!r}")
        if len(filters) > MOST_FILTERS:
            raise ValueError(
                f"ranges needs {len(filters)} filters, more than {MOST_FILTERS}: write a pattern "
                "that is like fewer names, or one regular expression, as in "
                f"'regex:^layers\\..*/': {ranges!r}"
            )
        return list(filters)

    def _is_name(self, text: str) -> bool:
        return any(text in names for names in self._known.values())

    def _filters(self, text: str) -> list[RangeFilter]:
        steps = [step.strip() for step in re.split(r"\s+>\s+", text)]
        found = self._candidates(steps, text)
        if not found:
            if is_written_for_ncu(text):
                return [RangeFilter.parse(text)]
            raise ValueError(self._unknown(steps, text))
        filters = []
        for domain, choices in found:
            if len(choices) == 1:
                filters += [
                    self._exact((name,), domain, span=kind == "start_end")
                    for name in choices[0]
                    for kind in sorted(self._known[domain][name])
                ]
            else:
                filters += self._within(domain, choices)
        if not filters:
            raise ValueError(
                f"ranges: {' and '.join(map(repr, steps))} are in the {self._place}, but never as "
                f"push/pop ranges of one thread within each other: {text!r}"
            )
        return filters

    def _exact(
        self, path: tuple[str | Between, ...], domain: str | None, *, span: bool = False
    ) -> RangeFilter:
        """The filter for names as they are, by regular expressions where ncu cannot read them.

        Raises:
            ValueError: such an expression is also like another name or domain that is known.
        """
        parts = FilterParts(path, domain, span=span)
        try:
            return RangeFilter.from_parts(parts)
        except ValueError:
            others = [(name, list(self._known[domain])) for name in parts.names]
            if domain is not None:
                others.append((domain, [other for other in self._known if other is not None]))
            if any(_is_like(name, n) for name, known in others for n in known if n != name):
                raise
            return RangeFilter.from_parts(parts.as_regex())

    def _within(self, domain: str | None, choices: list[list[str]]) -> list[RangeFilter]:
        """The paths of names that occur, any ranges between them."""
        stacks = list(product(*choices))
        if len(stacks) > MOST_FILTERS:
            raise ValueError(
                f"ranges needs a look at {len(stacks)} stacks, more than {MOST_FILTERS}: write "
                "patterns that are like fewer names"
            )
        filters = []
        for stack in stacks:
            path = [item for name in stack for item in (Between.ANY, name)]
            filter = self._exact(tuple(path[1:]), domain)
            if self._occurs(filter):
                filters.append(filter)
        return filters

    def _candidates(self, steps: list[str], text: str) -> list[tuple[str | None, list[list[str]]]]:
        """The domains that have names for every step, with these names. A name may look like
        steps."""
        is_name = self._is_name(text)
        found = []
        for domain, names in self._known.items():
            rest = [text] if is_name else list(steps)
            if not is_name:
                rest[0] = rest[0].removeprefix(whole_name(domain, ""))
            choices = [_matching(step, names) for step in rest]
            if all(choices):
                found.append((domain, choices))
        return found

    def _unknown(self, steps: list[str], text: str) -> str:
        """The sentence about the first step that no domain knows."""
        names = {name for known in self._known.values() for name in known}
        whole = {whole_name(d, n) for d, known in self._known.items() for n in known}
        missing = next((step for step in steps if not _matching(step, names | whole)), None)
        if missing is None:
            return (
                f"ranges: no domain has all of {', '.join(map(repr, steps))}, and Nsight Compute "
                f"looks at the ranges of one domain only: {text!r}"
            )
        # Each range by one of its two names.
        known = names | whole if ":" in missing else names
        close = nearest(missing, known, 3, 0.0)
        if not close:
            return f"ranges: no range {missing!r}: the {self._place} has none with a name"
        names_text = ", ".join(map(repr, close))
        return f"ranges: no range {missing!r} in the {self._place}; the nearest are {names_text}"


def _is_like(name: str, other: str) -> bool:
    """Whether the regular expression for `name` also hits `other`."""
    return re.fullmatch(exact_regex(name), other) is not None


def _matching(pattern: str, names: Collection[str]) -> list[str]:
    """The names that match a pattern with * and ?, or the one that is the pattern itself."""
    if pattern in names:
        return [pattern]
    pattern = pattern.replace("[", "[[]")  # which is no sign here
    return sorted(name for name in names if fnmatchcase(name, pattern))
