# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How the time between steps varies, stages of the run aside."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import partial

from nvspan import _reader
from nvspan._results.loops import LoopGaps, LoopMeans, LoopPart, LoopTree
from nvspan._results.variation import Effect
from nvspan.answers.changes import Indices, change_findings
from nvspan.answers.finding import Finding
from nvspan.answers.lines.finder import LineFinder
from nvspan.answers.parts import Parts
from nvspan.answers.stages import BETWEEN, pauses_with, stages_and_others

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

_MIN_PAUSES = 12
_OUTLIERS = 0.02  # of the loop: rare long pauses


def gap_change_findings(gaps: LoopGaps, per_run: float, lines: LineFinder) -> Iterator[Finding]:
    """A finding for each way in which pauses between steps differ from one another."""
    count = len(memoryview(gaps.series))
    if gaps.total < BETWEEN * gaps.loop or count < _MIN_PAUSES:
        return
    stages, others = stages_and_others(gaps)
    with_stage = {pause for part in stages for pause in pauses_with(part)}
    kept = [pause for pause in range(count) if pause not in with_stage]
    if len(kept) < _MIN_PAUSES:
        return
    series = _at(memoryview(gaps.series), kept)
    if sum(series) < BETWEEN * gaps.loop:
        return
    inside = [_at(memoryview(part.series), kept) for part in others if part.series is not None]
    own = array("q", (
        max(0, pause - sum(part[index] for part in inside)) for index, pause in enumerate(series)
    ))  # fmt: skip
    tree = LoopTree(
        parts=[
            LoopPart(name=part.name, group=-1, parent=-1, calls=part.calls, total=sum(times),
                     self=sum(times), series=times)
            for part, times in zip(others, inside, strict=True)
        ],
        steps=series, self=own, total=sum(series), unnamed=sum(own), unnamed_after=None,
        unnamed_before=None, is_followed=False, doubtful=0.0,
    )  # fmt: skip
    effects = [
        effect for effect in _reader.variation(series, 2)
        if effect.kind != "warm_up"
        and (effect.kind != "rare" or (effect.extra or 0.0) >= _OUTLIERS * gaps.loop)
    ]  # fmt: skip

    def slower(effect: Effect, excess: float, which: str) -> list[str]:
        return lines.slower_pauses(gaps, kept, effect, excess, which)

    means = partial(_means, tree)
    yield from change_findings(effects, Parts(tree), means, "pause", per_run, slower=slower)


def _at(values: memoryview, indices: Sequence[int]) -> array[int]:
    return array("q", (values[index] for index in indices))


def _means(tree: LoopTree, high: Indices, low: Indices) -> LoopMeans:
    """As `LoopSteps.means` of steps."""

    slow, usual = array("q", high), array("q", low)

    def compared(series: Buffer) -> tuple[float, float]:
        return _reader.mean_at(series, slow), _reader.mean_at(series, usual)

    return LoopMeans(
        steps=compared(tree.steps),
        self=compared(tree.self),
        parts=[None if part.series is None else compared(part.series) for part in tree.parts],
    )
