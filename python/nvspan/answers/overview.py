# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The small table after a run: phases of a step, or ranges by their time."""

from __future__ import annotations

import sys

from nvspan.answers.findings import Analysis
from nvspan.answers.headline import self_name
from nvspan.answers.parts import Parts
from nvspan.answers.words import plain_name, share
from nvspan.loops.loop import Loop
from nvspan.recording.lines import Lines
from nvspan.recording.losses import has_events
from nvspan.recording.steps import OUTSIDE
from nvspan.recording.time_text import duration
from nvspan.report.hottest import function_rows, hottest, hottest_cells
from nvspan.report.narrow import fitted
from nvspan.report.text import range_label

_MAX_ROWS, _LINE, _WAITS, _CALLER = 8, "hottest line", "", "called from"
_SMALL, _OUTSIDE = 0.001, 0.01  # of a step or run: rows that are left out; time outside any phase


def overview(analysis: Analysis, width: int | None = None) -> str:
    """Where the time of a step or of a run is; empty where there is no range.

    `width`: of the terminal; None: any.
    """
    loop = analysis.loop
    parts = analysis.parts
    if analysis.lines is not None and not analysis.stats.rows:
        heads = ["function", "self", "share", _LINE, "of run", _WAITS, _CALLER]
        cells = function_rows(analysis.lines, sys.stderr)
        kept = [at for at in range(len(heads)) if at < 3 or any(cell[at] for cell in cells)]
        heads, cells = [heads[at] for at in kept], [[cell[at] for at in kept] for cell in cells]
    elif loop is None or parts is None:
        heads, cells = _total_rows(analysis)
    elif loop.choice is None:
        heads, cells = _self_rows(loop, analysis.lines)
    else:
        heads, cells = _phase_rows(loop, parts, loop.choice.unit, analysis.lines)
    left = [*heads[:1], _LINE, _WAITS, _CALLER]
    shown = cells[:_MAX_ROWS]
    return fitted(heads, shown, left, width=width, dispensable=[_CALLER]) if cells else ""


def _phase_rows(
    loop: Loop, parts: Parts, unit: str, lines: Lines | None
) -> tuple[list[str], list[list[str]]]:
    phases = [index for index in parts.children() if parts.time(index) >= _SMALL * parts.total]
    cells = [
        [
            plain_name(parts.name(index)),
            duration(parts.time(index) / parts.count),
            share(parts.time(index), parts.total),
            *hottest_cells(
                hottest(lines, loop.pairs_in({parts.tree.parts[index].group})), sys.stderr
            ),
        ]
        for index in phases[: _MAX_ROWS - 1]
    ]
    others = []
    if cells and parts.unnamed >= _OUTSIDE * parts.total:
        others.append((OUTSIDE, parts.unnamed))
    if parts.held:
        others.append(("(held up by others)", parts.held))
    for name, time in others:
        cells.append([name, duration(time / parts.count), share(time, parts.total), "", "", ""])
    return _with_lines(["phase", f"per {unit}", "share"], "of phase", cells)


def _self_rows(loop: Loop, lines: Lines | None) -> tuple[list[str], list[list[str]]]:
    cells = [
        [
            self_name(row),
            f"{row.calls:,}",
            duration(row.self),
            share(row.self, loop.whole),
            *hottest_cells(hottest(lines, loop.pairs_called(row.name), inner=False), sys.stderr),
        ]
        for row in loop.self_times[:_MAX_ROWS]
        if row.self >= _SMALL * loop.span
    ]
    heads = ["function" if loop.is_profile else "range", "calls", "self", "share"]
    return _with_lines(heads, "of range", cells)


def _with_lines(
    heads: list[str], of: str, cells: list[list[str]]
) -> tuple[list[str], list[list[str]]]:
    """The table with its last three columns, for hottest lines, if there are any."""
    if any(cell[-3] for cell in cells):
        return [*heads, _LINE, of, _WAITS], cells
    return heads, [cell[:-3] for cell in cells]


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
