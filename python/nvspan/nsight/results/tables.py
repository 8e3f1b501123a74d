# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of ncu's results as text, CSV, JSON, Markdown and HTML, and comparisons of two."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass

from nvspan.nsight.results.rows import ComparedRow, FigureRow, KernelRow, RangeRow
from nvspan.recording.time_text import duration, percent
from nvspan.report import render, text

LEFT = ("range", "kernel", "top stalls", "limiter", "limiter before", "limiter after")
_MAX_NAME = 60
_TIMES = ("time", "mean")
_PARTS = ("sm", "memory", "occupancy")
# Columns of ranges that say nothing where this one is 1 throughout.
_TRIVIAL = {"processes": "processes", "mean": "results"}


@dataclass(frozen=True)
class Table:
    """Rows, and the names of their columns."""

    columns: Sequence[str]
    rows: Sequence[FigureRow]


def _label(row: RangeRow | ComparedRow) -> str:
    if row.name is None:
        return "(no range)"
    return text.label(row.domain, row.name) + " (start/end)" * (row.kind == "start_end")


def _cell(column: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        if column in _TIMES:
            return duration(value)
        if column in _PARTS:
            return percent(value / 100)
        if isinstance(value, float):
            return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
        return f"{value:,}" if "__" in column else str(value)
    return text.printable(str(value))


def _shown(row: FigureRow) -> dict[str, object]:
    """What is shown of a row, by column."""
    if isinstance(row, RangeRow):
        return {**row, "range": _label(row)}
    assert isinstance(row, KernelRow)
    name = row.kernel
    short = name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 3]}..."
    return {**row, "kernel": short}


def _shape(table: Table) -> tuple[list[str], list[list[str]]]:
    """Headings and cells; columns that are empty throughout are left out."""
    rows = [_shown(row) for row in table.rows]
    # The label of a range stands for the first three; of a kernel, they are left out.
    columns = [
        name
        for name in dict.fromkeys(["range", *table.columns[3:]])
        if any(row[name] is not None for row in rows)
        and not all(row.get(_TRIVIAL.get(name, "")) == 1 for row in rows)
    ]
    cells = [[_cell(name, row[name]) for name in columns] for row in rows]
    return ["top stalls" if name == "stalls" else name for name in columns], cells


def formatted(table: Table, form: str, *, escape: bool = False) -> str:
    """The table as "table", "csv", "json" or "markdown"."""
    if form == "csv":
        return render.as_csv(table.rows, table.columns, escape)
    if form == "json":
        return json.dumps(table.rows, indent=1, default=dict)
    headings, cells = _shape(table)
    layout = text.markdown if form == "markdown" else text.aligned
    return layout(headings, cells, LEFT) if cells else "no ranges were profiled"


def as_html(table: Table) -> str:
    """A table for notebooks."""
    headings, cells = _shape(table)
    lines = [("th", headings), *(("td", line) for line in cells)]
    rows = ("".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line) for tag, line in lines)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def compare(before: Sequence[RangeRow], after: Sequence[RangeRow]) -> list[ComparedRow]:
    """A row for each range of either; what takes most time first."""
    old, new = ({(row.domain, row.name, row.kind): row for row in side} for side in (before, after))
    rows = []
    for key in dict.fromkeys([*old, *new]):
        one, other = old.get(key), new.get(key)
        change = None
        if one and other and one.mean and other.mean is not None:
            change = other.mean / one.mean - 1
        rows.append(ComparedRow(*key, change, one, other))
    return sorted(rows, key=lambda row: -max(_time(row.before), _time(row.after)))


def _time(row: RangeRow | None) -> float:
    return (row.time if row else None) or 0.0


def compared(rows: Sequence[ComparedRow]) -> tuple[list[str], list[list[str]]]:
    """Headings and cells of a comparison; figures that no range has are left out."""
    headings, columns = ["range"], [list(map(_label, rows))]
    for name in ("results", "mean", *_PARTS, "limiter"):
        both = [
            [_cell(name, getattr(side, name, None)) for side in sides]
            for sides in ([row.before for row in rows], [row.after for row in rows])
        ]
        if name in ("results", "mean") or any(map(any, both)):
            title = "SM" if name == "sm" else name
            headings += [f"{title} before", f"{title} after"]
            columns += both
        if name == "mean":
            headings.append("change")
            columns.append([percent(row.change, "+") for row in rows])
    return headings, [list(line) for line in zip(*columns, strict=True)]
