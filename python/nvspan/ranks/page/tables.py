# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the page: what would be saved, ranks, collectives, imbalance, critical path."""

from __future__ import annotations

from typing import Any

from nvspan.ranks.cause.job import Rank, Ranks
from nvspan.ranks.cause.text import last_of
from nvspan.recording.time_text import duration
from nvspan.report.text import printable

MOST_RANKS, MOST_ROWS = 200, 100


def percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def of_ranks(found: Ranks) -> list[dict[str, Any]]:
    """The tables that a job has something for."""
    made = [
        _costs(found), _ranks(found), _collectives(found), _imbalance(found), _critical(found),
    ]  # fmt: skip
    return [table for table in made if table["rows"]]


def _table(
    title: str, note: str, heads: list[str], rows: list[list[str]], most: int = MOST_ROWS,
    text: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """The last columns are text, the others are numbers."""
    if len(rows) > most:
        note += f" The first {most} of {len(rows):,} are shown; --json has them all."
    return {"title": title, "note": note.strip(), "heads": heads, "text": text, "rows": rows[:most]}


def _costs(found: Ranks) -> dict[str, Any]:
    rows = [
        [str(cost.rank), percent(cost.part.value), f"{100 * cost.part.half:.1f}",
         duration(cost.ns.value), percent(cost.steps),
         "(all of it)" if cost.range is None else printable(cost.range)]
        for cost in found.costs
    ]  # fmt: skip
    return _table(
        "What would be saved",
        "The job's steps, run again with a rank as fast as the median of the others.",
        ["rank", "of the job", "+-", "a step", "in steps", "range"], rows,
    )  # fmt: skip


def _ranks(found: Ranks) -> dict[str, Any]:
    chosen = list(found.ranks)
    note = (
        "Waited: until the last rank had come. Late: after the median rank, where it was the last. "
        "Overlap: the part of its collectives' time in which the rank did not wait for them, so "
        "that communication and compute went on together."
    )
    if len(chosen) > MOST_RANKS:
        latest = sorted(chosen, key=lambda rank: -rank.late)[: MOST_RANKS // 2]
        least = [rank for rank in sorted(chosen, key=lambda r: r.waited) if rank not in latest]
        chosen = [*latest, *least[: MOST_RANKS - len(latest)]]
        note += (
            f" The {len(latest)} latest ranks and the {len(chosen) - len(latest)} that waited "
            f"least are shown, of {len(found.ranks):,}; --json has them all."
        )
    chosen.sort(key=lambda rank: rank.rank)
    heads = ["rank", "waited", "late", "last", "overlap", "clock +-", "what made it late"]
    return _table("Ranks", note, heads, [_rank(rank) for rank in chosen], MOST_RANKS)


def _rank(rank: Rank) -> list[str]:
    roots = [f"{printable(name)} {duration(ns)}" for name, ns in list(rank.roots.items())[:3]]
    return [
        str(rank.rank), duration(rank.waited), duration(rank.late),
        f"{rank.was_last}/{rank.collectives}",
        "-" if rank.overlap is None else percent(rank.overlap),
        "?" if rank.uncertainty is None else duration(rank.uncertainty), ", ".join(roots),
    ]  # fmt: skip


def _collectives(found: Ranks) -> dict[str, Any]:
    rows = [
        [f"{row['count']:,}", str(row["ranks"]), f"{row['bytes']:,}", duration(row["waited"]),
         duration(row["late"]), *last_of(row), row["communicator"] or "-", printable(row["name"])]
        for row in found.collectives
    ]  # fmt: skip
    return _table(
        "Collectives",
        "Bytes: of one rank. Waited: by all ranks together, until the last had come. Late: the "
        "last after the median of the others. Last: the rank that came last most often, and how "
        "often.",
        ["count", "ranks", "bytes", "waited", "late", "last", "times", "communicator",
         "collective"],
        rows, text=2,
    )  # fmt: skip


def _imbalance(found: Ranks) -> dict[str, Any]:
    rows = [
        [duration(row["mean"]), duration(row["median"]), duration(row["max"]), str(row["rank"]),
         percent(row["imbalance"]), printable(row["range"])]
        for row in found.imbalance
    ]  # fmt: skip
    return _table(
        "Imbalance",
        "The time in each range and in none inside it, by rank, without waiting: how much longer "
        "the slowest rank takes than the mean.",
        ["mean", "median", "max", "rank", "imbalance", "range"], rows,
    )  # fmt: skip


def _critical(found: Ranks) -> dict[str, Any]:
    whole = found.critical_duration
    rows: list[list[str]] = []
    if whole:
        rows = [
            [str(row["rank"]), percent(row["ns"] / whole), duration(row["ns"]),
             printable(row["range"])]
            for row in found.critical
        ]  # fmt: skip
        together = found.critical_collectives
        rows.insert(0, ["", percent(together / whole), duration(together), "(collectives)"])
    return _table(
        "Critical path",
        "The chain of work and collectives that the job's end hangs on: what is not on it can be "
        "faster without the job being so.",
        ["rank", "part", "time", "range"], rows,
    )  # fmt: skip
