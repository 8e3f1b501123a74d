# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of statistics to show: GPU time beside the CPU time of the ranges of the same name."""

from __future__ import annotations

from collections.abc import Sequence

from nvspan._results import StatsRow

GROUPS = ("device", "stream")  # of which there are rows of device ranges alone
TIMES = ("gpu_total", "gpu_self", "gpu_p50", "gpu_typical", "gpu_mean")
NUMBERS = ("gpu_calls", *TIMES, "gpu_share")
_NO_CALLS = {"calls": 0, "outliers": 0, "warmup": 0}
SHOWN = ("gpu_calls", "gpu_total", "gpu_self", "gpu_p50", "gpu_share")


class Row(StatsRow):
    """A row to show; the numbers of the GPU are None where no device range has the name."""

    label: str  #: the range as shown
    group: str  #: the group as shown
    share: float | None  #: of the wall time in its threads or devices; None: not known
    mean_open: float | None  #: how many were open on average; None: `share` is known
    overhead_share: float  #: the recorder's part of `total`, 0 to 1
    self: float | None  # type: ignore[assignment]  #: None: start/end ranges do not nest
    gpu_calls: int | None  #: device ranges of the name
    gpu_total: float | None
    gpu_self: float | None
    gpu_p50: float | None
    gpu_typical: float | None
    gpu_mean: float | None
    gpu_share: float | None

    def sort_value(self, column: str) -> float:
        """The number to sort by: the GPU's where the CPU has none."""
        own: float | None = getattr(self, column)
        if self.kind == "device" and not own:
            own = getattr(self, f"gpu_{column}", None)
        return own or 0


def beside(rows: Sequence[Row]) -> tuple[list[Row], bool]:
    """The rows with the `NUMBERS` of device ranges, and whether there is any.

    A row of device ranges is joined to that of the CPU's ranges of its domain, name, pass and
    group, a push/pop one where there are both. Without such a row it stands for itself, with no
    calls of the CPU; None is the GPU's number where no device range has the name.
    """
    joined: list[Row] = []
    partners: dict[tuple[str | bool | None, ...], int] = {}
    found = False
    for row in rows:
        if row.kind == "device":
            found = True
            continue
        key = _key(row)
        if key not in partners or row.kind == "push_pop":
            partners[key] = len(joined)
        joined.append(row)
    for row in rows:
        if row.kind != "device":
            continue
        numbers: dict[str, float | None] = {
            "gpu_calls": row.calls,
            "gpu_total": row.total,
            "gpu_share": row.share,
        }
        if row.calls:
            numbers.update(gpu_self=row.self, gpu_p50=row.p50, gpu_typical=row.typical)
            numbers["gpu_mean"] = row.mean
        at = partners.get(_key(row))
        if at is None:
            joined.append(_alone(row, numbers))
            continue
        partner = joined[at]
        more = f" ({row.unclosed:,} still open on the GPU)" if row.unclosed else ""
        joined[at] = partner.replace(**numbers, label=partner.label + more)
    return joined, found


def _key(row: Row) -> tuple[str | bool | None, ...]:
    return row.domain, row.name, row.backward, row.group


def _alone(row: Row, numbers: dict[str, float | None]) -> Row:
    kept = ("overhead", "overhead_share")
    floats = {name for name, value in row.as_dict().items() if isinstance(value, float)}
    zeros: dict[str, float] = {**dict.fromkeys(floats.difference(kept), 0.0), **_NO_CALLS}
    return row.replace(**{**zeros, "self": None, **numbers})
