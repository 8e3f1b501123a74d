# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks by steps in bins, as the script of the page draws them."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterable, Sequence
from typing import Any

from nvspan import _reader
from nvspan.ranks.cause.job import Ranks

ROWS, COLUMNS = 320, 640  # bins at most: more than that many pixels is on few screens

#: A rank's number, and by step how late it came and how long the step took, in ns.
Row = tuple[int, Sequence[float], Sequence[float]]


def of_ranks(found: Ranks) -> dict[str, Any] | None:
    """The heat map of a job; None where no step has a collective of several ranks."""
    steps = found.steps
    if len(found.ranks) < 2 or not steps or not found.counts["collectives"]:
        return None
    rows = ((rank.rank, late, durations) for rank, late, durations in found.by_step())
    return of_rows([rank.rank for rank in found.ranks], rows, steps)


def of_rows(
    ranks: Sequence[int], rows: Iterable[Row], steps: Sequence[int],
    most_rows: int = ROWS, most_columns: int = COLUMNS,
) -> dict[str, Any]:  # fmt: skip
    """The heat map of rows, by the ranks' numbers."""
    order = sorted(range(len(ranks)), key=lambda place: ranks[place])
    places = {place: row for row, place in enumerate(order)}
    heat = _reader.RankHeat(len(ranks), len(steps), most_rows, most_columns)
    for place, (_, late, durations) in enumerate(rows):
        heat.add(places[place], late, durations)
    return {
        "ranks": _numbers([ranks[place] for place in order]), "steps": _numbers(steps),
        "rows": heat.rows, "columns": heat.columns,
        "data": b2a_base64(heat.bytes(), newline=False).decode("ascii"),
    }  # fmt: skip


def _numbers(given: Sequence[int]) -> dict[str, Any]:
    first = given[0]
    if list(given) == list(range(first, first + len(given))):
        return {"first": first, "count": len(given)}
    return {"list": list(given)}


def note(found: Ranks) -> str:
    """What the map shows, in sentences."""
    said = []
    left_out = len(found.step_numbers) - len(found.steps)
    if left_out:
        many = f"{left_out} steps are" if left_out > 1 else "1 step is"
        said.append(f"{many} left out: warm-up, or without a number.")
    if len(found.ranks) > ROWS or len(found.steps) > COLUMNS:
        said.append("A cell stands for several ranks or steps, and shows the largest of them.")
    said.append("Click a cell, or press an arrow key, to see when the ranks came in that step.")
    return " ".join(said)
