# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a program's imports, from the profile of its calls."""

from __future__ import annotations

from collections.abc import Iterator

from nvspan.answers.finding import MEASURED, Finding
from nvspan.answers.words import files_text
from nvspan.loops.loop import Loop
from nvspan.recording import Recording
from nvspan.recording.label import PROFILE_DOMAIN
from nvspan.recording.stats import Stats
from nvspan.recording.time_text import duration, percent
from nvspan.report.summary import call_tree
from nvspan.report.text import printable

_LEAST = 0.1  # of the recording
_MOST_NAMED = 5
_MODULE = "(<module>)"  # how a profile names the code of a module, after its file and line


def import_findings(recording: Recording, stats: Stats, loop: Loop) -> Iterator[Finding]:
    """The imports of a profile, where they take a tenth of the run or more; the largest by name."""
    modules = recording.filter(match=[f"{PROFILE_DOMAIN}:*{_MODULE}"])
    nodes = call_tree(modules)
    # The outermost modules are programs; what is directly within one was imported by it.
    programs = {index for index, node in enumerate(nodes) if node.parent is None}
    costs: dict[str, float] = {}
    for node in nodes:
        name = _import_of(node.name)
        if node.parent in programs and name is not None:
            costs[name] = costs.get(name, 0.0) + node.total
    whole, spent = stats.last - stats.first, sum(costs.values())
    if not costs or spent < _LEAST * whole:
        return
    evidence = []
    if loop.choice is not None:
        before = min(memoryview(loop.steps.start)) - stats.first
        evidence.append(f"the first step starts after {duration(before)}")
    largest = sorted(costs.items(), key=lambda item: -item[1])
    evidence += [f"'{printable(name)}' takes {duration(ns)}" for name, ns in largest[:_MOST_NAMED]]
    if len(largest) > _MOST_NAMED:
        rest = sum(ns for _, ns in largest[_MOST_NAMED:])
        evidence.append(f"{len(largest) - _MOST_NAMED} more take {duration(rest)}")
    yield Finding(
        "imports", f"imports take {percent(spent / whole)} of the run ({duration(spent)})",
        MEASURED, evidence,
        f"nvspan stats --tree --filter '*{_MODULE}' {files_text(recording)}",
        spent / whole,
    )  # fmt: skip


def _import_of(name: str | None) -> str | None:
    """The module or package whose code a range is; None: code that is no file's."""
    file = (name or "").partition(":")[0]
    if not file.endswith(".py") and not file.startswith("<frozen "):
        return None
    return file.removesuffix(".py").removesuffix("/__init__").removeprefix("<frozen ").rstrip(">")
