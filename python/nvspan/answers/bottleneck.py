# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the typical step waits for: the GPU, its launches, data, synchronisation or the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nvspan.answers.words import share
from nvspan.recording.steps import OTHER, WAITING, Steps
from nvspan.recording.time_text import duration
from nvspan.report.text import printable

IDLE_ENOUGH = 0.1  # of a step, for the GPU not to be what it waits for
_SHORT_LEAD = 100_000  # ns: the GPU has nothing left to do when it gets work
_MANY_WAITS = 2  # for the GPU, in a step
_MOST_IDLE = 0.5  # of a step, for time outside of device ranges to be what limits it


@dataclass(frozen=True)
class Bottleneck:
    """What the typical step waits for.

    Attributes:
        text: a sentence.
        bound: "gpu", "launch", "data", "synchronising", "cpu", or None where the recording cannot
            tell.
        idle_time: ns of the step in which the GPU had no work.
        idle: their share of the step; None: no work was recorded.
        phase, phase_time: what the CPU was in for most of that time, and how long.
    """

    text: str
    bound: str | None = None
    idle_time: float = 0.0
    idle: float | None = None
    phase: str = ""
    phase_time: float = 0.0

    def fields(self) -> dict[str, Any]:
        """As ``--format json`` has it."""
        return {"bound": self.bound, "idle": self.idle, "text": self.text}


def find_bottleneck(found: Steps) -> Bottleneck:
    """What the typical step waits for, by when the GPU has work."""
    if not found.has_work:
        return Bottleneck(
            "cannot tell what the GPU did: no GPU work was recorded "
            "('nvspan record --cuda kernels' records it, and so does nsys)"
        )
    whole = found.typical.duration
    if not found.has_idle:
        return Bottleneck(
            f"the GPU works for {at_most(found)}{duration(found.typical.busy)} of a typical "
            f"{found.choice.unit}"
        )
    idle = sum(found.typical.idle.values())
    part = idle / whole if whole else 0.0
    phase, most = max(found.typical.idle.items(), key=lambda item: item[1])
    if part <= IDLE_ENOUGH:
        bound, text = (_of_cover if found.of_device_ranges else _of_busy)(found, idle)
    else:
        bound, text = _of_idle(found, idle, phase, most)
    return Bottleneck(text, bound, idle, part, phase, most)


def at_most(found: Steps) -> str:
    """What stands before a time in which the GPU is busy: between the first kernel of a device
    range, or of a graph, and its last the GPU may be idle."""
    return "at most " if found.of_device_ranges or found.graphs else ""


def at_least(found: Steps) -> str:
    """Likewise before a time in which it is idle."""
    return "at least " if found.of_device_ranges or found.graphs else ""


def _of_cover(found: Steps, idle: float) -> tuple[str | None, str]:
    """Device ranges cover the step. Whether the GPU works all that time is known where it is a
    whole step late, or has no work left when the launching ends."""
    typical = found.typical
    whole, behind = typical.duration, typical.behind
    cover = f"its ranges cover {share(whole - idle, whole)} of the step"
    if behind is not None and behind >= max(whole, _SHORT_LEAD):
        return "gpu", (
            f"GPU-bound: its work ends {duration(behind)} after the CPU has launched it"
            f"{_pace(found)}"
        )
    if behind is not None and 0 < behind <= _SHORT_LEAD:
        return "launch", (
            f"launch-bound: the GPU keeps up with the launches, its work ends {duration(behind)} "
            f"after the CPU has launched it ({cover})"
        )
    return None, (
        f"cannot tell whether the GPU or its launches limit the step: {cover}, and the GPU may be "
        "idle within them ('nvspan record --cuda kernels' tells)"
    )


def _pace(found: Steps) -> str:
    typical = found.typical
    if typical.busy <= typical.duration:
        return ""
    return (
        f"; what a step launches takes it {at_most(found)}{duration(typical.busy)}, and the "
        f"launching {duration(typical.duration)}"
    )


def _of_busy(found: Steps, idle: float) -> tuple[str | None, str]:
    typical = found.typical
    whole, behind = typical.duration, typical.behind
    busy = f"the GPU is busy for {at_most(found)}{share(whole - idle, whole)} of the step"
    late = "" if behind is None else f", its work ends {duration(behind)} after the launching"
    return "gpu", f"GPU-bound: {busy}{late if behind and behind > 0 else ''}{_pace(found)}"


def _of_idle(found: Steps, idle: float, phase: str, most: float) -> tuple[str | None, str]:
    typical = found.typical
    whole, ahead = typical.duration, typical.ahead
    start = f"the GPU has no work for {at_least(found)}{share(idle, whole)} of the step"
    lead = "" if ahead is None else f"; work starts {duration(ahead)} after its launch"
    place = "outside any phase" if phase == OTHER else f"in '{printable(phase)}'"
    during = f", {share(most, whole)} while the CPU is {place}"
    if phase == "data wait":
        return "data", f"bound by data loading: {start}{during}{lead}"
    if typical.wait_calls >= _MANY_WAITS or phase == WAITING:
        waits = (
            f"; the CPU waits for the GPU {typical.wait_calls:.3g} times a step, "
            f"{duration(typical.waits)}, and has then to launch again"
        )
        return "synchronising", f"bound by synchronization: {start}{during}{waits}"
    if found.of_device_ranges and idle < _MOST_IDLE * whole:
        return None, (
            f"cannot tell what limits the step: {start}{during}, and may be idle within its ranges "
            "('nvspan record --cuda kernels' tells)"
        )
    # Where kernels were seen, the pauses between them tell launches from what else the CPU does.
    dense = phase != OTHER if found.of_device_ranges else idle <= _SHORT_LEAD * typical.ops
    if ahead is not None and ahead <= _SHORT_LEAD and dense:
        return "launch", f"launch-bound: {start}{during}{lead}"
    where = "time outside any phase" if phase == OTHER else f"the CPU in '{printable(phase)}'"
    return "cpu", f"bound by {where}: {start}{during}{lead}"
