# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the recording itself costs, and what is missing from it."""

from __future__ import annotations

from collections.abc import Iterator

from nvspan._results.loops import LoopTiny
from nvspan.answers.finding import LIKELY, MEASURED, Finding
from nvspan.answers.words import files_text, quoted
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
        evidence=[loss.reason for loss in stats.losses[:3]],
        next=f"nvspan stats {files_text(recording)}",
    )


def _cost(recording: Recording) -> tuple[float, bool]:
    """Of one range, in ns, and whether it was measured."""
    costs = [process.event_cost for process in recording.processes]
    measured = 2 * max(costs, default=0.0)
    return measured or _ASSUMED_COST, measured > 0


def costly_tiny(recording: Recording, loop: Loop) -> list[LoopTiny]:
    """Ranges so short and so many that recording them takes a part of the run."""
    least = _TINY_SHARE * max(loop.span, 1) / _cost(recording)[0]
    return [
        group
        for group in loop.tiny
        if group.ranges >= max(_TINY_RANGES, least) and group.median < _TINY
    ]


def tiny_findings(recording: Recording, loop: Loop) -> Iterator[Finding]:
    """A finding for each group of them."""
    cost, is_measured = _cost(recording)
    run = max(loop.span, 1)
    for group in costly_tiny(recording, loop):
        spent = group.ranges * cost
        without = duration(max(0.0, run - spent))
        yield Finding(
            "overhead",
            f"recording {group.ranges:,} tiny ranges {quoted(group.name)} takes about "
            f"{percent(min(spent / run, 1.0))} of the run",
            MEASURED if is_measured else LIKELY,
            [
                f"{duration(cost)} for each, whose median is {duration(group.median)}",
                f"the run would take about {without} without them",
            ],
            "record fewer: a lower level, --domains or --min-duration",
            min(spent / run, 1.0),
        )
