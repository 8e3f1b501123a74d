# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How sure the mean of steps is, by drawing blocks of them again and again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

_DRAWS = 400
_MOST_BLOCKS = 60  # a job's steps are cut into at most so many


class Estimate:
    """A mean, and the interval that holds it with 95% probability.

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
        return f"{self.value:.3g} +-{self.half:.2g}"


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
