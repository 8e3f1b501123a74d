# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which ranks take longer than the others beyond chance, in which ranges; what would be seen."""

from __future__ import annotations

from collections.abc import Sequence

from nvspan.ranks.cause import collectives
from nvspan.ranks.cause.bootstrap import Estimate, mean_of
from nvspan.recording.statistics import median

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan._reader import RankJob
    from nvspan._results.jobs import Standings

# How probable it may be that some rank is named, in some range, where all of them are alike: less
# than 1% is left where noise is not as the theory has it (tests/ranks/test_stand_out.py).
ALPHA = 0.003
_WHOLE = 0.6  # the share of it for the whole recording; each half has half of the rest
_FEWEST_OF_HALF = 20  # steps
# Standard errors: what is so far above the threshold is seen in 99 of 100 recordings, also where
# the error itself comes from some twenty blocks.
SURE = 3.5
_SHOWN = 8  # ranges in which nobody is longer: what could be seen in them is said
EVERY_NAME = -1
#: Stands for the time in which a rank's thread was ready to run and had no core: no range is slower
#: for it. Recordings of `nvspan.torch` say it of collectives that the CPU waits in.
WITHOUT_A_CORE = "(without a core)"
# The part of it that may be put to the wrong range: in which it was, nobody knows.
_GUESSED = 0.2


class Delay:
    """How much longer than the median of the others a rank takes in its usual step.

    Attributes:
        rank: The rank's number.
        range: The range, or None for all that the rank does between collectives.
        ns: ns of a step, with the interval that holds it with 95% probability.
        error: Its standard error.
        chance: How probable it is at most that some rank stands out as much where all are alike;
            not corrected for the number of ranges that were looked at, as `stands` is.
        stands: Whether it stands out, corrected for all ranks and ranges that were looked at.
        part: "whole", "first half" or "second half" of the steps.
    """

    def __init__(self, rank: int, name: str | None, part: str) -> None:
        self.rank = rank
        self.range = name
        self.part = part
        self.ns = Estimate(0.0, 0.0, 0.0)
        self.error = 0.0
        self.chance = 1.0
        self.stands = False

    @property
    def ratio(self) -> float:
        """The standard errors that it is above zero."""
        return self.ns.value / self.error if self.error else 0.0


class Delays:
    """The delays of all ranks in the ranges that could matter.

    Attributes:
        all: Those above the floor, each a :class:`Delay`, the largest first.
        floor: ns of a step below which nothing is looked at.
        block: How many steps are taken together, as neighbours are alike.
        blocks: How many such blocks there are; 0: too few steps.
        needed: By range (None: all that a rank does), ns of a step that a rank must be longer to
            stand out in 99 of 100 recordings such as these, for the rank that varies most.
    """

    def __init__(
        self, job: RankJob, steps: Sequence[int], numbers: Sequence[int], floor: float
    ) -> None:
        self._job = job
        self._numbers = numbers
        self.floor = floor
        self.all: list[Delay] = []
        self.block = self.blocks = 0
        self.needed: dict[str | None, float] = {}
        self._alike: list[int] = []  # ranges in which nobody is longer
        names, looked = self._names(len(job.steps()))
        alpha = ALPHA / (1 + looked)
        half = len(steps) // 2
        parts = [("whole", list(steps), alpha)]
        if half >= _FEWEST_OF_HALF:
            rest = alpha * (1 - _WHOLE) / 2
            parts = [
                ("whole", list(steps), alpha * _WHOLE), ("first half", list(steps[:half]), rest),
                ("second half", list(steps[half:]), rest),
            ]  # fmt: skip
        self._least = self._least_of_ranges(len(job.steps()))
        for name in [EVERY_NAME, *names]:
            self._look(name, parts)
        for name in self._alike:
            self._look(name, parts[:1])
        self.all.sort(key=lambda delay: -delay.ns.value)

    def _names(self, steps: int) -> tuple[list[int], int]:
        """The ranges in which a rank may be longer by the floor, and how many are long enough."""
        work = collectives.columns(self._job.work())
        by_name: dict[int, list[int]] = {}
        for name, ns in zip(work["name"], work["ns"], strict=True):
            by_name.setdefault(name, []).append(ns)
        least = self.floor * steps
        ranks = len(self._numbers)
        names, looked = [], 0
        for name, of in by_name.items():
            if max(of) < least:
                continue
            looked += 1
            usual = median(of + [0] * (ranks - len(of)))
            if max(of) - usual >= least / 4:  # half of a recording, and some steps the other way
                names.append(name)
            else:
                self._alike.append(name)
        self._alike = sorted(self._alike, key=lambda name: -max(by_name[name]))[:_SHOWN]
        return names, looked

    def _least_of_ranges(self, steps: int) -> float:
        """ns of a step up to which time without a core may have been put to the wrong range."""
        work = collectives.columns(self._job.work())
        most = max(
            (
                ns for name, ns in zip(work["name"], work["ns"], strict=True)
                if self._job.text(name) == WITHOUT_A_CORE
            ),
            default=0,
        )  # fmt: skip
        return _GUESSED * most / max(1, steps)

    def _look(self, name: int, parts: Sequence[tuple[str, list[int], float]]) -> None:
        standings = self._job.stand_out(name, [(chosen, alpha) for _, chosen, alpha in parts])
        for (part, _, _), found in zip(parts, standings, strict=True):
            if found.blocks:
                self._keep(name, part, found)

    def _keep(self, name: int, part: str, found: Standings) -> None:
        text = None if name == EVERY_NAME else self._job.text(name)
        if part == "whole":
            error = max(found.error)
            self.needed[text] = max(self.floor, (found.needed + SURE) * error)
            if text not in (None, WITHOUT_A_CORE) and self._least:
                sure = self._least + (found.half + SURE) * error
                self.needed[text] = max(self.needed[text], sure)
            if text is None:
                self.block, self.blocks = found.block, found.blocks
        for place, mean in enumerate(found.mean):
            if mean < self.floor:
                continue
            delay = Delay(self._numbers[place], text, part)
            delay.error = found.error[place]
            half = found.half * delay.error
            delay.ns = Estimate(mean, mean - half, mean + half)
            delay.chance = found.chance[place]
            delay.stands = found.stands[place]
            if text not in (None, WITHOUT_A_CORE):
                delay.stands = delay.stands and delay.ns.low >= self._least
            self.all.append(delay)

    def smallest(
        self, place: int, steps: Sequence[int], part: float, step: float
    ) -> dict[str | None, float]:
        """By range, ns of a step by which a rank must be late to be named in 99 of 100 recordings.

        Args:
            place: The rank's place.
            steps: The places of the steps.
            part: What it must cost at least, as a part of the job's time.
            step: ns of a step.
        """

        def is_dear(ns: float) -> bool:
            lost = self._job.losses(place, ns)
            cost = mean_of([lost[i] for i in steps])
            return cost.low - SURE * cost.half / 1.96 >= part * step

        low, high = self.floor, self.floor
        while not is_dear(high) and high < 4 * step:
            low, high = high, 2 * high
        for _ in range(4 if high > low else 0):
            middle = (low + high) / 2
            low, high = (low, middle) if is_dear(middle) else (middle, high)
        return {name: max(needed, high) for name, needed in self.needed.items()}
