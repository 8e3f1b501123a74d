# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tables about a job's ranks: savings, ranks, collectives, imbalance, critical path."""

from __future__ import annotations

from typing import NamedTuple

from nvspan._results.jobs import Rank
from nvspan.ranks.cause.job import Ranks
from nvspan.recording.time_text import duration, percent
from nvspan.report.text import printable


class Table(NamedTuple):
    """Headings and cells; the last `texts` columns are text, the others numbers."""

    title: str
    note: str
    heads: list[str]
    rows: list[list[str]]
    texts: int = 1


def all_of(found: Ranks, most_ranks: int, most_rows: int) -> list[Table]:
    """The tables that have rows, with the first `most_rows` of each."""
    if found.unrelated or found.unsynchronised:  # nothing of one can be compared with another's
        return []
    rest = [_cut(table(found), most_rows) for table in (collectives, imbalance, critical_path)]
    made = [_cut(savings(found), most_rows), of_ranks(found, most_ranks), *rest]
    return [table for table in made if table.rows]


def _cut(table: Table, most: int) -> Table:
    if len(table.rows) <= most:
        return table
    more = f"The first {most} of {len(table.rows):,} are shown; --json has them all."
    return table._replace(note=f"{table.note} {more}", rows=table.rows[:most])


def of_ranks(found: Ranks, most: int) -> Table:
    """All ranks, or those that were the latest and those that waited least, by number."""
    note = (
        "Waited: until the last rank had come. Late: after the median rank, where it was the last. "
        "Overlap: the part of its collectives' time in which the rank did not wait for them, so "
        "that communication and compute went on together."
    )
    chosen = list(found.ranks)
    if len(chosen) > most:
        latest = sorted(chosen, key=lambda rank: -rank.late)[: most // 2]
        least = [rank for rank in sorted(chosen, key=lambda r: r.waited) if rank not in latest]
        chosen = [*latest, *least[: most - len(latest)]]
        note += (
            f" The {len(latest)} latest ranks and the {len(chosen) - len(latest)} that waited "
            f"least are shown, of {len(found.ranks):,}; --json has them all."
        )
    chosen.sort(key=lambda rank: rank.rank)
    heads = ["rank", "waited", "late", "last", "overlap", "clock +-", "what made it late"]
    return Table("Ranks", note, heads, [_rank(rank) for rank in chosen])


def _rank(rank: Rank) -> list[str]:
    roots = [f"{printable(name)} {duration(ns)}" for name, ns in list(rank.roots.items())[:3]]
    return [
        str(rank.rank), duration(rank.waited), duration(rank.late),
        f"{rank.was_last}/{rank.collectives}",
        "-" if rank.overlap is None else percent(rank.overlap),
        "?" if rank.uncertainty is None else duration(rank.uncertainty), ", ".join(roots),
    ]  # fmt: skip


def collectives(found: Ranks) -> Table:
    """For each collective of each communicator: how long ranks waited, and who was last."""
    rows = [
        [
            f"{row['count']:,}", str(row["ranks"]), f"{row['bytes']:,}", duration(row["waited"]),
            duration(row["late"]),
            *(["-"] * 2 if row["last"] is None else [str(row["last"]), f"{row['was_last']:,}"]),
            row["communicator"] or "-", printable(row["name"]),
        ]
        for row in found.collectives
    ]  # fmt: skip
    return Table(
        "Collectives",
        "Bytes: of one rank. Waited: by all ranks together, until the last had come. Late: the "
        "last after the median of the others. Last: the rank that came last most often, and how "
        "often.",
        ["count", "ranks", "bytes", "waited", "late", "last", "times", "communicator",
         "collective"],
        rows, texts=2,
    )  # fmt: skip


def savings(found: Ranks) -> Table:
    """What the job would save if a rank were as fast as the others."""
    rows = [
        [
            str(cost.rank), percent(cost.part.value), percent(cost.part.half),
            duration(cost.ns.value), percent(cost.steps),
            "(all of it)" if cost.range is None else printable(cost.range),
        ]
        for cost in found.costs if cost.range is None or cost.part.low > 0
    ]  # fmt: skip
    return Table(
        "What would be saved",
        "The job's steps, run again with a rank as fast as the median of the others.",
        ["rank", "of the job", "+-", "a step", "in steps", "saved if as fast as others"], rows,
    )  # fmt: skip


def imbalance(found: Ranks) -> Table:
    """The ranges whose time differs from rank to rank."""
    rows = [
        [
            duration(row["mean"]), duration(row["median"]), duration(row["max"]), str(row["rank"]),
            percent(row["imbalance"]), printable(row["range"]),
        ]
        for row in found.imbalance if row["max"] > row["mean"]
    ]  # fmt: skip
    return Table(
        "Imbalance",
        "The time in each range and in none inside it, by rank, without waiting: how much longer "
        "the slowest rank takes than the mean.",
        ["mean", "median", "max", "rank", "imbalance", "range"], rows,
    )  # fmt: skip


def critical_path(found: Ranks) -> Table:
    """The ranges on the critical path, after the time of its collectives."""
    whole = found.critical_duration
    rows: list[list[str]] = []
    if whole:
        together = found.critical_collectives
        rows = [["", percent(together / whole), duration(together), "(collectives)"]]
        rows += [
            [str(row["rank"]), percent(row["ns"] / whole), duration(row["ns"]),
             printable(row["range"])]
            for row in found.critical
        ]  # fmt: skip
    return Table(
        "Critical path",
        "The chain of work and collectives that the end of the job depends on. Making anything "
        "else faster does not make the job faster.",
        ["rank", "share", "time", "on the critical path"], rows,
    )  # fmt: skip
