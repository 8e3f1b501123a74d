# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at the files of processes, twice, and puts together what they say with what /proc says."""

from __future__ import annotations

import os
import time

from nvspan.live import process as system
from nvspan.live.judge import Verdict, Waits, judge
from nvspan.live.model import Process, order
from nvspan.live.states import add_state, compare, processor_times, sample_at_rest
from nvspan.live.targets import paths_of
from nvspan.live.tree import Node, grow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_MOST_PROCESSES = 16  # of which each thread is shown


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
        self,
        processes: list[Process],
        verdict: Verdict,
        problems: list[tuple[str, str]],
        interval: float,
    ) -> None:
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
        from nvspan.live.text import process_lines, tree_lines

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
        lines += [f"{file}: {why}" for file, why in self.problems]
        return "\n".join(lines).rstrip()


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
        compare(process, before, took, frozen=header.frozen)
        add_state(process, header, found.closed, boot, gone, times, took)
        processes.append(process)
    processes.sort(key=order)
    verdict = judge(processes, Waits(waits), took)
    return Look(processes, verdict, problems, took)
