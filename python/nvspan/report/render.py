# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A summary or a call tree as a table for a terminal, as plain text, CSV, JSON or Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import IO

from nvspan.recording.time_text import duration, percent, time_cell
from nvspan.report import device_join, text
from nvspan.report.device_join import Row
from nvspan.report.narrow import fitted
from nvspan.report.summary import KEPT_OUT, OVERHEAD_LIMIT, TIMES, Summary
from nvspan.report.tree import RESUMED

FORMATS = ("table", "csv", "json", "markdown")
_LACKING = ("lost", "gaps", "overwritten", "orphans", "others")
_LEFT = ("name", "thread", "process", "rank", "category", "payload", *device_join.GROUPS)
# What a narrow terminal does without, and the least width of names for which it does.
_DISPENSABLE = (
    *((column, 40) for column in ("std", "min", "mean", "p90", "threads", "self")),
    *(
        (column, 16)
        for column in (
            "gpu_self",
            "gpu_share",
            "p99",
            "max",
            "gpu_p50",
            "typical",
            "gpu_calls",
            "warm-up",
            *RESUMED,
        )
    ),
)


def headings(summary: Summary) -> list[str]:
    """The columns that a summary has something for."""
    resumed = RESUMED if summary.has_resumptions else ()
    columns = ["calls", *resumed, *TIMES, "share", "threads"]
    if summary.gpu:
        columns += device_join.SHOWN
    if any(row.warmup for row in summary.rows):
        columns.append("warm-up")
    if summary.flagged():
        columns.append("overhead")
    if summary.by != "name":
        columns.append(summary.by)
    return [*columns, "name"]


def _cell(row: Row, column: str, by: str) -> str:
    if column == "name":
        return row.label
    if column == by:
        return row.group
    if column in device_join.NUMBERS:
        return _gpu_cell(getattr(row, column), column)
    if row.kind == "device" and by not in device_join.GROUPS:
        return ""
    if column == "share":
        return percent(row.share) if row.mean_open is None else f"{row.mean_open:.3g} open"
    if column == "warm-up":
        return f"{row.warmup} in {duration(row.warmup_total)}" if row.warmup else ""
    if column == "overhead":
        part = row.overhead_share
        return f"! {percent(min(part, 1))}" if part > OVERHEAD_LIMIT else ""
    if column == "resumptions":
        return "" if row.resumptions is None else str(row.resumptions)
    if column == "awaited":
        return time_cell(row.awaited) if row.resumptions or row.awaited else ""
    if column in TIMES:
        is_known = row.calls or (row.open_time and column in ("total", "self"))
        return time_cell(getattr(row, column) if is_known else None)
    return str(getattr(row, column))


def _gpu_cell(value: float | None, column: str) -> str:
    if value is None:
        return ""
    if column == "gpu_share":
        return percent(value)
    return duration(value) if column in device_join.TIMES else str(value)


def cells(summary: Summary, columns: Sequence[str], rows: Sequence[Row]) -> list[list[str]]:
    """The text of each row in these columns."""
    return [[_cell(row, column, summary.by) for column in columns] for row in rows]


def _more(summary: Summary, rows: Sequence[Row]) -> list[str]:
    more = summary.count - len(rows)
    return [*([f"... and {more:,} more"] if more else []), *summary.footnotes()]


def plain(summary: Summary, top: int | None = None, width: int | None = None) -> str:
    """The table as text without colors, in `width` columns, or as wide as it needs to be."""
    rows = summary.rows[:top]
    if not rows:
        return "\n".join([*summary.notes, "no ranges"])
    columns = headings(summary)
    least = [column for column, _ in _DISPENSABLE]
    table = fitted(columns, cells(summary, columns, rows), _LEFT, width=width, dispensable=least)
    return "\n".join([*summary.notes, table, *_more(summary, rows)])


def as_markdown(summary: Summary, top: int | None = None) -> str:
    """The table in Markdown, below what the statistics leave out as a quotation."""
    rows = summary.rows[:top]
    notes = [f"> {note}  " for note in summary.notes]
    lines = [*notes, ""] if notes else []
    if not rows:
        return "\n".join([*lines, "no ranges"])
    columns = headings(summary)
    table = text.markdown(columns, cells(summary, columns, rows), _LEFT)
    return "\n".join([*lines, table, "", *_more(summary, rows)]).rstrip()


def raw_columns(summary: Summary) -> list[str]:
    """The keys of `raw_rows`."""
    group = [] if summary.by == "name" else [summary.by]
    gpu = device_join.NUMBERS if summary.gpu else ()
    resumed = RESUMED if summary.has_resumptions else ()
    return [
        *("domain", "name", "kind", "backward", *group, "calls", "unclosed", "open_time"),
        *(*resumed, *TIMES),
        *("share", "threads", "overhead", "overhead_share", *KEPT_OUT, *gpu),
    ]


def raw_rows(summary: Summary, top: int | None = None) -> list[dict[str, object]]:
    """The rows with numbers alone: times in ns, shares as parts of one."""
    raw = []
    for row in summary.rows[:top]:
        entry = {**row.as_dict(), summary.by: row.group, "name": row.name}
        raw.append({column: entry[column] for column in raw_columns(summary)})
    return raw


def _cell_of_csv(value: object, escape_formulas: bool) -> str:
    if value is None:
        return ""
    shown = str(value)
    if escape_formulas and isinstance(value, str) and text.begins_formula(value):
        shown = "'" + shown
    if any(c in shown for c in ',"\r\n'):
        return '"' + shown.replace('"', '""') + '"'
    return shown


def as_csv(
    rows: Sequence[Mapping[str, object]], columns: Sequence[str], escape_formulas: bool = False
) -> str:
    """Rows as CSV (RFC 4180, lines that end in a line feed) with the heading `columns`, their keys.

    With `escape_formulas` a "'" stands before each text that a spreadsheet would take for a
    formula; numbers are left as they are.
    """
    cells = [columns, *([row[column] for column in columns] for row in rows)]
    lines = (",".join(_cell_of_csv(cell, escape_formulas) for cell in line) for line in cells)
    document = "".join(line + "\n" for line in lines)
    return document.encode("utf-8", "backslashreplace").decode("utf-8")


def as_json(summary: Summary, top: int | None = None) -> str:
    """The rows, and all that is known of the recordings."""
    document = {
        "by": summary.by,
        "wall": summary.wall,
        "footnotes": summary.footnotes(),
        **{key: getattr(summary.stats, key) for key in _LACKING},
        "unclosed": summary.unclosed,
        "losses": [loss.as_dict() for loss in summary.stats.losses],
        "problems": summary.problems,
        "processes": [process.as_dict() for process in summary.processes],
        "rows": raw_rows(summary, top),
    }
    return json.dumps(document, indent=1)


def rich_table(summary: Summary, file: IO[str], top: int | None = None) -> bool:
    """Prints the table with the rich package, narrowed to the terminal; False: there is none."""
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    console = Console(file=file)
    rows = summary.rows[:top]
    columns = headings(summary)
    table = cells(summary, columns, rows)
    for candidate, most in _DISPENSABLE:
        if candidate not in columns:
            continue
        widths = (
            max(map(len, [column, *(row[i] for row in table)])) for i, column in enumerate(columns)
        )
        if sum(min(width, most) + 2 for width in widths) + 2 <= console.width:
            break
        at = columns.index(candidate)
        columns.pop(at)
        for row in table:
            row.pop(at)
    for note in summary.notes:
        console.print(Text(note, style="bold red" if not note.startswith(" ") else "red"))
    if not rows:
        console.print("no ranges")
        return True
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        is_name = column == "name"
        shown.add_column(
            Text(text.printable(column)),
            justify="left" if column in _LEFT else "right",
            overflow="fold",
            no_wrap=not is_name,
            style="cyan" if is_name else "",
        )
    for row, values in zip(table, rows, strict=True):
        flagged = values.overhead_share > OVERHEAD_LIMIT
        shown.add_row(*map(Text, row), style="yellow" if flagged else "")
    console.print(shown)
    for note in _more(summary, rows):
        console.print(Text(note, style="dim"))
    if len(columns) < len(headings(summary)):
        console.print(Text("(a wider terminal shows more columns)", style="dim"))
    return True
