# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The small table after a run: phases of a step, or ranges by their time."""

from __future__ import annotations

from nvspan.answers.findings import Analysis
from nvspan.answers.headline import self_name
from nvspan.answers.parts import Parts
from nvspan.answers.words import plain_name, share
from nvspan.loops.loop import Loop
from nvspan.recording.losses import has_events
from nvspan.recording.time_text import duration
from nvspan.report.narrow import fitted
from nvspan.report.text import range_label

_MAX_ROWS = 8
_SMALL, _OUTSIDE = 0.001, 0.01  # of a step or run: rows that are left out; time outside any phase


def overview(analysis: Analysis, width: int | None = None) -> str:
    """Where the time of a step or of a run is; empty where there is no range.

    `width`: of the terminal; None: any.
    """
    loop = analysis.loop
    parts = analysis.parts
    if loop is None or parts is None:
        heads, cells = _total_rows(analysis)
    elif loop.choice is None:
        heads, cells = _self_rows(loop)
    else:
        heads, cells = _phase_rows(parts, loop.choice.unit)
    return fitted(heads, cells[:_MAX_ROWS], heads[:1], width=width) if cells else ""


def _phase_rows(parts: Parts, unit: str) -> tuple[list[str], list[list[str]]]:
    phases = [index for index in parts.children() if parts.time(index) >= _SMALL * parts.total]
    times = [
        (plain_name(parts.name(index)), parts.time(index)) for index in phases[: _MAX_ROWS - 1]
    ]
    if times and parts.unnamed >= _OUTSIDE * parts.total:
        times.append(("(outside any phase)", parts.unnamed))
    cells = [[name, duration(time / parts.count), share(time, parts.total)] for name, time in times]
    return ["phase", f"per {unit}", "share"], cells


def _self_rows(loop: Loop) -> tuple[list[str], list[list[str]]]:
    cells = [
        [self_name(row), f"{row.calls:,}", duration(row.self), share(row.self, loop.whole)]
        for row in loop.self_times
        if row.self >= _SMALL * loop.span
    ]
    return ["function" if loop.is_profile else "range", "calls", "self", "share"], cells


def _total_rows(analysis: Analysis) -> tuple[list[str], list[list[str]]]:
    rows = [row for row in analysis.stats.rows if row.calls]
    whole = analysis.stats.whole
    is_whole = has_events(analysis.recording) and whole > 0
    cells = [
        [range_label(row), f"{row.calls:,}", duration(row.total)]
        + ([share(row.total, whole)] if is_whole else [])
        for row in rows
    ]
    return ["range", "calls", "total"] + (["share"] if is_whole else []), cells
