# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tables that fit a terminal: without the columns that matter least, with shorter names."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import IO

from nvspan.report import text

_LEAST_NAME = 20  # characters of a name, for which columns give way


def width_of(stream: IO[str] | None) -> int | None:
    """How wide a table may be on `stream`: the width of a terminal (COLUMNS, if that is set).

    None where it is none: as wide as the table is.
    """
    if stream is None or not stream.isatty():
        return None
    return shutil.get_terminal_size().columns


def fitted(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Sequence[str],
    *,
    form: str = "table",
    width: int | None = None,
    dispensable: Sequence[str] = (),
) -> str:
    """The table of `text.aligned` in `width` columns; its last line says what it lacks.

    Args:
        headings, rows, left: as of `text.aligned`; the columns of `left` are names that may be
            shortened in their middle.
        form: "markdown" gives the table of `text.markdown` instead, as wide as it is.
        width: None: as wide as the table is.
        dispensable: headings of columns to leave out, the least needed first.
    """
    if form == "markdown":
        return text.markdown(headings, rows, left)
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    if width is None or _sum(widths) <= width:
        return text.aligned(headings, rows, left)
    names = {i for i, heading in enumerate(headings) if heading in left}
    least = [min(size, _LEAST_NAME) if i in names else size for i, size in enumerate(widths)]
    kept = list(range(len(headings)))
    dropped = []
    for heading in dispensable:
        if _sum([least[i] for i in kept]) <= width:
            break
        if heading in headings:
            kept.remove(headings.index(heading))
            dropped.append(heading)
    rows = [[row[i] for i in kept] for row in rows]
    headings, widths = [headings[i] for i in kept], [widths[i] for i in kept]
    lacks = [f"without {', '.join(dropped)}"] if dropped else []
    if _sum(widths) > width:
        rows = _with_shorter_names(headings, rows, left, widths, width)
        lacks.append("with shortened names")
    table = text.aligned(headings, rows, left)
    return f"{table}\n(in {width} columns: {', '.join(lacks)})"


def _sum(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _with_shorter_names(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Sequence[str],
    widths: list[int],
    width: int,
) -> list[list[str]]:
    """The rows with names cut until they fit, the widest column first."""
    names = [i for i, heading in enumerate(headings) if heading in left]
    limits = list(widths)
    while names and _sum(limits) > width:
        widest = max(names, key=lambda i: limits[i])
        if limits[widest] <= max(len(headings[widest]), 8):
            break
        limits[widest] -= 1
    return [
        [text.shortened(cell, limits[i]) if i in names else cell for i, cell in enumerate(row)]
        for row in rows
    ]
