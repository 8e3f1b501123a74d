# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names, tables and what a spreadsheet takes for a formula, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nvspan._results import RangeName
from nvspan.recording.label import label as plain_label
from nvspan.recording.label import printable as printable

_LONGEST_NAME = 200  # characters
_SCALES = {"": 1e9, "s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1.0}


# =, +, - and @ in full width
_WIDE_FORMULA_SIGNS = ("\uff1d", "\uff0b", "\uff0d", "\uff20")


def parse_duration(text: str) -> int:
    """The nanoseconds of "1.5", "1.5s", "20ms", "7us" or "100ns"; a bare number is seconds.

    Raises:
        ValueError: it is none of these.

    >>> parse_duration("20ms")
    20000000
    """
    found = re.fullmatch(r"\s*(-?\d+(?:\.\d*)?|-?\.\d+)\s*(s|ms|us|µs|ns|)\s*", text)
    if found is None:
        raise ValueError(f"not a time: {text!r} (write 1.5s, 20ms, 7us or 100ns)")
    return round(float(found[1]) * _SCALES[found[2]])


def printable_lines(text: str) -> str:
    """`text` as a terminal may get it: its lines, each as `printable` makes it."""
    return "\n".join(map(printable, text.split("\n")))


def begins_formula(text: str) -> bool:
    """Whether a spreadsheet takes `text` for a formula, or skips what it begins with before one.

    >>> begins_formula("=1+1"), begins_formula("step")
    (True, False)
    """
    return text.startswith(("=", "+", "-", "@", "\t", "\r", "\n", *_WIDE_FORMULA_SIGNS))


def short_name(name: str) -> str:
    """A name in one line of text: printable, and of a very long one the two ends."""
    return printable(shortened(name, _LONGEST_NAME))


def label(domain: str | None, name: str | None) -> str:
    """How a range is called: ``domain:name``, the name alone in the default domain."""
    return short_name(plain_label(domain, name))


def range_label(row: RangeName, *, device: bool = True) -> str:
    """How a row of ranges is called, with what sets it apart from others of its name.

    With `device` ranges of a device say that they are.
    """
    name = short_name(plain_label(row.domain, row.name, row.backward))
    if row.kind == "start_end" and not row.backward:
        name += " (start/end)"
    return name + (" (GPU)" if device and row.kind == "device" else "")


def aligned(headings: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> str:
    """A table of plain text; the columns named in `left` are flush left, the others right."""
    shown = [short_name(heading) for heading in headings]
    rows = [[shortened(cell, _LONGEST_NAME) for cell in row] for row in rows]
    widths = [len(heading) for heading in shown]
    for row in rows:
        widths = [max(width, len(cell)) for width, cell in zip(widths, row, strict=True)]
    lines = []
    for row in [shown, *rows]:
        cells = [
            cell.ljust(width) if heading in left else cell.rjust(width)
            for heading, cell, width in zip(headings, row, widths, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> str:
    """A table in Markdown."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    marks = [":---" if heading in left else "---:" for heading in headings]
    shown = [printable(heading) for heading in headings]
    return "\n".join([line(shown), line(marks), *map(line, rows)])


def shortened(name: str, width: int) -> str:
    """`name` in at most `width` characters: its middle gives way to an ellipsis.

    >>> shortened("transformer.layers.17.attention", 16)
    'transfo...ention'
    """
    if len(name) <= width:
        return name
    kept = max(width - 3, 2)
    return name[: (kept + 1) // 2] + "..." + name[len(name) - kept // 2 :]
