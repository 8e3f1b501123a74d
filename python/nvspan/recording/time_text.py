# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Times, shares and other figures as text."""

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


def age(ns: float) -> str:
    """How long something has lasted, as people say it: to a tenth of a second, or in minutes.

    >>> age(4_230_000_000), age(7_000_000), age(180e9)
    ('4.2 s', '7 ms', '3 min')
    """
    seconds = ns / 1e9
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1e3:.0f} ms"


def percent(share: float | None, form: str = ".1f") -> str:
    """A share of 1 as text, nothing for None.

    >>> percent(0.1234), percent(0.05, "+.1f"), percent(0.5, ".0f")
    ('12.3 %', '+5.0 %', '50 %')
    """
    return "" if share is None else f"{100 * share:{form}} %"


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
