# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The collectives of many files, as `ManyRecordings` shows them."""

from __future__ import annotations

from typing import Any

from nvspan._results import CollectiveRow

_KEPT = ("mean", "min", "p50", "p90", "p99", "max")


def collective_rows(found: list[CollectiveRow], by: str) -> list[dict[str, Any]]:
    """Rows of a summary as `ManyRecordings.collectives` gives them."""
    rows = []
    for row in found:
        communicator, _, ranks = (row.domain or "").partition(":")
        about: dict[str, Any] = {
            "name": row.name, "communicator": communicator or None,
            "ranks": int(ranks) if ranks else None, "count": row.calls + row.unclosed,
            "timed": row.calls, "bytes": row.bytes, "total": row.sum,
            **{key: getattr(row, key) for key in _KEPT},
        }  # fmt: skip
        if by == "rank":
            about["rank"] = row.group if row.group >= 0 else None
        rows.append(about)
    rows.sort(key=lambda row: (-row["total"], -row["count"]))
    return rows
