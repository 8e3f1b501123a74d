# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the ranges of recordings come to: calls, time, histograms, marks, and what was lost.

The figures of a recording only grow while its process runs, so that a tool which compares two
readings sees what happened in between. In a ring the events of earlier readings are overwritten:
there each reading adds what is new.
"""

from __future__ import annotations

import copy
import os

from nvspan import _reader
from nvspan.watch.ring import RingTally
from nvspan.watch.sources import Sources
from nvspan.watch.tally import Tally, summary_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan._results import RecordedProcess
    from nvspan._results.jobs import LiveSample


class FileFigures:
    """The figures of one recording, or of those that one process made one after the other.

    Attributes:
        path: the file; the first, where there are several.
        files: the path and mode of each.
        host, pid, rank: of its process; `rank` None: it has none.
        tally: its ranges and marks: a `Tally`.
        events: how many NVTX events it had, also where none are kept; None: it does not say.
        open: how many ranges are open now, by domain and name; in a process that is dead, were.
    """

    def __init__(self, path: str, process: RecordedProcess, tally: Tally) -> None:
        self.path = path
        self.files: list[tuple[str, str]] = [(path, process.mode)]
        self.host = process.host
        self.pid = process.pid
        self.rank = process.rank
        self.tally = tally
        self.events: int | None = None
        self.open: dict[tuple[str | None, str | None], int] = {}


class Watch:
    """Reads recordings again and again.

    Args:
        targets: process ids; recordings; folders of them; patterns. None: this process.
        match: patterns of the ranges and marks that count, each of a name or "domain:name".

    One thread at a time may use it.
    """

    def __init__(self, targets: Sequence[Any] = (), match: Iterable[str] | None = None) -> None:
        if isinstance(match, str):
            raise TypeError("match must be a list of patterns, not one pattern")
        self._sources = Sources(targets)
        self.match = None if match is None else tuple(match)
        self._kept: dict[str, tuple[tuple[str, int, int], RingTally, Tally]] = {}
        self._ended: dict[str, tuple[tuple[int, int], FileFigures]] = {}
        #: Why targets stand for no file and files could not be read, at the last reading.
        self.problems: list[str] = []

    def read(self) -> list[FileFigures]:
        """The figures of each process whose recordings can be read now."""
        paths, self.problems = self._sources.paths()
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
            reading.add(summary_of(part))
            grown.grow(reading)
            tally = grown
        figures = FileFigures(path, process, tally)
        if process.closed:
            self._ended[path] = (identity, figures)
        return figures


def _identity(process: RecordedProcess) -> tuple[str, int, int]:
    """What a recording has for itself among those that had its path."""
    return process.boot_id, process.pid, process.start


def _by_process(found: list[FileFigures]) -> list[FileFigures]:
    """One for each process: metrics have no other label that tells its recordings apart."""
    processes: dict[tuple[str, int, int | None], list[FileFigures]] = {}
    for figures in found:
        processes.setdefault((figures.host, figures.pid, figures.rank), []).append(figures)
    return [of[0] if len(of) == 1 else _joined(of) for of in processes.values()]


def _joined(recordings: list[FileFigures]) -> FileFigures:
    whole = copy.copy(recordings[0])
    whole.tally = Tally()
    whole.open = {}
    known = [of.events for of in recordings if of.events is not None]
    whole.events = sum(known) if known else None
    whole.files = [file for of in recordings for file in of.files]
    for of in recordings:
        whole.tally.merge(of.tally)
        for name, count in of.open.items():
            whole.open[name] = whole.open.get(name, 0) + count
    return whole


def _live(paths: list[str]) -> dict[str, LiveSample]:
    samples = _reader.LiveFiles([os.fsencode(path) for path in paths]).sample()
    return {
        path: sample
        for path, sample in zip(paths, samples, strict=True)
        if not isinstance(sample, str)
    }


def _open(sample: LiveSample) -> dict[tuple[str | None, str | None], int]:
    counts: dict[tuple[str | None, str | None], int] = {}
    for thread in sample.threads:
        for of in [*thread.open, *(of for of, _ in thread.started)]:
            counts[of] = counts.get(of, 0) + 1
    return counts
