# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Times, and other cells of tables, as text."""

from __future__ import annotations

import time

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


def moment(ns: int, form: str, *, local: bool = False) -> str:
    """A time in ns since 1970 as `time.strftime` writes it; "?" for one that no calendar has.

    >>> moment(0, "%Y-%m-%d")
    '1970-01-01'
    """
    try:
        return time.strftime(form, (time.localtime if local else time.gmtime)(ns / 1e9))
    except (OverflowError, ValueError, OSError):
        return "?"


def time_cell(ns: float | None) -> str:
    """A time as text, nothing for None."""
    return "" if ns is None else duration(ns)


def plain_cell(value: object) -> str:
    """Any other value as text, nothing for None."""
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
