# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The ranges of a ring, each counted once, although the ring lets its oldest events go."""

from __future__ import annotations

from nvspan.watch.tally import Tally, summary_of
from nvspan.watch.window import Open, Window, found_again, open_ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording import Recording

#: An event may be in the file so much later than its time: its thread was not running in between.
SETTLED = 1_000_000_000  # ns
#: A device range is in the file when the GPU has done its work and nvspan's thread has seen it.
DEVICE_SETTLED = 10_000_000_000
_CPU = ("push_pop", "start_end")


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

    def add(self, recording: Recording, match: tuple[str, ...] | None) -> Tally:
        """Adds what is new in the recording, and returns what there is."""
        for one in list(self._open):
            self._settle(recording, one)
        part = self._window.advance(recording, match)
        if part is not None:
            self._tally.add(summary_of(part), _CPU)
            self._open.update(open_ranges(part))
            self._tally.unseen = self._window.unseen
        part = self._device_window.advance(recording, match)
        if part is not None:
            self._tally.add(summary_of(part), ("device",), marks=False)
        return self._tally

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
