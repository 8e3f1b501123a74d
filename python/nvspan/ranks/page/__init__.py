# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One HTML page about the ranks of a job: the verdict, a heat map of ranks and steps, tables.

It holds a few megabytes of a job of any size, and needs no network. It must never look for a
cause: that is found in `nvspan.ranks.cause`. Start with `html`.
"""

from __future__ import annotations

import os
from typing import Any

from nvspan import _core
from nvspan.ranks.cause import tables
from nvspan.ranks.cause.job import Ranks
from nvspan.ranks.page import heat
from nvspan.recording.statistics import average
from nvspan.recording.time_text import percent
from nvspan.report.page import figure
from nvspan.report.page.bundle import script, source
from nvspan.report.page.widget import as_json
from nvspan.report.text import printable

__all__ = ["html"]

_MOST_RANKS, _MOST_ROWS = 200, 100  # of a table


def html(found: Ranks, title: str | None = None) -> str:
    """The page as text.

    Args:
        found: what :func:`nvspan.analyze_ranks` found of a job.
        title: the heading; None: the names of the files.

    >>> text = html(nvspan.analyze_ranks("run-*.nvspan"))                # doctest: +SKIP
    """
    verdict = found.verdict
    held = {
        "title": printable(_title(found) if title is None else title),
        "when": f"nvspan {_core.__version__}",
        "verdict": {
            "kind": verdict.kind, "text": printable(_sentence(verdict.text)),
            "evidence": list(map(printable, verdict.evidence)),
            "limits": list(map(printable, verdict.limits)), "next": printable(verdict.next),
        },
        "facts": _facts(found),
        "heat": heat.of_ranks(found),
        "heatNote": heat.note(found),
        "tables": [
            {"title": table.title, "note": table.note, "heads": table.heads, "text": table.texts,
             "rows": table.rows}
            for table in tables.all_of(found, _MOST_RANKS, _MOST_ROWS)
        ],
        "notes": [printable(f"left out: {problem}") for problem in found.problems],
    }  # fmt: skip
    return filled(held)


def filled(held: dict[str, Any]) -> str:
    """The page that shows what is held."""
    head, _, rest = source("ranks.html").partition("@STYLE@")
    middle, _, rest = rest.partition("@DATA@")
    before, _, end = rest.partition("@SCRIPT@")
    style = source("parts.css") + source("page.css") + source("ranks.css")
    return "".join((head, style, middle, as_json(held), before, script("ranks"), end))


def _title(found: Ranks) -> str:
    names = [os.path.basename(rank.path) for rank in found.ranks]
    names = list(dict.fromkeys(names))
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _facts(found: Ranks) -> list[tuple[str, str]]:
    facts = [
        figure(len(found.ranks), "rank"),
        figure(found.clocks, "clock"),
        figure(found.counts["collectives"], "collective"),
        figure(len(found.step_times), "step"),
    ]
    overlaps = [rank.overlap for rank in found.ranks if rank.overlap is not None]
    if overlaps:
        facts.append(("of communication overlaps with compute", percent(average(overlaps))))
    return facts
