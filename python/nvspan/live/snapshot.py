# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The result of `nvspan.where`, and its text: the verdict, the tree of ranges, each process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from nvspan.live.judge import Verdict, Waits, judge
from nvspan.live.model import Process, label, names, path_text
from nvspan.live.tree import Node, grow
from nvspan.recording.time_text import age

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from nvspan.live.model import Thread

_MOST_PROCESSES = 16  # of which each thread is shown
_DEVICE = {
    "opened": "never launched",
    "launched": "launched and not begun",
    "begun": "begun and not ended",
    "ended": "ended",
}


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
        lines: list[str] = []
        if len(self.processes) > 1:
            lines += [self.verdict.text, "", *tree_lines(self.tree, len(self.processes)), ""]
        listed = self.processes
        if len(listed) > _MOST_PROCESSES:
            held = {id(process) for process in self.verdict.processes}
            listed = [process for process in listed if id(process) in held][:_MOST_PROCESSES]
        for process in listed:
            lines += process_lines(process, self.interval)
        if len(listed) < len(self.processes):
            hidden = len(self.processes) - len(listed)
            lines.append(f"{hidden:,} processes are not shown one by one")
        return "\n".join([*lines, *self.problem_lines]).rstrip()


def _motion(thread: Thread, interval: float) -> str:
    if thread.changing:
        return "changing all the while"
    if thread.moved:
        return f"{thread.moved:,} events in {age(interval * 1e9)}"
    if thread.unchanged is None:
        return ""
    return f"unchanged for {age(thread.unchanged)}"


def _does(thread: Thread) -> str:
    if thread.state is None:
        return ""
    if thread.busy is not None and thread.busy >= 0.1:
        return f"{thread.state}, {min(thread.busy, 1):.0%} of a processor"
    return thread.state


def _thread(thread: Thread, interval: float) -> list[str]:
    deeper = thread.depth - len(thread.ranges)
    path = path_text(thread.ranges) + (f" > {deeper:,} more" if deeper > 0 else "")
    about = ", ".join(filter(None, (_motion(thread, interval), _does(thread))))
    ended = " (ended)" if thread.ended else ""
    name = f"{thread.name} {thread.tid}" if thread.name else str(thread.tid)
    lines = [f"  {name}{ended}: {path}" + (f"  [{about}]" if about else "")]
    for of, since in thread.started:
        ago = "" if since is None else f" {age(since)} ago"
        lines.append(f"    started{ago}, not ended: {label(of)}")
    if thread.started_beyond:
        lines.append(f"    {thread.started_beyond:,} more were started and not ended")
    return lines


def process_lines(process: Process, interval: float) -> list[str]:
    """The lines of a process and its threads; `interval`: seconds between the looks."""
    lines = [process.heading]
    if process.state in ("killed", "ended", "frozen"):
        lines[0] += "; its last state:"
    for thread in process.threads:
        lines += _thread(thread, interval)
    return lines + [f"  {line}" for line in device_lines(process)]


def device_lines(process: Process) -> list[str]:
    """A line for each open device range."""
    lines = []
    for device in process.devices:
        since = "" if device.since is None else f", {age(device.since)} ago"
        of = f"stream {device.stream or 0:#x}"
        if device.communicator is not None:
            of = f"communicator {device.communicator:016x}"
        lines.append(
            f"GPU {device.device}, {of}: "
            f"{label((device.domain, device.name))}: {_DEVICE[device.state]}{since}"
        )
    return lines


def tree_lines(nodes: Iterable[Node], all_of: int) -> list[str]:
    """A line for each range of trees of `all_of` processes: how many are in it, and which."""
    lines = []
    for node in nodes:
        count = f"{len(node.processes):,} of {all_of:,}"
        lines.append(f"{label(node.range)}  [{count}: {names(node.processes)}]")
        lines += [f"  {line}" for line in tree_lines(node.children.values(), all_of)]
    return lines
