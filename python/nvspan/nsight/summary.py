# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The table that ``nsys stats -r nvtx_sum`` prints, with its columns and its way to count."""

from __future__ import annotations

import math
from typing import Any

from nvspan import _reader
from nvspan.recording import Recording

COLUMNS = ("Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Med (ns)", "Min (ns)",
           "Max (ns)", "StdDev (ns)", "Style", "Range")  # fmt: skip
_STYLES = {"push_pop": "PushPop", "start_end": "StartEnd", "device": "StartEnd"}


def _tenths(value: float) -> float:
    return math.floor(value * 10 + 0.5) / 10


def nvtx_sum(recording: Recording) -> list[dict[str, Any]]:
    """The rows, the largest total first.

    Every figure is exact, the median too. "Time (%)" is the share of the sum of all rows, so nested
    ranges count twice in it, as they do there. A range that did not end is left out: nsys lets it
    last until the end of its collection.
    """
    rows = _reader.exact(recording._reader.handle())
    whole = sum(row["total"] for row in rows) or 1
    rows.sort(key=lambda row: -row["total"])
    table = []
    for row in rows:
        name = row["name"] or ""
        values = (
            _tenths(100 * row["total"] / whole), row["total"], row["calls"],
            _tenths(row["mean"]), row["median"], row["min"], row["max"], _tenths(row["std"]),
            _STYLES[row["kind"]], name if row["domain"] is None else f"{row['domain']}:{name}",
        )  # fmt: skip
        table.append(dict(zip(COLUMNS, values, strict=True)))
    return table
