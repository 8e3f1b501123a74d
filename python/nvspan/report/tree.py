# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tree of ranges as lines: each below the one that encloses it, the GPU's by their streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nvspan.recording.time_text import duration
from nvspan.report import text

SORTS = ("total", "self", "calls", "name", "first")
MOST_LINES = 60  # of a tree that is shown without being asked for
COLUMNS = ("parent", "domain", "name", "kind", "backward", "calls", "unclosed", "total", "self",
           "share", "p50", "typical", "min", "max", "threads", "lane", "id", "level",
           "label")  # fmt: skip


def rows(nodes: Sequence[dict[str, Any]], wall: int, sort: str = "total") -> list[dict[str, Any]]:
    """The nodes in the order of a walk through the tree, each with `level`, `label` and `share`.

    Above the ranges of a stream stands a row of the kind "stream" with what they add up to: the
    part of them that no other one encloses. `parent` and `id` are places in `nodes`; a stream has
    none.

    Args:
        nodes: what `summary.call_tree` found.
        wall: the ns that shares are of, in each thread of a node.
        sort: one of `SORTS`; "first" keeps the order in which the ranges appeared.
    """
    children: dict[int | None, list[int]] = {}
    streams: dict[str, list[int]] = {}
    for index, node in enumerate(nodes):
        if node["parent"] is None and node["lane"] is not None:
            streams.setdefault(node["lane"], []).append(index)
        else:
            children.setdefault(node["parent"], []).append(index)
    walked: list[dict[str, Any]] = []

    def walk(roots: Sequence[int], level: int) -> None:
        waiting = [(level, index) for index in reversed(_ordered(nodes, roots, sort))]
        while waiting:
            level, index = waiting.pop()
            walked.append(_row(nodes[index], index, level, wall))
            below = reversed(_ordered(nodes, children.get(index, []), sort))
            waiting.extend((level + 1, child) for child in below)

    walk(children.get(None, []), 0)
    for lane, roots in sorted(streams.items()):
        walked.append(_stream(lane, [nodes[index] for index in roots], wall))
        walk(roots, 1)
    return walked


def _ordered(nodes: Sequence[dict[str, Any]], indices: Sequence[int], sort: str) -> list[int]:
    if sort == "first":
        return list(indices)
    if sort == "name":
        return sorted(indices, key=lambda index: text.range_label(nodes[index]))
    return sorted(indices, key=lambda index: -nodes[index][sort])


def _row(node: dict[str, Any], index: int, level: int, wall: int) -> dict[str, Any]:
    row = {**node, "id": index, "level": level, "label": text.range_label(node)}
    row["share"] = node["total"] / (wall * max(node["threads"], 1)) if wall else None
    if node["kind"] == "start_end":
        row["self"] = None
    return row


def _stream(lane: str, roots: Sequence[dict[str, Any]], wall: int) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    total = sum(node["total"] for node in roots)
    row.update(name=lane, kind="stream", backward=False, lane=lane, level=0, threads=0,
               calls=sum(node["calls"] for node in roots), unclosed=0, total=total,
               share=total / wall if wall else None, label=text.printable(lane))  # fmt: skip
    return row


def helps(shown: Sequence[dict[str, Any]]) -> bool:
    """Whether lines of a tree say more than a table: ranges nest, on the CPU, and all fit."""
    nested = any(row["level"] for row in shown)
    of_devices = any(row["kind"] in ("device", "stream") for row in shown)
    return nested and not of_devices and len(shown) <= MOST_LINES


def lines(shown: Sequence[dict[str, Any]]) -> str:
    """The rows as a table of plain text."""
    if not shown:
        return "no ranges"
    columns = ["calls", "total", "self", "share", "p50", "typical", "name"]
    table = [
        [
            str(row["calls"]),
            *("" if row[key] is None else duration(row[key]) for key in ("total", "self")),
            "" if row["share"] is None else f"{100 * row['share']:.1f} %",
            *("" if row[key] is None else duration(row[key]) for key in ("p50", "typical")),
            "  " * row["level"] + row["label"]
            + (f" ({row['unclosed']} unclosed)" if row["unclosed"] else ""),
        ]
        for row in shown
    ]  # fmt: skip
    return text.aligned(columns, table, ("name",))
