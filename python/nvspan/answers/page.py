# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The answers as `nvspan.report.page` takes them: findings, steps as bars, modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nvspan.answers import modules, steps
from nvspan.answers.bottleneck import find_bottleneck
from nvspan.answers.explain import explanation
from nvspan.answers.finding import Finding
from nvspan.answers.findings import Analysis
from nvspan.recording.modules import Modules, row_title
from nvspan.recording.steps import Steps, phase_title
from nvspan.report.text import printable

BARS = 300


def sections(analysis: Analysis) -> dict[str, Any]:
    """The top of the page. Keys are absent where a recording holds no such thing."""
    said = explanation(analysis)
    held: dict[str, Any] = {
        "headline": printable(said.headline),
        "findings": _findings(said.findings),
        "nothing": said.conclusion,
    }
    loop = analysis.loop
    if loop is not None and loop.choice is None:
        held["flame_first"] = True
    elif analysis.steps is not None:
        held["steps"] = _steps(analysis.steps)
    if analysis.modules is not None and analysis.modules.models:
        held["modules"] = _modules(analysis.modules)
    return held


def _findings(found: Sequence[Finding]) -> list[dict[str, Any]]:
    return [
        {"text": printable(one.text), "certainty": one.certainty, "next": one.next,
         "evidence": list(map(printable, one.evidence))}
        for one in found
    ]  # fmt: skip


def _steps(found: Steps) -> dict[str, Any]:
    count = len(found)
    each = max((count + BARS - 1) // BARS, 1)  # steps that a bar stands for
    phases = [found[f"cpu.{phase}"] for phase in found.phases]
    states, numbers, numbered = found["state"], found["number"], found["has_number"]
    starts, lengths = found["start"], found["duration"]
    bars = []
    for first in range(0, count, each):
        last = min(first + each, count)
        names = [str(numbers[i]) if numbered[i] else f"#{i}" for i in (first, last - 1)]
        bars.append([
            names[0] if last - first == 1 else f"{names[0]} to {names[1]}",
            max(states[first:last]),
            [round(sum(times[first:last]) / (last - first)) for times in phases],
            starts[first],
            starts[last - 1] + lengths[last - 1],
        ])  # fmt: skip
    typical = found.typical
    heads, cells = steps.typical_table(found)
    return {
        "heading": steps.heading(found),
        "limit": find_bottleneck(found).text if found.has_work else "",
        "phases": list(map(phase_title, found.phases)), "bars": bars, "each": each,
        "typical": typical.duration, "heads": heads, "cells": cells,
    }  # fmt: skip


def _modules(found: Modules) -> dict[str, Any]:
    kept = modules.recorded_times(found)
    per = found.steps or 1
    return {
        "heading": modules.heading(found),
        "heads": ["module", "calls", *(modules.HEADINGS[time] for time in kept), "share"],
        "times": len(kept),
        "rows": [
            [row["level"], printable(row_title(row)),
             round(row["calls"] / per, 1),
             *(None if row[time] is None else round(row[time] / per) for time in kept),
             round(row["share"], 4)]
            for row in found.rows()
        ],
    }  # fmt: skip
