# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Order statistics, and significance of a difference of means: one definition for every figure.

A percentile is the nearest rank: the smallest value that at least this share of the values does not
exceed. The median is the 50th percentile: of an even number of values, the lower middle one. C++
has the same (src/core/statistics/order.hpp), and its Student's t is the one used here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from nvspan import _reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Value = TypeVar("Value", int, float)


def average(values: Collection[float]) -> float:
    """The mean of one value or more."""
    return math.fsum(values) / len(values)


def deviation(values: Collection[float]) -> float:
    """The standard deviation of a sample of two values or more."""
    middle = average(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


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
