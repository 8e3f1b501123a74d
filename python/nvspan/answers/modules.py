# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What each module of a model costs, as text, CSV, JSON or Markdown."""

from __future__ import annotations

import json
from typing import Any

from nvspan.answers.words import left_out
from nvspan.recording.modules import TIMES, Modules, row_title
from nvspan.recording.time_text import counted, duration, percent
from nvspan.report import text
from nvspan.report.narrow import fitted
from nvspan.report.render import as_csv

COLUMNS = ("path", "name", "class", "level", "count", "calls", *TIMES, "share")
HEADINGS = {"forward_cpu": "forward", "backward_cpu": "backward", "forward_gpu": "forward GPU",
             "backward_gpu": "backward GPU"}  # fmt: skip


def notes(found: Modules) -> list[str]:
    """What the reader of the figures should know: sentences."""
    said = []
    if not found.models:
        said.append("no range of a module is here: nvspan.torch.annotate_module(model) makes them")
        return said
    if not found.has_backward:
        said.append(
            "the backward pass was not recorded module by module: "
            "annotate_module(model, backward=True) does it"
        )
    if found.gpu_used and not found.has_gpu:
        said.append("time of the GPU was not recorded: annotate_module(model, device=True) does it")
    if found.ambiguous:
        listed = ", ".join(text.printable(name) for name in found.ambiguous[:5])
        said.append(
            f"several modules are called {listed}: backward passes and GPU work of which nothing "
            "tells whose they are count for the first of them"
        )
    return said


def recorded_times(found: Modules) -> list[str]:
    """Those of the four times that the recording has."""
    return [
        time
        for time in TIMES
        if (found.has_gpu or not time.endswith("_gpu"))
        and (found.has_backward or not time.startswith("backward"))
    ]


_DISPENSABLE = ("calls", "backward", "forward", "backward GPU")  # where a table is too wide


def heading(found: Modules) -> str:
    """What the figures are about."""
    whose = "time of the GPU" if found.has_gpu else "time of the CPU"
    if not found.steps:
        return f"the whole recording; share: {whose}, of {duration(found.span)}"
    left = left_out(found.warm_up, found.outliers)
    left = left and f", without {left}"
    return (
        f"means of {counted(found.steps, 'step')}{left}; share: {whose}, of a step of "
        f"{duration(found.span / found.steps)}"
    )


def render(
    found: Modules, *, fold: bool = True, depth: int | None = None, form: str = "table",
    width: int | None = None,
) -> str:  # fmt: skip
    """The modules as a tree of text: means of a step, or of the recording where it has none."""
    rows = [row for row in found.rows(fold=fold) if depth is None or row["level"] <= depth]
    if not rows:
        return "no modules"
    columns = recorded_times(found)
    steps = found.steps or 1
    cells = []
    for row in rows:
        calls = row["calls"] / steps
        line = [f"{calls:.0f}" if calls == int(calls) else f"{calls:.1f}"]
        line += ["" if row[time] is None else duration(row[time] / steps) for time in columns]
        name = "  " * row["level"] + text.printable(row_title(row))
        cells.append([*line, percent(row["share"]), name])
    headings = ["calls", *(HEADINGS[time] for time in columns), "share", "module"]
    table = fitted(headings, cells, ("module",), form=form, width=width, dispensable=_DISPENSABLE)
    return f"{heading(found)}\n\n{table}"


def as_json(found: Modules, *, fold: bool = True) -> str:
    """Everything, sums in ns."""
    document: dict[str, Any] = {
        "steps": found.steps, "warm_up": found.warm_up, "outliers": found.outliers,
        "span": found.span,
        "has_backward": found.has_backward, "has_gpu": found.has_gpu, "notes": notes(found),
        "rows": found.rows(fold=fold),
    }  # fmt: skip
    return json.dumps(document, indent=1)


def csv(found: Modules, *, fold: bool = True, escape_formulas: bool = False) -> str:
    """A row for each module, sums in ns."""
    return as_csv(found.rows(fold=fold), COLUMNS, escape_formulas)
