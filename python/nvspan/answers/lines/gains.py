# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The lines that have more time in slow steps than in the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from nvspan._results.lines import LineGain
from nvspan._results.loops import LoopGaps
from nvspan._results.variation import Effect
from nvspan.loops.loop import Loop
from nvspan.recording.lines import Lines
from nvspan.recording.time_text import duration, percent
from nvspan.report.hottest import MIN_SAMPLES, place_text

_LARGE = 0.3  # of the difference: a line
_MAX_MARGIN = 1 / 3  # of a line's gain
_COVERED = 0.8  # of the slow steps' time, by samples
_MAX_LINES = 2
_MOST = 0.5  # of a gain: it is said that it waits


@dataclass(frozen=True)
class Stretches:
    """The time of steps or pauses: of which one, the thread, beginning and end of each stretch, and
    how long the run was."""

    steps: Sequence[int]
    threads: Sequence[int]
    starts: Sequence[int]
    ends: Sequence[int]
    run: int


def steps(loop: Loop) -> Stretches:
    """The steps; of those that overlap within their threads the stretches in which a thread surely
    works for one."""
    found = loop.steps
    if found.is_floating:
        own = found.owned_stretches()
        return Stretches(
            memoryview(own.step), memoryview(own.thread), memoryview(own.start),
            memoryview(own.end), loop.span,
        )  # fmt: skip
    threads = memoryview(found.thread)
    starts, ends = memoryview(found.start), memoryview(found.end)
    return Stretches(range(len(threads)), threads, starts, ends, loop.span)


def pauses(loop: Loop, gaps: LoopGaps) -> tuple[list[int], list[int]]:
    """When each pause between the steps of a thread begins and ends."""
    found = loop.steps
    columns = (memoryview(column) for column in (found.thread, found.start, found.end))
    bounds = [(start, end) for thread, start, end in zip(*columns, strict=True)
              if thread == gaps.thread]  # fmt: skip
    starts = [before[1] for before, _ in pairwise(bounds)]
    return starts, [max(after[0], before[1]) for before, after in pairwise(bounds)]


def kept_pauses(loop: Loop, gaps: LoopGaps, kept: Sequence[int]) -> Stretches:
    """Those of the pauses that are kept."""
    starts, ends = pauses(loop, gaps)
    return Stretches(
        range(len(kept)), [gaps.thread] * len(kept), [starts[at] for at in kept],
        [ends[at] for at in kept], loop.span,
    )  # fmt: skip


def told(
    lines: Lines | None, stretches: Stretches, effect: Effect, excess: float, which: str
) -> list[str]:
    """What lines add to `which`, the slow ones of an effect, which take `excess` ns more."""
    if lines is None or excess <= 0:
        return []
    high, low = effect.high.tolist(), effect.low.tolist()
    numbers = {step: number for number, step in enumerate([*high, *low])}
    kept = [place for place, step in enumerate(stretches.steps) if step in numbers]
    found = lines.gains(
        [stretches.threads[place] for place in kept],
        [stretches.starts[place] for place in kept],
        [stretches.ends[place] for place in kept],
        [numbers[stretches.steps[place]] for place in kept],
        len(high),
        len(numbers),
    )
    if found.covered < _COVERED:
        return []
    sure = [row for row in found.rows[:_MAX_LINES] if row.gain >= _LARGE * excess and _is_sure(row)]
    of_all = effect.kind not in ("trend", "levels", "sawtooth")
    texts = []
    for row in sure:
        text = f"line  {place_text(lines, row)} adds {duration(row.gain)} to {which}"
        if of_all:
            of_run = min(row.gain * len(high) / max(stretches.run, 1), 1.0)
            text += f" ({percent(of_run)} of the run)"
        texts.append(text + _state(row))
    return texts


def _is_sure(row: LineGain) -> bool:
    is_enough = row.samples >= MIN_SAMPLES and row.margin <= _MAX_MARGIN * row.gain
    return is_enough and row.file is not None


def _state(row: LineGain) -> str:
    if row.gain_ready > _MOST * row.gain:
        return ", waiting for a core"
    return ", waiting" if row.gain_waiting > _MOST * row.gain else ""
