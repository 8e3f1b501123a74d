# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Samples processes some thousand times a second: what share of the time each is in each range."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from dataclasses import dataclass, field

from nvspan.live import process as system
from nvspan.live.judge import Verdict, Waits, judge
from nvspan.live.model import Process as Seen
from nvspan.live.model import order
from nvspan.live.states import add_state, compare, processor_times, sample_at_rest
from nvspan.live.targets import paths_of
from nvspan.live.top.shares import Branch, Tally, branches, by_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan.live.model import Range, Thread

_KEPT = 0.7  # the part of the usual share that a window leaves
_FORGOTTEN = 0.001  # a usual share below this is dropped


class Activity:
    """A process in a window of time.

    Attributes:
        process: its last state: `nvspan.live.model.Process`.
        looks: how often it was sampled.
        threads: the id and the ranges (`Branch`) of each thread.
        ranges: the `Tally` of each range in all its threads.
        events: how many its threads had.
        steps: how many steps began, and whether it may be more; None: there is no such range.
        stuck: its threads that are in a range and had no event for long.
    """

    def __init__(self, process: Seen, looks: int, taken: Sequence[Any]) -> None:
        self.process = process
        self.looks = looks
        self.threads: list[tuple[int, Branch]] = [(t, branches(nodes)) for t, _, nodes in taken]
        self.ranges: dict[Range, Tally] = by_range([root for _, root in self.threads])
        self.events = sum(thread.moved for thread in process.threads)
        self.steps: tuple[int, bool] | None = None
        self.stuck: list[Thread] = []

    def share(self, of: Range) -> float:
        """In what share of the samples it was open; two threads in it all the while make 2."""
        return self.ranges[of].looks / self.looks if of in self.ranges and self.looks else 0.0

    @property
    def main_ranges(self) -> dict[Range, Tally]:
        """As `ranges`, of the main thread alone."""
        main = self.process.main.tid if self.process.main else None
        return by_range([root for tid, root in self.threads if tid == main])

    def as_dict(self, seconds: float) -> dict[str, Any]:
        """For JSON: rates over so many seconds."""
        shares = [
            {"tid": tid, "ranges": [child.as_dict(self.looks) for child in root.children]}
            for tid, root in self.threads
        ]
        return {
            **self.process.as_dict(),
            "events_a_second": self.events / seconds,
            "steps_a_second": None if self.steps is None else self.steps[0] / seconds,
            "steps_at_least": self.steps is not None and self.steps[1],
            "stuck": [thread.tid for thread in self.stuck],
            "shares": shares,
        }


class Row:
    """A range in all processes of a window.

    Attributes:
        range: its domain and name.
        shares: of each process, in the order of `Window.activities`.
        changes: by how much each is more than was usual before; 0 in the first window.
        begun: how often it began in all of them.
        begun_at_least: it may have been more often.
    """

    def __init__(self, of: Range, activities: Sequence[Activity]) -> None:
        tallies = [each.ranges[of] for each in activities if of in each.ranges]
        self.range = of
        self.shares = [each.share(of) for each in activities]
        self.changes = [0.0] * len(activities)
        self.begun = sum(tally.begun for tally in tallies)
        self.begun_at_least = any(tally.begun_at_least for tally in tallies)

    @property
    def mean(self) -> float:
        """The mean of `shares`."""
        return sum(self.shares) / max(len(self.shares), 1)

    @property
    def change(self) -> float:
        """The largest of `changes`, up or down."""
        return max(self.changes, key=abs, default=0.0)


@dataclass
class Window:
    """What processes did in some time.

    Attributes:
        seconds: how long it was.
        looks: how often they were sampled in it.
        activities: each process, by rank, then by process id.
        verdict: as that of `nvspan.where`.
        problems: files that could not be read: (path, why).
        step: the range that counts as a step; None: none does.
        rows: each `Row`, the one with the largest share first.
    """

    seconds: float
    looks: int
    activities: list[Activity]
    verdict: Verdict
    problems: list[tuple[str, str]]
    step: Range | None = None
    rows: list[Row] = field(init=False)

    def __post_init__(self) -> None:
        ranges = dict.fromkeys(of for each in self.activities for of in each.ranges)
        self.rows = [Row(of, self.activities) for of in ranges]
        self.rows.sort(key=lambda row: (-row.mean, row.range[0] or "", row.range[1] or ""))

    def as_dict(self) -> dict[str, Any]:
        """For JSON: shares of 1, times in seconds but those of threads in ns."""
        ranges = [
            {
                **_named(row.range),
                "share": row.mean,
                "change": row.change,
                "rate": row.begun / self.seconds,
                "rate_at_least": row.begun_at_least,
                "shares": row.shares,
                "changes": row.changes,
            }
            for row in self.rows
        ]
        return {
            "seconds": self.seconds,
            "looks": self.looks,
            "step": None if self.step is None else _named(self.step),
            "verdict": self.verdict.as_dict(),
            "ranges": ranges,
            "processes": [each.as_dict(self.seconds) for each in self.activities],
            "problems": [{"file": file, "problem": why} for file, why in self.problems],
        }


def _named(of: Range) -> dict[str, Any]:
    return {"domain": of[0], "name": of[1]}


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
        self._begin(paths_of(self._targets))

    def _begin(self, paths: list[str]) -> None:
        from nvspan import _reader

        self._paths = paths
        self._files = _reader.LiveFiles([os.fsencode(path) for path in paths])
        self._headers = self._files.headers()
        named = zip(paths, self._headers, strict=True)
        self._unread = {path: _version(path) for path, header in named if isinstance(header, str)}
        self._restart()

    def _restart(self) -> None:
        self._looks = 0
        self._since = time.monotonic()
        self._first = self._files.sample()
        self._times = processor_times(self._headers, self._first)

    def watch(self, seconds: float, fd: int = -1) -> bool:
        """Samples for so long, or until `fd` can be read: then it returns True before."""
        end = time.monotonic() + seconds
        self._looks += self._files.watch(self._interval, int(seconds * 1e9), fd)
        return time.monotonic() < end

    def window(self) -> Window:
        """What was seen since the last window, or since it began."""
        boot = system.boot_id()
        last, gone = sample_at_rest(self._files, self._headers, boot)
        took = max(time.monotonic() - self._since, 1e-9)
        taken = self._files.take()
        activities: list[Activity] = []
        problems: list[tuple[str, str]] = []
        for i, path in enumerate(self._paths):
            header, found = self._headers[i], last[i]
            if isinstance(header, str) or isinstance(found, str):
                problems.append((path, header if isinstance(header, str) else str(found)))
                continue
            seen = Seen(path, header, found)
            compare(seen, self._first[i], took, frozen=header.frozen)
            add_state(seen, header, found.closed, boot, gone, self._times, took)
            activity = Activity(seen, self._looks, taken[i])
            self._find_stuck(activity, took)
            activities.append(activity)
        activities.sort(key=lambda each: order(each.process))
        verdict = judge([each.process for each in activities], self._waits, took)
        step = self._find_step(activities)
        window = Window(took, self._looks, activities, verdict, problems, step)
        self._compare(window)
        if step is not None:
            for each in activities:
                tally = each.ranges.get(step, Tally())
                each.steps = (tally.begun, tally.begun_at_least)
        self._go_on()
        return window

    def _go_on(self) -> None:
        try:
            paths = paths_of(self._targets)
        except (ValueError, OSError):  # all are gone: what they were in last stays
            paths = self._paths
        if paths == self._paths and all(_version(p) == v for p, v in self._unread.items()):
            self._restart()
        else:
            self._begin(paths)

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
                if thread.depth and thread.unchanged >= self._stuck * 1e9:
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
