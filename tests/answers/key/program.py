# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that never ran: threads whose ranges have times that are known to the nanosecond."""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from nvspan.payloads import EntryKind, EventKind, PayloadEntryType, numpy_dtype
from nvspan.writer import Session

MS = 1_000_000
_BEGIN, _END = (
    numpy_dtype("i8", entry_kind=kind) for kind in (EntryKind.RANGE_BEGIN, EntryKind.RANGE_END)
)
_NAME = numpy_dtype(
    np.uintp, entry_kind=EntryKind.MESSAGE, entry_type=PayloadEntryType.REGISTERED_STRING
)
# A range with a payload.
_SIZED = np.dtype([("start", _BEGIN), ("end", _END), ("name", _NAME), ("size", "i8")])
# What a round of a loop consists of, in ms: a time, a function of the round's number, or the parts
# of a range. A part that takes 0 ms is not there; the part "" is time in no range.
Parts: TypeAlias = "Mapping[str, float | Callable[[int], float] | Parts]"

# A round without a part that stands out.
TRAIN: Parts = {"data": 2.4, "forward": 2.6, "backward": 2.8, "optimizer.step": 2.0}


@dataclass(frozen=True)
class Range:
    """A range of a thread; `end` is None if it is open, and `ends_in` another thread's index."""

    name: str
    start: int
    end: int | None
    nested: bool = True
    category: str | None = None
    ends_in: int | None = None
    size: int | None = None


class Thread:
    """A thread's clock and its ranges."""

    def __init__(self, name: str, domain: str, random: np.random.Generator, noise: float) -> None:
        self.name, self.domain, self.random, self.noise = name, domain, random, noise
        self.now = 1_000
        self.ranges: list[Range] = []
        self.marks: list[tuple[int, str]] = []

    def spend(self, ms: float, noise: float | None = None) -> None:
        """Time in no range of its own; `noise` is the deviation of its logarithm."""
        spread = self.noise if noise is None else noise
        self.now += max(50, int(ms * MS * math.exp(spread * self.random.normal())))

    def leaf(self, name: str, ms: float, noise: float | None = None) -> None:
        start = self.now
        self.spend(ms, noise)
        self.until(self.now, name, start)

    @contextlib.contextmanager
    def range(self, name: str, size: int | None = None) -> Iterator[None]:
        start = self.now
        self.now += 200
        yield
        self.now += 200
        self.ranges.append(Range(name, start, self.now, size=size))

    def until(self, end: int, name: str, start: int | None = None) -> None:
        """A range from now, or from `start`, to `end`."""
        self.ranges.append(Range(name, self.now if start is None else start, end))
        self.now = end

    def span(self, name: str, start: float, end: float, **fields: object) -> None:
        """A start/end range."""
        self.ranges.append(Range(name, int(start), int(end), nested=False, **fields))

    def mark(self, name: str) -> None:
        self.marks.append((self.now, name))

    def run(self, parts: Parts, number: int = 0) -> None:
        """The parts of a round, one after the other."""
        for name, part in parts.items():
            ms = part(number) if callable(part) else part
            if isinstance(ms, Mapping):
                with self.range(name):
                    self.run(ms, number)
            elif ms > 0 and name:
                self.leaf(name, ms)
            elif ms > 0:
                self.spend(ms)

    def loop(
        self,
        name: str,
        rounds: int | Sequence[float],
        parts: Parts = TRAIN,
        *,
        before: Parts | None = None,
        after: Parts | None = None,
        pause: float = 0.02,
    ) -> None:
        """Rounds, each a range called `name`, in which {} is its number; with factors of its time.

        `before` and `after` are parts around each range, `pause` the ms in no range.
        """
        factors = [1.0] * rounds if isinstance(rounds, int) else rounds
        for number, factor in enumerate(factors):
            self.run(before or {}, number)
            with self.range(name.format(number)):
                self.run(scaled(parts, factor, number), number)
            self.run(after or {}, number)
            self.spend(pause)


def scaled(parts: Parts, factor: float, number: int) -> Parts:
    """The parts of a round, each `factor` times as long."""
    if factor == 1:
        return parts
    return {
        name: scaled(part, factor, number)
        if isinstance(part, Mapping)
        else factor * (part(number) if callable(part) else part)
        for name, part in parts.items()
    }


class Program:
    """Threads, and what is true of their ranges."""

    def __init__(self, seed: int, noise: float = 0.01) -> None:
        self.random = np.random.default_rng(seed)
        self.noise = noise
        self.threads: list[Thread] = []

    def thread(self, name: str = "MainThread", domain: str = "", noise: float = 0) -> Thread:
        self.threads.append(Thread(name, domain, self.random, noise or self.noise))
        return self.threads[-1]

    def loop(
        self,
        name: str,
        rounds: int | Sequence[float],
        parts: Parts = TRAIN,
        *,
        noise: float = 0,
        **options,
    ) -> Thread:
        """A program that is one loop: see `Thread.loop`."""
        thread = self.thread(noise=noise)
        thread.loop(name, rounds, parts, **options)
        return thread

    def pick(self, count: int, rounds: int) -> set[int]:
        """`count` numbers of rounds, at random."""
        return set(self.random.choice(rounds, count, replace=False).tolist())

    # ---- what is true ----
    def durations(self, pattern: str) -> np.ndarray:
        """In ns, of the closed ranges whose whole name matches."""
        return np.array(
            [
                row.end - row.start
                for thread in self.threads
                for row in thread.ranges
                if row.end is not None and re.fullmatch(pattern, row.name)
            ],
            np.int64,
        )

    def ms(self, pattern: str) -> float:
        """The median duration in ms."""
        return float(np.median(self.durations(pattern))) / MS

    def share(self, part: str, whole: str = "") -> float:
        """The percentage that ranges take of others, or of the time from first to last event."""
        total = self.durations(whole).sum() if whole else self.span()
        return 100 * float(self.durations(part).sum()) / float(total)

    def span(self) -> int:
        rows = [row for thread in self.threads for row in thread.ranges if row.end is not None]
        return max(row.end for row in rows) - min(row.start for row in rows)

    def loop_share(self, step: str, part: str = "") -> float:
        """The percentage of the loop, from its first step to the end of its last, in `part`s
        between steps, or in no step."""
        steps = [
            row for thread in self.threads for row in thread.ranges if re.fullmatch(step, row.name)
        ]
        first, last = min(row.start for row in steps), max(row.end for row in steps)
        rows = [
            row
            for thread in self.threads
            for row in thread.ranges
            if part and re.fullmatch(part, row.name) and first <= row.start <= last
        ]
        time = sum(row.end - row.start for row in rows or steps)
        share = 100 * time / (last - first)
        return share if part else 100 - share

    # ---- the recording ----
    def write(self, path: Path) -> None:
        numbers = itertools.count(1)
        with Session("key", output=path, pid=77, command=["python", "key.py"]) as session:
            streams = [
                session.create_stream(thread.name, domain=thread.domain) for thread in self.threads
            ]
            for stream in streams:
                stream.open()
            for thread, stream in zip(self.threads, streams, strict=True):
                for row in sorted(
                    thread.ranges, key=lambda row: (row.start, -(row.end or math.inf))
                ):
                    self._write(stream, streams, row, thread.domain, session, numbers)
                for time, name in thread.marks:
                    stream.write_mark(time, message=name)

    def _write(self, stream, streams, row: Range, domain: str, session, numbers) -> None:
        fields = {"message": row.name or None, "category": row.category}
        if row.size is not None:
            where = session.get_domain(domain)
            schema = where.get_schema(_SIZED, kind=EventKind.RANGE_PUSHPOP)
            name = where.get_registered_string(row.name).handle
            stream.write_event(schema, (row.start, row.end, name, row.size))
        elif row.end is None and row.nested:
            stream.write_push(row.start, **fields)
        elif row.end is None:
            stream.write_start(row.start, next(numbers), **fields)
        elif row.ends_in is not None:
            number = next(numbers)
            stream.write_start(row.start, number, **fields)
            streams[row.ends_in].write_end(row.end, number)
        elif row.nested:
            stream.write_pushpop(row.start, row.end, **fields)
        else:
            stream.write_startend(row.start, row.end, **fields)
