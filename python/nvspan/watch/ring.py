# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The ranges of a ring, each counted once, although the ring lets its oldest events go."""

from __future__ import annotations

import os
import tempfile
import time

from nvspan import _reader
from nvspan.live.process import boot_id
from nvspan.recording import read
from nvspan.watch.tally import Tally, summary_of
from nvspan.watch.window import (
    DEVICE,
    FIRST,
    START_END,
    Open,
    Window,
    found_again,
    open_ranges,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording import Recording

#: An event may be in the file so much later than its time: its thread was not running in between.
SETTLED = 1_000_000_000  # ns
#: A device range is in the file when the GPU has done its work and nvspan's thread has seen it.
DEVICE_SETTLED = 10_000_000_000
_CPU = ("push_pop", "start_end")
_EARLIER = 100_000_000  # ns that are read once more
_NEAR = 1_000_000  # a time differs by less from reading to reading
_MEMORY = "/dev/shm"


class RingTally:
    """What was in a ring at any reading.

    A range counts at the first reading after it ended, but not before it is settled: 1 s after it
    began, a device range 10 s. The begin of a start/end range is gone when the ring has come round;
    one that ends after that is `Tally.missed`.
    """

    def __init__(self) -> None:
        self._tally = Tally()
        self._window = Window(SETTLED)
        self._device_window = Window(DEVICE_SETTLED)
        self._open: set[Open] = set()
        self._is_here = False  # its clock is this machine's
        self._has_device = False
        self._losses: list[tuple[object, int, int]] = []  # of the last reading: whose, from, count

    def read(self, path: str) -> tuple[Recording, int, bool]:
        """What the next `add` needs: the recording, when it was read, whether it is only its end.

        Where it goes on in the ring, no more of it is read than has come since.
        """
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        newest = self._newest(path, now)
        return (read(path), now, False) if newest is None else (newest, now, True)

    def _newest(self, path: str, now: int) -> Recording | None:
        """None: the whole is needed."""
        since = self._window.until
        if since == FIRST or not self._is_here:
            return None
        if self._has_device:
            since = min(since, self._device_window.until)
        # The ring tells again that a range of push and pop is open, but not one of start and end.
        since = min([since, *(start for _, _, start, kind in self._open if kind == START_END)])
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
        """Adds what is new in a recording that `read` gave, and returns what there is."""
        self._is_here = recording.processes[0].boot_id.strip() == boot_id()
        if not self._has_device:
            self._has_device = DEVICE in bytes(recording.ranges["kind"])
        lost = self._new_losses(recording)
        if newest:
            self._tally.lost += lost
        for one in list(self._open):
            self._settle(recording, one)
        part = self._window.advance(recording, match, read_at)
        if part is not None:
            self._tally.add(summary_of(part), _CPU)
            self._open.update(open_ranges(part))
            self._tally.unseen = self._window.unseen
        part = self._device_window.advance(recording, match, read_at)
        if part is not None:
            self._tally.add(summary_of(part), ("device",), marks=False)
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
            known = [n for its, at, n in before if its == of and abs(at - begin) < _NEAR]
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
            self._tally.add(summary_of(part), _CPU, marks=False)
        self._open.discard(one)
