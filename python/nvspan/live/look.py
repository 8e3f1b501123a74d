# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at the files of processes, twice, and puts together what they say with what /proc says."""

from __future__ import annotations

import os
import time

from nvspan.live import process as system
from nvspan.live.judge import Verdict, Waits, judge
from nvspan.live.states import add_state, compare, processor_times, sample_at_rest
from nvspan.live.targets import paths_of
from nvspan.live.tree import Node, grow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

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
        "busy", "changing", "depth", "ended", "events", "moved", "name", "ranges", "started",
        "started_beyond", "state", "tid", "unchanged",
    )  # fmt: skip

    def __init__(self, found: dict[str, Any]) -> None:
        self.tid: int = found["tid"]
        self.name: str = found["name"]
        self.ranges: tuple[Range, ...] = found["open"]
        self.depth: int = found["depth"]
        self.events: int = found["events"]
        self.moved = 0
        self.unchanged: int | None = found["changed"]
        self.changing: bool = found["changing"]
        self.started: tuple[tuple[Range, int | None], ...] = found["started"]
        self.started_beyond: int = found["started_beyond"]
        self.ended: bool = found["ended"]
        self.state: str | None = None
        self.busy: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **{name: getattr(self, name) for name in self.__slots__},
            "ranges": [{"domain": domain, "name": name} for domain, name in self.ranges],
            "started": [{"domain": of[0], "name": of[1], "since": since}
                        for of, since in self.started],
        }  # fmt: skip


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
        devices: open device ranges as dicts: domain, name, state, device, stream, tid, since. Of
            NCCL's operations, in place of the stream, `communicator`, its id; the operation's
            `number`, and which `rank` of how many `ranks` of the communicator this is, counted from
            0. Of other ranges these are None.
        stayed: of `devices`, those that had this state at both looks.
    """

    def __init__(self, file: str, header: dict[str, Any], sample: dict[str, Any]) -> None:
        self.file = file
        self.pid: int = header["pid"]
        self.rank: int | None = header["rank"]
        self.host: str = header["host"]
        self.command: list[str] = header["command"]
        self.mode: str = sample["mode"]
        self.devices: list[dict[str, Any]] = sample["devices"]
        for device in self.devices:  # NCCL's profiler plugin has no streams
            of_nccl = device["domain"] == "NCCL"
            device["communicator"] = device["stream"] if of_nccl else None
            device["stream"] = None if of_nccl else device["stream"]
            if not device["ranks"]:
                device.update(number=None, rank=None, ranks=None)
        self.stayed: list[dict[str, Any]] = []
        self.lost: int = sample["lost"]
        self.threads = [Thread(found) for found in sample["threads"]]
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
        keys = ("file", "pid", "rank", "host", "command", "mode", "state", "lost", "devices")
        return {**{name: getattr(self, name) for name in keys},
                "threads": [thread.as_dict() for thread in self.threads]}  # fmt: skip


class Look:
    """What processes were in. As text, it is what ``nvspan where`` prints.

    Attributes:
        processes: each `Process`, by rank, then by process id.
        verdict: which of them the others wait for: `Verdict`.
        tree: a `Node` for the threads of each name: their ranges as a tree of prefixes.
        problems: files that could not be read: (path, why).
        interval: seconds between the first look and the last.
    """

    def __init__(
        self, processes: list[Process], verdict: Verdict, problems: list[tuple[str, str]],
        interval: float,
    ) -> None:  # fmt: skip
        self.processes = processes
        self.verdict = verdict
        self.problems = problems
        self.interval = interval

    @property
    def tree(self) -> list[Node]:
        return grow(self.processes)

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
        from nvspan.live.text import shown

        return shown(self)


def look(
    targets: Sequence[Any], interval: float = 0.2, samples: int = 2, waits: Iterable[str] = ()
) -> Look:
    """As `nvspan.where`."""
    if not interval >= 0:
        raise ValueError(f"interval must be 0 or more seconds, not {interval!r}")
    if samples < 1:
        raise ValueError(f"samples must be 1 or more, not {samples!r}")
    from nvspan import _reader

    paths = paths_of(targets)
    files = _reader.LiveFiles([os.fsencode(path) for path in paths])
    headers = files.headers()
    begun = time.monotonic()
    boot = system.boot_id()
    first = files.sample() if samples > 1 else []
    times = processor_times(headers, first) if samples > 1 else {}
    time.sleep(interval * (samples - 1))
    last, gone = sample_at_rest(files, headers, boot)
    first = first or last
    took = time.monotonic() - begun if samples > 1 else 0.0
    processes: list[Process] = []
    problems: list[tuple[str, str]] = []
    for i, (path, header) in enumerate(zip(paths, headers, strict=True)):
        before, found = first[i], last[i]
        if isinstance(header, str):
            problems.append((path, header))
            continue
        if isinstance(found, str):
            problems.append((path, found))
            continue
        process = Process(path, header, found)
        compare(process, before, took, frozen=header["frozen"])
        add_state(process, header, found["closed"], boot, gone, times, took)
        processes.append(process)
    processes.sort(key=order)
    verdict = judge(processes, Waits(waits), took)
    return Look(processes, verdict, problems, took)


def order(process: Process) -> tuple[Any, ...]:
    """What processes are sorted by: their ranks, then their ids."""
    return process.rank is None, process.rank or 0, process.host, process.pid
