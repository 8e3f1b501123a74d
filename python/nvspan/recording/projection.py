# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the GPU did for each range of the CPU."""

from __future__ import annotations

from nvspan.loops.groups import CUDA_CALLS
from nvspan.recording.frame import Frame
from nvspan.recording.label import label
from nvspan.recording.opened import WORK_DOMAINS
from nvspan.recording.time_text import counted, time_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan.recording.opened import OpenedFiles

# The domains of what a tool saw of CUDA: the calls, and what they launched.
CALL_DOMAIN, WORK_DOMAIN = CUDA_CALLS, WORK_DOMAINS[0]


class Projection(Frame):
    """The work of the GPU that each range of the CPU launched. Made by `Recording.projection`.

    `rows` has a `ProjectedRow` for each domain, name and kind, the most projected time first;
    ``len()`` and the columns, ``projection["busy"]``, are about single ranges that launched work.
    Times are ns.

    Columns have the names and meanings of a row's fields, of each range, but for these: `domain`
    and `name` are indices into `Recording.strings`, -1 for none; `kind` is 0 for push/pop, 1 for
    start/end; `first` and `last` bound the span on the GPU; `start` and `end` are the range's own.
    They also have `row` of `Recording.ranges` (of the whole recording, not of a part), `thread`,
    `level` (how many ranges are around it on its thread), `parent` (the row of the tightest of
    them, -1 for none) and `children` (ranges with work whose parent it is). A range in which a CUDA
    graph was captured is there once more for each replay whose kernels were recorded: `start` and
    `end` are then those of its launch.

    Attributes:
        work: how many kernels, copies and sets there are.
        outside: how many of them no range holds.
        unlaunched: how many of them have no known call.
        of_device_ranges: whether device ranges stand for the work, as no kernel was recorded.
    """

    __module__ = "nvspan.recording"

    def __init__(
        self,
        recording: OpenedFiles,
        *,
        kernels: str = "",
        without: tuple[str, ...] = (),
        unclosed_end: int | None = None,
        as_nsys: bool = False,
    ) -> None:
        self._recording = recording
        found = recording._reader.projection(
            CALL_DOMAIN, WORK_DOMAIN, kernels, list(without), unclosed_end, as_nsys
        )
        self.rows = found.sums
        self.work = found.work
        self.outside = found.outside
        self.unlaunched = found.unlaunched
        self.of_device_ranges = found.of_device_ranges
        self._kernels = found.kernels
        self._columns = found.columns

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(self["row"])

    def __getitem__(self, column: str) -> memoryview:
        return memoryview(self._columns[column])

    def text(self, column: str) -> list[str | None]:
        """The column `name` or `domain`, decoded.

        Raises:
            KeyError: it is another one.
        """
        if column not in ("name", "domain"):
            raise KeyError(column)
        strings = self._recording.strings
        return [None if index < 0 else strings[index] for index in self[column]]

    def _records(self) -> list[dict[str, Any]]:
        return [row.as_dict() for row in self.rows]

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[str]], int]:
        rows = (
            (
                label(row.domain, row.name),
                f"{row.calls:,}",
                f"{row.ops:,}",
                *(time_cell(row[key]) for key in ("busy", "total", "sum", "range_time")),
            )
            for row in self.rows
        )
        headings = ("name", "calls", "ops", "busy", "total", "sum", "range time")
        return headings, rows, len(self.rows)

    def __repr__(self) -> str:
        return (
            f"<nvspan Projection of {self.work} pieces of work onto {counted(len(self), 'range')}>"
        )
