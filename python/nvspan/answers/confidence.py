# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How sure a difference of two means is: Student's t, from deviations or from repeated runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

_OWN_DEVIATION = 3  # runs a side, from which on each side's deviation is estimated by itself


def error_of_calls(stds: Sequence[float], counts: Sequence[int]) -> tuple[float, float] | None:
    """The standard error of a difference of two means, and its degrees of freedom (Welch).

    Args:
        stds: the standard deviations of both sides.
        counts: how many values each mean is of.

    Returns:
        None where a side has fewer than two values.
    """
    if min(counts) < 2:
        return None
    parts = [std**2 / count for std, count in zip(stds, counts, strict=True)]
    below = sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    freedom = sum(parts) ** 2 / below if below > 0 else math.inf
    return math.sqrt(sum(parts)), freedom


def error_of_runs(old: Sequence[float], new: Sequence[float]) -> tuple[float, float] | None:
    """The same of the means of two lists of runs, whose values vary from run to run.

    From three runs a side on each side has a deviation of its own (Welch's test). With fewer the
    deviation is taken to be the same on both sides (Student's test), so that one new run can be
    judged by several old ones.

    Returns:
        None where both sides have one run.

    >>> error_of_runs([10.0, 12.0, 11.0], [14.0])
    (1.1547005383792515, 2)
    """
    sides = (old, new)
    if min(map(len, sides)) >= _OWN_DEVIATION:
        stds = [math.sqrt(_squares(side) / (len(side) - 1)) for side in sides]
        return error_of_calls(stds, [len(side) for side in sides])
    freedom = sum(len(side) - 1 for side in sides)
    if freedom < 1:
        return None
    variance = sum(map(_squares, sides)) / freedom
    return math.sqrt(variance * sum(1 / len(side) for side in sides)), freedom


def _squares(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def two_sided(t: float, freedom: float) -> float:
    """The probability of Student's t to be as far from zero as `t`, on either side.

    >>> round(two_sided(2.0, 10), 4)
    0.0734
    """
    if math.isinf(freedom) or freedom > 1e6:
        return math.erfc(abs(t) / math.sqrt(2))
    return _beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def quantile(sure: float, freedom: float) -> float:
    """The t that is exceeded, on either side, with the probability 1 - `sure`."""
    low, high = 0.0, 1.0
    while two_sided(high, freedom) > 1 - sure and high < 1e12:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if two_sided(middle, freedom) > 1 - sure:
            low = middle
        else:
            high = middle
    return high


def _beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    scale = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    tiny = 1e-300
    c, d = 1.0, 1 / max(abs(1 - (a + b) * x / (a + 1)), tiny)
    fraction = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / ((1 + even * d) or tiny), (1 + even / c) or tiny
        fraction *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / ((1 + odd * d) or tiny), (1 + odd / c) or tiny
        fraction *= d * c
        if abs(d * c - 1) < 1e-13:
            break
    return scale * fraction / a
