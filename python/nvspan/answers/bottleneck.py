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

_IDLE_ENOUGH = 0.1  # of a step, for the GPU not to be what it waits for
_SHORT_LEAD = 100_000  # ns: the GPU has nothing left to do when it gets work
_MANY_WAITS = 2  # for the GPU, in a step


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
            "cannot tell what the GPU did: no work of one was recorded "
            "(device=True records it, and so does nsys)"
        )
    if not found.has_idle:
        return Bottleneck(
            f"the GPU works for {duration(found.typical.busy)} of a typical {found.choice.unit}"
        )
    whole = found.typical.duration
    idle = sum(found.typical.idle.values())
    part = idle / whole if whole else 0.0
    phase, most = max(found.typical.idle.items(), key=lambda item: item[1])
    bound, text = (
        _of_busy(found, idle) if part <= _IDLE_ENOUGH else _of_idle(found, idle, phase, most)
    )
    return Bottleneck(text, bound, idle, part, phase, most)


def _of_busy(found: Steps, idle: float) -> tuple[str | None, str]:
    typical = found.typical
    whole, behind = typical.duration, typical.behind
    has = f"the GPU has work for {share(whole - idle, whole)} of the step"
    late = "" if behind is None else f"ends {duration(behind)} after the CPU has launched it"
    if found.of_device_ranges and behind is not None and behind <= _SHORT_LEAD:
        # Between the first kernel of a device range and its last nothing says that there is work.
        if behind > 0:
            return "launch", (
                f"launch-bound: the GPU keeps up with the launches, its work {late} "
                f"(its ranges cover {share(whole - idle, whole)} of the step)"
            )
        return None, (
            f"cannot tell whether the GPU or its launches limit the step: {has}, which ends "
            "before the CPU leaves the phase that launched it"
        )
    pace = ""
    if typical.busy > whole:
        pace = (
            f"; what a step launches takes it {duration(typical.busy)}, and the launching "
            f"{duration(whole)}"
        )
    return "gpu", f"GPU-bound: {has}" + (f", which {late}" if late else "") + pace


def _of_idle(found: Steps, idle: float, phase: str, most: float) -> tuple[str, str]:
    typical = found.typical
    whole, ahead = typical.duration, typical.ahead
    start = f"the GPU has no work for {share(idle, whole)} of the step"
    lead = "" if ahead is None else f"; work begins {duration(ahead)} after its launch"
    during = f", {share(most, whole)} while the CPU is in '{printable(phase)}'"
    if phase == "data wait":
        return "data", f"bound by data loading: {start}{during}{lead}"
    if typical.wait_calls >= _MANY_WAITS or phase == WAITING:
        waits = (
            f"; the CPU waits for the GPU {typical.wait_calls:.3g} times a step, "
            f"{duration(typical.waits)}, and has then to launch anew"
        )
        return "synchronising", f"bound by synchronisation: {start}{during}{waits}"
    # Where kernels were seen, the pauses between them tell launches from what else the CPU does.
    dense = not found.of_device_ranges and idle <= _SHORT_LEAD * typical.ops
    if ahead is not None and ahead <= _SHORT_LEAD and (dense or phase != OTHER):
        return "launch", f"launch-bound: {start}{during}{lead}"
    where = "what is in no phase" if phase == OTHER else f"the CPU in '{printable(phase)}'"
    return "cpu", f"bound by {where}: {start}{during}{lead}"
