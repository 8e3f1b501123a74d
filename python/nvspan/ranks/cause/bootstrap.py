# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How sure the mean of steps is, by drawing blocks of them again and again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from statistics import median

_DRAWS = 400
_MOST_BLOCKS = 60  # a job's steps are cut into at most so many


def in_blocks(values: Sequence[float], blocks: int = 8) -> float:
    """In which part of the stretches of steps the median is above zero, 0 to 1.

    What a machine does besides lasts some steps: steps by themselves do not tell it from what is
    there all the time.

    >>> in_blocks([1.0, 2.0, 1.0, -1.0, 1.0, 1.0], 2)
    1.0
    """
    count = len(values)
    blocks = max(1, min(blocks, count // 3))
    bounds = [i * count // blocks for i in range(blocks + 1)]
    above = sum(median(values[a:b]) > 0 for a, b in pairwise(bounds) if b > a)
    return above / blocks


class Estimate:
    """A mean, and the interval that holds it with 95 % probability.

    >>> print(Estimate(2.0, 1.5, 2.5).scaled(10))
    20 +- 5
    """

    __slots__ = ("high", "low", "value")

    def __init__(self, value: float, low: float, high: float) -> None:
        self.value = value
        self.low = low
        self.high = high

    @property
    def half(self) -> float:
        """Half the interval's width."""
        return (self.high - self.low) / 2

    def scaled(self, by: float) -> Estimate:
        """The same of each value times `by`."""
        return Estimate(self.value * by, self.low * by, self.high * by)

    def __repr__(self) -> str:
        return f"{self.value:.4g} +- {self.half:.2g}"


def at_least(successes: int, trials: int, probability: float) -> float:
    """The probability of so many successes, or more, in independent trials.

    >>> round(at_least(9, 10, 0.5), 4)
    0.0107
    """
    log = math.lgamma
    whole = log(trials + 1)
    terms = [
        math.exp(whole - log(k + 1) - log(trials - k + 1) + k * math.log(probability)
                 + (trials - k) * math.log1p(-probability))
        for k in range(successes, trials + 1)
    ]  # fmt: skip
    return min(1.0, math.fsum(terms))


def mean_of(values: Sequence[float]) -> Estimate:
    """The mean of steps. Neighbours are drawn together, as they are alike.

    >>> mean_of([4.0, 4.0, 4.0])
    4 +- 0
    """
    count = len(values)
    if count == 0:
        return Estimate(0.0, 0.0, 0.0)
    blocks = min(count, _MOST_BLOCKS)
    bounds = [i * count // blocks for i in range(blocks + 1)]
    sums = [sum(values[a:b]) for a, b in pairwise(bounds)]
    sizes = [b - a for a, b in pairwise(bounds)]
    random = Random(20261)  # the same interval for the same steps
    means = []
    for _ in range(_DRAWS):
        drawn = random.choices(range(blocks), k=blocks)
        means.append(sum(sums[i] for i in drawn) / sum(sizes[i] for i in drawn))
    means.sort()
    return Estimate(sum(sums) / count, means[int(0.025 * _DRAWS)], means[int(0.975 * _DRAWS) - 1])
