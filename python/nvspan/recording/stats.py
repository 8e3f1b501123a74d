# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The statistics of a recording's ranges, and what they leave out."""

from __future__ import annotations

from nvspan._results import Statistics
from nvspan.recording.frame import Frame
from nvspan.recording.label import label
from nvspan.recording.time_text import counted, time_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan._results import StatsRow

_SHOWN = ("total", "self", "p50", "typical", "p99", "max")
# The fields that rows have by what they are grouped by.
_LANE = ("process", "device", "device_name", "lane")
_GROUPS = {
    "thread": ("thread", "process"),
    "process": ("process",),
    "rank": ("process", "rank"),
    "category": ("category", "category_name"),
    "payload": ("payload_type", "payload"),
    "device": _LANE,
    "stream": (*_LANE, "stream", "stream_name"),
}
_GROUP_FIELDS = frozenset(("group", "rank", "field", "devices")).union(*_GROUPS.values())


def record(row: StatsRow, kept: Iterable[str] = ()) -> dict[str, Any]:
    """The row's fields, of those of groups only the `kept` ones."""
    left_out = _GROUP_FIELDS.difference(kept)
    return {name: value for name, value in row.as_dict().items() if name not in left_out}


class Stats(Statistics, Frame):
    """Statistics of a recording's ranges: `rows`, each a `StatsRow`, and what they do not hold.

    A recording of mode "stats" holds no order of calls, so `warmup` and `first` are 0 there.
    """

    __module__ = "nvspan.recording"

    @property
    def wall(self) -> int:
        """The ns between `first` and `last`."""
        return self.last - self.first

    def _records(self) -> list[dict[str, Any]]:
        kept = {*_GROUPS.get(self.by, ("field",) if self.by.startswith("payload.") else ())}
        if any(row.devices is not None for row in self.rows):
            kept.add("devices")
        records = [record(row, kept) for row in self.rows]
        if "field" in kept:
            return [{**each, self.by: each.pop("field")} for each in records]
        return records

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[str]], int]:
        rows = (
            (
                label(row.domain, row.name, row.backward),
                row.kind.replace("_", "/"),
                f"{row.calls:,}",
                *(time_cell(getattr(row, key)) for key in _SHOWN),
            )
            for row in self.rows
        )
        return ("name", "kind", "calls", *_SHOWN), rows, len(self.rows)

    def __repr__(self) -> str:
        return f"<nvspan Stats of {counted(len(self.rows), 'range')}>"
