# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The statistics of a recording as rows to show: one for each range, and what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from heapq import nlargest, nsmallest

from nvspan import _reader
from nvspan._device.losses import device_losses_of
from nvspan._results import CallNode, RecordedProcess, RecordedThread, StatsRow
from nvspan.recording import Recording
from nvspan.recording.label import PROFILE_DOMAIN
from nvspan.recording.losses import DAMAGE, ending_lines, gap_lines, left_out, window_lines
from nvspan.recording.payload import is_scalar, scalar
from nvspan.recording.stats import Stats
from nvspan.recording.time_text import duration
from nvspan.report import device_join
from nvspan.report.device_join import Row
from nvspan.report.text import printable, range_label
from nvspan.report.tree import RESUMED

TIMES = ("total", "self", "p50", "typical", "p90", "p99", "max", "min", "mean", "std")
KEPT_OUT = ("outliers", "outlier_total", "warmup", "warmup_total")
NUMBERS = (
    "calls",
    *RESUMED,
    *TIMES,
    "share",
    "threads",
    "overhead",
    *KEPT_OUT,
    *device_join.NUMBERS,
)
COLUMNS = ("name", "first", *NUMBERS)  # by which rows are sorted
GROUPS = ("name", "thread", "process", "rank", "category", "payload", *device_join.GROUPS)
OVERHEAD_LIMIT = 0.1
LOSSES = ("lost", "overwritten")  # their windows follow them
TYPICAL_NOTE = (
    "typical: mean without outliers, calls longer than 3 p50, 2 p75 and 10 us; warm-up: those of "
    "them among the first 16 calls of a thread"
)

RESUMED_NOTE = (
    "resumptions: how often a generator or coroutine went on; awaited: the time in "
    "which it was suspended, which no other column has; a call is all of its stretches together"
)


class Thread(RecordedThread):
    """A thread to show."""

    owner: str | None  #: its process; None: there is one process
    alone: bool  #: whether no other thread of the process has its name


class Summary:
    """Rows of statistics, and the notes to show above them.

    Attributes:
        stats: what `Recording.stats` found, with what was lost.
        rows: its ranges, each a `Row`.
        count: how many rows there are, more than `rows` where only `most` of them are made.
        gpu: whether there are device ranges; then each row has their numbers beside those of the
            CPU, see `device_join.beside`. Grouped by device or stream the rows are of device
            ranges.
        has_resumptions: whether there are generators or coroutines of a profile.
        is_profile: whether most rows are of a profile; then they are sorted by self time.
        wall: the ns from the first range's begin to the last one's end, whatever their names. Of
            files of mode "stats" how long they were recorded; 0 where nothing says it.
        notes: what was lost, left open or damaged, in words.
    """

    def __init__(
        self,
        recording: Recording,
        by: str = "name",
        *,
        live: bool = False,
        stats: Stats | None = None,
        most: int | None = None,
        sort: str | None = None,
    ) -> None:
        """`live`: this process records still, so no note says that its file is open.

        `stats` are the recording's, where they are known. Of more than `most` rows only those that
        the column `sort` puts first are made, unless device ranges are among them.
        """
        stats = stats or recording.stats("process" if by == "rank" else by)
        self.by = by
        self._recording = recording
        self.processes = recording.processes
        self.counted = [p for p in self.processes if p.mode == "stats"]
        self.wall = max(stats.whole, self._counted_time())
        self.stats = stats
        self.device_lost = device_losses_of(stats.marks)
        self.unclosed = sum(row.unclosed for row in stats.rows)
        profiled = sum(row.domain == PROFILE_DOMAIN for row in stats.rows)
        self.is_profile = 2 * profiled > len(stats.rows)
        first = self._first_rows(most, sort or ("self" if self.is_profile else "total"))
        self.rows = [self._complete(row) for row in first]
        self.gpu = False
        if by not in device_join.GROUPS:
            self.rows, self.gpu = device_join.beside(self.rows)
            if self.gpu:
                self.sort("total")
        if self.is_profile:
            self.sort("self")
        self.has_resumptions = any(row.resumptions is not None for row in self.rows)
        self.count = len(self.rows) + len(stats.rows) - len(first)
        self.problems = recording.problems
        self.notes = self._notes(recording, live)

    @cached_property
    def threads(self) -> list[Thread]:
        """The recording's threads, as `threads` lists them."""
        return threads(self._recording)

    def _counted_time(self) -> int:
        """How long the files were recorded that hold statistics alone, and that were closed."""
        known = [process for process in self.counted if process.closed]
        if not known:
            return 0
        return max(max(p.end for p in known) - min(p.start for p in known), 0)

    def _first_rows(self, most: int | None, sort: str) -> Sequence[StatsRow]:
        rows = self.stats.rows
        if most is None or len(rows) <= most or sort not in StatsRow._types:
            return rows
        if any(row.kind == "device" for row in rows):
            return rows
        if sort == "name":
            return rows
        if sort == "first":
            return nsmallest(most, rows, key=lambda row: row.first)

        def value(row: StatsRow) -> float:
            nests = sort != "self" or row.kind != "start_end"
            return getattr(row, sort) or 0 if nests else 0

        return nlargest(most, rows, key=value)

    def _complete(self, row: StatsRow) -> Row:
        label = range_label(row, device=False)
        lanes = max(row.threads if row.devices is None else row.devices, 1)
        return row.into(
            Row,
            **dict.fromkeys(device_join.NUMBERS),
            group=self._group(row),
            label=label + (f" ({row.unclosed:,} still open)" if row.unclosed else ""),
            share=None
            if row.covered is None or not self.wall
            else row.covered / (self.wall * lanes),
            mean_open=row.total / self.wall if row.covered is None and self.wall else None,
            overhead_share=row.overhead / row.total if row.total else 0.0,
            self=None if row.kind == "start_end" else row.self,
        )

    def _group(self, row: StatsRow) -> str:
        if self.by == "thread":
            return thread_name(self.threads, row.thread or 0)
        owner = self.processes[row.process or 0] if self.processes else None
        if self.by == "process" and owner is not None:
            return process_name(owner)
        if self.by == "rank":
            rank = None if owner is None else owner.rank
            return "-" if rank is None else str(rank)
        if self.by == "category":
            if row.category_name is not None:
                return printable(row.category_name)
            return str(row.category) if row.category else "-"
        if self.by in device_join.GROUPS:
            several = owner is not None and len(self.processes) > 1
            return printable(
                f"{process_name(owner)}: {row.lane}" if owner and several else str(row.lane)
            )
        if self.by == "payload":
            return payload_text(row.payload_type or 0, row.payload or 0)
        if self.by.startswith("payload."):
            return "-" if row.field is None else printable(str(row.field))
        return ""

    def _notes(self, recording: Recording, live: bool) -> list[str]:
        notes = [f"damaged: {printable(problem)}" for problem in self.problems]
        stats = self.stats
        damage = sum(loss.count or 0 for loss in stats.losses if loss.reason in DAMAGE)
        lacking = left_out(stats.lost - damage, stats.overwritten, self.unclosed, stats.orphans)
        notes += [f"{word}: {text}" for word, text in lacking if word in LOSSES]
        windows = window_lines(recording, stats.losses) if stats.losses else []
        notes += [printable(line) for line in windows]
        notes += [] if live else [*gap_lines(recording), *ending_lines(recording)]
        notes += [f"{word}: {text}" for word, text in lacking if word not in LOSSES]
        if stats.others:
            notes.append(
                f"other names: {stats.others:,} ranges and marks had new names after the space for "
                'names was full; they are counted under "(other names)" '
                "(see nvspan record --names)"
            )
        if self.device_lost:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.device_lost.items())
            notes.append(f"device ranges not shown: {reasons}")
        return notes

    def footnotes(self) -> list[str]:
        """What the figures mean, and what they cannot show: sentences to stand below them."""
        lines = [self.share_note()] if self.rows else []
        if any(row.outliers for row in self.rows):
            lines.append(TYPICAL_NOTE)
        if self.has_resumptions:
            lines.append(RESUMED_NOTE)
        if self.flagged():
            lines.append(self.overhead_note())
        if self.counted:
            lines.append(
                f"{', '.join(printable(p.path) for p in self.counted)}: recorded with --mode "
                "stats, which holds no single ranges: not which call was when, so neither the "
                "first of them nor what ran within what, and no payloads, streams or losses by time"
            )
        return lines

    def share_note(self) -> str:
        """What a share is of."""
        if not self.wall:
            return "share: not known, as the file of statistics was not closed by its process"
        each = "thread" if not self.gpu else "thread, of gpu_share in each GPU,"
        if self.by in device_join.GROUPS:
            each = "GPU"
        what = "in which they were recorded" if self.counted else "from first to last range"
        note = f"share: of the {duration(self.wall)} {what}, in each {each} that the row ran in"
        if any(row.mean_open is not None for row in self.rows):
            note += "; of spans, which may overlap, how many were open on average"
        return note

    def flagged(self) -> bool:
        """Whether a row is more than a tenth recorder overhead."""
        return any(row.overhead_share > OVERHEAD_LIMIT for row in self.rows)

    def overhead_note(self) -> str:
        """What the flag of a row means."""
        costs = sorted({round(process.event_cost) for process in self.processes})
        shown = " to ".join(duration(cost) for cost in (costs[:1] + costs[-1:])[: len(costs)])
        return (
            "overhead: the recorder itself took more than a tenth of the time of these rows "
            f"({shown} for each event, measured when the recording started)"
        )

    def sort(self, key: str) -> None:
        """Sorts the rows by a column, the largest first; "name" and "first" in their own order.

        Raises:
            ValueError: there is no such column.
        """
        if key == "name":
            self.rows.sort(key=lambda row: row.label)
        elif key == "first":
            self.rows.sort(key=lambda row: row.first)
        elif key in NUMBERS:
            self.rows.sort(key=lambda row: -row.sort_value(key))
        else:
            raise ValueError(f"no such column: {key!r} (there is {', '.join(COLUMNS)})")


def threads(recording: Recording) -> list[Thread]:
    """The threads, without making the tables; `owner` is their process, where there are several."""
    processes = recording.processes
    listed = _reader.threads(recording._reader.handle())
    namesakes = Counter((thread.process, thread.name) for thread in listed)
    several = len(processes) > 1
    return [
        thread.into(
            Thread,
            owner=process_name(processes[thread.process]) if several else None,
            alone=namesakes[thread.process, thread.name] == 1,
        )
        for thread in listed
    ]


def thread_name(known: Sequence[Thread], thread: int) -> str:
    """A thread's name; with its number where others share it, and with its process where there are
    several.
    """
    found = known[thread]
    if found.name is None:
        name = f"thread {found.tid}"
    else:
        name = printable(found.name) + ("" if found.alone else f" ({found.tid})")
    return name if found.owner is None else f"{name} of {found.owner}"


def process_name(process: RecordedProcess) -> str:
    """A process's number, with its rank if it has one."""
    name = str(process.pid)
    return name if process.rank is None else f"rank {process.rank} ({name})"


def payload_text(kind: int, bits: int) -> str:
    """A payload's value as it stands in a cell; ``-``: none."""
    if is_scalar(kind):
        value = scalar(kind, int(bits))
        return f"{value:g}" if isinstance(value, float) else str(value)
    return "-" if kind == 0 else "extended"


def call_tree(recording: Recording, ancestors: bool = False) -> list[CallNode]:
    """Every path of ranges; parents come first.

    The nodes are in the order in which they appear, thread by thread. A range within another one of
    its name is counted in that one's node. Ranges of a device have paths of their own, for each
    stream, whose name is `lane`. With `ancestors` the ranges around those that a filter takes by
    name are there as well.
    """
    return _reader.tree(recording._reader.handle(), ancestors)
