# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What takes longer in a range that became slower: functions, lines or kernels, run by run."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nvspan.recording.differences import differences
from nvspan.recording.statistics import average, t_limit

MIN_RUNS = 2  # of each side
_MIN_PART = 0.25  # of what the range gained, and of a gain that others lost: work that moved
_MANY = 1e6  # degrees of freedom

Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Time(Generic[Row]):
    """The time of something in a call of the range, in one run.

    Attributes:
        mean: ns.
        error: ns, the standard error of sampling.
        row: what it is.
    """

    mean: float
    error: float
    row: Row


@dataclass(frozen=True)
class Gain(Generic[Key]):
    """What something takes more than before: `added` ns in a call, plus and minus `margin`."""

    key: Key
    added: float
    margin: float

    @property
    def is_sure(self) -> bool:
        """Whether it is more than nothing."""
        return self.added > self.margin


def gains_of(
    sides: Sequence[Sequence[Mapping[Key, Time[Row]]]], sure: float, least: float
) -> Iterator[Gain[Key]]:
    """What each takes more; with the probability `sure` all of the limits hold.

    `sides` are the runs before and after, each the times by key; those of `least` ns or less in a
    call are left out.
    """
    keys = dict.fromkeys(key for side in sides for run in side for key in run)
    kept = {
        key: means
        for key in keys
        if max(map(average, means := [[_mean(run.get(key)) for run in side] for side in sides]))
        > least
    }
    own = 1 - (1 - sure) / max(len(kept), 1)
    for key, (before, after) in kept.items():
        (found,) = differences([(before, after)], own)
        if found.margin is None:
            continue
        errors = [
            average([_error(run.get(key)) ** 2 for run in side]) / len(side) for side in sides
        ]
        sampling = t_limit(own, _MANY) * math.sqrt(sum(errors))
        yield Gain(key, found.value, max(found.margin, sampling))


def clear_gain(gains: Sequence[Gain[Key]], gained: float) -> Gain[Key] | None:
    """The largest, where it is sure, is a good part of `gained`, and nothing lost it."""
    best = max(gains, key=lambda gain: gain.added, default=None)
    if best is None or not best.is_sure or best.added < _MIN_PART * gained:
        return None
    lost = -sum(gain.added for gain in gains if gain.added < -gain.margin)
    return best if lost < _MIN_PART * best.added else None


def _mean(time: Time[Row] | None) -> float:
    return 0.0 if time is None else time.mean


def _error(time: Time[Row] | None) -> float:
    return 0.0 if time is None else time.error
