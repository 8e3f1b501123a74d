# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names of ranges as people write them, as range filters of Nsight Compute."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import product

from nvspan.nsight.ranges.evaluate import require_ranges
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.ranges.range_syntax import REGEX_PREFIX, Between, exact_regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording import Recording

MOST_FILTERS = 256
DEFAULT_DOMAIN = "NVTX"

# domain (None: the default one) -> name -> whether it has (push/pop, start/end) ranges
Known = dict["str | None", dict[str, tuple[bool, bool]]]


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
    known = known_ranges(recording)
    made: dict[RangeFilter, None] = {}
    for item in [ranges] if isinstance(ranges, str) else ranges:
        if isinstance(item, RangeFilter):
            made[item] = None
            continue
        if not isinstance(item, str):
            raise TypeError(f"ranges must hold str and RangeFilter, not {type(item).__name__}")
        for text in _texts(item, known):
            made.update(dict.fromkeys(_filters(text, known, recording)))
    if not made:
        raise ValueError(f"ranges names no range: {ranges!r}")
    if len(made) > MOST_FILTERS:
        raise ValueError(
            f"ranges needs {len(made)} filters, more than {MOST_FILTERS}: write a pattern that is "
            f"like fewer names, or one regular expression, as in 'regex:^layers\\..*/': {ranges!r}"
        )
    return list(made)


def known_ranges(recording: Recording) -> Known:
    """Domain (None: the default one) -> name -> whether it has (push/pop, start/end) ranges."""
    found: Known = {}
    for row in recording.stats().rows:
        if row["name"] and row["kind"] in ("push_pop", "start_end"):
            names = found.setdefault(row["domain"], {})
            nested, span = names.get(row["name"], (False, False))
            is_nested = row["kind"] == "push_pop"
            names[row["name"]] = (nested or is_nested, span or not is_nested)
    return found


def _texts(item: str, known: Known) -> list[str]:
    """The parts between semicolons; a name that has one is whole."""
    if any(item in names for names in known.values()):
        return [item]
    return [part.strip() for part in item.split(";") if part.strip()]


def is_written_for_ncu(text: str) -> bool:
    """Whether a range is a filter's text by its looks, and no plain name."""
    return "@" in text or text.endswith(("/", "]")) or text.startswith(("[", REGEX_PREFIX))


def _filters(text: str, known: Known, recording: Recording) -> list[RangeFilter]:
    steps = [step.strip() for step in re.split(r"\s+>\s+", text)]
    found = _candidates(steps, text, known)
    if not found:
        if is_written_for_ncu(text):
            return [RangeFilter.parse(text)]
        raise ValueError(_unknown(steps, text, known))
    made = []
    for domain, choices in found:
        if len(choices) == 1:
            for name in choices[0]:
                nested, span = known[domain][name]
                made += [_exact([name], domain, known)] * nested
                made += [_exact([name], domain, known, span=True)] * span
        else:
            made += _within(domain, choices, known, recording)
    if not made:
        raise ValueError(
            f"ranges: {' and '.join(map(repr, steps))} are in the recording, but never as push/pop "
            f"ranges of one thread within each other: {text!r}"
        )
    return made


def _exact(
    path: list[str | Between], domain: str | None, known: Known, *, span: bool = False
) -> RangeFilter:
    """The filter for names as they are, by regular expressions where ncu cannot read them.

    Raises:
        ValueError: such an expression is also like another name or domain of the recording.
    """
    try:
        return RangeFilter(*path, domain=domain, span=span)
    except ValueError:
        is_alone = span or len(path) == 1
        words = [exact_regex(i, is_alone) if isinstance(i, str) else i for i in path]
        of = None if domain is None else exact_regex(domain, True)
        names = [name for name in path if isinstance(name, str)]
        alike = [n for name in names for n in known[domain] if n != name and _is_like(name, n)]
        if domain is not None:
            alike += [d for d in known if d is not None and d != domain and _is_like(domain, d)]
        if alike:
            raise
        return RangeFilter(*words, domain=of, span=span, regex=True)


def _is_like(name: str, other: str) -> bool:
    """Whether the regular expression for `name` also hits `other`."""
    return re.fullmatch(exact_regex(name, False), other) is not None


def _within(
    domain: str | None, choices: list[list[str]], known: Known, recording: Recording
) -> list[RangeFilter]:
    """The paths of names that occur, any ranges between them."""
    stacks = list(product(*choices))
    if len(stacks) > MOST_FILTERS:
        raise ValueError(
            f"ranges needs a look at {len(stacks)} stacks, more than {MOST_FILTERS}: write "
            "patterns that are like fewer names"
        )
    made = []
    for stack in stacks:
        path: list[str | Between] = [stack[0]]
        for name in stack[1:]:
            path += [Between.ANY, name]
        filter = _exact(path, domain, known)
        if filter.evaluate(recording):
            made.append(filter)
    return made


def _candidates(
    steps: list[str], text: str, known: Known
) -> list[tuple[str | None, list[list[str]]]]:
    """The domains that have names for every step, with these names. A name may look like steps."""
    is_name = any(text in names for names in known.values())
    found = []
    for domain, names in known.items():
        rest = [text] if is_name else list(steps)
        prefix = f"{DEFAULT_DOMAIN if domain is None else domain}:"
        if not is_name and rest[0].startswith(prefix):
            rest[0] = rest[0][len(prefix) :]
        choices = [_alike(step, names) for step in rest]
        if all(choices):
            found.append((domain, choices))
    return found


def _alike(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that are like a pattern with * and ?, itself first of all."""
    if pattern in (known := list(names)):
        return [pattern]
    signs = {"*": ".*", "?": "."}
    match = re.compile(
        "".join(signs.get(char) or re.escape(char) for char in pattern), re.DOTALL
    ).fullmatch
    return sorted(name for name in known if match(name))


def _unknown(steps: list[str], text: str, known: Known) -> str:
    """The sentence about the first step that no domain knows."""
    every = {name for names in known.values() for name in names}
    every |= {f"{d or DEFAULT_DOMAIN}:{n}" for d, names in known.items() for n in names}
    missing = next((step for step in steps if not _alike(step, every)), None)
    if missing is None:
        return (
            f"ranges: no domain has all of {', '.join(map(repr, steps))}, and Nsight Compute looks "
            f"at the ranges of one domain only: {text!r}"
        )
    if ":" not in missing:  # each range by one of its two names
        every = {name for names in known.values() for name in names}
    close = get_close_matches(missing, sorted(every), 3, 0.0)
    if not close:
        return f"ranges: no range {missing!r}: the recording has none with a name"
    nearest = ", ".join(map(repr, close))
    return f"ranges: no range {missing!r} in the recording; the nearest are {nearest}"
