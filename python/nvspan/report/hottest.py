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
_CALLERS = 0.8  # of a function's time: the line that calls it, or the two functions that do


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
    text = lines.text_and_call(row) if isinstance(row, LineRow) else lines.text(row)
    return short_name("  ".join(filter(None, [place(row, files), text])))


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
    callers: dict[tuple[str | None, str | None, int], list[FunctionCaller]] = {}
    for one in functions.callers():
        callers.setdefault((one.file, one.function, one.line), []).append(one)
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
            caller_text(callers.get((row.file, row.function, row.line or 0), [])),
        ])  # fmt: skip
    return cells


def _share_text(row: LineRow, stream: IO[str] | None) -> str:
    """A share, with its interval where that is wide."""
    if row.margin <= _MAX_MARGIN:
        return percent(row.share)
    return margin_text(row.share, row.margin, stream)


def caller_text(found: list[FunctionCaller]) -> str:
    """``load()  main.py:20``, or the two functions that call it for the most of its time, the one
    with more of it first; without the name of a module, and empty where there are more."""
    called_from = [one for one in found if one.caller_file is not None]
    names = list(dict.fromkeys(outer_function(one.caller) or "?" for one in called_from))
    if called_from and called_from[0].share >= _CALLERS:
        file = called_from[0].caller_file or "?"
        where = f"{short_names([file])[file]}:{called_from[0].call_line}"
        return short_name(where if names[0].endswith(">") else f"{names[0]}()  {where}")
    if len(names) < 2 or sum(one.share for one in called_from) < _CALLERS:
        return ""
    return short_name(", ".join(name if name.endswith(">") else f"{name}()" for name in names))


def line_text(lines: Lines, row: LineRow | LineShare, what: str) -> str:
    """``line  train.py:48  json.loads(line)  81% ±4% of 'load'``."""
    waits = row.waiting > _WAITS * (row.running + row.ready + row.waiting)
    share = margin_text(row.share, row.margin)
    return f"line  {place_text(lines, row)}  {share} of {what}" + (", waiting" if waits else "")
