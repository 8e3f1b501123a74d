# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of a ring, each counted once although the ring overwrites its oldest events."""

from __future__ import annotations

import itertools
import os
import tempfile
import time

from nvspan import _reader
from nvspan.recording import read
from nvspan.recording.running import boot_id
from nvspan.watch.tally import Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan._results import RecordedProcess
    from nvspan.recording import Recording

#: An event may be in the file so much later than its time: its thread was not running in between.
SETTLED = 1_000_000_000  # ns
#: A device range is in the file when the GPU has done its work and nvspan's thread has seen it.
DEVICE_SETTLED = 10_000_000_000
_CPU = ("push_pop", "start_end")
_EARLIER = 100_000_000  # ns that are read once more
_NEAR = 1_000_000  # a time differs by less from reading to reading
_BORDER = 10_000_000  # ns in which the border is put where no range begins
_FIRST, _LAST = -(2**62), 2**62
_START_END, _DEVICE = 1, 2  # in the column "kind"
_MEMORY = "/dev/shm"


class Window:
    """Cuts a recording into parts, so that each range is in one, by the time of its begin.

    A time differs by some ns from reading to reading, because later samples of the clock place it
    better. So the border between two parts is put where no range begins for the longest time.

    Args:
        settled: how many ns after a range began it is taken to be in the file.

    Attributes:
        until: where the last part ends; `_FIRST`: there was none.
        unseen: ns of events that were overwritten between two readings, before they were in a part.
    """

    def __init__(self, settled: int) -> None:
        self._settled = settled
        self.until = _FIRST
        self.unseen = 0

    def advance(
        self, recording: Recording, match: tuple[str, ...] | None, read_at: int
    ) -> Recording | None:
        """The part that is new and settled; None: there is none.

        `read_at`: when the file was read, by the clock of the recording; later events are not in
        what was read.
        """
        process = recording.processes[0]
        now = read_at if _is_here(process) else min(process.end, read_at)
        until = _LAST if process.closed else now - self._settled
        if until <= self.until:
            return None
        if until != _LAST:
            until = max(self.until, _border(recording, until))
        if self.until != _FIRST:
            self.unseen += max(0, _overwritten(recording) - self.until)
        part = recording.filter(match=match, start=self.until, stop=until)
        self.until = until
        return part


def _is_here(process: RecordedProcess) -> bool:
    """Whether the recording's clock is this machine's."""
    return process.boot_id.strip() == boot_id()


def _overwritten(recording: Recording) -> int:
    """When the last event that a ring overwrote ended; `_FIRST`: it has all."""
    if recording.processes[0].mode != "ring":
        return _FIRST
    losses = recording.losses.rows()
    return max((loss["to"] for loss in losses if loss["reason"] == "overwritten"), default=_FIRST)


def _border(recording: Recording, until: int) -> int:
    """A time shortly before `until` around which no range begins."""
    begins = recording.filter(start=until - _BORDER, stop=until).ranges["start"]
    times = [until - _BORDER, *sorted(begins), until]
    gap, begin = max((later - one, one) for one, later in itertools.pairwise(times))
    return begin + gap // 2


Open = tuple["str | None", "str | None", int, int]  # domain, name, start, kind


def open_ranges(part: Recording) -> set[Open]:
    """The ranges of the CPU that have not ended."""
    table = part.ranges
    reasons = bytes(table["end_reason"])
    if not any(reasons):
        return set()
    columns = table.text("domain"), table.text("name"), table["start"], table["kind"]
    rows = zip(*columns, strict=True)
    return {row for row, reason in zip(rows, reasons, strict=True) if reason and row[3] != _DEVICE}


def found_again(recording: Recording, one: Open) -> Recording | None:
    """The part of a later reading that is this range alone; None: it was overwritten."""
    domain, name, start, _ = one
    near = recording.filter(
        domains=[domain], names=[name], start=start - _NEAR, stop=start + _NEAR
    ).ranges
    kinds = zip(near["start"], near["kind"], strict=True)
    begins = [begin for begin, kind in kinds if kind != _DEVICE]
    if not begins:
        return None
    begin = min(begins, key=lambda found: abs(found - start))
    return recording.filter(domains=[domain], names=[name], start=begin, stop=begin + 1)


class RingTally:
    """Everything that was in a ring at any reading.

    A range counts at the first reading after it ended, but not before it is settled: 1 s after it
    began, a device range 10 s. The begin of a start/end range is gone when the ring has come round;
    one that ends after that is `Tally.missed`.
    """

    def __init__(self) -> None:
        self._tally = Tally()
        self._window = Window(SETTLED)
        self._device_window = Window(DEVICE_SETTLED)
        self._open: set[Open] = set()
        self._is_here = False
        self._has_device = False
        self._losses: list[tuple[object, int, int]] = []  # at the last reading: whose, from, count

    def read(self, path: str) -> tuple[Recording, int, bool]:
        """The recording, when it was read, and whether it is only its newest part, for `add`.

        Where the last reading can be continued, only what is new is read.
        """
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        newest = self._newest(path, now)
        return (read(path), now, False) if newest is None else (newest, now, True)

    def _newest(self, path: str, now: int) -> Recording | None:
        """What came since the last reading; None: the whole file is needed."""
        since = self._window.until
        if since == _FIRST or not self._is_here:
            return None
        if self._has_device:
            since = min(since, self._device_window.until)
        # A ring repeats which push/pop ranges are open, but not which start/end ranges are.
        since = min([since, *(start for _, _, start, kind in self._open if kind == _START_END)])
        window = (now - since) + (now - since) // 500 + _EARLIER  # its frequency is an estimate
        folder = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        with tempfile.TemporaryDirectory(prefix="nvspan-", dir=folder) as made:
            copy = os.path.join(made, "newest.nvspan")
            if _reader.freeze(os.fsencode(path), os.fsencode(copy), window):
                return None
            recording = read(copy)
        return None if recording.processes[0].closed else recording

    def add(
        self, recording: Recording, match: tuple[str, ...] | None, read_at: int, newest: bool
    ) -> Tally:
        """Adds what is new in a recording from `read`, and returns the whole tally."""
        self._is_here = _is_here(recording.processes[0])
        if not self._has_device:
            self._has_device = _DEVICE in bytes(recording.ranges["kind"])
        lost = self._new_losses(recording)
        if newest:
            self._tally.lost += lost
        for one in list(self._open):
            self._settle(recording, one)
        part = self._window.advance(recording, match, read_at)
        if part is not None:
            self._tally.add(part, _CPU)
            self._open.update(open_ranges(part))
            self._tally.unseen = self._window.unseen
        part = self._device_window.advance(recording, match, read_at)
        if part is not None:
            self._tally.add(part, ("device",), marks=False)
        return self._tally

    def _new_losses(self, recording: Recording) -> int:
        """How many events were lost since the last reading."""
        before = self._losses
        self._losses = [
            ((loss["thread"], loss["reason"]), loss["from"], loss["count"])
            for loss in recording.losses.rows()
            if loss["reason"] != "overwritten"
        ]
        new = 0
        for of, begin, count in self._losses:
            known = [n for whose, at, n in before if whose == of and abs(at - begin) < _NEAR]
            new += max(0, count - max(known, default=0))
        return new

    def _settle(self, recording: Recording, one: Open) -> None:
        """Counts a range that was open at an earlier reading, if it has ended."""
        part = found_again(recording, one)
        if part is None:
            self._tally.missed += 1
        elif open_ranges(part):
            return
        else:
            self._tally.add(part, _CPU, marks=False)
        self._open.discard(one)
