# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and trees of their ranges as lines of text."""

from __future__ import annotations

from nvspan.live.model import label, names, path_text
from nvspan.recording.time_text import age

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from nvspan.live.model import Process, Thread
    from nvspan.live.tree import Node

_DEVICE = {
    "opened": "never launched",
    "launched": "launched and not begun",
    "begun": "begun and not ended",
    "ended": "ended",
}


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
    rank = "" if process.rank is None else f"rank {process.rank}, "
    lines = [f"{rank}process {process.pid} on {process.host}: {process.state}, {process.mode}"]
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
