# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The hottest line of a phase, or of a program without ranges, where samples are enough to say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from nvspan._results.lines import FunctionCaller, LineRow, LineShare, LineShares, SampledLine
from nvspan.recording import Recording
from nvspan.recording.lines import Lines, function_name, outer_function, place
from nvspan.recording.source import short_names
from nvspan.recording.time_text import duration, percent
from nvspan.report.lines import margin_text, states_text
from nvspan.report.text import short_name

MIN_SAMPLES, _MAX_MARGIN = 25, 0.15
_MIN_SHARE = 0.02  # of the run: a function below is not shown
_LARGE = 0.1  # of a phase: its hottest line
_WAITS = 0.5  # of a line's time: it is said that it waits
_ONE_CALLER = 0.8  # of a function's time: the line that calls it


def sampled(recording: Recording) -> Lines | None:
    """The recording's samples by expression; None: it has none."""
    lines = recording.lines("expression")
    return lines if lines.samples else None


def is_enough(lines: Lines, row: LineRow) -> bool:
    """Whether there are samples enough to say what part of the time a row has."""
    return lines.samples >= MIN_SAMPLES and row.margin <= _MAX_MARGIN


def place_text(lines: Lines, row: SampledLine) -> str:
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
    row = hottest_row(part)
    return None if row is None else (part, row)


def hottest_row(lines: Lines) -> LineRow | None:
    """The line with the most time; None: it has little, or samples are too few."""
    row = next(iter(lines.rows), None)
    if row is None or row.file is None or row.share < _LARGE or not is_enough(lines, row):
        return None
    return row


def hottest_share(found: LineShares) -> list[LineShare]:
    """The line with the most time in some stretches; none where it has little, or samples are too
    few."""
    rows = found.rows[:1] if found.samples >= MIN_SAMPLES else []
    is_sure = (row.share >= _LARGE and row.margin <= _MAX_MARGIN for row in rows)
    return [row for row, sure in zip(rows, is_sure, strict=True) if sure and row.file is not None]


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
    """The functions of a program without ranges, each with its hottest line and its caller."""
    functions = lines.by_group("function")
    callers = {(one.file, one.function, one.line): one for one in functions.callers()}
    cells = []
    for row in functions.rows if functions.samples >= MIN_SAMPLES else ():
        if row.share < _MIN_SHARE:
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
            short_name(function_name(row)), duration(row.self), _share_text(row, stream),
            *hottest_cells(None if own is None else (lines, own), stream),
            caller_text(callers.get((row.file, row.function, row.line or 0))),
        ])  # fmt: skip
    return cells


def _share_text(row: LineRow, stream: IO[str] | None) -> str:
    """A share, with its interval where that is wide."""
    if row.margin <= _MAX_MARGIN:
        return percent(row.share)
    return margin_text(row.share, row.margin, stream)


def caller_text(found: FunctionCaller | None) -> str:
    """``load()  main.py:20``, without the name of a module; empty where there are several."""
    if found is None or found.caller_file is None or found.share < _ONE_CALLER:
        return ""
    where = f"{short_names([found.caller_file])[found.caller_file]}:{found.call_line}"
    name = outer_function(found.caller) or "?"
    return short_name(where if name.endswith(">") else f"{name}()  {where}")


def line_text(lines: Lines, row: LineRow | LineShare, what: str) -> str:
    """``line  train.py:48  json.loads(line)  81% ±4% of 'load'``."""
    waits = row.waiting > _WAITS * (row.running + row.ready + row.waiting)
    share = margin_text(row.share, row.margin)
    return f"line  {place_text(lines, row)}  {share} of {what}" + (", waiting" if waits else "")
