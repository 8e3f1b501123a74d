# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Times, shares and other figures as text."""

from __future__ import annotations

import time
from typing import Literal

_UNITS = (("s", 1e9), ("ms", 1e6), ("us", 1e3))


def duration(ns: float) -> str:
    """Nanoseconds with three significant digits, as whole ones below a microsecond.

    >>> duration(1234567), duration(999_600), duration(999), duration(1_234_567_000_000)
    ('1.23 ms', '1.00 ms', '999 ns', '1235 s')
    """
    for unit, size in _UNITS:
        value = ns / size
        if abs(value) >= 0.9995:
            decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
            return f"{value:.{decimals}f} {unit}"
    return f"{ns:.0f} ns"


def offset(ns: float) -> str:
    """A time since the start of a recording, in s, to a microsecond.

    >>> offset(1_234_567_890), offset(100_000_000_000)
    ('1.234568 s', '100 s')
    """
    return f"{ns / 1e9:.6f}".rstrip("0").rstrip(".") + " s"


def age(ns: float) -> str:
    """How long something has lasted, as people say it: to a tenth of a second, or in minutes.

    >>> age(4_230_000_000), age(7_000_000), age(180e9)
    ('4.2 s', '7 ms', '3 min')
    """
    seconds = ns / 1e9
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1e3:.0f} ms"


def percent(share: float | None, sign: Literal["", "+"] = "") -> str:
    """A share of 1 in percent: whole, with one decimal below 10; nothing for None.

    >>> percent(0.1234), percent(0.05, "+"), percent(0.0996), percent(-0.0001), percent(1.0)
    ('12%', '+5.0%', '10%', '0%', '100%')
    """
    if share is None:
        return ""
    value = 100 * share
    if abs(value) < 0.05:
        return "0%"
    return f"{value:{sign}.{int(abs(value) < 9.95)}f}%"


def exact_percent(share: float | None) -> str:
    """A share of 1 in percent to 0.1%, as a threshold or a confidence needs; nothing for None.

    >>> exact_percent(0.95), exact_percent(0.9974), exact_percent(0.001)
    ('95%', '99.7%', '0.1%')
    """
    return "" if share is None else f"{round(100 * share, 1):g}%"


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "event"), counted(1204, "event"), counted(2, "process")
    ('1 event', '1,204 events', '2 processes')
    """
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith('s') else 's'}"


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
