# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Times as text."""

from __future__ import annotations

_UNITS = (("s", 1e9), ("ms", 1e6), ("us", 1e3))


def duration(ns: float) -> str:
    """Nanoseconds with three decimals of the largest unit that fits.

    >>> duration(1234567)
    '1.235 ms'
    """
    for unit, size in _UNITS:
        if abs(ns) >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns:.0f} ns"
