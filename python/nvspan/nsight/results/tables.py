# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of ncu's results as text, CSV, JSON, Markdown and HTML, and comparisons of two."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any

from nvspan.recording.time_text import duration, percent
from nvspan.report import render, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.nsight.results.result import NcuResult

RANGE_COLUMNS = ("domain", "name", "kind", "results", "processes", "time", "mean", "sm", "memory",
                 "occupancy", "stalls", "limiter")  # fmt: skip
KERNEL_COLUMNS = ("report", "number", "process", "range", "kernel", "workload", "device", "stream",
                  "grid", "block", "time", "sm", "memory", "occupancy", "stalls",
                  "limiter")  # fmt: skip
_MOST_NAME = 60
_TIMES = ("time", "mean")
_PARTS = ("sm", "memory", "occupancy")
LEFT = ("range", "kernel", "top stalls", "limiter", "limiter before", "limiter after")
_COMPARED = ("time", "mean", *_PARTS)
COMPARE_COLUMNS = ("domain", "name", "kind", "change",
                   *(f"{key}_{side}" for side in ("before", "after")
                     for key in ("results", *_COMPARED, "limiter")))  # fmt: skip


def _label(row: dict[str, Any]) -> str:
    if row["name"] is None:
        return "(no range)"
    return text.label(row["domain"], row["name"]) + (
        " (start/end)" if row["kind"] == "start_end" else ""
    )


def _cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    if column in _TIMES:
        return duration(value)
    if column in _PARTS:
        return f"{value:.1f} %"
    if isinstance(value, int) and "__" in column:
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return text.printable(str(value))


def _shape(
    result: NcuResult, *, kernels: bool, metrics: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Headings and cells; columns that are empty throughout are left out."""
    rows, columns = result._records(kernels, metrics)
    # What a label or a range has is no column of its own.
    columns = columns[3:] if kernels else ["range", *columns[3:]]
    for row in rows:
        if kernels:
            row["kernel"] = _short(row["kernel"])
        else:
            row["range"] = _label(row)
    if not kernels and all(row["processes"] == 1 for row in rows):
        columns.remove("processes")
    if not kernels and all(row["results"] == 1 for row in rows):
        columns.remove("mean")
    shown = [name for name in columns if any(row[name] is not None for row in rows)]
    cells = [[_cell(name, row[name]) for name in shown] for row in rows]
    return ["top stalls" if name == "stalls" else name for name in shown], cells


def _short(name: str) -> str:
    """The name of a kernel, as long as it can be read in a table."""
    return name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 3]}..."


def formatted(
    result: NcuResult,
    form: str,
    *,
    kernels: bool = False,
    metrics: Sequence[str] = (),
    escape: bool = False,
) -> str:
    """The result as "table", "csv", "json" or "markdown"."""
    if form in ("csv", "json"):
        rows, columns = result._records(kernels, metrics)
        return render.as_csv(rows, columns, escape) if form == "csv" else json.dumps(rows, indent=1)
    headings, cells = _shape(result, kernels=kernels, metrics=metrics)
    layout = text.markdown if form == "markdown" else text.aligned
    return layout(headings, cells, LEFT) if cells else "no ranges were profiled"


def as_html(result: NcuResult) -> str:
    """A table for notebooks."""
    headings, cells = _shape(result, kernels=False, metrics=())
    lines = [("th", headings), *(("td", line) for line in cells)]
    rows = ("".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line) for tag, line in lines)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def compare(before: NcuResult, after: NcuResult) -> list[dict[str, Any]]:
    """A row for each range of either, with the figures of both and the change of the mean time of
    a result as a part of one; what takes most time first."""
    sides = [
        {(r["domain"], r["name"], r["kind"]): r for r in side.ranges()} for side in (before, after)
    ]
    rows = []
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        found = [side.get(key) for side in sides]
        row: dict[str, Any] = dict(zip(("domain", "name", "kind"), key, strict=True))
        for name, each in zip(("before", "after"), found, strict=True):
            for column in ("results", *_COMPARED, "limiter"):
                row[f"{column}_{name}"] = None if each is None else each[column]
        old, new = row["mean_before"], row["mean_after"]
        row["change"] = None if not old or new is None else new / old - 1
        rows.append(row)
    return sorted(rows, key=lambda row: -max(row["time_before"] or 0, row["time_after"] or 0))


def compared(rows: Iterable[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Headings and cells of a comparison; figures that no range has are left out."""
    headings = ["range", *(f"{name} {side}" for name in ("results", "mean")
                           for side in ("before", "after")), "change",
                *(f"{name} {side}" for name in ("SM", "memory", "occupancy", "limiter")
                  for side in ("before", "after"))]  # fmt: skip
    columns = [("results", None), ("mean", "mean"), ("sm", "sm"), ("memory", "memory"),
               ("occupancy", "occupancy"), ("limiter", None)]  # fmt: skip
    cells = []
    for row in rows:
        both = [[_cell(kind or name, row[f"{name}_{side}"]) for side in ("before", "after")]
                for name, kind in columns]  # fmt: skip
        change = percent(row["change"], "+.1f")
        cells.append(
            [_label(row), *both[0], *both[1], change, *(c for two in both[2:] for c in two)]
        )
    sides = range(6, len(headings), 2)
    empty = {at for at in sides if not any(line[at] or line[at + 1] for line in cells)}
    shown = [at for at in range(len(headings)) if at - at % 2 not in empty]
    return [headings[at] for at in shown], [[line[at] for at in shown] for line in cells]
