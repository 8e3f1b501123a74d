# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Differences of many means, each from a few runs a side, with intervals that hold together.

The variance of a row comes from its own runs and, as far as rows are independent, from the other
rows (moderated t; Smyth 2004, "Linear models and empirical Bayes methods").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nvspan.recording.statistics import average, confidence, median, t_limit

_LEAST_ROWS = 3  # that say something of each other
_LEAST_VARIANCE = 1e-12


@dataclass(frozen=True)
class Difference:
    """The mean of the new values minus that of the old ones.

    Attributes:
        value: in the unit of the values.
        margin: the interval is `value` plus and minus this; None where too few values tell one.
        confidence: how sure it is that the means differ, all rows taken together; None as above.
    """

    value: float
    margin: float | None
    confidence: float | None


def differences(
    rows: Sequence[tuple[Sequence[float], Sequence[float]]], sure: float
) -> list[Difference]:
    """The difference of each row of old and new values, one value a run.

    With the probability `sure` all intervals hold at once (Bonferroni). Rows may lack runs; those
    that lack none tell what rows have in common.

    >>> differences([([1.0, 1.1, 0.9], [2.0, 2.1, 1.9])], 0.95)[0].value
    1.0
    """
    runs = [max((len(row[side]) for row in rows), default=0) for side in (0, 1)]
    residuals = [[*_centred(old), *_centred(new)] for old, new in rows]
    complete = [
        residual
        for (old, new), residual in zip(rows, residuals, strict=True)
        if [len(old), len(new)] == runs
    ]
    prior, common = _prior(complete, sum(runs) - 2)
    found = []
    for (old, new), residual in zip(rows, residuals, strict=True):
        value = average(new) - average(old)
        freedom = len(old) + len(new) - 2
        if freedom + prior <= 0:
            found.append(Difference(value, None, None))
            continue
        squares = math.fsum(x * x for x in residual)
        variance = (prior * common + squares) / (prior + freedom)
        error = math.sqrt(variance * (1 / len(old) + 1 / len(new)))
        margin = t_limit(1 - (1 - sure) / len(rows), prior + freedom) * error
        chance = 1 - confidence(value / error, prior + freedom) if error else float(not value)
        found.append(Difference(value, margin, max(0.0, 1 - len(rows) * chance)))
    return found


def _centred(values: Sequence[float]) -> list[float]:
    middle = average(values)
    return [value - middle for value in values]


def _prior(residuals: Sequence[Sequence[float]], freedom: int) -> tuple[float, float]:
    """The degrees of freedom and the variance that the rows have in common (empirical Bayes).

    Rows that drift together say the same thing once: what they add is limited to the degrees of
    freedom of as many independent rows.
    """
    independent = _independent_rows(residuals, freedom)
    if freedom < 1 or len(residuals) < _LEAST_ROWS or independent <= 1:
        return 0.0, 0.0
    variances = [math.fsum(x * x for x in row) / freedom for row in residuals]
    floor = max(median(variances) * 1e-4, _LEAST_VARIANCE)
    half = freedom / 2
    logs = [math.log(max(v, floor)) - _digamma(half) + math.log(half) for v in variances]
    middle = average(logs)
    spread = math.fsum((x - middle) ** 2 for x in logs) / (len(logs) - 1)
    # One standard error towards rows that differ: a prior that is too sure makes false alarms.
    excess = spread * (1 + math.sqrt(2 / max(1.0, independent - 1))) - _trigamma(half)
    prior = freedom * (independent - 1)
    if excess > 0:
        prior = min(2 * _inverse_trigamma(excess), prior)
    return prior, math.exp(middle + _digamma(prior / 2) - math.log(prior / 2))


def _independent_rows(residuals: Sequence[Sequence[float]], freedom: int) -> float:
    """How many independent rows these are worth, by the mean squared correlation of two of them.

    By chance that is 1 / freedom.
    """
    units = []
    for row in residuals:
        norm = math.sqrt(math.fsum(x * x for x in row))
        if norm > 0:
            units.append([x / norm for x in row])
    count = len(units)
    if count < 2 or freedom < 2:
        return 1.0 if count < 2 else 2.0
    # The squares of all products of rows sum to those of all products of runs, which are few.
    columns = list(zip(*units, strict=True))
    squares = math.fsum(
        math.fsum(x * y for x, y in zip(a, b, strict=True)) ** 2 for a in columns for b in columns
    )
    mean = (squares - count) / (count * (count - 1))
    shared = max(0.0, (mean - 1 / freedom) / (1 - 1 / freedom))
    return count / (1 + (count - 1) * shared)


_ASYMPTOTIC = 8.0  # from here on the series below have more than ten digits


def _digamma(x: float) -> float:
    shift = 0.0
    while x < _ASYMPTOTIC:
        shift -= 1 / x
        x += 1
    return shift + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def _trigamma(x: float) -> float:
    shift = 0.0
    while x < _ASYMPTOTIC:
        shift += 1 / x**2
        x += 1
    return shift + 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7)


def _inverse_trigamma(value: float) -> float:
    low, high = 1e-3, 1e6
    for _ in range(80):  # it falls
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _trigamma(middle) > value else (low, middle)
    return high
