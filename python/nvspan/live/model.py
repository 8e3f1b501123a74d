# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and threads with their open ranges, as recordings have them, and their names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan._results.jobs import LiveHeader, LiveSample, LiveThread, OpenDeviceRange

#: The domain and the name of a range; None: the default domain, no name.
Range = tuple["str | None", "str | None"]


class Thread:
    """A thread of a process that has, or had, an NVTX event.

    Attributes:
        tid, name: as the program and the system know it.
        ranges: its open ranges, the outermost first: tuples of domain and name.
        depth: how many are open; more than `ranges` where only the first 128 have names.
        events: how many it has had; it is of use for comparing two looks.
        moved: how many it had between the first look and the last.
        unchanged: for how many ns at least it has had none, by its clock or by the looks.
        changing: it never rested while it was looked at: `ranges` has only those that stayed.
        started: the ranges of `start_range` that it began and nobody has ended: (range, ns since).
        started_beyond: how many more, which have no names here.
        ended: the thread has ended, and left such ranges.
        state: what the system says it does; None: not known.
        busy: the share of a processor that it had between the looks; None: not known.
    """

    __slots__ = (
        "busy",
        "changing",
        "depth",
        "ended",
        "events",
        "moved",
        "name",
        "ranges",
        "started",
        "started_beyond",
        "state",
        "tid",
        "unchanged",
    )

    def __init__(self, found: LiveThread) -> None:
        self.tid = found.tid
        self.name = found.name
        self.ranges = found.open
        self.depth = found.depth
        self.events = found.events
        self.moved = 0
        self.unchanged = found.changed
        self.changing = found.changing
        self.started = found.started
        self.started_beyond = found.started_beyond
        self.ended = found.ended
        self.state: str | None = None
        self.busy: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **{name: getattr(self, name) for name in self.__slots__},
            "ranges": [{"domain": domain, "name": name} for domain, name in self.ranges],
            "started": [
                {"domain": of[0], "name": of[1], "since": since} for of, since in self.started
            ],
        }


class Process:
    """A process and its last state.

    Attributes:
        file: its recording.
        pid, rank, host, command: as the recording has them; `rank` None: it has none.
        mode: "armed", "full", "ring" or "stats".
        lost: how many events the file says were lost, of those that no thread's part of it counts.
        state: "running", "sleeping", "stopped", "killed" (gone without an end), "ended",
            "ending": it went while it was looked at, "frozen": as it was when a bundle was written,
            or "elsewhere": on another machine.
        threads: each `Thread`, the main one first.
        main: the one that the process began with, else the one with the most open ranges.
        devices: an `OpenDeviceRange` for each open device range and operation of NCCL's, whose
            fields may be read by key as well.
        stayed: of `devices`, those that had this state at both looks.
    """

    def __init__(self, file: str, header: LiveHeader, sample: LiveSample) -> None:
        self.file = file
        self.pid = header.pid
        self.rank = header.rank
        self.host = header.host
        self.command = header.command
        self.mode = sample.mode
        self.devices = sample.devices
        self.stayed: list[OpenDeviceRange] = []
        self.lost = sample.lost
        self.threads = [Thread(found) for found in sample.threads]
        self.main: Thread | None = max(
            self.threads, key=lambda t: (t.tid == self.pid, t.depth, t.events), default=None
        )
        self.threads.sort(key=lambda thread: (thread is not self.main, thread.tid))
        self.state = "elsewhere"

    @property
    def path(self) -> tuple[Range, ...]:
        """The open ranges of the main thread."""
        return () if self.main is None else self.main.ranges

    @property
    def moved(self) -> int:
        """How many events the main thread had between the looks."""
        return 0 if self.main is None else self.main.moved

    @property
    def unchanged(self) -> int | None:
        """For how many ns, at least, the main thread has had no event."""
        return None if self.main is None else self.main.unchanged

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        keys = ("file", "pid", "rank", "host", "command", "mode", "state", "lost")
        return {
            **{name: getattr(self, name) for name in keys},
            "devices": [device.as_dict() for device in self.devices],
            "threads": [thread.as_dict() for thread in self.threads],
        }


def order(process: Process) -> tuple[Any, ...]:
    """What processes are sorted by: their ranks, then their ids."""
    return process.rank is None, process.rank or 0, process.host, process.pid


def label(of: Range) -> str:
    """A range as it is written: ``domain:name``; of the default domain its name alone."""
    domain, name = of
    text = "(no name)" if name is None else name
    return text if domain is None else f"{domain}:{text}"


def path_text(path: Iterable[Range]) -> str:
    """Ranges within one another."""
    return " > ".join(map(label, path)) or "no range"


def numbers(of: Iterable[int]) -> str:
    """Numbers as they are written: ``0-2,4``."""
    runs: list[list[int]] = []
    for number in sorted(set(of)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def names(processes: Sequence[Process], most: int = 8) -> str:
    """Processes by their ranks, or by their process ids where they have none."""
    ranks = [process.rank for process in processes if process.rank is not None]
    if len(ranks) == len(processes) == len(set(ranks)) and ranks:
        return f"{'rank' if len(ranks) == 1 else 'ranks'} {numbers(ranks)}"
    shown = ",".join(str(process.pid) for process in processes[:most])
    more = f" and {len(processes) - most:,} more" if len(processes) > most else ""
    return f"{'process' if len(processes) == 1 else 'processes'} {shown}{more}"
