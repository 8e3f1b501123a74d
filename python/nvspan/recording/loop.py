# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of a recording: what a step is, or the ranges that a pattern takes."""

from __future__ import annotations

from nvspan.loops.loop import Loop
from nvspan.recording.label import matches
from nvspan.recording.losses import need_events
from nvspan.recording.nearest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from nvspan.recording.opened import OpenedFiles

    Pair = tuple[int, int]
    Names = dict[Pair, tuple[str | None, str]]


def names_in(recording: OpenedFiles) -> Names:
    """The domain and the name of each pair of their numbers."""
    reader = recording._reader
    domains, strings = reader.domains(), recording.strings
    return {
        (domain, name): (domains[domain], strings[name])
        for domain, name in reader.pairs()
        if name >= 0
    }


def matching(names: Names, patterns: Iterable[str]) -> set[Pair]:
    """The pairs that one of the patterns takes."""
    patterns = list(patterns)
    return {pair for pair, (domain, name) in names.items() if matches(patterns, domain, name)}


def nearest_names(name: str, names: Names) -> str:
    """A clause that says which names are like one that there is not; empty: none is."""
    close = nearest(name.rpartition(":")[2], {text for _, text in names.values()}, 3)
    verb = "is" if len(close) == 1 else "are"
    return f"; the nearest {verb} {', '.join(map(repr, close))}" if close else ""


def why_no_steps(loop: Loop) -> str:
    """What is said of a loop without steps."""
    if loop.is_profile:
        return "a profile of functions has no steps"
    return "no range repeats as the body of a loop; choose one with --step NAME"


def read_loop(recording: OpenedFiles, step: str | None = None) -> Loop:
    """The loop; `step` is a pattern of the ranges that are steps, None: the best are chosen.

    Raises:
        ValueError: no range is called so, or the recording has statistics alone.
    """
    if step is None:
        need_events(recording, "steps")
        return Loop(recording._reader.handle())
    names = names_in(recording)
    pairs = matching(names, [step])
    if not pairs:
        raise ValueError(f"no range is called {step!r}{nearest_names(step, names)}")
    need_events(recording, "steps")
    return Loop(recording._reader.handle(), pairs, step)
