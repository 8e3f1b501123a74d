# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The ranks of a job as text and as JSON."""

from __future__ import annotations

import json
from itertools import islice
from textwrap import wrap

from nvspan.ranks.cause import tables
from nvspan.recording.time_text import counted
from nvspan.report.text import aligned, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from nvspan.ranks.cause.job import Ranks

_WIDTH = 96
_MOST_RANKS = 16
_MOST_ROWS = 8
_ROWS_AT_ONCE = 64
_MARKED = "torch:step"  # steps that nvspan itself made
_ALL = "--collectives all lists all, --collectives N that many"


def _box(lines: Sequence[str]) -> list[str]:
    width = max(map(len, lines))
    return [f"+{'-' * (width + 2)}+", *(f"| {line:<{width}} |" for line in lines),
            f"+{'-' * (width + 2)}+"]  # fmt: skip


def render(found: Ranks) -> str:
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
    sizes = [
        (len(found.ranks), "rank"),
        (found.clocks, "clock"),
        (counts["collectives"], "collective"),
        (len(found.step_times), "step"),
    ]
    kind = f" of {printable(found.step)}" if found.step not in ("", _MARKED) else ""
    lines += ["", ", ".join(counted(number, noun) for number, noun in sizes if number) + kind]
    for table in tables.all_of(found, _MOST_RANKS, _MOST_ROWS):
        lines += ["", aligned(table.heads, table.rows, table.heads[-1:])]
        if table.title == "Ranks" and len(table.rows) < len(found.ranks):
            lines.append(f"{len(found.ranks) - len(table.rows)} more ranks: --json has them all")
    lines += [printable(f"left out: {problem}") for problem in found.problems]
    return "\n".join(lines) + "\n"


def as_dict(found: Ranks) -> dict[str, Any]:
    """All that is known, for JSON: times in ns."""
    return {
        **found.verdict.as_dict(),
        "clocks": found.clocks,
        "counts": found.counts,
        "steps": len(found.step_times),
        "step": found.step,
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
