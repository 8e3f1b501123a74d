# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Slices of steps and of calls, such as "3:5", counted from 0."""

from __future__ import annotations

import re


def slice_of(name: str, value: str | tuple[int, ...]) -> tuple[int, int | None, int]:
    """First, last (not included; None: no end) and distance of "3:5", "::10", "7" or (3, 5).

    Raises:
        TypeError: `value` is neither text nor ints.
        ValueError: it is empty or has no such form. `name` is the argument's.
    """
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d*)(?:(:)(\d*)(?::(\d*))?)?\s*", value)
        if found is None or not value.strip():
            raise ValueError(f"{name} must be as '100:103', not {value!r}")
        start, colon, stop, step = found.groups()
        first = int(start or 0)
        last = (int(stop) if stop else None) if colon else first + 1
        every = int(step or 1)
    else:
        if not isinstance(value, tuple) or not all(type(number) is int for number in value):
            raise TypeError(f"{name} must be text as '100:103' or two ints, not {value!r}")
        if not 2 <= len(value) <= 3:
            raise ValueError(f"{name} must be as (100, 103), not {value!r}")
        first, last, every = (*value, 1)[:3]
    if first < 0 or every < 1 or (last is not None and last <= first):
        raise ValueError(f"{name} must count up, as '100:103', not {value!r}")
    return first, last, every


def window_of(name: str, value: str | tuple[int, ...]) -> tuple[int, int]:
    """First and last (not included) of numbers without a gap: "100:103", "7" or (100, 103).

    Raises:
        TypeError: `value` is neither text nor ints.
        ValueError: it is no such window. `name` is the argument's.
    """
    first, last, step = slice_of(name, value)
    if last is None or step != 1:
        raise ValueError(f"{name} must be two numbers, as in '100:103', not {value!r}")
    return first, last
