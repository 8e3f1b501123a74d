# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Requests that stand apart, with what they spend their time in that the others do not; and ranges
that hold the event loop while other requests wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from nvspan._results.loops import LoopHeld
from nvspan._results.variation import Effect
from nvspan.answers.changes import Indices, which_are_slow
from nvspan.answers.difference import causing_path, difference
from nvspan.answers.finding import LIKELY, MEASURED, Finding
from nvspan.answers.lines.finder import LineFinder
from nvspan.answers.parts import Parts
from nvspan.answers.waits import holder_lines
from nvspan.answers.words import quoted, share
from nvspan.loops.loop import Loop
from nvspan.recording.time_text import counted, duration, percent

_APART = ("modes", "rare", "period")  # effects whose slow requests are told one by one
_SLOWER = 1.1  # as src/core/statistics/thresholds.hpp has it, of modes
_DOUBTFUL = 0.2  # of the ranges within requests
_MIN_CALLS = 5  # for a median
_HELD = 0.5  # of a part's time


def slow_findings(
    effects: Sequence[Effect],
    parts: Parts,
    loop: Loop,
    unit: str,
    explained: set[str],
    lines: LineFinder,
) -> Iterator[Finding]:
    """The slow requests that noise does not explain, against the others: how many there are is not
    known before. `explained` gets the name of the range that makes the difference."""
    slow = []
    for one in effects:
        if one.kind in _APART and len(one.high) <= len(one.low):
            compared = loop.steps.means(one.high, one.low)
            # Those that are slow for their time may be shorter than the others.
            if compared.steps[0] >= _SLOWER * compared.steps[1]:
                slow.append((one.size * len(one.high), one, compared))
    if not slow:
        return
    _, effect, compared = max(slow, key=itemgetter(0))
    evidence = difference(parts, compared)
    if path := causing_path(parts, compared):
        name = parts.name(path[-1])
        explained.add(name)
        evidence += cause_lines(loop, effect.high, name, lines)
    which = which_are_slow(effect, unit)
    evidence += lines.slower(effect, compared.steps[0] - compared.steps[1], which)
    is_doubtful = parts.tree.is_followed and parts.tree.doubtful > _DOUBTFUL
    if is_doubtful:
        evidence.append(
            f"{percent(parts.tree.doubtful)} of the inner ranges may belong to another {unit}: "
            f"threads and tasks do not say; each counts for the {unit} that was active last"
        )
    many, all_ = len(effect.high), len(memoryview(parts.tree.steps))
    yield Finding(
        "slow",
        f"{many:,} of {counted(all_, unit)} {'takes' if many == 1 else 'take'} "
        f"{duration(compared.steps[0])}, the others {duration(compared.steps[1])}",
        LIKELY if is_doubtful else MEASURED,
        evidence,
        cost=effect.size * many / max(parts.tree.total, 1),
    )


def blocking_findings(loop: Loop, unit: str, lines: LineFinder) -> Iterator[Finding]:
    """A finding for each range that holds the event loop."""
    for hold in loop.large_holds:
        extent = max(loop.steps_extent, 1) * hold.threads
        one = f"thread '{loop.thread_name(hold.thread)}'"
        where = one if hold.threads == 1 else "their thread"
        evidence = [
            f"{counted(hold.calls, 'call')}, the longest {duration(hold.longest)}; nothing else "
            f"of {where} starts or ends meanwhile"
        ]
        if held := _most_held(loop.holds.parts):
            evidence.append(
                f"{quoted(held.name)} takes {duration(held.held_median)} where another {unit} "
                f"holds the loop, {duration(held.free_median)} elsewhere"
            )
        evidence += lines.called(hold.name, quoted(hold.name)).texts
        yield Finding(
            "blocking",
            f"{quoted(hold.name)} holds the event loop {share(hold.total, extent)} of the time, "
            f"and {hold.waiting / max(hold.total, 1):.1f} other {unit}s wait for it",
            MEASURED if hold.nested else LIKELY,
            evidence,
            f"do the work of {quoted(hold.name)} in another thread or process",
            cost=min(hold.waiting / max(loop.tree.total, 1), 1.0),
        )


def cause_lines(loop: Loop, which: Indices, name: str, lines: LineFinder) -> list[str]:
    """Why ranges of this name take long in some steps: who held a lock, or the event loop."""
    for part in loop.holds.parts:
        if part.name == name and part.held >= _HELD * part.total:
            hold = loop.holds.holds[0]
            held = f"it waits for the event loop, which {quoted(hold.name)} holds"
            return [held, *lines.called(hold.name, quoted(hold.name)).texts]
    return holder_lines(loop, which, name, lines)


def _most_held(parts: list[LoopHeld]) -> LoopHeld | None:
    """The part that waits longest, if it is also seen without."""
    most = max(parts, key=lambda part: part.held, default=None)
    if most is None or min(most.held_calls, most.free_calls) < _MIN_CALLS:
        return None
    return most if most.held_median > most.free_median else None
