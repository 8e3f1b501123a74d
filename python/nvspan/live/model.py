# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and threads with their open ranges, and their names in text."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from nvspan.recording.listing import listing, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan._results.jobs import OpenDeviceRange
    from nvspan.live.stacks import Stack

#: The domain and the name of a range; None: the default domain, no name.
Range = tuple["str | None", "str | None"]


@dataclass(slots=True, eq=False, kw_only=True)
class Thread:
    """A thread of a process that has, or had, an NVTX event, or whose lines are sampled."""

    tid: int  #: as the system knows it
    name: str  #: as the program has it
    ranges: tuple[Range, ...]  #: its open ranges, the outermost first
    depth: int  #: how many are open; more than `ranges` where only the first 128 have names
    events: int  #: how many it has had, modulo 2^43
    moved: int  #: how many it had between the samples
    unchanged: int | None  #: for how many ns it has opened and closed none
    at_least: bool  #: `unchanged` is the time between the samples: the mode has no clock
    changing: bool  #: it never rested during the sample: `ranges` has only those that stayed
    started: tuple[tuple[Range, int | None], ...]  #: its open spans: (range, ns since the start)
    started_within: tuple[int, ...]  #: how many of `ranges` are older than each of `started`
    started_beyond: int  #: how many more, which have no names here
    ended: bool  #: the thread has ended, and left such spans
    state: str | None = None  #: what the system says it does; None: not known
    busy: float | None = None  #: its share of a CPU core between the samples; None: not known
    stack: Stack | None = None  #: Python's, at the newest sample; None: its lines are not sampled

    def is_moving(self, took: float) -> bool:
        """Whether it had an event in the last `took` seconds, or, without any event, came to
        another line."""
        if self.events or self.stack is None:
            return bool(self.moved)
        return self.stack.is_current and not self.stack.stands(took)

    @property
    def path(self) -> tuple[Range, ...]:
        """Its open ranges and spans, the outermost first. Of spans within the same range only those
        of one name, once: which of several the thread works on is not known."""
        path: list[Range] = []
        for depth in range(len(self.ranges) + 1):
            spans = {span for span, within in self._spans() if within == depth}
            path += spans if len(spans) == 1 else ()
            path += self.ranges[depth : depth + 1]
        return tuple(path)

    @property
    def innermost_spans(self) -> list[Range]:
        """The open spans since whose start it has entered no range, the oldest first."""
        return [span for span, within in self._spans() if within == len(self.ranges)]

    def _spans(self) -> Iterable[tuple[Range, int]]:
        return ((s, n) for (s, _), n in zip(self.started, self.started_within, strict=True))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = [each.name for each in fields(self) if each.name != "started_within"]
        return {
            **{name: getattr(self, name) for name in names},
            "stack": None if self.stack is None else self.stack.as_dict(),
            "ranges": [{"domain": domain, "name": name} for domain, name in self.ranges],
            "started": [
                {"domain": domain, "name": name, "since": since, "within": within}
                for ((domain, name), since), within in zip(
                    self.started, self.started_within, strict=True
                )
            ],
        }


@dataclass(eq=False, kw_only=True)
class Process:
    """A process and its last state."""

    file: str  #: its recording
    pid: int  #: as the recording has it, like what follows
    parent_pid: int  #: its parent's process id
    rank: int | None  #: None: it has none
    host: str  #: the machine's name
    command: list[str]  #: the program and its arguments
    mode: str  #: "armed", "full", "ring" or "stats"
    #: Of its lines: "on", "armed": it waits for `nvspan attach --lines`, or "off": it has none.
    sampler: str
    lost: int  #: events that the file says were lost, and that no thread's part of it counts
    threads: list[Thread]  #: the main one first
    devices: list[OpenDeviceRange]  #: open device ranges, and operations of NCCL's
    stayed: list[OpenDeviceRange]  #: of `devices`, those that had this state in both samples
    #: "running", "sleeping", "stopped", "killed" (gone without an end), "ended", "ending": it went
    #: during the sample, "frozen": as it was when a bundle was written, or "elsewhere": on another
    #: machine.
    state: str = "elsewhere"
    #: The thread that the process began with, else the one with the most open ranges.
    main: Thread | None = field(init=False)

    def __post_init__(self) -> None:
        self.main = max(
            self.threads, key=lambda t: (t.tid == self.pid, t.depth, t.events), default=None
        )
        self.threads.sort(key=lambda thread: (thread is not self.main, thread.tid))

    @property
    def path(self) -> tuple[Range, ...]:
        """The open ranges and spans of the main thread: `Thread.path`."""
        return () if self.main is None else self.main.path

    @property
    def moved(self) -> int:
        """How many events the main thread had between the samples."""
        return 0 if self.main is None else self.main.moved

    def is_moving(self, took: float) -> bool:
        """Whether the main thread had an event in the last `took` seconds, or, without any event,
        came to another line."""
        return self.main is not None and self.main.is_moving(took)

    @property
    def stack(self) -> Stack | None:
        """The Python stack of the main thread."""
        return None if self.main is None else self.main.stack

    @property
    def unchanged(self) -> int | None:
        """For how many ns, at least, the main thread has had no event."""
        return None if self.main is None else self.main.unchanged

    def forget_ended(self, thread: Thread) -> None:
        """Leaves out a sampled thread that the process no longer has, and that has no ranges."""
        if thread.stack is not None and not thread.events and thread is not self.main:
            self.threads.remove(thread)

    @property
    def heading(self) -> str:
        """Its names and states in a line."""
        rank = "" if self.rank is None else f"rank {self.rank}, "
        return f"{rank}process {self.pid} on {self.host}: {self.state}, {self.mode}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        keys = ("file", "pid", "parent_pid", "rank", "host", "command", "mode", "sampler", "state")
        return {
            **{name: getattr(self, name) for name in keys},
            "lost": self.lost,
            "devices": [device.as_dict() for device in self.devices],
            "threads": [thread.as_dict() for thread in self.threads],
        }


def label(of: Range) -> str:
    """A range as it is written: ``domain:name``; of the default domain its name alone."""
    domain, name = of
    text = "(no name)" if name is None else name
    return text if domain is None else f"{domain}:{text}"


def path_text(path: Iterable[Range]) -> str:
    """Ranges within one another."""
    return " > ".join(map(label, path)) or "no range"


def members(processes: Sequence[Process]) -> list[Process]:
    """The processes that meet in a job's collectives: of a job with ranks neither its launcher nor
    children of a rank, such as a loader's workers."""
    ranks = {(process.host, process.pid): process.rank for process in processes}
    found = [
        process
        for process in processes
        if process.rank is not None
        and ranks.get((process.host, process.parent_pid)) != process.rank
    ]
    return found if len(found) > 1 else list(processes)


def has_ranks(processes: Sequence[Process]) -> bool:
    """Whether ranks tell them apart."""
    ranks = {process.rank for process in processes}
    return None not in ranks and len(ranks) == len(processes)


def names(processes: Sequence[Process], most: int = 8) -> str:
    """Processes by their ranks, or by their process ids where they have none."""
    one = len(processes) == 1
    if has_ranks(processes):
        ranks = runs(process.rank for process in processes if process.rank is not None)
        return f"{'rank' if one else 'ranks'} {listing(ranks)}"
    pids = [str(process.pid) for process in processes[:most]]
    if len(processes) > most:
        pids.append(f"{len(processes) - most:,} more")
    return f"{'process' if one else 'processes'} {listing(pids)}"
