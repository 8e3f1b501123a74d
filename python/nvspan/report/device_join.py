# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""GPU time beside CPU time: rows of device ranges joined to those of the CPU of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

GROUPS = ("device", "stream")  # of which there are rows of device ranges alone
TIMES = ("gpu_total", "gpu_self", "gpu_p50", "gpu_typical", "gpu_mean")
NUMBERS = ("gpu_calls", *TIMES, "gpu_share")
SHOWN = ("gpu_calls", "gpu_total", "gpu_self", "gpu_p50", "gpu_share")


def beside(rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    """The rows with the `NUMBERS` of device ranges, and whether there is any.

    A row of device ranges is joined to that of the CPU's ranges of its domain, name, pass and
    group, a push/pop one where there are both. Without such a row it stands for itself, with no
    calls of the CPU; None is the GPU's number where no device range has the name.
    """
    joined: list[dict[str, Any]] = []
    partners: dict[tuple[Any, ...], dict[str, Any]] = {}
    found = False
    for row in rows:
        if row["kind"] == "device":
            found = True
            continue
        row.update(dict.fromkeys(NUMBERS))
        joined.append(row)
        key = _key(row)
        if key not in partners or row["kind"] == "push_pop":
            partners[key] = row
    for row in rows:
        if row["kind"] != "device":
            continue
        numbers = {f"gpu_{key}": row[key] if row["calls"] else None
                   for key in ("self", "p50", "typical", "mean")}  # fmt: skip
        numbers.update({f"gpu_{key}": row[key] for key in ("calls", "total", "share")})
        partner = partners.get(_key(row))
        if partner is not None:
            partner.update(numbers)
            if row["unclosed"]:
                partner["label"] += f" ({row['unclosed']} unclosed on the GPU)"
        else:
            joined.append(_alone(row, numbers))
    return joined, found


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["domain"], row["name"], row["backward"], row["group"]


def _alone(row: dict[str, Any], numbers: dict[str, Any]) -> dict[str, Any]:
    entry = dict(row)
    for key, value in row.items():
        if isinstance(value, float) and key not in ("overhead", "overhead_share"):
            entry[key] = 0.0
    entry.update(calls=0, self=None, outliers=0, warmup=0, **numbers)
    return entry


def sort_value(row: dict[str, Any], key: str) -> Any:
    """A number by which rows are sorted: the GPU's where the CPU has none."""
    if row["kind"] == "device" and row[key] in (0, None):
        return row.get(f"gpu_{key}") or 0
    return row[key] or 0


def name_of(row: dict[str, Any], process: str | None) -> str:
    """The device or the stream of a row that is grouped so."""
    lane = str(row["lane"])
    return lane if process is None else f"{process}: {lane}"
