# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The table of ``nsys stats -r nvtx_sum``."""

from __future__ import annotations

import math
import re
from typing import Any

from nvspan import _reader
from nvspan._results import ExactRow
from nvspan.recording import Recording
from nvspan.recording.projection import CALL_DOMAIN, WORK_DOMAIN

COLUMNS = ("Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Med (ns)", "Min (ns)",
           "Max (ns)", "StdDev (ns)", "Style", "Range")  # fmt: skip
STYLES = {"push_pop": "PushPop", "start_end": "StartEnd", "device": "StartEnd"}


def tenths(value: float) -> float:
    return math.floor(value * 10 + 0.5) / 10


def shown_name(recording: Recording, domain: str | None, name: str | None) -> str:
    """How nsys prints a range: versions from 2024 on put a colon before those of no domain."""
    if domain is not None:
        return f"{domain}:{name or ''}"
    return f":{name or ''}" if _has_colon(recording) else name or ""


def _has_colon(recording: Recording) -> bool:
    tools = [source.tool for source in recording._sources.values()]
    years = [int(found[1]) for tool in tools if (found := re.search(r" (\d{4})\.", tool))]
    return bool(years) and min(years) >= 2024


def collection_end(recording: Recording) -> int | None:
    """When the collection of nsys ended, until which it lets ranges last that did not end."""
    ends = [source.end for source in recording._sources.values() if source.end is not None]
    return max(ends) if len(ends) == 1 else None


def sum_order(recording: Recording, row: ExactRow) -> tuple[int, bytes, str]:
    """The place of a row: the largest total first, and equal ones by their names' bytes."""
    name = shown_name(recording, row.domain, row.name)
    return -row.total, name.encode("utf-8", "surrogateescape"), STYLES[row.kind]


def nvtx_sum(recording: Recording) -> list[dict[str, Any]]:
    """The rows, the largest total first.

    Every figure is exact; the median is as nsys has it: of an even number, the mean of the two
    middle values. "Time (%)" is the share of the sum of all rows, so nested ranges count twice in
    it, as they do there. nsys lets a range that did not end last until the end of its collection:
    so it is in a report of nsys, and in a recording it is left out.
    """
    rows = _reader.exact(recording._reader.handle(), collection_end(recording))
    if recording._sources:
        rows = [row for row in rows if row.domain not in (CALL_DOMAIN, WORK_DOMAIN)]
    whole = sum(row.total for row in rows) or 1
    rows.sort(key=lambda row: sum_order(recording, row))
    table = []
    for row in rows:
        values = (
            tenths(100 * row.total / whole), row.total, row.calls,
            tenths(row.mean), row.median, row.min, row.max, tenths(row.std),
            STYLES[row.kind], shown_name(recording, row.domain, row.name),
        )  # fmt: skip
        table.append(dict(zip(COLUMNS, values, strict=True)))
    return table
