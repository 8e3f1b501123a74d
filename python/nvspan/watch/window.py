# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is new in a recording that is read again and again."""

from __future__ import annotations

import itertools
import time

from nvspan.live.process import boot_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan._results import RecordedProcess
    from nvspan.recording import Recording

FIRST, LAST = -(2**62), 2**62
_BORDER = 10_000_000  # ns in which the border is put where no range begins
_NEAR = 1_000_000
START_END, DEVICE = 1, 2  # in the column "kind"


class Window:
    """Each range is in one part, by the time of its begin.

    A time differs by some ns from reading to reading, because later samples of the clock place it
    better. So the border between two parts lies in the longest time in which no range begins.

    Args:
        settled: how many ns after a range began it is taken to be in the file.
    """

    def __init__(self, settled: int) -> None:
        self._settled = settled
        self._until = FIRST
        #: Ns of events that a ring overwrote between two readings, before they were in a part.
        self.unseen = 0

    @property
    def until(self) -> int:
        """Up to when all is in a part; `FIRST`: nothing is."""
        return self._until

    def advance(
        self, recording: Recording, match: tuple[str, ...] | None, read_at: int
    ) -> Recording | None:
        """The part that is new and settled; None: there is none.

        `read_at`: when the file was read, by the clock of the recording; later events are not in
        what was read.
        """
        now = _now_of(recording.processes[0])
        if now != LAST:
            now = min(now, read_at)
        until = now if now == LAST else now - self._settled
        if until <= self._until:
            return None
        if until != LAST:
            until = max(self._until, _border(recording, until))
        if self._until != FIRST:
            self.unseen += max(0, _overwritten(recording) - self._until)
        part = recording.filter(match=match, start=self._until, stop=until)
        self._until = until
        return part


def _overwritten(recording: Recording) -> int:
    """Until when a ring has let events of a thread go; `FIRST`: it has all."""
    if recording.processes[0].mode != "ring":
        return FIRST
    losses = recording.losses.rows()
    return max((loss["to"] for loss in losses if loss["reason"] == "overwritten"), default=FIRST)


def _now_of(process: RecordedProcess) -> int:
    """The time of the recording's clock; `LAST` where nothing more can come."""
    if process.closed:
        return LAST
    if process.boot_id.strip() == boot_id():
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return process.end


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
    kinds, starts = table["kind"], table["start"]
    domains, names = table.text("domain"), table.text("name")
    return {
        (domains[row], names[row], starts[row], kinds[row])
        for row, reason in enumerate(reasons)
        if reason and kinds[row] != DEVICE
    }


def found_again(recording: Recording, one: Open) -> Recording | None:
    """The part of a later reading that is this range alone; None: it was overwritten."""
    domain, name, start, _ = one
    near = recording.filter(
        domains=[domain], names=[name], start=start - _NEAR, stop=start + _NEAR
    ).ranges
    begins = [begin for begin, kind in zip(near["start"], near["kind"], strict=True)
              if kind != DEVICE]  # fmt: skip
    if not begins:
        return None
    begin = min(begins, key=lambda found: abs(found - start))
    return recording.filter(domains=[domain], names=[name], start=begin, stop=begin + 1)
