# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What became slower or faster from one recording to another, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nvspan.recording import Recording
from nvspan.report.text import range_label

SURE = 0.95


def compare(
    before: Recording,
    after: Recording,
    threshold: float = 0.05,
    sure: float = SURE,
) -> list[dict[str, Any]]:
    """A row for each range, the largest change first.

    Keys: domain, name, kind, backward, label, `before` and `after` (rows of statistics or None, in
    which calls, mean and std are without the `warmup` calls), `change` of the mean duration as a
    part of the former, `low` and `high` (the limits in which the change lies with the confidence
    `sure`), `confidence` that the means differ at all, and `verdict`: "slower" or "faster" when the
    change exceeds `threshold` and is as sure as asked for, "same", "unsure" (larger, but too few
    calls to tell), "new" or "gone".

    The test is Welch's, on the means; it takes calls to be independent, so that a slow spell of the
    machine looks more certain than it is.
    """
    rows: dict[tuple[Any, ...], list[dict[str, Any] | None]] = {}
    for index, recording in enumerate((before, after)):
        for row in recording.stats().rows:
            if row["calls"]:
                key = (row["domain"], row["name"], row["kind"], row["backward"])
                rows.setdefault(key, [None, None])[index] = _without_warmup(row)
    changes = []
    for key, (old, new) in rows.items():
        entry: dict[str, Any] = dict(zip(("domain", "name", "kind", "backward"), key, strict=True))
        entry.update(label=range_label(entry), before=old, after=new, change=None, low=None,
                     high=None, confidence=None)  # fmt: skip
        if old is None or new is None:
            entry["verdict"] = "new" if old is None else "gone"
        else:
            entry.update(_change(old, new, threshold, sure))
        changes.append(entry)
    changes.sort(key=lambda row: (row["change"] is None, -abs(row["change"] or 0), row["label"]))
    return changes


def _without_warmup(row: dict[str, Any]) -> dict[str, Any]:
    """The row with calls, mean and std of the calls that are no warm-up."""
    calls = row["calls"] - row["warmup"]
    total = row["sum"] - row["warmup_total"]
    mean = total / calls
    squares = row["squares"] - row["warmup_squares"] - total * mean
    std = math.sqrt(max(squares, 0.0) / (calls - 1)) if calls > 1 else 0.0
    return {**row, "calls": calls, "mean": mean, "std": std} if row["warmup"] else row


def _change(
    old: dict[str, Any], new: dict[str, Any], threshold: float, sure: float
) -> dict[str, Any]:
    difference = new["mean"] - old["mean"]
    if old["mean"] <= 0:
        change = 0.0 if difference <= 0 else math.inf
        return {"change": change, "verdict": "unsure" if change else "same"}
    change = difference / old["mean"]
    parts = [row["std"] ** 2 / row["calls"] for row in (old, new)]
    error = math.sqrt(sum(parts))
    figures: dict[str, Any] = {"change": change}
    if min(old["calls"], new["calls"]) >= 2:
        freedom = _freedom(parts, (old["calls"], new["calls"]))
        if error > 0:
            figures["confidence"] = 1 - two_sided(difference / error, freedom)
            margin = _quantile(sure, freedom) * error
        else:
            figures["confidence"] = 1.0 if difference else 0.0
            margin = 0.0
        figures["low"] = (difference - margin) / old["mean"]
        figures["high"] = (difference + margin) / old["mean"]
    if abs(change) <= threshold:
        figures["verdict"] = "same"
    elif figures.get("confidence") is None or figures["confidence"] < sure:
        figures["verdict"] = "unsure"
    else:
        figures["verdict"] = "slower" if change > 0 else "faster"
    return figures


def _freedom(parts: Sequence[float], calls: Sequence[int]) -> float:
    below = sum(part**2 / (count - 1) for part, count in zip(parts, calls, strict=True))
    return sum(parts) ** 2 / below if below > 0 else math.inf


def two_sided(t: float, freedom: float) -> float:
    """The probability of Student's t to be as far from zero as `t`, on either side.

    >>> round(two_sided(2.0, 10), 4)
    0.0734
    """
    if math.isinf(freedom) or freedom > 1e6:
        return math.erfc(abs(t) / math.sqrt(2))
    return _beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def _quantile(sure: float, freedom: float) -> float:
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
