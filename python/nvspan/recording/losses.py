# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording lacks, in words: the same in every report, export and in ``nvspan doctor``."""

from __future__ import annotations

from nvspan import _reader
from nvspan._runtime.durations import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from nvspan.recording import Recording

MOST_WINDOWS = 20
DAMAGE = ("damaged", "cut off")


def damage_lines(recording: Recording) -> list[str]:
    """What the files had and have not any more: which threads, from when to when, how much."""
    lines = [f"damaged: {problem}" for problem in recording.problems]
    losses = recording._reader.file_losses()
    gone = [loss for loss in losses if loss["reason"] in DAMAGE]
    return lines + (window_lines(recording, gone) if gone else [])


def window_lines(recording: Recording, losses: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each window of `losses`, indented."""
    known = _reader.threads(recording._reader.handle())
    processes = recording.processes
    origin = min((process["start"] for process in processes), default=0)
    lines = []
    for loss in losses[:MOST_WINDOWS]:
        if loss["thread"] is not None:
            where = _thread_name(known[loss["thread"]], processes)
        elif loss["reason"] in DAMAGE:
            where = "these or unknown threads together"
        else:
            where = "threads that recorded nothing"
        count = "events" if loss["count"] is None else f"{loss['count']} events"
        lines.append(
            f"  {count} of {where}, from {duration(loss['from'] - origin)} to "
            f"{duration(loss['to'] - origin)}: {loss['reason']}"
        )
    if len(losses) > MOST_WINDOWS:
        lines.append(f"  ... and {len(losses) - MOST_WINDOWS} more such windows")
    return lines


def _thread_name(thread: dict[str, Any], processes: Sequence[dict[str, Any]]) -> str:
    name = f"thread {thread['tid']}" if thread["name"] is None else thread["name"]
    if len(processes) == 1:
        return name
    process = processes[thread["process"]]
    rank = "" if process["rank"] is None else f"rank {process['rank']} "
    return f"{name} of {rank}({process['pid']})" if rank else f"{name} of {process['pid']}"


def open_lines(recording: Recording) -> list[str]:
    """The files that their process did not end, and how much of them no checksum protects."""
    lines = []
    for process in recording.processes:
        count = process["open_chunks"]
        if not count:
            continue
        chunks = "one chunk has" if count == 1 else f"{count} chunks have"
        why = "after its end" if process["closed"] else "it was killed, or is still running"
        lines.append(f"still open: process {process['pid']} ({why}): {chunks} no checksum")
    return lines
