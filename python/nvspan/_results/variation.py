# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The results of tests of a series of step times. Times are ns, steps count from 0."""

from __future__ import annotations

from nvspan._result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    Places = memoryview[int]  # int64, ascending


class Stretch(Result):
    """Successive steps of one level."""

    first: int  #: the first of them
    last: int  #: the last of them
    time: float  #: their median


class Effect(Result):
    """One way in which steps differ that noise does not explain.

    `kind`: "warm_up", "jump", "levels", "trend", "period", "sawtooth", "modes" or "rare".
    """

    kind: str  #: how steps differ
    high: Places  #: the slow steps; of a trend, the slow one of the first and the last quarter
    low: Places  #: the steps that they are compared with
    size: float  #: how much longer a slow step is; of a warm-up: their mean, less `low_time`
    high_time: float  #: the median of `high`
    low_time: float  #: the median of `low`
    rises: bool | None  #: jump, trend, sawtooth: whether steps become slower
    at: int | None  #: jump: the first step after it
    period: int | None  #: period, sawtooth: its length in steps
    slow_in_period: int | None  #: period: how many of these are slow
    every: int | None  #: modes, rare: slow steps come about every so many; None: irregularly
    extra: float | None  #: rare, or a period of rare ones: time beyond the expected, together
    stretches: list[Stretch] | None  #: levels: from the first to the last


class SlowChange(Result):
    """A slow change of a series: `kind` is "jump", "levels" or "trend"."""

    kind: str  #: how it changes
    before: float  #: the median of the first quarter
    after: float  #: the median of the last quarter


class Cancelling(Result):
    """Two parts of a step whose changes leave the step as long as it was."""

    grows: int  #: the number of the part that becomes longer
    grows_from: float  #: its median in the first quarter, or its 10th percentile
    grows_to: float  #: its median in the last quarter, or its 90th percentile
    shrinks: int  #: the number of the part that becomes shorter
    shrinks_from: float  #: its median in the first quarter, or its 90th percentile
    shrinks_to: float  #: its median in the last quarter, or its 10th percentile
    over_time: bool  #: whether they change over the run; if not, from one step to the next


VARIATION_RESULTS = (Cancelling, Effect, SlowChange, Stretch)
