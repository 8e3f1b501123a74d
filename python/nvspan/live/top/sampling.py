# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of open ranges, a thousand a second, and the share of time in which each was open."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from dataclasses import dataclass, field

from nvspan.live.judge import Waits
from nvspan.live.process import paths_of
from nvspan.live.samples import Samples
from nvspan.live.snapshot import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from nvspan.live.model import Process, Range, Thread

_MIN_SAMPLES = 3  # in fewer, others of the range's name may have come and gone between two samples
_KEPT = 0.7  # the part of the usual share that a window leaves
_FORGOTTEN = 0.001  # a usual share below this is dropped
_SPAN_DEPTH = 1 << 20  # deeper than any nested range: a step is one of those if it can be


@dataclass
class Tally:
    """The samples of a range: on one path of a thread, or wherever it was open."""

    range: Range
    samples: int = 0  #: the samples in which it was open, once for each thread
    begun: int = 0  #: how often it was seen to begin
    innermost: int = 0  #: the samples in which no range was within it; of a path alone
    depth: int = 1 << 30  #: how many ranges are around it, at least
    children: list[Tally] = field(default_factory=list)  #: of a path: the most samples first

    @property
    def begun_at_least(self) -> bool:
        """It may have begun more often: it was open too briefly to be seen each time."""
        return self.begun > 0 and self.samples < _MIN_SAMPLES * self.begun

    def as_dict(self, samples: int) -> dict[str, Any]:
        """For JSON: shares of `samples`."""
        return {
            **_named(self.range),
            "share": self.samples / samples,
            "innermost": self.innermost / samples,
            "begun": self.begun,
            "children": [child.as_dict(samples) for child in self.children],
        }

    def walk(self) -> Iterator[Tally]:
        """All paths within it, each before its children."""
        for child in self.children:
            yield child
            yield from child.walk()


def _named(of: Range) -> dict[str, Any]:
    return {"domain": of[0], "name": of[1]}


def _paths(nodes: Sequence[tuple[int, Range, int, int]]) -> Tally:
    """The root of a thread's ranges, of what `LiveFiles.take` has of it: the index of the parent,
    which comes before, the range, the samples in which it was the innermost one, the starts."""
    found = [Tally((None, None), depth=-1)]
    for parent, of, samples, begun in nodes[1:]:
        found.append(Tally(of, samples, begun, samples, found[parent].depth + 1))
    for (parent, *_), tally in reversed(list(zip(nodes, found, strict=True))[1:]):
        tally.children.sort(key=lambda child: -child.samples)
        found[parent].samples += tally.samples
        found[parent].children.append(tally)
    found[0].children.sort(key=lambda child: -child.samples)
    return found[0]


def _by_range(threads: Iterable[SampledThread]) -> dict[Range, Tally]:
    """The tally of each range, wherever it was open; a range within one of its name counts once."""
    found: dict[Range, Tally] = {}

    def add(outer: Tally, around: tuple[Range, ...]) -> None:
        for child in outer.children:
            tally = found.setdefault(child.range, Tally(child.range))
            tally.depth = min(tally.depth, child.depth)
            if child.range not in around:
                tally.samples += child.samples
                tally.begun += child.begun
            add(child, (*around, child.range))

    for thread in threads:
        add(thread.root, ())
        for span in thread.spans:
            tally = found.setdefault(span.range, Tally(span.range, depth=_SPAN_DEPTH))
            tally.samples += span.samples
            tally.begun += span.begun
    return found


class SampledThread:
    """What was seen of a thread in a window of time.

    Attributes:
        tid: its id.
        root: the paths of its nested ranges.
        spans: the `Tally` of its spans of each name; the samples in which one at least was open.
    """

    def __init__(self, tid: int, nodes: Sequence[Any], spans: Sequence[Any]) -> None:
        self.tid = tid
        self.root = _paths(nodes)
        self.spans = [
            Tally(span, depth=_SPAN_DEPTH, samples=samples, begun=begun)
            for span, samples, begun in spans
        ]

    def as_dict(self, samples: int) -> dict[str, Any]:
        """For JSON: shares of `samples`."""
        return {
            "tid": self.tid,
            "ranges": [child.as_dict(samples) for child in self.root.children],
            "spans": [span.as_dict(samples) for span in self.spans],
        }


class Activity:
    """A process in a window of time.

    Attributes:
        process: its last state: `nvspan.live.model.Process`.
        samples: how often it was sampled.
        threads: its threads.
        ranges: the `Tally` of each range in all its threads.
        events: how many its threads had.
        steps: how many steps began, and whether it may be more; None: there is no such range.
        stuck: its threads that are in a range and had no event for long.
    """

    def __init__(self, process: Process, samples: int, taken: Sequence[Any]) -> None:
        self.process = process
        self.samples = samples
        self.threads = [SampledThread(tid, nodes, spans) for tid, _, nodes, spans in taken]
        self.ranges = _by_range(self.threads)
        self.events = sum(thread.moved for thread in process.threads)
        self.steps: tuple[int, bool] | None = None
        self.stuck: list[Thread] = []

    def share(self, of: Range) -> float:
        """In what share of the samples it was open; two threads in it all the while make 2."""
        return self.ranges[of].samples / self.samples if of in self.ranges and self.samples else 0.0

    @property
    def main_ranges(self) -> dict[Range, Tally]:
        """As `ranges`, of the main thread alone."""
        main = self.process.main.tid if self.process.main else None
        return _by_range(thread for thread in self.threads if thread.tid == main)

    def as_dict(self, seconds: float) -> dict[str, Any]:
        """For JSON: rates over so many seconds."""
        return {
            **self.process.as_dict(),
            "events_a_second": self.events / seconds,
            "steps_a_second": None if self.steps is None else self.steps[0] / seconds,
            "steps_at_least": self.steps is not None and self.steps[1],
            "stuck": [thread.tid for thread in self.stuck],
            "shares": [thread.as_dict(self.samples) for thread in self.threads],
        }


class Row:
    """A range in all processes of a window.

    Attributes:
        range: its domain and name.
        shares: of each process, in the order of `Window.activities`.
        mean: the mean of `shares`.
        changes: by how much each is more than was usual before; 0 in the first window.
        begun: how often it began in all of them.
        begun_at_least: it may have been more often.
    """

    def __init__(self, of: Range, activities: Sequence[Activity]) -> None:
        tallies = [each.ranges[of] for each in activities if of in each.ranges]
        self.range = of
        self.shares = [each.share(of) for each in activities]
        self.mean = sum(self.shares) / len(self.shares)
        self.changes = [0.0] * len(activities)
        self.begun = sum(tally.begun for tally in tallies)
        self.begun_at_least = any(tally.begun_at_least for tally in tallies)

    @property
    def change(self) -> float:
        """The largest of `changes`, up or down."""
        return max(self.changes, key=abs, default=0.0)

    def as_dict(self, seconds: float) -> dict[str, Any]:
        """For JSON: the rate over so many seconds."""
        return {
            **_named(self.range),
            "share": self.mean,
            "change": self.change,
            "rate": self.begun / seconds,
            "rate_at_least": self.begun_at_least,
            "shares": self.shares,
            "changes": self.changes,
        }


@dataclass(eq=False)
class Window(Snapshot):
    """What processes did in the `interval` between two samples."""

    samples: int  #: how often they were sampled in it
    activities: list[Activity]  #: each process, in the order of `processes`
    step: Range | None  #: the range that counts as a step; None: none does
    rows: list[Row] = field(init=False)  #: the one with the largest share first

    def __post_init__(self) -> None:
        ranges = dict.fromkeys(of for each in self.activities for of in each.ranges)
        self.rows = [Row(of, self.activities) for of in ranges]
        self.rows.sort(key=lambda row: (-row.mean, row.range[0] or "", row.range[1] or ""))

    def as_dict(self) -> dict[str, Any]:
        """For JSON: shares of 1, times in seconds but those of threads in ns."""
        return {
            "seconds": self.interval,
            "looks": self.samples,
            "step": None if self.step is None else _named(self.step),
            "verdict": self.verdict.as_dict(),
            "ranges": [row.as_dict(self.interval) for row in self.rows],
            "processes": [each.as_dict(self.interval) for each in self.activities],
            "problems": [{"file": file, "problem": why} for file, why in self.problems],
        }


def _version(path: str) -> tuple[int, int] | None:
    """What tells whether a file has changed; None: there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


class Sampler:
    """Samples the processes that `targets` name; new files of a pattern join in.

    Args:
        targets: as of `nvspan.where`.
        rate: samples a second.
        waits: as of `nvspan.where`.
        step: the name of the range that is a step; None: the outermost one that began again.
        stuck: after how many seconds without an event a thread in a range is stuck.

    Raises:
        ValueError, ProcessLookupError: as `nvspan.where`.
    """

    def __init__(
        self,
        targets: Sequence[Any],
        rate: float = 1000.0,
        waits: Iterable[str] = (),
        step: str | None = None,
        stuck: float = 5.0,
    ) -> None:
        if not 0 < rate <= 100_000:
            raise ValueError(f"rate must be above 0 and at most 100000, not {rate!r}")
        self._targets = list(targets)
        self._interval = int(1e9 / rate)
        self._waits = Waits(waits)
        self._step_name = step
        self._stuck = stuck
        self._usual: dict[tuple[str, Range], float] | None = None  # None in the first window
        self._begun: dict[Range, list[int]] = defaultdict(lambda: [1 << 30, 0])  # depth, how often
        self._events: dict[tuple[str, int], tuple[int, float]] = {}
        self._open(paths_of(self._targets))

    def _open(self, paths: list[str]) -> None:
        self._samples = Samples(paths)
        named = zip(paths, self._samples.headers, strict=True)
        self._unread = {path: _version(path) for path, header in named if isinstance(header, str)}
        self._restart()

    def _restart(self) -> None:
        self._taken = 0
        self._samples.start()

    def watch(self, seconds: float, fd: int = -1) -> bool:
        """Samples for so long, or until `fd` can be read: then it returns True before."""
        end = time.monotonic() + seconds
        self._taken += self._samples.files.watch(self._interval, int(seconds * 1e9), fd)
        return time.monotonic() < end

    def window(self) -> Window:
        """What was seen since the last window, or since it began."""
        snapshot = self._samples.snapshot(self._waits)
        taken = dict(zip(self._samples.paths, self._samples.files.take(), strict=True))
        activities = [Activity(of, self._taken, taken[of.file]) for of in snapshot.processes]
        step = self._find_step(activities)
        window = Window(**vars(snapshot), samples=self._taken, activities=activities, step=step)
        self._compare(window)
        for each in activities:
            self._find_stuck(each, snapshot.interval)
            if step is not None:
                tally = each.ranges.get(step, Tally(step))
                each.steps = (tally.begun, tally.begun_at_least)
        self._go_on()
        return window

    def _go_on(self) -> None:
        paths = self._samples.paths
        try:
            paths = paths_of(self._targets)
        except (ValueError, OSError):  # all are gone: what they were in last stays
            pass
        same = all(_version(path) == version for path, version in self._unread.items())
        if paths == self._samples.paths and same:
            self._restart()
        else:
            self._open(paths)

    def _find_stuck(self, activity: Activity, took: float) -> None:
        now = time.monotonic()
        process = activity.process
        for thread in process.threads if process.state not in ("ended", "killed") else ():
            key = (process.file, thread.tid)
            events, since = self._events.get(key, (thread.events - thread.moved, now - took))
            if events != thread.events:
                since = now
            self._events[key] = (thread.events, since)
            if not thread.moved:
                thread.unchanged = max(int((now - since) * 1e9), thread.unchanged or 0)
                thread.at_least = True
                if thread.path and not thread.ended and thread.unchanged >= self._stuck * 1e9:
                    activity.stuck.append(thread)

    def _compare(self, window: Window) -> None:
        """How the shares differ from the usual ones, which follow them slowly."""
        usual, seen = self._usual, {}
        for row in window.rows:
            for i, (each, share) in enumerate(zip(window.activities, row.shares, strict=True)):
                key = (each.process.file, row.range)
                before = share if usual is None else usual.pop(key, 0.0)
                row.changes[i] = share - before
                seen[key] = _KEPT * before + (1 - _KEPT) * share
        fading = {key: share * _KEPT for key, share in (usual or {}).items()}
        self._usual = seen | {k: share for k, share in fading.items() if share >= _FORGOTTEN}

    def _find_step(self, activities: Sequence[Activity]) -> Range | None:
        if self._step_name is not None:
            ranges = (of for each in activities for of in each.ranges)
            wanted = (of for of in ranges if self._step_name in (of[1], f"{of[0]}:{of[1]}"))
            return next(wanted, None)
        for each in activities:
            for of, tally in each.main_ranges.items():
                depth, begun = self._begun[of]
                self._begun[of] = [min(depth, tally.depth), begun + tally.begun]
        often = [of for of, (_, begun) in self._begun.items() if begun >= 2 * len(activities)]
        return min(often, key=lambda of: (self._begun[of][0], -self._begun[of][1]), default=None)
