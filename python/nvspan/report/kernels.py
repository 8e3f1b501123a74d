# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of ``nvspan kernels``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from nvspan._results.kernels import KernelTime
from nvspan.recording.kernels import Kernels, group_text
from nvspan.recording.time_text import duration, percent
from nvspan.report.narrow import fitted
from nvspan.report.render import as_csv
from nvspan.report.text import printable

_FACTS = ("by", "count", "total", "busy", "span", "outside", "unlaunched", "devices")
COLUMNS = (
    *(
        "name",
        "kind",
        "shapes",
        "grid",
        "block",
        "registers",
        "shared",
        "occupancy",
        "limiter",
        "domain",
        "range",
        "ranges",
        "module",
        "backward",
    ),
    *("count", "total", "mean", "p50", "min", "max", "first", "share"),
)
_SHAPE = ("grid", "block", "regs", "shared")
_OCCUPANCY = "occupancy"
_DISPENSABLE = ("shared", "regs", "block", "grid", _OCCUPANCY, "max", "min", "p50", "mean", "count")


def notes(found: Kernels, patterns: Sequence[str] | None = None) -> Iterator[str]:
    """What the reader of the table should know."""
    if not found.has_work:
        yield (
            "no kernels are in this recording: 'nvspan record --cuda kernels' takes them, and so "
            "does 'nvspan nsys'"
        )
    elif not found.rows:
        named = " or ".join(f"'{printable(pattern)}'" for pattern in patterns or ())
        yield f"no kernel matches {named}" if named else "no kernel is in this part"
    elif found.by == "module" and all(row.module is None for row in found.rows):
        yield (
            "no kernel was launched in the range of a module: "
            "nvspan.torch.annotate_module(model, backward=True) makes them"
        )


def heading(found: Kernels) -> str:
    """How much work there is, and how long the GPU was busy with it."""
    what = "kernel, copy or set" if found.count == 1 else "kernels, copies and sets"
    text = f"{found.count:,} {what}; GPU busy {duration(found.busy)}"
    if found.devices == 1 and found.span:
        text += f", {percent(found.busy / found.span)} of {duration(found.span)}"
    elif found.devices > 1:
        text += f" on {found.devices} devices"
    return text


def _size(numbers: tuple[int, int, int] | None) -> str:
    """Blocks or threads along x, y and z, up to the last that is not 1."""
    if numbers is None:
        return ""
    count = max((i for i, number in enumerate(numbers, 1) if number != 1), default=1)
    return "x".join(map(str, numbers[:count]))


def _shape(row: KernelTime) -> list[str]:
    """The cells of the shape with the most time."""
    if row.grid is None or row.shared is None:
        return [""] * len(_SHAPE)
    more = f" +{row.shapes - 1}" if row.shapes > 1 else ""
    return [_size(row.grid) + more, _size(row.block), str(row.registers), f"{row.shared:,}"]


def _occupancy(row: KernelTime) -> str:
    """The theoretical occupancy, and what allows no more."""
    if row.occupancy is None or row.limiter is None:
        return row.limiter or ""
    return f"{percent(row.occupancy)} {row.limiter}"


def _launcher(row: KernelTime, by: str) -> str:
    text = group_text(row, by)
    if not text:
        return "(no module)" if by == "module" else "(no range)"
    return f"{text} +{row.ranges - 1}" if row.ranges > 1 else text


def render(found: Kernels, top: int, form: str = "table", width: int | None = None) -> str:
    """The rows as a table, in `width` columns."""
    if not found.rows:
        return "no kernels"
    cells = []
    has_shapes = any(row.grid is not None for row in found.rows)
    has_limits = any(row.limiter is not None for row in found.rows)
    for row in found.rows[:top]:
        times = (row.total, row.mean, row.p50, row.min, row.max)
        shown = ["" if time is None else duration(time) for time in times]
        names = [printable(row.name or "-"), printable(_launcher(row, found.by))]
        names = names if found.by == "name" else names[::-1]
        shape = _shape(row) if has_shapes else []
        shape += [_occupancy(row)] if has_limits else []
        cells.append([f"{row.count:,}", *shown, percent(row.share), *shape, *names])
    group = "module" if found.by == "module" else "range"
    names = ["kernel", group] if found.by == "name" else [group, "kernel"]
    shape = list(_SHAPE) if has_shapes else []
    shape += [_OCCUPANCY] if has_limits else []
    headings = ["count", "total", "mean", "p50", "min", "max", "busy", *shape, *names]
    table = fitted(headings, cells, names, form=form, width=width, dispensable=_DISPENSABLE)
    more = len(found.rows) - len(cells)
    last = f"\n... and {more:,} more; '--top {len(found.rows)}' shows them" if more > 0 else ""
    return f"{heading(found)}\n\n{table}{last}"


def as_json(found: Kernels, top: int | None = None) -> str:
    """Everything, times in ns."""
    facts = {name: getattr(found, name) for name in _FACTS}
    rows = [row.as_dict() for row in found.rows[:top]]
    return json.dumps({**facts, "notes": list(notes(found)), "rows": rows}, indent=1)


def csv(found: Kernels, top: int | None = None, escape_formulas: bool = False) -> str:
    """A row for each, times in ns."""
    rows = [
        {**row.as_dict(), "grid": _size(row.grid), "block": _size(row.block)}
        for row in found.rows[:top]
    ]
    return as_csv(rows, COLUMNS, escape_formulas)
