# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the recording itself costs, and what is missing from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nvspan._results.loops import LoopTiny
from nvspan.answers.finding import LIKELY, MEASURED, Finding
from nvspan.answers.words import files_text, quoted
from nvspan.loops.groups import PROFILE
from nvspan.loops.loop import Loop
from nvspan.recording import Recording
from nvspan.recording.stats import Stats
from nvspan.recording.time_text import counted, duration, percent

_TINY, _TINY_RANGES, _TINY_SHARE = 2_000, 1_000, 0.05  # ns, ranges, of the run
_ASSUMED_COST = 150  # ns: push and pop of an annotation in Python, where the file has no figure


def loss_findings(recording: Recording, stats: Stats) -> Iterator[Finding]:
    """Events that are missing, so that times and calls are too low."""
    lost = stats.lost + stats.overwritten
    if not lost and not stats.gaps:
        return
    count = counted(lost, "event") if lost else "an unknown number of events"
    verb = "is" if lost == 1 or not lost else "are"
    yield Finding(
        "losses",
        f"{count} {verb} missing from the recording, so times and calls are too low",
        evidence=list(dict.fromkeys(loss.reason for loss in stats.losses))[:3],
        next=f"nvspan stats {files_text(recording)}",
    )


@dataclass(frozen=True)
class _Cost:
    """What recording one range of a group costs the program.

    Attributes:
        ns: how much.
        at_once: how many spend it at once at most: processes, or threads without a lock.
        bound: "about", or "at least" where what the program spends to make it is not in it.
        source: where the figure comes from.
        certainty: of a finding that has it.
        next: what to do about it.
    """

    ns: float
    at_once: int
    bound: str
    source: str
    certainty: str
    next: str

    def share(self, group: LoopTiny, run: float) -> float:
        """The part of the run that it takes."""
        return min(group.ranges * self.ns / self.at_once / run, 1.0)


def _cost(recording: Recording, loop: Loop, group: LoopTiny) -> _Cost:
    advice = "name the loop around them instead"
    processes = recording.processes
    annotated = max((process.annotate_cost or 0 for process in processes), default=0)
    recorder = 2 * max((process.event_cost for process in processes), default=0.0)
    if loop.groups[group.group].traits & PROFILE:
        advice = "nvspan record --profile --exclude PATTERN    leave them out"
    elif annotated and group.registered:
        advice = f"{advice}, or annotate(..., level=2): sent where NVSPAN_LEVEL=2"
        source = (
            f"one annotation takes {duration(annotated)}, as measured before the program started"
        )
        return _Cost(annotated, len(processes), "about", source, MEASURED, advice)
    if recorder:
        source = f"the recorder takes {duration(recorder)} for each, and making them takes more"
        return _Cost(recorder, loop.threads, "at least", source, MEASURED, advice)
    source = f"{duration(_ASSUMED_COST)} for each is assumed: the file has no figure"
    return _Cost(_ASSUMED_COST, loop.threads, "about", source, LIKELY, advice)


def costly_tiny(recording: Recording, loop: Loop) -> list[LoopTiny]:
    """Ranges so short and so many that recording them takes a part of the run."""
    run = max(loop.span, 1)
    return [
        group
        for group in loop.tiny
        if group.ranges >= _TINY_RANGES
        and group.median < _TINY
        and _cost(recording, loop, group).share(group, run) >= _TINY_SHARE
    ]


def tiny_findings(recording: Recording, loop: Loop) -> Iterator[Finding]:
    """A finding for each group of them."""
    run = max(loop.span, 1)
    for group in costly_tiny(recording, loop):
        cost = _cost(recording, loop, group)
        share = cost.share(group, run)
        most = "at most" if cost.bound == "at least" else "about"
        yield Finding(
            "overhead",
            f"recording {group.ranges:,} tiny ranges {quoted(group.name)} takes {cost.bound} "
            f"{percent(share)} of the run",
            cost.certainty,
            [
                f"{cost.source}; their median is {duration(group.median)}",
                f"the run would take {most} {duration(run * (1 - share))} without them",
            ],
            cost.next,
            share,
        )
