# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The statistics of a recording as rows to show: one for each range, and what they leave out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nvspan import _reader
from nvspan._device.losses import device_losses_of
from nvspan.recording import Recording
from nvspan.recording.losses import DAMAGE, left_out, open_lines, window_lines
from nvspan.recording.payload import is_scalar, scalar
from nvspan.report import device_join
from nvspan.report.text import label, printable

TIMES = ("total", "self", "mean", "std", "min", "p50", "p90", "p99", "max")
NUMBERS = ("calls", *TIMES, "share", "threads", "overhead", *device_join.NUMBERS)
GROUPS = ("name", "thread", "process", "category", "payload", *device_join.GROUPS)
OVERHEAD_LIMIT = 0.1
LOSSES = ("lost", "overwritten")  # their windows follow them


class Summary:
    """Rows of statistics, and the notes to show above them.

    Attributes:
        rows: dicts as `Recording.stats` gives them, with `label`, `group`, `share` (of the wall
            time) and `overhead_share` (the part of `total` that is the recorder's own). `self` is
            None for start/end ranges, which do not nest, and for ranges of a device.
        gpu: whether there are device ranges; then each row has their numbers beside those of the
            CPU, see `device_join.beside`. Grouped by device or stream the rows are of device
            ranges.
        wall: the ns from the first range's begin to the last one's end, whatever their names.
        notes: what was lost, left open or damaged, in words.
        losses: the windows in which events were lost.
    """

    def __init__(self, recording: Recording, by: str = "name", *, live: bool = False) -> None:
        """`live`: this process records still, so no note says that its file is open."""
        stats = recording.stats(by)
        self.by = by
        self.wall = stats.whole
        self.threads = threads(recording)
        self.processes = recording.processes
        self.rows = [self._complete(row) for row in stats.rows]
        self.lost = stats.lost
        self.gaps = stats.gaps
        self.overwritten = stats.overwritten
        self.orphans = stats.orphans
        self.others: int = getattr(stats, "others", 0)
        self.device_lost = device_losses_of(stats)
        self.unclosed = sum(row["unclosed"] for row in self.rows)
        self.gpu = False
        if by not in device_join.GROUPS:
            self.rows, self.gpu = device_join.beside(self.rows)
            if self.gpu:
                self.sort("total")
        self.losses: list[dict[str, Any]] = getattr(stats, "losses", [])
        self.problems = recording.problems
        self.notes = self._notes(recording, live)

    def _complete(self, row: dict[str, Any]) -> dict[str, Any]:
        row["label"] = label(row["domain"], row["name"])
        row["group"] = self._group(row)
        row["share"] = row["total"] / self.wall if self.wall else 0.0
        row.setdefault("overhead", 0.0)
        row["overhead_share"] = row["overhead"] / row["total"] if row["total"] else 0.0
        if row["kind"] != "push_pop":
            row["self"] = None
        if row["kind"] == "start_end":
            row["label"] += " (start/end)"
        if row["unclosed"]:
            row["label"] += f" ({row['unclosed']} unclosed)"
        return row

    def _group(self, row: dict[str, Any]) -> str:
        if self.by == "thread":
            return thread_name(self.threads, row["thread"])
        if self.by == "process":
            return process_name(self.processes[row["process"]])
        if self.by == "category":
            if row["category_name"] is not None:
                return printable(row["category_name"])
            return str(row["category"]) if row["category"] else "-"
        if self.by in device_join.GROUPS:
            process = process_name(self.processes[row["process"]])
            return printable(device_join.name_of(row, process if len(self.processes) > 1 else None))
        if self.by == "payload":
            return payload_text(row["payload_type"], row["payload"])
        if self.by.startswith("payload."):
            value = row[self.by]
            if value is None:
                return "-"
            return printable(str(value))
        return ""

    def _notes(self, recording: Recording, live: bool) -> list[str]:
        notes = [f"damaged: {printable(problem)}" for problem in self.problems]
        damage = sum(loss["count"] or 0 for loss in self.losses if loss["reason"] in DAMAGE)
        lacking = left_out(self.lost - damage, self.overwritten, self.unclosed, self.orphans)
        notes += [f"{word}: {text}" for word, text in lacking if word in LOSSES]
        windows = window_lines(recording, self.losses) if self.losses else []
        notes += [printable(line) for line in windows]
        notes += [] if live else open_lines(recording)
        notes += [f"{word}: {text}" for word, text in lacking if word not in LOSSES]
        if self.others:
            notes.append(
                f"other names: {self.others:,} ranges and marks had new names after the space for "
                'names was full; they are counted under "(other names)" '
                "(see nvspan record --names)"
            )
        if self.device_lost:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.device_lost.items())
            notes.append(f"device ranges not shown: {reasons}")
        return notes

    def flagged(self) -> bool:
        """Whether a row is more than a tenth recorder overhead."""
        return any(row["overhead_share"] > OVERHEAD_LIMIT for row in self.rows)

    def overhead_note(self) -> str:
        """What the flag of a row means."""
        costs = sorted({round(process["event_cost"], 1) for process in self.processes})
        shown = " to ".join(f"{cost:g}" for cost in (costs[:1] + costs[-1:])[: len(costs)])
        return (
            "overhead: the recorder itself took more than a tenth of the time of these rows "
            f"({shown} ns for each event, measured when the recording began)"
        )

    def sort(self, key: str) -> None:
        """Sorts the rows by a column, the largest first; a name column in its own order.

        Raises:
            ValueError: there is no such column.
        """
        if key == "name":
            self.rows.sort(key=lambda row: row["label"])
        elif key in NUMBERS:
            self.rows.sort(key=lambda row: -device_join.shown(row, key))
        else:
            raise ValueError(f"no such column: {key!r} (there is name, {', '.join(NUMBERS)})")


def threads(recording: Recording) -> list[dict[str, Any]]:
    """The threads, without making the tables; `owner` is their process, where there are several."""
    processes = recording.processes
    listed = _reader.threads(recording._reader.handle())
    for thread in listed:
        owner = processes[thread["process"]]
        thread["owner"] = process_name(owner) if len(processes) > 1 else None
    return listed


def thread_name(known: Sequence[dict[str, Any]], thread: int) -> str:
    found = known[thread]
    name = f"thread {found['tid']}" if found["name"] is None else printable(found["name"])
    return name if found["owner"] is None else f"{name} of {found['owner']}"


def process_name(process: dict[str, Any]) -> str:
    name = str(process["pid"])
    return name if process["rank"] is None else f"rank {process['rank']} ({name})"


def payload_text(kind: int, bits: int) -> str:
    if is_scalar(kind):
        value = scalar(kind, int(bits))
        return f"{value:g}" if isinstance(value, float) else str(value)
    return "-" if kind == 0 else "extended"


def call_tree(recording: Recording) -> list[dict[str, Any]]:
    """Every path of ranges as a dict with `parent`, `calls`, `total`, ...; parents come first."""
    return _reader.tree(recording._reader.handle())
