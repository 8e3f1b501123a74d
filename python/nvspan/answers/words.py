# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names, ordinals and next commands as findings write them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from nvspan.loops.vocabulary import place_in_code
from nvspan.recording import Recording
from nvspan.recording.listing import listing
from nvspan.recording.time_text import counted, duration, percent
from nvspan.report.text import printable, short_name

_MAX_FILES, _MAX_TEXT = 2, 60  # characters of a list of more files


def times_text(factor: float) -> str:
    """How many times, with three digits at most.

    >>> times_text(6.24), times_text(948_336.6)
    ('6.2 times', '948,000 times')
    """
    return f"{factor:.1f} times" if factor < 100 else f"{float(f'{factor:.3g}'):,.0f} times"


def plain_name(name: str) -> str:
    """A range's name; a function of a profile with its file and line.

    >>> plain_name("load"), plain_name("app/loader.py:8(clean)")
    ('load', 'clean(), loader.py:8')
    """
    place = place_in_code(name)
    if place is None:
        return short_name(name)
    called, file, line = place
    called = called if called.startswith("<") else f"{called}()"
    return short_name(f"{called}, {file.rpartition('/')[2]}:{line}")


def quoted(name: str) -> str:
    """A name within a sentence: in quotes, but for a function, which has its file and line.

    >>> quoted("load"), quoted("app/loader.py:8(clean)")
    ("'load'", 'clean(), loader.py:8')
    """
    return plain_name(name) if place_in_code(name) else f"'{short_name(name)}'"


def path_text(names: Iterable[str]) -> str:
    """A path of nested ranges.

    >>> path_text(["backward", "attn"])
    "'backward' > 'attn'"
    """
    return " > ".join(map(quoted, names))


def share(time: float, whole: float) -> str:
    """A time as a percentage, at most 100%.

    >>> share(30, 60)
    '50%'
    """
    return percent(min(time / whole, 1.0) if whole > 0 else 0.0)


def time_each(total: float, calls: int) -> str:
    """The mean of some calls.

    >>> time_each(6_000_000, 2), time_each(6_000_000, 1)
    ('3.00 ms each', '6.00 ms')
    """
    return f"{duration(total / calls)}{' each' if calls > 1 else ''}"


def ordinal(number: int) -> str:
    """
    >>> ordinal(2), ordinal(3), ordinal(11), ordinal(21)
    ('2nd', '3rd', '11th', '21st')
    """
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def left_out(warm_up: int, outliers: int) -> str:
    """The steps that are not typical; empty: there are none.

    >>> left_out(1, 2), left_out(0, 1)
    ('1 warm-up step and 2 outliers', '1 outlier')
    """
    numbers = ((warm_up, "warm-up step"), (outliers, "outlier"))
    return listing([counted(number, noun) for number, noun in numbers if number])


def files_text(recording: Recording) -> str:
    """The recording's files as a shell takes them; many have a placeholder."""
    return paths_text(list(dict.fromkeys(process.path for process in recording.processes)))


def paths_text(paths: Sequence[str]) -> str:
    """
    >>> paths_text(["a.nvspan", "a-1.nvspan", "a-2.nvspan"]), paths_text(["a.nvspan"] * 9)
    ('a.nvspan a-1.nvspan a-2.nvspan', 'FILES')
    """
    text = " ".join(shlex.quote(printable(path)) for path in paths)
    return text if text and (len(paths) <= _MAX_FILES or len(text) <= _MAX_TEXT) else "FILES"
