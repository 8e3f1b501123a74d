# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings with exact times, written as programs are: threads whose ranges follow one another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import nvspan
from nvspan.writer import Session

US = 1000


class Lane:
    """A thread and its clock, in ns."""

    def __init__(self, name: str, domain: str) -> None:
        self.name, self.domain, self.now = name, domain, 1000
        self.rows: list[tuple[bool, int, int, str]] = []

    def add(self, name: str, us: float) -> None:
        """A range without others in it."""
        start = self.now
        self.now += round(us * US)
        self.rows.append((False, start, self.now, name))

    def pause(self, us: float) -> None:
        self.now += round(us * US)

    @contextlib.contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """A range around what is added meanwhile."""
        start = self.now
        yield
        self.rows.append((False, start, self.now, name))

    def span(self, start_us: float, end_us: float, name: str) -> None:
        """A start/end range at these times."""
        self.rows.append((True, round(start_us * US), round(end_us * US), name))


class Program:
    def __init__(self) -> None:
        self.lanes: list[Lane] = []

    def lane(self, name: str = "MainThread", domain: str = "") -> Lane:
        self.lanes.append(Lane(name, domain))
        return self.lanes[-1]

    def read(self, path: Path) -> nvspan.Recording:
        """Writes the program's recording and reads it."""
        with Session("program", output=path, pid=77) as session:
            for lane in self.lanes:
                with session.create_stream(lane.name, domain=lane.domain) as stream:
                    for is_span, start, end, name in sorted(
                        lane.rows, key=lambda row: (row[1], -row[2])
                    ):
                        write = stream.write_startend if is_span else stream.write_pushpop
                        write(start, end, message=name)
        return nvspan.read(path)
