# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The table of ``nvspan stats --gpu``: what the GPU did for each range."""

from __future__ import annotations

import json
from collections.abc import Iterator

from nvspan._results import ProjectedRow
from nvspan.recording.projection import Projection
from nvspan.recording.time_text import duration
from nvspan.report import text
from nvspan.report.narrow import fitted
from nvspan.report.render import as_csv

_COLUMNS = (
    *("domain", "name", "kind", "calls", "ops", "launches", "sum", "busy", "waiting", "exclusive"),
    *("total", "mean", "median", "min", "max", "std", "range_time"),
    *("backward_ops", "backward_sum", "backward_busy"),
)
_HEADINGS = {
    "ops": "GPU ops",
    "total": "span",
    "mean": "span mean",
    "max": "span max",
    "range_time": "CPU range",
    "backward_ops": "bwd ops",
    "backward_sum": "bwd sum",
}
_SHOWN = (
    "calls",
    "ops",
    "sum",
    "busy",
    "waiting",
    "exclusive",
    "total",
    "mean",
    "max",
    "range_time",
)

_DISPENSABLE = ("max", "mean", "exclusive", "sum", "calls", "range_time", "backward_ops", "ops")


def notes(found: Projection) -> Iterator[str]:
    """What the reader of the table should know."""
    if found.work == 0:
        yield (
            "no work of a GPU is in this recording: 'nvspan nsys' traces kernels, and "
            "device_range or annotate(device=True) times what a range launches"
        )
        return
    if found.of_device_ranges:
        yield (
            "no kernels were traced: these are the device ranges that each range asked for, in "
            "which the GPU is busy at most"
        )
    if found.outside or found.unlaunched:
        count = found.outside + found.unlaunched
        what = "kernels, copies and device ranges"
        yield f"{count:,} of {found.work:,} {what} were launched outside any range"


def _cell(row: ProjectedRow, column: str) -> str:
    value = row[column]
    if column in ("calls", "ops", "launches", "backward_ops"):
        return str(value)
    return duration(value) if row.calls or column.startswith("backward") else ""


def render(
    found: Projection, form: str, top: int | None, escape_formulas: bool, width: int | None = None
) -> str:
    """The rows in a format of ``--format``; a table in `width` columns."""
    rows = found.rows[:top]
    if form == "json":
        facts = ("work", "outside", "unlaunched", "of_device_ranges")
        shown = {key: getattr(found, key) for key in facts}
        return json.dumps({**shown, "rows": [row.as_dict() for row in rows]}, indent=1)
    if form == "csv":
        return as_csv(rows, _COLUMNS, escape_formulas)
    if not rows:
        return "no range launched work of a GPU"
    columns = list(_SHOWN)
    if any(row.backward_ops for row in rows):
        columns += ["backward_ops", "backward_sum"]
    cells = []
    for row in rows:
        name = text.label(row.domain, row.name)
        name += " (start/end)" if row.kind == "start_end" else ""
        cells.append([*(_cell(row, column) for column in columns), name])
    headings = [*(_HEADINGS.get(column, column) for column in columns), "name"]
    more = len(found.rows) - len(rows)
    least = [_HEADINGS.get(column, column) for column in _DISPENSABLE]
    table = fitted(headings, cells, ("name",), form=form, width=width, dispensable=least)
    return table + (f"\n... and {more} more" if more else "")
