# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The ranks of a job as text and as JSON."""

from __future__ import annotations

import json
from itertools import islice
from textwrap import wrap

from nvspan.ranks.cause.verdict import percent
from nvspan.recording.time_text import duration
from nvspan.report.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from nvspan.ranks.cause.job import Rank, Ranks

_WIDTH = 96
_MOST_RANKS = 16
_MOST_ROWS = 8
_ROWS_AT_ONCE = 64
_ALL = "--collectives all has all, --collectives N so many"


def _box(lines: Sequence[str]) -> list[str]:
    width = max(map(len, lines))
    return [f"+{'-' * (width + 2)}+", *(f"| {line:<{width}} |" for line in lines),
            f"+{'-' * (width + 2)}+"]  # fmt: skip


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The first column is text, the others are numbers; the last one is text if it is a list."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    lines = []
    for row in (titles, *rows):
        cells = [f"{cell:>{width}}" for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return lines


def chosen(found: Ranks) -> list[Rank]:
    """The ranks of a table: all, or those that were the latest and those that waited least."""
    if len(found.ranks) <= _MOST_RANKS:
        return list(found.ranks)
    latest = sorted(found.ranks, key=lambda rank: -rank.late)[: _MOST_RANKS // 2]
    least = sorted(found.ranks, key=lambda rank: rank.waited)[:_MOST_RANKS]
    extra = [rank for rank in least if rank not in latest]
    return sorted([*latest, *extra][:_MOST_RANKS], key=lambda rank: rank.rank)


def shown(found: Ranks) -> str:
    """The verdict in a box, then the tables that it stands on."""
    verdict = found.verdict
    box = wrap(printable(verdict.text), _WIDTH)
    for sentence in verdict.evidence:
        box += wrap(printable(sentence), _WIDTH, initial_indent="- ", subsequent_indent="  ")
    for sentence in verdict.limits:
        box += wrap(printable("cannot tell: " + sentence), _WIDTH, initial_indent="- ",
                    subsequent_indent="  ")  # fmt: skip
    if verdict.next:
        box += wrap(printable("next: " + verdict.next), _WIDTH, subsequent_indent="  ")
    lines = _box(box)
    counts = found.counts
    lines += ["", f"{len(found.ranks)} ranks, {found.clocks} "
              f"{'clock' if found.clocks == 1 else 'clocks'}, {counts['collectives']} collectives, "
              f"{len(found.step_times)} steps"]  # fmt: skip
    rows = []
    for rank in chosen(found):
        roots = [f"{printable(name)} {duration(ns)}" for name, ns in list(rank.roots.items())[:3]]
        rows.append([
            str(rank.rank), duration(rank.waited), duration(rank.late),
            f"{rank.was_last}/{rank.collectives}",
            "-" if rank.overlap is None else percent(rank.overlap),
            "?" if rank.uncertainty is None else duration(rank.uncertainty), ", ".join(roots),
        ])  # fmt: skip
    titles = ["rank", "waited", "late", "last", "overlap", "clock +-", "what made it late"]
    lines += ["", *_table(titles, rows)]
    if len(rows) < len(found.ranks):
        lines.append(f"{len(found.ranks) - len(rows)} more ranks: --json has them all")
    lines += _details(found)
    lines += [printable(f"left out: {problem}") for problem in found.problems]
    return "\n".join(lines) + "\n"


def last_of(row: dict[str, Any]) -> list[str]:
    """Which rank was the last of a collective most often, and how often."""
    return ["-", "-"] if row["last"] is None else [str(row["last"]), f"{row['was_last']:,}"]


def _details(found: Ranks) -> list[str]:
    lines: list[str] = []
    if found.collectives:
        rows = [
            [f"{row['count']:,}", str(row["ranks"]), f"{row['bytes']:,}", duration(row["waited"]),
             duration(row["late"]), *last_of(row), row["communicator"] or "-",
             printable(row["name"])]
            for row in found.collectives[:_MOST_ROWS]
        ]  # fmt: skip
        titles = ["count", "ranks", "bytes", "waited", "late", "last", "times", "communicator",
                  "collective"]  # fmt: skip
        lines += ["", *_table(titles, rows)]
    if found.costs:
        rows = [
            [str(cost.rank), percent(cost.part.value), f"{100 * cost.part.half:.1f}",
             duration(cost.ns.value), percent(cost.steps),
             "(all of it)" if cost.range is None else printable(cost.range)]
            for cost in found.costs[:_MOST_ROWS]
        ]  # fmt: skip
        titles = ["rank", "of the job", "+-", "a step", "in steps", "saved if as fast as others"]
        lines += ["", *_table(titles, rows)]
    uneven = [row for row in found.imbalance if row["max"] > row["mean"]][:_MOST_ROWS]
    if uneven:
        rows = [
            [duration(row["mean"]), duration(row["max"]), str(row["rank"]),
             percent(row["imbalance"]), printable(row["range"])]
            for row in uneven
        ]  # fmt: skip
        lines += ["", *_table(["mean", "max", "rank", "imbalance", "range"], rows)]
    if found.critical and found.critical_duration:
        whole = found.critical_duration
        rows = [
            [str(row["rank"]), percent(row["ns"] / whole), duration(row["ns"]),
             printable(row["range"])]
            for row in found.critical[:_MOST_ROWS]
        ]  # fmt: skip
        rows.append(["", percent(found.critical_collectives / whole),
                     duration(found.critical_collectives), "(collectives)"])  # fmt: skip
        lines += ["", *_table(["rank", "part", "time", "on the critical path"], rows)]
    return lines


def as_dict(found: Ranks) -> dict[str, Any]:
    """All that is known, for JSON: times in ns."""
    return {
        **found.verdict.as_dict(),
        "clocks": found.clocks,
        "counts": found.counts,
        "steps": len(found.step_times),
        "ranks": [
            {"rank": rank.rank, "host": rank.host, "path": rank.path, "waited": rank.waited,
             "late": rank.late, "was_last": rank.was_last, "collectives": rank.collectives,
             "overlap": rank.overlap, "clock_uncertainty": rank.uncertainty, "roots": rank.roots}
            for rank in found.ranks
        ],
        "collectives": found.collectives,
        "costs": [
            {"rank": cost.rank, "range": cost.range, "part": cost.part.value,
             "part_low": cost.part.low, "part_high": cost.part.high, "ns_per_step": cost.ns.value,
             "in_steps": cost.steps}
            for cost in found.costs
        ],
        "imbalance": found.imbalance,
        "critical_path": {
            "duration": found.critical_duration, "collectives": found.critical_collectives,
            "work": found.critical,
        },
        "problems": found.problems,
    }  # fmt: skip


def as_json(found: Ranks, most: int | str | None = None) -> Iterator[str]:
    """The same as lines of JSON, in pieces, with the single collectives, one a line.

    `most` says how many, as for :meth:`nvspan.ranks.cause.job.Ranks.single`.
    """
    rows = found.single(most)
    head = json.dumps(as_dict(found), indent=2).removesuffix("\n}")
    yield f'{head},\n  "single_collectives": {{\n    "count": {found.single_count},\n'
    yield '    "rows": [\n'
    shown = 0
    part = list(islice(rows, _ROWS_AT_ONCE))
    while part:
        shown += len(part)
        behind = list(islice(rows, _ROWS_AT_ONCE))
        lines = ",\n".join(f"      {json.dumps(row)}" for row in part)
        yield f"{lines}{',' if behind else ''}\n"
        part = behind
    more = ""
    if shown < found.single_count:
        more = f',\n    "more": "these are those in which ranks waited longest: {_ALL}"'
    yield f'    ],\n    "shown": {shown}{more}\n  }}\n}}\n'
