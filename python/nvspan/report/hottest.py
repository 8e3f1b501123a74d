# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The hottest line of a phase, or of a program without ranges, where samples are enough to say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from nvspan._results.lines import LineRow
from nvspan.recording import Recording
from nvspan.recording.lines import Lines, function_name, outer_function, place
from nvspan.recording.source import short_names
from nvspan.recording.time_text import duration, percent
from nvspan.report.lines import margin_text, states_text
from nvspan.report.text import short_name

_MIN_SAMPLES, _MAX_MARGIN = 25, 0.15
_MIN_SHARE = 0.02  # of the run: a function below is not shown
_WAITS = 0.5  # of a line's time: it is said that it waits


def sampled(recording: Recording) -> Lines | None:
    """The recording's samples by expression; None: it has none."""
    lines = recording.lines("expression")
    return lines if lines.samples else None


def is_enough(lines: Lines, row: LineRow) -> bool:
    """Whether there are samples enough to say what part of the time a row has."""
    return lines.samples >= _MIN_SAMPLES and row.margin <= _MAX_MARGIN


def place_text(lines: Lines, row: LineRow) -> str:
    """``train.py:48  json.loads(line)``; without the text where the file is not there."""
    files = short_names([row.file] if row.file is not None else [])
    return short_name("  ".join(filter(None, [place(row, files), lines.text(row)])))


def hottest(
    lines: Lines | None, pairs: Iterable[tuple[int, int]], *, inner: bool = True
) -> tuple[Lines, LineRow] | None:
    """The line with the most time within ranges of these names; None: too few samples.

    Without `inner`, of the time in no range inside.
    """
    if lines is None:
        return None
    part = lines.within_pairs(pairs, inner=inner)
    if not part.rows or not is_enough(part, part.rows[0]) or part.rows[0].file is None:
        return None
    return part, part.rows[0]


def hottest_cells(found: tuple[Lines, LineRow] | None, stream: IO[str] | None) -> list[str]:
    """The line, its share and whether it waits, as cells; empty ones where there is none."""
    if found is None:
        return ["", "", ""]
    lines, row = found
    waits = "waiting" if row.waiting > _WAITS * row.self else ""
    return [place_text(lines, row), margin_text(row.share, row.margin, stream), waits]


def run_headline(lines: Lines) -> str:
    """A program without ranges."""
    return f"{duration(lines.total)}: {states_text(lines)} (no ranges: functions by self time)"


def function_rows(lines: Lines, stream: IO[str] | None) -> list[list[str]]:
    """The functions of a program without ranges, each with its hottest line."""
    functions = lines.by_group("function")
    cells = []
    for row in functions.rows:
        if row.share < _MIN_SHARE or not is_enough(functions, row):
            continue
        own = next(
            (
                line
                for line in lines.rows
                if (line.file, outer_function(line.function)) == (row.file, row.function)
                and is_enough(lines, line)
            ),
            None,
        )
        cells.append([
            short_name(function_name(row)), duration(row.self), percent(row.share),
            *hottest_cells(None if own is None else (lines, own), stream),
        ])  # fmt: skip
    return cells


def hottest_finding_text(found: tuple[Lines, LineRow], what: str) -> str:
    """What line has most of `what`."""
    lines, row = found
    waits = ", waiting" if row.waiting > _WAITS * row.self else ""
    return (
        f"hottest line {place_text(lines, row)}  {margin_text(row.share, row.margin)} of {what}"
        f"{waits}"
    )
