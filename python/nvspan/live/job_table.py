# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Table of a job's threads and GPU work: those in the same state and ranges share a row."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from nvspan.live.model import has_ranks, label, members, path_text
from nvspan.live.tree import role_of
from nvspan.recording.listing import runs
from nvspan.recording.statistics import median
from nvspan.recording.time_text import age
from nvspan.report.text import aligned, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nvspan._results.jobs import OpenDeviceRange
    from nvspan.live.model import Process, Thread

_MAX_ROWS = 24
MAX_PIDS = 4
_MIN_BUSY = 0.1  # of a CPU core, that a thread's state mentions
MAIN = "main"
DEVICE_STATES = {
    "opened": "never launched",
    "launched": "launched, not started",
    "begun": "started, not ended",
    "ended": "ended",
}


class _Place(NamedTuple):
    """What threads of several processes have in common: a row of the table."""

    ranked: bool
    thread: str
    state: str
    path: str
    line: str  # where the thread stands still; else empty


class _Row:
    def __init__(self) -> None:
        self.processes: list[Process] = []
        self.busy: list[float] = []
        self.moving = False
        self.at_least = False
        self.times: list[int] = []
        self.lines: set[str] = set()

    def add(self, process: Process, thread: Thread, took: float) -> None:
        self.processes.append(process)
        self.moving = self.moving or thread.is_moving(took)
        if thread.busy is not None:
            self.busy.append(thread.busy)
        at_least, time = thread.at_least, thread.unchanged
        if thread.stack is not None:
            self.lines.add(thread.stack.line.cell)
            # Without a clock of its events, the line says more.
            if time is None or (at_least and thread.stack.time > time):
                at_least, time = thread.stack.at_least, thread.stack.time
        self.at_least = self.at_least or at_least
        if time is not None:
            self.times.append(time)

    def add_device(self, process: Process, device: OpenDeviceRange) -> None:
        self.processes.append(process)
        if device.since is not None:
            self.times.append(device.since)

    @property
    def time(self) -> str:
        if self.moving:
            return "moving"
        if len(self.times) < len(self.processes):
            return ""
        return f"{'>=' if self.at_least else ''}{age(min(self.times))}"

    @property
    def line(self) -> str:
        """The line that all of its threads are at; nothing where they are at several."""
        return next(iter(self.lines)) if len(self.lines) == 1 else ""


def core_share(busy: float) -> str:
    """How a thread's use of a CPU core is written after its state; nothing for little.

    >>> core_share(0.984), core_share(0.02)
    (', 98% of a core', '')
    """
    return f", {min(busy, 1):.0%} of a core" if busy >= _MIN_BUSY else ""


def device_place(device: OpenDeviceRange) -> str:
    """The GPU and the stream or communicator of a device range."""
    if device.communicator is not None:
        return f"GPU {device.device}, communicator {device.communicator:016x}"
    return f"GPU {device.device}, stream {device.stream or 0:#x}"


def table_lines(processes: Sequence[Process], named: Iterable[Process], took: float) -> list[str]:
    """The table of processes, sampled in `took` seconds; those that the verdict `named` first."""
    in_job = members(processes)
    ranked = {id(process) for process in in_job} if has_ranks(in_job) else set()
    rows: defaultdict[_Place, _Row] = defaultdict(_Row)
    for process in processes:
        is_ranked = id(process) in ranked
        for thread in process.threads:
            is_main = thread is process.main
            if is_main or thread.path:
                role = MAIN if is_main else role_of(process, thread)
                # A process that is gone has no threads that do something.
                state = (None if thread.ended else thread.state) or process.state
                line = ""
                stack = thread.stack
                if stack is not None and stack.stands(took) and not thread.is_moving(took):
                    line = stack.line.place
                place = _Place(is_ranked, role, state, path_text(thread.path), line)
                rows[place].add(process, thread, took)
        for device in process.devices:
            state, name = DEVICE_STATES[device.state], label((device.domain, device.name))
            place = _Place(is_ranked, device_place(device), state, name, "")
            rows[place].add_device(process, device)
    first = {id(process) for process in named}

    def order(item: tuple[_Place, _Row]) -> tuple[bool, bool, bool, str, int]:
        place, row = item
        is_first = any(id(process) in first for process in row.processes)
        thread = "" if place.thread == MAIN else place.thread
        others = bool(ranked) and not place.ranked
        return others, bool(thread), not is_first, thread, processes.index(row.processes[0])

    found = sorted(rows.items(), key=order)
    headings = ["ranks" if ranked else "processes", "thread", "state", "for", "range", "line"]
    cells = [
        [
            _numbers(row.processes, ranked),
            place.thread,
            place.state + (core_share(median(row.busy)) if row.busy else ""),
            row.time,
            printable(place.path),
            printable(row.line),
        ]
        for place, row in found[:_MAX_ROWS]
    ]
    for at, is_needless in (
        (5, not any(row.line for row in rows.values())),
        (1, all(place.thread == MAIN for place in rows)),
    ):
        if is_needless:
            headings.pop(at)
            for row_cells in cells:
                row_cells.pop(at)
    left = [heading for heading in headings if heading != "for"]
    lines = aligned(headings, cells, left).splitlines()
    if len(found) > _MAX_ROWS:
        lines.append(f"{len(found) - _MAX_ROWS:,} more rows: --json has all")
    return lines


def _numbers(processes: Iterable[Process], ranked: set[int]) -> str:
    """The ranks of processes that are `ranked`; the process ids of others."""
    unique = {id(process): process for process in processes}
    if unique.keys() <= ranked:
        return ",".join(runs(p.rank for p in unique.values() if p.rank is not None))
    pids = [str(process.pid) for process in unique.values()]
    if len(pids) > MAX_PIDS:
        pids[MAX_PIDS - 1 :] = [f"+{len(pids) - MAX_PIDS + 1:,}"]
    return ("pid " if ranked else "") + ",".join(pids)
