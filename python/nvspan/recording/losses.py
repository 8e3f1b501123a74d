# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is missing from a recording, in words, for reports, exports and ``nvspan doctor``."""

from __future__ import annotations

from nvspan import _reader
from nvspan.recording.clock import zero
from nvspan.recording.listing import listing
from nvspan.recording.running import ended_in_a_range, is_running
from nvspan.recording.time_text import counted, duration, offset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nvspan._results import Loss, RecordedProcess, RecordedThread
    from nvspan.recording.opened import OpenedFiles

MOST_WINDOWS = 20
MOST_PROCESSES = 8
DAMAGE = ("damaged", "cut off")


def left_out(lost: int, overwritten: int, unclosed: int, orphans: int) -> list[tuple[str, str]]:
    """What the statistics of a recording leave out: a keyword and a sentence for each kind."""
    found = [
        ("lost", lost, f"{counted(lost, 'event')} could not be recorded"),
        (
            "overwritten", overwritten,
            f"{counted(overwritten, 'older event')} (a ring keeps only the newest)",
        ),
        (
            "still open", unclosed,
            f"{counted(unclosed, 'range')}; total, self and share have the time until the end",
        ),
        ("unmatched", orphans, f"{counted(orphans, 'range end')} without an open range"),
    ]  # fmt: skip
    return [(word, text) for word, count, text in found if count > 0]


def has_events(recording: OpenedFiles) -> bool:
    """Whether a file of a recording may hold single events: not all were made as statistics."""
    return {process.mode for process in recording.processes} != {"stats"}


def need_events(recording: OpenedFiles, what: str) -> None:
    """Raises a `ValueError` where a recording cannot have `what`, as it holds statistics alone."""
    if not has_events(recording):
        paths = [process.path for process in recording.processes]
        more = f" and {len(paths) - 1} more have" if len(paths) > 1 else " has"
        raise ValueError(
            f"{paths[0]}{more} no {what}: --mode stats keeps totals, not events; record with "
            "--mode ring=64 instead"
        )


def damage_lines(recording: OpenedFiles) -> list[str]:
    """What was cut off or overwritten in the files: which threads, from when to when, how much."""
    lines = [f"damaged: {problem}" for problem in recording.problems]
    losses = recording._reader.file_losses()
    gone = [loss for loss in losses if loss.reason in DAMAGE]
    return lines + (window_lines(recording, gone) if gone else [])


def window_lines(recording: OpenedFiles, losses: Sequence[Loss]) -> list[str]:
    """A line for each window of `losses` in which events are missing, indented."""
    losses = [loss for loss in losses if loss.count != 0]

    known = _reader.threads(recording._reader.handle())
    processes = recording.processes
    origin = zero(recording)
    lines = []
    for loss in losses[:MOST_WINDOWS]:
        if loss.thread is not None:
            where = _thread_name(known[loss.thread], processes)
        elif loss.reason in DAMAGE:
            where = "unidentified threads"
        else:
            where = "threads that recorded nothing"
        count = "events" if loss.count is None else counted(loss.count, "event")
        lines.append(
            f"  {count} of {where}, from {offset(loss.begin - origin)} to "
            f"{offset(loss.end - origin)}: {loss.reason}"
        )
    if len(losses) > MOST_WINDOWS:
        lines.append(f"  ... and {len(losses) - MOST_WINDOWS} more")
    return lines


def _thread_name(thread: RecordedThread, processes: Sequence[RecordedProcess]) -> str:
    name = f"thread {thread.tid}" if thread.name is None else thread.name
    if len(processes) == 1:
        return name
    process = processes[thread.process]
    rank = "" if process.rank is None else f"rank {process.rank} "
    return f"{name} of {rank}({process.pid})" if rank else f"{name} of {process.pid}"


def gap_lines(recording: OpenedFiles) -> list[str]:
    """For how long the work of GPUs is unknown, a line for each reason."""
    stretches: dict[str, list[int]] = {}
    for gap in recording.gpu_gaps:
        stretches.setdefault(gap.reason, []).append(gap.end - gap.start)
    return [
        f"GPU work unknown for {duration(sum(times))}"
        f"{f' in {len(times):,} stretches' if len(times) > 1 else ''}: {reason}"
        for reason, times in stretches.items()
    ]


def ending_lines(recording: OpenedFiles) -> list[str]:
    """The processes that did not end their recordings, where events may be missing for it.

    A process that is gone has lost none: a recorded event is in the file. What it was in when it
    was killed may have lasted longer than the file says.
    """
    lines = []
    abrupt: list[RecordedProcess] = []
    for process in recording.processes:
        if process.closed or not process.open_chunks:
            continue
        runs = is_running(process)
        if runs:
            lines.append(f"process {process.pid} still runs; its later events are not shown")
        elif runs is None or ended_in_a_range(process):
            abrupt.append(process)
    if abrupt:
        pids = [str(process.pid) for process in abrupt[:MOST_PROCESSES]]
        if len(abrupt) > MOST_PROCESSES:
            pids.append(f"{len(abrupt) - MOST_PROCESSES:,} more")
        one = len(abrupt) == 1
        lines.append(
            f"{'process' if one else 'processes'} {listing(pids)} ended abruptly; "
            f"{'its' if one else 'their'} last events "
            f"({counted(sum(process.open_chunks for process in abrupt), 'chunk')}) are unverified"
        )
    return lines
