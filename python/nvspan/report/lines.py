# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The lines or functions in which a program was, as a table, CSV, JSON or Markdown."""

from __future__ import annotations

import json
import math
import sys
from typing import IO

from nvspan._results.lines import LineRow, SampleFacts
from nvspan.recording.lines import Lines, function_name, place
from nvspan.recording.source import short_names
from nvspan.recording.time_text import counted, duration, percent, time_cell
from nvspan.report.narrow import fitted
from nvspan.report.render import as_csv

SORTS = ("self", "total")
_LEFT = ("line", "function", "text")
_DISPENSABLE = ("samples", "total", "waiting", "on core")
_MANY = 0.01  # of the samples: so many missed ones are said
_FEW = 10  # stacks that could not be read are no share: one of fifty is chance
_MIN_SHARE = 0.0005  # rows below are not shown


def margin_text(share: float, margin: float, stream: IO[str] | None = None) -> str:
    """A share with the half of its 95% interval, "+-" where `stream` cannot show the sign.

    >>> margin_text(0.9, 0.021), margin_text(0.056, 0.0013)
    ('90% ±3%', '5.6% ±0.2%')
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        "±".encode(encoding)
        sign = "±"
    except (UnicodeEncodeError, LookupError):
        sign = "+-"
    points = 100 * margin
    half = math.ceil(points) if points > 0.9 else math.ceil(10 * points) / 10
    return f"{percent(share)} {sign}{half}%"


def missed_lines(facts: SampleFacts) -> list[str]:
    """What the sampler did not get, in sentences."""
    said = []
    unread = facts.torn + facts.unnamed
    looked = max(facts.samples + unread, 1)
    if unread >= max(_MANY * looked, _FEW):
        said.append(f"{percent(unread / looked)} of the stacks changed too fast to be read")
    if facts.cut >= _MANY * looked:
        said.append(f"{percent(facts.cut / looked)} of the stacks lack a part of their frames")
    if facts.unlisted >= _MANY * max(facts.looks, 1):
        said.append(f"threads may be missing from {counted(facts.unlisted, 'look')}")
    if facts.overwritten:
        said.append(f"{counted(facts.overwritten, 'older sample')} overwritten")
    if facts.missing:
        said.append(f"{counted(facts.missing, 'sample')} missing from the file")
    elif facts.has_gap:
        said.append("samples are missing from the file; their number is unknown")
    return said


def states_text(lines: Lines) -> str:
    """How much of the time was on a core, and how much in waits."""
    total = max(lines.total, 1)
    states = [(lines.running, "on a core"), (lines.waiting, "waiting")]
    if lines.ready > _MANY * total:
        states.append((lines.ready, "waiting for a core"))
    said = [f"{percent(time / total)} {state}" for time, state in states if time]
    return ", ".join(said) or "no samples"


def notes(lines: Lines, within: str = "") -> list[str]:
    """What the table is about, and what it leaves out."""
    facts = lines.facts
    where = f" in {within!r}" if within else ""
    every = f", every {duration(facts.period)}" if facts.period else ""
    said = [
        f"{counted(lines.samples, 'sample')}{where} of {counted(facts.threads, 'thread')}{every}: "
        f"{duration(lines.total)}, {states_text(lines)}"
    ]
    if lines.idle_threads:
        said.append(
            f"{counted(lines.idle_threads, 'thread')} that only waited left out "
            f"({duration(lines.idle)})"
        )
    return said + missed_lines(facts)


def _sorted(lines: Lines, sort: str) -> list[LineRow]:
    if sort == "self":
        return lines.rows
    return sorted(lines.rows, key=lambda row: (-row.total, -row.self))


def _cells(lines: Lines, rows: list[LineRow]) -> tuple[list[str], list[list[str]]]:
    short = short_names(row.file for row in rows if row.file is not None)
    is_function = lines.by == "function"
    cells = []
    for row in rows:
        share = margin_text(row.share, row.margin, sys.stdout) if row.self else ""
        times = row.self, row.running, row.waiting, row.total
        own, *rest = (time_cell(time or None) for time in times)
        cell = [own, share, *rest, f"{row.samples:,}"]
        if is_function:
            cells.append([*cell, function_name(row), place(row, short)])
        else:
            cells.append([*cell, place(row, short), lines.text_and_call(row)])
    names = ["function", "line"] if is_function else ["line", "text"]
    return ["self", "share", "on core", "waiting", "total", "samples", *names], cells


def table(
    lines: Lines,
    *,
    sort: str = "self",
    top: int | None = None,
    form: str = "table",
    width: int | None = None,
    within: str = "",
) -> str:
    """The rows with the most time, below what they are about."""
    wanted = [
        row
        for row in _sorted(lines, sort)
        if (row.self if sort == "self" else row.total) >= _MIN_SHARE * lines.total
    ]
    rows = wanted[:top]
    said = notes(lines, within)
    if not rows:
        return "\n".join(said)
    heads, cells = _cells(lines, rows)
    if not any(cell[-1] for cell in cells):  # no source file is there
        heads, cells = heads[:-1], [cell[:-1] for cell in cells]
    shown = fitted(heads, cells, _LEFT, form=form, width=width, dispensable=_DISPENSABLE)
    more = len(wanted) - len(rows)
    return "\n".join([*said, *([""] if form == "markdown" else []), shown,
                      *([f"... and {more:,} more"] if more else [])])  # fmt: skip


def _records(lines: Lines, sort: str, top: int | None) -> list[dict[str, object]]:
    return [{**row.as_dict(), "text": lines.text(row)} for row in _sorted(lines, sort)[:top]]


def csv(lines: Lines, sort: str, top: int | None, escape_formulas: bool) -> str:
    """A row for each, times in ns, shares as parts of one."""
    columns = [*LineRow._types, "text"]
    return as_csv(_records(lines, sort, top), columns, escape_formulas)


def as_json(lines: Lines, sort: str = "self", top: int | None = None) -> str:
    """The rows, the ranges, and how the program was sampled."""
    document = {
        "by": lines.by,
        "samples": lines.samples,
        "running": lines.running,
        "ready": lines.ready,
        "waiting": lines.waiting,
        "idle_threads": lines.idle_threads,
        "idle": lines.idle,
        "facts": lines.facts.as_dict(),
        "ranges": [path.as_dict() for path in lines.ranges],
        "rows": _records(lines, sort, top),
    }
    return json.dumps(document, indent=1)
