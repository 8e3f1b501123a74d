# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One HTML page about a recording: figures, a timeline to zoom, a flame graph, what was lost.

It needs no network. The page holds a few megabytes of a recording of any size: what is merged or
left out for that is said in it. `data` makes what the scripts draw, `bundle` makes them one.
"""

from __future__ import annotations

import os
from typing import Any

from nvspan import _core
from nvspan.recording import Recording
from nvspan.recording.clock import zero
from nvspan.recording.parallel import both
from nvspan.recording.stats import Stats
from nvspan.recording.steps import Steps
from nvspan.recording.time_text import counted, duration, moment
from nvspan.report import device_join
from nvspan.report.device_join import Row
from nvspan.report.page import data
from nvspan.report.page.bundle import script, source
from nvspan.report.page.sampled import add_tracks, sampled
from nvspan.report.page.widget import as_json, steps_of, widget
from nvspan.report.summary import TIMES, Summary
from nvspan.report.text import printable
from nvspan.report.tree import RESUMED

__all__ = ["cell", "html", "widget"]


def html(
    recording: Recording,
    title: str | None = None,
    *,
    answers: dict[str, Any] | None = None,
    steps: Steps | None = None,
    stats: Stats | None = None,
    size: data.Size = data.PAGE,
) -> str:
    """The page as text.

    Args:
        recording: what it is about.
        title: the heading; None: the names of the files.
        answers: the sections of `nvspan.answers.page`.
        steps: of the recording, where they are known.
        stats: of the recording, by name, where they are known.
        size: how much of the recording the page holds.
    """
    summary = Summary(recording, stats=stats)
    if title is None:
        names = [os.path.basename(p) for p in dict.fromkeys(p.path for p in summary.processes)]
        title = ", ".join(names[:3])
        if len(names) > 3:
            title += f" and {len(names) - 3} more"
    notes = list(summary.notes)
    if len(summary.rows) > size.rows:
        notes.append(f"the table shows the {size.rows} largest of {len(summary.rows):,} ranges")
    timeline, icicle = both(
        lambda: data.timeline(recording, summary, **size.timeline),
        lambda: data.flame(
            recording,
            summary,
            steps_of(recording) if steps is None and not answers else steps,
            size.nodes,
        ),
    )
    lines = recording.lines()
    add_tracks(timeline, recording, lines, summary, size.sampled_bytes)
    held = {
        "sampled": sampled(lines, summary, icicle["looks"], size.sampled),
        "title": printable(title),
        "when": _when(recording),
        "facts": _facts(summary),
        "notes": notes,
        "columns": _columns(summary),
        "times": (*TIMES, "awaited", *device_join.TIMES),
        "rows": [_row(summary, row) for row in summary.rows[: size.rows]],
        "footnotes": "\n".join(summary.footnotes()),
        "timeline": timeline,
        "icicle": icicle,
        "answers": answers or {},
    }
    head, _, rest = source("page.html").partition("@STYLE@")
    middle, _, rest = rest.partition("@DATA@")
    before, _, end = rest.partition("@SCRIPT@")
    style = source("parts.css") + source("page.css")
    return "".join((head, style, middle, as_json(held), before, script("page"), end))


def cell(recording: Recording, answers: dict[str, Any], steps: Steps | None, stats: Stats) -> str:
    """The page in an iframe, for ``_repr_html_``: it loads nothing, and its scripts reach only the
    page. The arguments are those of `html`."""
    text = (
        html(recording, answers=answers, steps=steps, stats=stats, size=data.CELL)
        .replace("&", "&amp;")
        .replace('"', "&quot;")
    )
    return (
        '<iframe title="nvspan recording" sandbox="allow-scripts" '
        f'style="width: 100%; height: 720px; border: 0" srcdoc="{text}"></iframe>'
    )


def _when(recording: Recording) -> str:
    begin = moment(zero(recording) + recording.unix_offset, "%Y-%m-%d %H:%M:%S UTC")
    return f"recorded {begin}, nvspan {_core.__version__}"


def _facts(summary: Summary) -> list[tuple[str, str]]:
    calls = sum(row.calls for row in summary.rows)
    hosts = sorted({process.host for process in summary.processes})
    command = " ".join(summary.processes[0].command) if summary.processes else ""
    if len(command) > 80:
        command = command[:77] + "..."
    facts = [
        ("wall time", duration(summary.wall)),
        figure(calls, "call"),
        figure(len(summary.rows), "range name"),
        figure(len(summary.processes), "process"),
        figure(len(summary.threads), "thread"),
        ("host", printable(", ".join(hosts[:3]))),
        ("program", printable(command)),
    ]
    return [fact for fact in facts if fact[1]]


def figure(count: int, noun: str) -> tuple[str, str]:
    """A number and its noun as a box of a page has them: the noun first."""
    number, _, name = counted(count, noun).partition(" ")
    return name, number


def _columns(summary: Summary) -> list[str]:
    gpu = device_join.NUMBERS if summary.gpu else ()
    resumed = RESUMED if summary.has_resumptions else ()
    columns = ["name", "calls", *resumed, *TIMES, "share", "threads", *gpu]
    return [*columns, "outliers", "warmup", "overhead"]


def _row(summary: Summary, row: Row) -> list[Any]:
    def short(value: float | None, places: int = 1) -> float | None:
        return round(value, places) if isinstance(value, float) else value

    times = [short(getattr(row, key)) if row.calls else None for key in TIMES]
    resumed = [row.resumptions, short(row.awaited)] if summary.has_resumptions else []
    cpu: list[float | None] = [row.calls, *resumed, *times, short(row.share, 5), row.threads]
    if row.kind == "device":
        cpu = [None] * len(cpu)
    beside = [
        short(getattr(row, key), 5 if key == "gpu_share" else 1) for key in device_join.NUMBERS
    ]
    kept_out = [row.outliers, row.warmup]
    return [
        row.label,
        *cpu,
        *(beside if summary.gpu else ()),
        *kept_out,
        round(row.overhead_share, 3),
    ]
