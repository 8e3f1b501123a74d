# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and threads with their open ranges, and their names in text."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan._results.jobs import OpenDeviceRange

#: The domain and the name of a range; None: the default domain, no name.
Range = tuple["str | None", "str | None"]


@dataclass(slots=True, eq=False, kw_only=True)
class Thread:
    """A thread of a process that has, or had, an NVTX event."""

    tid: int  #: as the system knows it
    name: str  #: as the program has it
    ranges: tuple[Range, ...]  #: its open ranges, the outermost first
    depth: int  #: how many are open; more than `ranges` where only the first 128 have names
    events: int  #: how many it has had, modulo 2^43
    moved: int  #: how many it had between the samples
    unchanged: int | None  #: for how many ns at least it has had none
    changing: bool  #: it never rested during the sample: `ranges` has only those that stayed
    started: tuple[tuple[Range, int | None], ...]  #: its open spans: (range, ns since the start)
    started_beyond: int  #: how many more, which have no names here
    ended: bool  #: the thread has ended, and left such spans
    state: str | None = None  #: what the system says it does; None: not known
    busy: float | None = None  #: its share of a CPU core between the samples; None: not known

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **asdict(self),
            "ranges": [{"domain": domain, "name": name} for domain, name in self.ranges],
            "started": [
                {"domain": domain, "name": name, "since": since}
                for (domain, name), since in self.started
            ],
        }


@dataclass(eq=False, kw_only=True)
class Process:
    """A process and its last state."""

    file: str  #: its recording
    pid: int  #: as the recording has it, like rank, host and command
    rank: int | None  #: None: it has none
    host: str  #: the machine's name
    command: list[str]  #: the program and its arguments
    mode: str  #: "armed", "full", "ring" or "stats"
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
        """The open ranges of the main thread."""
        return () if self.main is None else self.main.ranges

    @property
    def moved(self) -> int:
        """How many events the main thread had between the samples."""
        return 0 if self.main is None else self.main.moved

    @property
    def unchanged(self) -> int | None:
        """For how many ns, at least, the main thread has had no event."""
        return None if self.main is None else self.main.unchanged

    @property
    def heading(self) -> str:
        """Its names and states in a line."""
        rank = "" if self.rank is None else f"rank {self.rank}, "
        return f"{rank}process {self.pid} on {self.host}: {self.state}, {self.mode}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        keys = ("file", "pid", "rank", "host", "command", "mode", "state", "lost")
        return {
            **{name: getattr(self, name) for name in keys},
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
