# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which part of a step makes some steps slower than others."""

from __future__ import annotations

from nvspan._results.loops import LoopMeans
from nvspan.answers.parts import STEP, Parts
from nvspan.answers.words import path_text, quoted
from nvspan.recording.time_text import duration

_HALF, _PAIR, _SECOND = 0.5, 0.6, 0.2  # of the difference
_HARDLY = 0.05  # of its time in slow steps, and of the others: a part that these do not have
_MAX_DEPTH = 8


def causing_path(parts: Parts, means: LoopMeans) -> list[int]:
    """The part with half of the difference between slow steps and others, as deep as one has it."""
    excess = means.steps[0] - means.steps[1]
    path: list[int] = []
    at = STEP
    while excess > 0 and len(path) < _MAX_DEPTH:
        gain, inner = max(_gains(parts, means, at), default=(0.0, STEP))
        if inner == STEP or gain < _HALF * excess:
            break
        at = inner
        path.append(at)
    return path


def difference(parts: Parts, means: LoopMeans) -> list[str]:
    """What makes slow steps slower than the others: one part, two, or none."""
    excess = means.steps[0] - means.steps[1]
    if excess <= 0 or not len(parts):
        return []
    path = causing_path(parts, means)
    if not path:
        return _without_path(parts, means, excess)
    pair = means.parts[path[-1]]
    assert pair is not None
    slow, usual = pair
    name = path_text(parts.name(index) for index in path)
    if usual < _HARDLY * min(slow, means.steps[1]):
        return [f"{name} makes the difference: {duration(slow)}, hardly any in the others"]
    return [f"{name} makes the difference: {duration(slow)}, {duration(usual)} in the others"]


def _gains(parts: Parts, means: LoopMeans, at: int) -> list[tuple[float, int]]:
    """What the parts directly within one take more in the slow steps."""
    pairs = ((means.parts[index], index) for index in parts.children(at))
    return [(pair[0] - pair[1], index) for pair, index in pairs if pair is not None]


def _without_path(parts: Parts, means: LoopMeans, excess: float) -> list[str]:
    if means.self[0] - means.self[1] >= _HALF * excess:
        return ["the difference is outside any phase"]
    largest = sorted(_gains(parts, means, STEP), reverse=True)[:2]
    if len(largest) == 2:
        (first, one), (second, other) = largest
        if first + second >= _PAIR * excess and second > _SECOND * excess:
            names = f"{quoted(parts.name(one))} and {quoted(parts.name(other))}"
            return [f"{names} make the difference"]
    return ["no single range explains it"]
