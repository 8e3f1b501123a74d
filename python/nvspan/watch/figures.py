# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Range statistics of processes, from recordings that are read again and again.

The figures of a recording only grow while its process runs, so that a tool which compares two
readings sees what happened in between. In a ring the events of earlier readings are overwritten:
there each reading adds what is new.
"""

from __future__ import annotations

import copy
import os
from collections import Counter

from nvspan import _reader
from nvspan.live.process import paths_of, recordings_of
from nvspan.watch.ring import RingTally
from nvspan.watch.tally import Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan._results import RecordedProcess
    from nvspan._results.jobs import LiveSample
    from nvspan.watch.tally import Name


class FileFigures:
    """The figures of one recording, or of those that one process made one after the other.

    Attributes:
        path: the file; the first, where there are several.
        files: the path and mode of each.
        host, pid, rank: of its process; `rank` is None where it has none.
        tally: its ranges and marks.
        events: how many NVTX events it had, also where none are kept; None: unknown.
        open: how many ranges are open now, or were when the process died, by domain and name.
    """

    def __init__(self, path: str, process: RecordedProcess, tally: Tally) -> None:
        self.path = path
        self.files: list[tuple[str, str]] = [(path, process.mode)]
        self.host = process.host
        self.pid = process.pid
        self.rank = process.rank
        self.tally = tally
        self.events: int | None = None
        self.open: Counter[Name] = Counter()


class Watch:
    """Reads recordings again and again.

    Args:
        targets: process ids; recordings; folders of them; patterns. None: this process. They are
            looked up at each reading, so that the files of new processes are found.
        match: patterns of the ranges and marks that count, each of a name or "domain:name".

    One thread at a time may use it.
    """

    def __init__(self, targets: Sequence[Any] = (), match: Iterable[str] | None = None) -> None:
        if isinstance(match, str):
            raise TypeError("match must be a list of patterns, not one pattern")
        for target in targets:
            if isinstance(target, bool) or not isinstance(target, (int, str, os.PathLike)):
                raise TypeError(f"a target must be a process id or a path, not {target!r}")
        self._targets = tuple(targets)
        self.match = None if match is None else tuple(match)
        self._kept: dict[str, tuple[tuple[str, int, int], RingTally, Tally]] = {}
        self._ended: dict[str, tuple[tuple[int, int], FileFigures]] = {}
        #: Why targets have no file and files could not be read, at the last reading.
        self.problems: list[str] = []

    def read(self) -> list[FileFigures]:
        """The figures of each process whose recordings can be read now."""
        self.problems = []
        paths = self._paths()
        samples = _live(paths)
        found = []
        for path in paths:
            try:
                figures = self._figures(path)
            except (OSError, ValueError) as error:
                self.problems.append(str(error))
                continue
            sample = samples.get(path)
            if sample is not None:
                figures.events = sum(thread.events for thread in sample.threads)
                figures.open = _open(sample)
            found.append(figures)
        return _by_process(found)

    def _paths(self) -> list[str]:
        """The files that the targets have now."""
        found: dict[str, None] = {}
        for target in self._targets or (os.getpid(),):
            try:
                paths = recordings_of(target) if isinstance(target, int) else paths_of([target])
            except (ValueError, OSError) as error:
                self.problems.append(str(error))
                continue
            for path in paths:
                if os.path.exists(path):
                    found[path] = None
                else:
                    self.problems.append(f"{path}: there is no such file")
        return _without_copies(list(found))

    def _figures(self, path: str) -> FileFigures:
        status = os.stat(path)
        identity = (status.st_mtime_ns, status.st_size)
        known = self._ended.get(path)
        if known is not None:
            if known[0] == identity:
                return known[1]
            # What was closed does not change: another recording has taken the path.
            del self._ended[path], self._kept[path]
        whose, ring, grown = self._kept.get(path) or (None, RingTally(), Tally())
        recording, read_at, newest = ring.read(path)
        process = recording.processes[0]
        if whose is not None and whose != _identity(process):
            ring, grown = RingTally(), Tally()
            recording, read_at, newest = ring.read(path)
            process = recording.processes[0]
        self._kept[path] = (_identity(process), ring, grown)
        if process.mode == "ring":
            tally = ring.add(recording, self.match, read_at, newest)
        else:
            part = recording if self.match is None else recording.filter(match=self.match)
            reading = Tally()
            reading.add(part)
            grown.grow(reading)
            tally = grown
        figures = FileFigures(path, process, tally)
        if process.closed:
            self._ended[path] = (identity, figures)
        return figures


def _identity(process: RecordedProcess) -> tuple[str, int, int]:
    """What tells a recording from others that had its path."""
    return process.boot_id, process.pid, process.start


def _without_copies(paths: list[str]) -> list[str]:
    """Without the frozen copies in bundles of processes whose own recordings are there as well; of
    several copies the last."""
    headers = _reader.LiveFiles([os.fsencode(path) for path in paths]).headers()
    own: set[tuple[str, int]] = set()
    copies: dict[tuple[str, int], str] = {}
    for path, header in zip(paths, headers, strict=True):
        if isinstance(header, str):
            continue
        process = (header.boot_id, header.pid)
        if header.frozen:
            copies[process] = path
        else:
            own.add(process)
    kept = {path for process, path in copies.items() if process not in own}
    return [
        path
        for path, header in zip(paths, headers, strict=True)
        if isinstance(header, str) or not header.frozen or path in kept
    ]


def _by_process(found: list[FileFigures]) -> list[FileFigures]:
    """One for each process: metrics have no other label that tells its recordings apart."""
    processes: dict[tuple[str, int, int | None], list[FileFigures]] = {}
    for figures in found:
        processes.setdefault((figures.host, figures.pid, figures.rank), []).append(figures)
    return [files[0] if len(files) == 1 else _joined(files) for files in processes.values()]


def _joined(recordings: list[FileFigures]) -> FileFigures:
    joined = copy.copy(recordings[0])
    joined.tally, joined.open = Tally(), Counter()
    counts = [figures.events for figures in recordings if figures.events is not None]
    joined.events = sum(counts) if counts else None
    joined.files = [file for figures in recordings for file in figures.files]
    for figures in recordings:
        joined.tally.merge(figures.tally)
        joined.open.update(figures.open)
    return joined


def _live(paths: list[str]) -> dict[str, LiveSample]:
    samples = _reader.LiveFiles([os.fsencode(path) for path in paths]).sample()
    return {
        path: sample
        for path, sample in zip(paths, samples, strict=True)
        if not isinstance(sample, str)
    }


def _open(sample: LiveSample) -> Counter[Name]:
    counts: Counter[Name] = Counter()
    for thread in sample.threads:
        counts.update(thread.open)
        counts.update(name for name, _ in thread.started)
    return counts
