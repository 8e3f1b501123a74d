# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at processes some thousand times a second: what share of the time each is in each range."""

from __future__ import annotations

import os
import time

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

_USUAL = 0.7  # of what was usual, the part that stays usual after a window
_CHANGED = 0.1  # a share that differs by so much from the usual one has changed


class Activity:
    """A process in a window of time.

    Attributes:
        process: its last state: `nvspan.live.model.Process`.
        looks: how often it was looked at.
        threads: of each thread that was looked at its id and its ranges: `Branch`.
        ranges: what was found of each range in all its threads: `Tally`.
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
        self._main = [
            root for tid, root in self.threads if process.main and tid == process.main.tid
        ]

    def share(self, of: Range) -> float:
        """In what share of the looks it was open; two threads in it all the while make 2."""
        tally = self.ranges.get(of)
        return tally.looks / self.looks if tally is not None and self.looks else 0.0

    @property
    def main_ranges(self) -> dict[Range, Tally]:
        """As `ranges`, of the main thread alone."""
        return by_range(self._main)


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
        self.range = of
        self.shares = [each.share(of) for each in activities]
        self.changes = [0.0] * len(activities)
        found = [each.ranges[of] for each in activities if of in each.ranges]
        self.begun = sum(tally.begun for tally in found)
        self.begun_at_least = any(tally.begun_at_least for tally in found)

    @property
    def mean(self) -> float:
        """The mean of `shares`."""
        return sum(self.shares) / max(len(self.shares), 1)

    @property
    def change(self) -> float:
        """The largest of `changes`, up or down."""
        return max(self.changes, key=abs, default=0.0)


class Window:
    """What processes did in some time.

    Attributes:
        seconds: how long it was.
        looks: how often they were looked at in it.
        activities: each process, by rank, then by process id.
        rows: each `Row`, the one with the largest share first.
        step: the range that counts as a step; None: none does.
        verdict: as that of `nvspan.where`.
        problems: files that could not be read: (path, why).
    """

    def __init__(self, seconds: float, looks: int, activities: list[Activity], verdict: Verdict,
                 problems: list[tuple[str, str]]) -> None:  # fmt: skip
        self.seconds = seconds
        self.looks = looks
        self.activities = activities
        self.verdict = verdict
        self.problems = problems
        self.step: Range | None = None
        ranges = {of: None for each in activities for of in each.ranges}
        self.rows = [Row(of, activities) for of in ranges]
        self.rows.sort(key=lambda row: (-row.mean, row.range[0] or "", row.range[1] or ""))

    def as_dict(self) -> dict[str, Any]:
        """For JSON: shares of 1, times in seconds but those of threads in ns."""
        return {
            "seconds": self.seconds,
            "looks": self.looks,
            "step": _named(self.step),
            "verdict": self.verdict.as_dict(),
            "ranges": [
                {
                    **(_named(row.range) or {}), "share": row.mean, "change": row.change,
                    "rate": row.begun / self.seconds, "rate_at_least": row.begun_at_least,
                    "shares": row.shares, "changes": row.changes,
                }
                for row in self.rows
            ],
            "processes": [self._process(each) for each in self.activities],
            "problems": [{"file": file, "problem": why} for file, why in self.problems],
        }  # fmt: skip

    def _process(self, of: Activity) -> dict[str, Any]:
        trees = [
            {"tid": tid, "ranges": [child.as_dict(of.looks) for child in root.children]}
            for tid, root in of.threads
        ]
        return {
            **of.process.as_dict(),
            "events_a_second": of.events / self.seconds,
            "steps_a_second": None if of.steps is None else of.steps[0] / self.seconds,
            "steps_at_least": of.steps is not None and of.steps[1],
            "stuck": [thread.tid for thread in of.stuck],
            "shares": trees,
        }


def _named(of: Range | None) -> dict[str, Any] | None:
    return None if of is None else {"domain": of[0], "name": of[1]}


def _versions(paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """What tells whether a file has changed; None: there is none."""
    found: dict[str, tuple[int, int] | None] = {}
    for path in paths:
        try:
            status = os.stat(path)
            found[path] = (status.st_mtime_ns, status.st_size)
        except OSError:
            found[path] = None
    return found


class Sampler:
    """Looks at the processes that `targets` stand for; new files of a pattern join in.

    Args:
        targets: as of `nvspan.where`.
        rate: looks a second.
        waits: as of `nvspan.where`.
        step: the name of the range that is a step; None: the outermost one that began again.
        stuck: after how many seconds without an event a thread in a range is stuck.

    Raises:
        ValueError, ProcessLookupError: as `nvspan.where`.
    """

    def __init__(
        self, targets: Sequence[Any], rate: float = 1000.0, waits: Iterable[str] = (),
        step: str | None = None, stuck: float = 5.0,
    ) -> None:  # fmt: skip
        if not 0 < rate <= 100_000:
            raise ValueError(f"rate must be above 0 and at most 100000, not {rate!r}")
        self._targets = list(targets)
        self._interval = int(1e9 / rate)
        self._waits = Waits(waits)
        self._step_name = step
        self._stuck = stuck
        self._usual: dict[tuple[str, Range], float] = {}
        self._windows = 0
        self._begun: dict[Range, list[int]] = {}  # of main threads: depth, how often
        self._events: dict[tuple[str, int], tuple[int, float]] = {}
        self._paths: list[str] = []
        self._begin(paths_of(self._targets))

    def _begin(self, paths: list[str]) -> None:
        from nvspan import _reader

        self._paths = paths
        self._files = _reader.LiveFiles([os.fsencode(path) for path in paths])
        self._headers = self._files.headers()
        self._unread = _versions(
            path for path, header in zip(paths, self._headers, strict=True)
            if isinstance(header, str)
        )  # fmt: skip
        self._restart()

    def _restart(self) -> None:
        self._looks = 0
        self._since = time.monotonic()
        self._first = self._files.sample()
        self._times = processor_times(self._headers, self._first)

    def watch(self, seconds: float, fd: int = -1) -> bool:
        """Looks for so long, or until `fd` can be read: then it returns True before."""
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
            compare(seen, self._first[i], took, frozen=header["frozen"])
            add_state(seen, header, found["closed"], boot, gone, self._times, took)
            activity = Activity(seen, self._looks, taken[i])
            self._find_stuck(activity, took)
            activities.append(activity)
        activities.sort(key=lambda each: order(each.process))
        verdict = judge([each.process for each in activities], self._waits, took)
        window = Window(took, self._looks, activities, verdict, problems)
        self._compare(window)
        window.step = self._find_step(activities)
        if window.step is not None:
            for each in activities:
                tally = each.ranges.get(window.step)
                each.steps = (tally.begun, tally.begun_at_least) if tally else (0, False)
        self._go_on()
        return window

    def _go_on(self) -> None:
        try:
            paths = paths_of(self._targets)
        except (ValueError, OSError):  # all are gone: what they were in last stays
            paths = self._paths
        if paths == self._paths and self._unread == _versions(self._unread):
            self._restart()
        else:
            self._begin(paths)

    def _find_stuck(self, activity: Activity, took: float) -> None:
        now = time.monotonic()
        process = activity.process
        if process.state in ("ended", "killed"):
            return
        for thread in process.threads:
            key = (process.file, thread.tid)
            events, since = self._events.get(key, (thread.events - thread.moved, now - took))
            if events != thread.events:
                since = now
            self._events[key] = (thread.events, since)
            at_least = int((now - since) * 1e9)
            if not thread.moved:
                thread.unchanged = max(at_least, thread.unchanged or 0)
                if thread.depth and (thread.unchanged or 0) >= self._stuck * 1e9:
                    activity.stuck.append(thread)

    def _compare(self, window: Window) -> None:
        files = [each.process.file for each in window.activities]
        for row in window.rows:
            for i, file in enumerate(files):
                usual = self._usual.get((file, row.range), 0.0)
                if self._windows:
                    row.changes[i] = row.shares[i] - usual
                new = row.shares[i] if not self._windows else (
                    _USUAL * usual + (1 - _USUAL) * row.shares[i])  # fmt: skip
                self._usual[file, row.range] = new
        known = {(file, row.range) for row in window.rows for file in files}
        for key in [key for key in self._usual if key not in known]:
            self._usual[key] *= _USUAL
            if self._usual[key] < _CHANGED / 100:
                del self._usual[key]
        self._windows += 1

    def _find_step(self, activities: Sequence[Activity]) -> Range | None:
        if self._step_name is not None:
            wanted = [of for each in activities for of in each.ranges
                      if self._step_name in (of[1], f"{of[0]}:{of[1]}")]  # fmt: skip
            return wanted[0] if wanted else None
        for each in activities:
            for of, tally in each.main_ranges.items():
                found = self._begun.setdefault(of, [tally.depth, 0])
                found[0] = min(found[0], tally.depth)
                found[1] += tally.begun
        often = [of for of, (_, begun) in self._begun.items() if begun >= 2 * len(activities)]
        return min(often, key=lambda of: (self._begun[of][0], -self._begun[of][1]), default=None)
