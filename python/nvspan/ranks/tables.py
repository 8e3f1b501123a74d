# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Many recordings as the commands show them: rows of statistics, and a table of steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from nvspan._results.jobs import Collective, JobProcess, RankCollective
from nvspan.ranks.many import ManyRecordings
from nvspan.ranks.steps import ManySteps
from nvspan.recording import Recording
from nvspan.recording.steps import phase_title
from nvspan.recording.time_text import duration
from nvspan.report.narrow import fitted
from nvspan.report.summary import Summary
from nvspan.report.text import printable

MOST_NAMED = 10  # files that are named one by one
_MOST_PHASES = 6
_OF_COLLECTIVES = ("p50", "p99", "min", "max")


class _Shown(JobProcess):
    open_chunks: int
    start: int
    end: int


class _AsRecording:
    """What a `Summary` reads of a recording, beside its statistics."""

    def __init__(self, job: ManyRecordings) -> None:
        # None of their chunks was looked at by itself, and their times are in the statistics.
        self.processes = [
            process.into(_Shown, open_chunks=0, start=0, end=0) for process in job.processes
        ]
        self.problems = [f"{path}: {sentence}" for path, sentence in job.problems[:MOST_NAMED]]
        if len(job.problems) > MOST_NAMED:
            self.problems.append(f"... and {len(job.problems) - MOST_NAMED:,} more")
        self.gpu_gaps = job.gpu_gaps


def summary_of(
    job: ManyRecordings, by: str = "name", match: Iterable[str] | None = None
) -> Summary:
    """The statistics as rows to show. `by` and `match` as for `ManyRecordings.stats`."""
    seen = cast("Recording", _AsRecording(job))
    return Summary(seen, by, stats=job.stats(by, match=match))


def unread_lines(job: ManyRecordings) -> list[str]:
    """A sentence for each file that could not be read, up to a few."""
    lines = [f"cannot read {path!r}: {why}" for path, why in list(job.unread.items())[:MOST_NAMED]]
    if len(job.unread) > MOST_NAMED:
        lines.append(f"cannot read {len(job.unread) - MOST_NAMED:,} more files")
    lines += [f"{path}: {sentence}" for path, sentence in job.notes[:MOST_NAMED]]
    return lines


def steps_table(steps: ManySteps, most: int | None = None, form: str = "table") -> str:
    """A line for each rank, the slowest first: its typical step, by phase."""
    rows = sorted(steps.ranks, key=lambda row: -row.median)
    shown = steps.phases[:_MOST_PHASES]
    cells = [
        [
            _number(row.rank),
            str(row.steps),
            *map(duration, (row.median, row.mean, row.max)),
            *(duration(row.cpu.get(phase, 0.0)) for phase in shown),
            printable(row.host),
        ]
        for row in rows[:most]
    ]
    columns = ["rank", "steps", "median", "mean", "max", *map(phase_title, shown), "host"]
    return fitted(columns, cells, ("host",), form=form)


def collectives_table(
    rows: Sequence[Collective], most: int | None = None, form: str = "table"
) -> str:
    """A line for each collective of each communicator, as `ManyRecordings.collectives` has them."""
    cells = [
        [
            *([_number(row.rank)] if isinstance(row, RankCollective) else []),
            f"{row.count:,}",
            f"{row.bytes:,.0f}",
            *(duration(row[key]) if row.timed else "-" for key in ("total", *_OF_COLLECTIVES)),
            _number(row.ranks),
            row.communicator or "-",
            printable(row.name),
        ]
        for row in rows[:most]
    ]
    columns = ["count", "bytes", "total", *_OF_COLLECTIVES, "ranks", "communicator", "collective"]
    if rows and isinstance(rows[0], RankCollective):
        columns = ["rank", *columns]
    return fitted(columns, cells, ("communicator", "collective"), form=form)


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def steps_csv(steps: ManySteps) -> tuple[list[str], list[dict[str, Any]]]:
    """The same as columns and rows of CSV, times in ns."""
    columns = ["rank", "host", "path", "steps", "total", "mean", "median", "max"]
    rows = [
        {column: row[column] for column in columns}
        | {f"{kind}.{p}": row[kind].get(p, 0.0) for kind in ("cpu", "gpu") for p in steps.phases}
        for row in steps.ranks
    ]
    return [*columns, *(f"{kind}.{p}" for kind in ("cpu", "gpu") for p in steps.phases)], rows
