# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Order statistics, and significance of a difference of means: one definition for every figure.

A percentile is the nearest rank: the smallest value that at least this share of the values does not
exceed. The median is the 50th percentile: of an even number of values, the lower middle one. C++
has the same (src/core/statistics.hpp), and its Student's t is the one used here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from nvspan import _reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Value = TypeVar("Value", int, float)

_OWN_DEVIATION = 3  # runs a side, from which on each side's deviation is estimated by itself


def average(values: Collection[float]) -> float:
    """The mean of one value or more."""
    return math.fsum(values) / len(values)


def deviation(values: Collection[float]) -> float:
    """The standard deviation of a sample of two values or more."""
    return math.sqrt(_squares(values) / (len(values) - 1))


def _squares(values: Collection[float]) -> float:
    middle = average(values)
    return math.fsum((value - middle) ** 2 for value in values)


def _rank(share: float, count: int) -> int:
    # Rounding may lift a product above a whole number: 0.07 * 100 is 7.000000000000001.
    return max(1, math.ceil(share * count * (1 - 1e-12)))


def percentile(values: Iterable[Value], share: float) -> Value:
    """The nearest rank, of one value or more.

    >>> percentile([1, 2, 3, 4], 0.99), percentile([1, 2, 3, 4], 0.25)
    (4, 1)
    """
    ordered = sorted(values)
    return ordered[_rank(share, len(ordered)) - 1]


def median(values: Iterable[Value]) -> Value:
    """The 50th percentile, of one value or more.

    >>> median([4, 1, 3, 2])
    2
    """
    return percentile(values, 0.5)


def percentile_of_counts(counts: Mapping[int, int], share: float) -> int:
    """The key that holds the nearest rank, where keys are in the order of what they count."""
    left = _rank(share, sum(counts.values()))
    for key in sorted(counts):
        left -= counts[key]
        if left <= 0:
            return key
    raise ValueError("nothing is counted")


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
        return error_of_calls([deviation(side) for side in sides], [len(side) for side in sides])
    freedom = sum(len(side) - 1 for side in sides)
    if freedom < 1:
        return None
    variance = sum(map(_squares, sides)) / freedom
    return math.sqrt(variance * sum(1 / len(side) for side in sides)), freedom


def confidence(t: float, freedom: float) -> float:
    """How sure it is that means differ which are `t` standard errors apart (Student's t).

    >>> round(confidence(2.0, 10), 4)
    0.9266
    """
    return 1 - _reader.t_two_sided(t, freedom)


def t_limit(sure: float, freedom: float) -> float:
    """The standard errors on each side of a difference that hold it with the probability `sure`.

    >>> round(t_limit(0.95, 10), 3)
    2.228
    """
    return _reader.t_quantile((1 - sure) / 2, freedom)
