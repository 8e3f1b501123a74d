# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A window of time as lines and as a table: ranges down, processes across."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from nvspan.live.model import label, path_text
from nvspan.live.snapshot import device_lines
from nvspan.recording.statistics import median
from nvspan.recording.time_text import age
from nvspan.report.text import aligned, printable, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvspan.live.model import Thread
    from nvspan.live.top.sampling import Activity, Row, Window

#: What rows can be sorted by.
SORTS = ("share", "change", "rate", "name")
CHANGED = 0.1
_MOST_STUCK = 5
_RUN = ("running", "sleeping", "waiting for a device", "elsewhere")
_COLUMN = 9  # characters, with what separates it
_NAME = 36


def title(of: Activity) -> str:
    """A process as a column is headed."""
    process = of.process
    return f"{process.pid}" if process.rank is None else f"rank {process.rank}"


def share_cell(share: float) -> str:
    """A share of time; nothing for none."""
    if share <= 0:
        return ""
    return "<1%" if share < 0.01 else f"{share:.0%}"


def _rate(count: float, *, at_least: bool = False) -> str:
    text = f"{count:,.0f}" if count >= 100 else f"{count:.1f}"
    return f">={text}" if at_least else text


def _signed(change: float) -> str:
    return f"{change * 100:+.0f}" if abs(change) >= 0.005 else ""


def chosen_rows(window: Window, sort: str = "share", like: str = "") -> list[Row]:
    """The rows whose name holds `like` (a regular expression where it is one), sorted."""
    try:
        found = re.compile(like, re.IGNORECASE).search
    except re.error:
        found = re.compile(re.escape(like), re.IGNORECASE).search
    rows = [row for row in window.rows if found(label(row.range))]
    if sort == "name":
        return sorted(rows, key=lambda row: label(row.range))
    figures = {"share": "mean", "change": "change", "rate": "begun"}
    return sorted(rows, key=lambda row: -abs(getattr(row, figures[sort])))


def headline(window: Window) -> str:
    """How many processes, how often, and what a step is."""
    count = len(window.activities)
    states = Counter(each.process.state for each in window.activities)
    others = "".join(f", {n:,} {state}" for state, n in states.items() if state not in _RUN)
    step = "" if window.step is None else f"; a step is {printable(label(window.step))}"
    return (
        f"{count:,} {'process' if count == 1 else 'processes'}{others}, "
        f"{window.samples:,} samples in {age(window.interval * 1e9)}{step}"
    )


def stuck_lines(window: Window, most: int = _MOST_STUCK) -> list[str]:
    """A line for each thread that is stuck, the longest first."""
    found = [(each, thread) for each in window.activities for thread in each.stuck]
    found.sort(key=lambda pair: -(pair[1].unchanged or 0))
    lines = [
        f"stuck: {title(each)}, {thread.name or thread.tid} for {age(thread.unchanged or 0)}: "
        f"{path_text(thread.path)}{_at(thread)}"
        for each, thread in found[:most]
    ]
    if len(found) > most:
        lines.append(f"stuck: {len(found) - most:,} more threads")
    return [printable(line) for line in lines]


def _at(thread: Thread) -> str:
    """The line that a thread is at."""
    return "" if thread.stack is None else f", {thread.stack.line.place} {thread.stack.line.call}"


@dataclass
class Table:
    """Headings and rows of text."""

    headings: list[str]
    rows: list[list[str]] = field(default_factory=list)
    #: The places (row, column) whose share is not what is usual.
    changed: set[tuple[int, int]] = field(default_factory=set)
    #: Those whose share is far from the other processes'.
    far: set[tuple[int, int]] = field(default_factory=set)


def table(
    window: Window, width: int = 0, sort: str = "share", like: str = "", most: int | None = None
) -> Table:
    """The table, as wide as it may be (0: any width).

    Where the processes do not fit, their least, median and largest share stand for them, and the
    one that is farthest from the median.
    """
    activities, seconds = window.activities, window.interval
    titles = [title(each) for each in activities]
    each_fits = not width or len(titles) <= max(1, (width - _NAME - 2 * _COLUMN) // _COLUMN)
    columns = titles if each_fits else ["least", "median", "most", "farthest"]
    made = Table(["range", "change", "per s", *columns])

    def cells(values: Sequence[float], shown: Callable[[float], str], least: float) -> list[str]:
        if each_fits:
            return list(map(shown, values))
        middle = median(values)
        far = max(range(len(values)), key=lambda i: abs(values[i] - middle))
        odd = titles[far] if abs(values[far] - middle) > least else ""
        return [*map(shown, (min(values), middle, max(values))), odd]

    states = [each.process.state for each in activities]
    if each_fits and not set(states) <= {*_RUN}:  # their shares are those of their last state
        shown = ["" if state in _RUN else state for state in states]
        made.rows.append(["state", "", "", *shown])
    if activities and window.step is not None:
        steps = [each.steps or (0, False) for each in activities]
        rates = [count / seconds for count, _ in steps]
        total = _rate(sum(rates), at_least=any(more for _, more in steps))
        made.rows.append(["steps a second", "", total, *cells(rates, _rate, 0.5)])
    if rates := [each.events / seconds for each in activities]:
        every = cells(rates, _rate, max(rates) / 10)
        made.rows.append(["events a second", "", _rate(sum(rates)), *every])
    if any(lost := [float(each.process.lost) for each in activities]):
        made.rows.append(["events lost", "", "", *cells(lost, "{:,.0f}".format, 0)])
    for row in chosen_rows(window, sort, like)[:most]:
        rate = _rate(row.begun / seconds, at_least=row.begun_at_least)
        name = shortened(printable(label(row.range)), _NAME)
        if each_fits:
            middle = median(row.shares)
            for i, (share, change) in enumerate(zip(row.shares, row.changes, strict=True)):
                place = (len(made.rows), 3 + i)
                made.changed |= {place} if abs(change) >= CHANGED else set()
                made.far |= {place} if abs(share - middle) >= CHANGED else set()
        made.rows.append([name, _signed(row.change), rate, *cells(row.shares, share_cell, CHANGED)])
    return made


def render(window: Window, width: int = 0, sort: str = "share", like: str = "") -> str:
    """All of it as plain text."""
    lines = [headline(window), printable(window.verdict.text), ""]
    made = table(window, width, sort, like)
    lines += [aligned(made.headings, made.rows, ["range"]), *stuck_lines(window, 1 << 30)]
    return "\n".join([*lines, *map(printable, window.problem_lines)])


def _about(thread: Thread) -> str:
    at_line = None if thread.stack is None else thread.stack.about
    said = ", ".join(filter(None, (thread.state, at_line)))
    return f"  [{said}]" if said else ""


def process_lines(window: Window, of: Activity) -> list[str]:
    """What one process is in, and the tree of its threads' ranges."""
    process = of.process
    lines = [process.heading, " ".join(process.command) or process.file, *device_lines(process)]
    names = {thread.tid: thread for thread in process.threads}
    for sampled in of.threads:
        thread = names.get(sampled.tid)
        name = thread.name if thread is not None and thread.name else str(sampled.tid)
        about = "" if thread is None else _about(thread)
        lines += ["", f"{name} {sampled.tid}: {path_text(thread.path) if thread else ''}{about}"]
        for span in sampled.spans:
            rate = _rate(span.begun / window.interval, at_least=span.begun_at_least)
            share = share_cell(span.samples / of.samples)
            lines.append(f"{share:>5} {'':>5} {rate:>9}/s  {label(span.range)} (span)")
        for tally in sampled.root.walk():
            rate = _rate(tally.begun / window.interval, at_least=tally.begun_at_least)
            own, inner = (share_cell(n / of.samples) for n in (tally.samples, tally.innermost))
            indent = "  " * (tally.depth + 1)
            lines.append(f"{own:>5} {inner:>5} {rate:>9}/s  {indent}{label(tally.range)}")
    tallied = {sampled.tid for sampled in of.threads}
    for thread in process.threads:
        if thread.stack is not None and thread.tid not in tallied:
            lines += ["", f"{thread.tid}: no range{_about(thread)}"]
    return [printable(line) for line in lines]
