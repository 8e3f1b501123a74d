# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The result of `nvspan.where`, and its text: the verdict and a table, or one process's threads."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from functools import cached_property

from nvspan.live.job_table import DEVICE_STATES, core_share, device_place, table_lines
from nvspan.live.judge import Verdict, Waits, judge
from nvspan.live.model import Process, label, path_text
from nvspan.live.tree import Node, grow
from nvspan.recording.time_text import age, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from nvspan.live.model import Thread

_MAX_TIDS = 4
_NO_SAMPLER = "lines  off; start the program with NVSPAN_RECORD_LINES=armed to see where Python is"


@dataclass(eq=False)
class Snapshot:
    """What processes were in. As text, it is what ``nvspan where`` prints.

    Attributes:
        processes: each `Process`, by rank, then by process id.
        problems: files that could not be read: (path, why).
        interval: seconds between the first look and the last; 0: there was one.
        waits: the ranges in which a process waits for others.
    """

    processes: list[Process]
    problems: list[tuple[str, str]]
    interval: float
    waits: Waits

    @cached_property
    def verdict(self) -> Verdict:
        """Which of the processes the others wait for."""
        return judge(self.processes, self.waits, self.interval)

    @property
    def tree(self) -> list[Node]:
        """A `Node` for the threads of each name: their ranges as a tree of prefixes."""
        return grow(self.processes)

    @property
    def problem_lines(self) -> list[str]:
        """A line for each of `problems`."""
        return [f"{file}: {why}" for file, why in self.problems]

    def as_dict(self) -> dict[str, Any]:
        """For JSON: times in ns, but `interval` in seconds."""
        return {
            "interval": self.interval,
            "verdict": self.verdict.as_dict(),
            "processes": [process.as_dict() for process in self.processes],
            "tree": [node.as_dict() for node in self.tree],
            "problems": [{"file": file, "problem": why} for file, why in self.problems],
        }

    def __str__(self) -> str:
        if len(self.processes) > 1:
            table = table_lines(self.processes, self.verdict.processes, self.interval)
            lines = [self.verdict.text, "", *table]
        else:
            lines = [line for one in self.processes for line in process_lines(one, self.interval)]
        lines += self._lines_hint()
        lines += self.problem_lines
        if len(self.processes) > 1 and (following := self.next_command):
            lines.append(f"next  {following}")
        return "\n".join(lines).rstrip()

    def _lines_hint(self) -> list[str]:
        """How to see lines too, where none of the processes that run shows any."""
        alive = [p for p in self.processes if p.state not in ("killed", "ended", "frozen")]
        if not alive or any(thread.stack for p in self.processes for thread in p.threads):
            return []
        first = [*self.verdict.processes, *alive]
        armed = next((p for p in first if p in alive and p.sampler == "armed"), None)
        if armed is not None:
            return [f"lines  nvspan attach --lines {armed.pid}    show where Python is"]
        return [_NO_SAMPLER]

    @property
    def next_command(self) -> str:
        """What to type after this, and what it does; "" where nothing helps."""
        folders = {os.path.dirname(process.file) or "." for process in self.processes}
        folder = shlex.quote(folders.pop()) if len(folders) == 1 else ""
        if self.verdict.kind not in ("held back", "halted"):
            return f"nvspan top {folder}    watch the job" if folder and self.interval else ""
        process = self.verdict.processes[0]
        if process.state == "stopped":
            return f"kill -CONT {process.pid}    let it go on"
        if process.mode in ("full", "ring"):
            if process.state == "frozen" or not folder:
                return f"nvspan view {shlex.quote(process.file)}    what it did before"
            return f"nvspan trigger {folder}    save the last 30 s of every process"
        if process.state == "killed":
            return ""
        return f"nvspan attach {process.pid}    record what it does from now on"


def _motion(thread: Thread, interval: float) -> str:
    if thread.changing:
        return "changing all the while"
    if thread.moved:
        return f"{counted(thread.moved, 'event')} in {age(interval * 1e9)}"
    if thread.unchanged is None:
        return ""
    return f"unchanged for {'at least ' if thread.at_least else ''}{age(thread.unchanged)}"


def _does(thread: Thread) -> str:
    return "" if thread.state is None else thread.state + core_share(thread.busy or 0)


def _alike(threads: Sequence[Thread]) -> list[list[Thread]]:
    """Threads without ranges and names that are at the same lines, as a pool's workers, are one
    group; each other thread is alone."""
    groups: dict[object, list[Thread]] = {}
    for thread in threads:
        stack = thread.stack
        key: object = thread.tid
        if stack is not None and not (thread.name or thread.path or thread.events):
            key = (thread.state, *((frame.place, frame.call) for frame in stack.shown))
        groups.setdefault(key, []).append(thread)
    return [sorted(group, key=_time_at_line) for group in groups.values()]


def _time_at_line(thread: Thread) -> int:
    return 0 if thread.stack is None else thread.stack.time


def _thread(group: Sequence[Thread], interval: float) -> list[str]:
    thread = group[0]
    deeper = thread.depth - len(thread.ranges)
    path = path_text(thread.path) + (f" > {deeper:,} more" if deeper > 0 else "")
    at_line = "" if thread.stack is None else thread.stack.about
    about = ", ".join(filter(None, (_motion(thread, interval), _does(thread), at_line)))
    ended = " (ended)" if thread.ended else ""
    name = f"{thread.name} {thread.tid}" if thread.name else str(thread.tid)
    if len(group) > 1:
        name = f"{len(group):,} threads, {', '.join(_tids(group))}"
    lines = [f"  {name}{ended}: {path}" + (f"  [{about}]" if about else "")]
    for of, since in thread.started:
        ago = "" if since is None else f" {age(since)} ago"
        lines.append(f"    started{ago}, not ended: {label(of)}")
    if thread.started_beyond:
        lines.append(f"    {thread.started_beyond:,} more were started and not ended")
    if thread.stack is not None:
        lines += [f"    {line}" for line in thread.stack.lines()]
    return lines


def _tids(group: Sequence[Thread]) -> list[str]:
    numbers = [str(tid) for tid in sorted(thread.tid for thread in group)]
    if len(numbers) > _MAX_TIDS:
        numbers[_MAX_TIDS - 1 :] = [f"+{len(numbers) - _MAX_TIDS + 1:,}"]
    return numbers


def process_lines(process: Process, interval: float) -> list[str]:
    """The lines of a process and its threads; `interval`: seconds between the looks."""
    lines = [process.heading]
    if process.state in ("killed", "ended", "frozen"):
        lines[0] += "; its last state:"
    for group in _alike(process.threads):
        lines += _thread(group, interval)
    return lines + [f"  {line}" for line in device_lines(process)]


def device_lines(process: Process) -> list[str]:
    """A line for each open device range."""
    lines = []
    for device in process.devices:
        since = "" if device.since is None else f", {age(device.since)} ago"
        name, state = label((device.domain, device.name)), DEVICE_STATES[device.state]
        lines.append(f"{device_place(device)}: {name}: {state}{since}")
    return lines
