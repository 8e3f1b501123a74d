# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The function or line that takes longer in a range that became slower, from samples of both sides.

The unit is the run here too: of each run, the time of a line in a call of the range is its share of
the range's samples times the mean of its calls.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nvspan._results.lines import LineRow
from nvspan.recording import Recording
from nvspan.recording.lines import Lines, outer_function, place
from nvspan.recording.parallel import each
from nvspan.recording.source import short_names
from nvspan.recording.time_text import duration
from nvspan.report.gains import MIN_RUNS, Time, clear_gain, gains_of
from nvspan.report.text import short_name

_MIN_SAMPLES = 25  # of a range in a run
_MIN_SHARE = 0.01  # of a range: what is less is not looked at
_NORMAL = 1.96  # half of a 95% interval in standard errors
_HALF = 0.5  # of what a function gained: its line is told
_WITH_SAMPLES = ("push_pop", "step_cpu")  # kinds of rows


@dataclass(frozen=True)
class LineChange:
    """What takes longer in each call of a range.

    Attributes:
        file: the last part of its path.
        function: its qualified name.
        line: of the function's first line where no single line of it gained the time.
        text: as a table shows it, with the source text where that is there.
        added: ns in a call of the range, the mean of the later runs minus that of the earlier ones.
        margin: the interval is `added` plus and minus this.
    """

    file: str
    function: str | None
    line: int | None
    text: str
    added: float
    margin: float

    def cell(self) -> str:
        """``model.py:74  self.norm(x)  +5.41 ms``."""
        return f"{self.text}  +{duration(self.added)}"


def line_columns(row: Mapping[str, Any]) -> dict[str, object]:
    """The `LineChange` of a row as columns of numbers and texts."""
    change: LineChange | None = row["line"]
    if change is None:
        return {"line": None, "line_function": None, "line_added": None}
    where = change.file if change.line is None else f"{change.file}:{change.line}"
    return {"line": where, "line_function": change.function, "line_added": change.added}


_Key = tuple[str, str | None, int | None]  # file, function, line counted from that of the function
_Run = Mapping[_Key, Time[LineRow]]


def add_lines(
    tables: Sequence[Sequence[tuple[dict[str, Any], str | None]]],
    before: Sequence[Recording],
    after: Sequence[Recording],
    sure: float,
) -> None:
    """Sets `line` of rows that are "slower" to a `LineChange` where one is sure.

    It is the function, and where its code is the same the line, that has a quarter or more of what
    the range gained, with limits that hold for all rows and functions at once with the probability
    `sure`. None is where a side has fewer than two runs or a run no samples, where other lines lost
    what one gained, and of ranges around one that has the same line.

    Args:
        tables: rows of a comparison, and what the range of each is called; None: it is no range.
        before, after: the runs of both sides.
        sure: a probability.
    """
    slower = [
        [(row, name) for row, name in rows
         if row["verdict"] == "slower" and name is not None
         and row["kind"] in _WITH_SAMPLES and not row["backward"]]
        for rows in tables
    ]  # fmt: skip
    count = sum(map(len, slower))
    if not count or min(len(before), len(after)) < MIN_RUNS:
        return
    sampled = each(lambda run: run.lines(), [*before, *after])
    if not all(lines.samples for lines in sampled):
        return
    sides = sampled[: len(before)], sampled[len(before) :]
    for rows in slower:
        told: set[tuple[str, str | None]] = set()
        for row, name in sorted(rows, key=lambda pair: pair[0]["after"]["mean"]):
            change = _change(row, str(name), sides, 1 - (1 - sure) / count)
            if change is not None and (change.file, change.function) not in told:
                told.add((change.file, change.function))
                row["line"] = change


def _change(
    row: dict[str, Any], name: str, sides: tuple[Sequence[Lines], Sequence[Lines]], sure: float
) -> LineChange | None:
    runs: list[list[tuple[Lines, float]]] = []
    for side, lines in zip((row["before"], row["after"]), sides, strict=True):
        parts = [_within(one, row["domain"], name) for one in lines]
        if len(side["means"]) != len(lines) or any(part.samples < _MIN_SAMPLES for part in parts):
            return None
        runs.append(list(zip(parts, side["means"], strict=True)))
    gained = row["after"]["mean"] - row["before"]["mean"]
    functions = [[_functions(*run) for run in side] for side in runs]
    gains = list(gains_of(functions, sure, _MIN_SHARE * row["after"]["mean"]))
    best = clear_gain(gains, gained)
    if best is None:
        return None
    newest, _ = runs[1][-1]
    by_line = [[_lines(*run, best.key) for run in side] for side in runs]
    line = clear_gain(list(gains_of(by_line, sure, 0.0)), best.added)
    time = None if line is None else by_line[1][-1].get(line.key)
    if line is not None and time is not None and line.added >= _HALF * best.added:
        shown = _hottest_expression(newest, time.row)
        return LineChange(line.key[0], line.key[1], time.row.line, shown, line.added, line.margin)
    time = functions[1][-1].get(best.key)
    if time is None:
        return None
    files = short_names([time.row.file] if time.row.file is not None else [])
    shown = short_name(place(time.row, files, "function"))
    return LineChange(best.key[0], best.key[1], time.row.line, shown, best.added, best.margin)


def _within(lines: Lines, domain: str | None, name: str) -> Lines:
    """A phase may have another domain than the step."""
    named = {path.pair: path.domain for path in lines.ranges if path.name == name and path.pair}
    own = [pair for pair, of in named.items() if of == domain]
    return lines.within_pairs(own or named)


def _functions(part: Lines, mean: float) -> _Run:
    return _times(part.by_group("function"), mean, {})


def _lines(part: Lines, mean: float, function: _Key) -> _Run:
    """Those of one function."""
    first = {
        (row.file, row.function): row.line
        for row in part.by_group("function").rows
        if _key(row, None) == function
    }
    return _times(part, mean, first)


def _times(
    lines: Lines, mean: float, first: Mapping[tuple[str | None, str | None], int | None]
) -> _Run:
    found: dict[_Key, Time[LineRow]] = {}
    for row in lines.rows:
        line = None
        if lines.by == "line":
            begin = first.get((row.file, outer_function(row.function)))
            if begin is None or row.line is None:
                continue
            line = row.line - begin
        time = Time(row.share * mean, row.margin * mean / _NORMAL, row)
        key = _key(row, line)
        known = found.get(key)
        if known is not None:
            larger = max(known, time, key=lambda one: one.mean)
            time = Time(known.mean + time.mean, math.hypot(known.error, time.error), larger.row)
        found[key] = time
    return found


def _key(row: LineRow, line: int | None) -> _Key:
    return os.path.basename(row.file or "?"), outer_function(row.function), line


def _hottest_expression(lines: Lines, row: LineRow) -> str:
    """A line as a table shows it: what of it takes the most time."""
    expressions = lines.by_group("expression")
    shown, of = row, lines
    for one in expressions.rows:
        if (one.file, one.line) == (row.file, row.line):
            shown, of = one, expressions
            break
    files = short_names([row.file] if row.file is not None else [])
    return short_name("  ".join(filter(None, [place(shown, files), of.text(shown)])))
