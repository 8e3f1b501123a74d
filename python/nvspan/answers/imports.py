# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the imports of a program cost, from the profile of its calls."""

from __future__ import annotations

from collections.abc import Iterator

from nvspan.answers.finding import MEASURED, Finding
from nvspan.recording import Recording
from nvspan.recording.label import PROFILE_DOMAIN
from nvspan.recording.steps import Steps
from nvspan.recording.time_text import duration, percent
from nvspan.report.summary import call_tree
from nvspan.report.text import printable

_LEAST = 0.1  # of the recording
_MOST_NAMED = 5
_MODULE = "(<module>)"  # how a profile names the code of a module, after its file and line


def of_imports(recording: Recording, steps: Steps | None) -> Iterator[Finding]:
    """That the program's imports take a large part of its time, and which do."""
    if PROFILE_DOMAIN not in recording._reader.domains():
        return
    modules = recording.filter(match=[f"{PROFILE_DOMAIN}:*{_MODULE}"])
    nodes = call_tree(modules)
    # The outermost modules are programs; what is directly within one was imported by it.
    programs = {index for index, node in enumerate(nodes) if node.parent is None}
    costs: dict[str, float] = {}
    for node in nodes:
        name = _import_of(node.name)
        if node.parent in programs and name is not None:
            costs[name] = costs.get(name, 0.0) + node.total
    stats = recording.stats()
    whole, spent = stats.last - stats.first, sum(costs.values())
    if not costs or spent < _LEAST * whole:
        return
    evidence = [f"that is {percent(spent / whole)} of {duration(whole)}"]
    if steps is not None and len(steps) and not steps.step.startswith(PROFILE_DOMAIN):
        before = min(steps["start"]) - stats.first
        evidence.append(f"the first step begins after {duration(before)}")
    largest = sorted(costs.items(), key=lambda item: -item[1])
    evidence += [f"'{printable(name)}' takes {duration(ns)}" for name, ns in largest[:_MOST_NAMED]]
    if len(largest) > _MOST_NAMED:
        rest = sum(ns for _, ns in largest[_MOST_NAMED:])
        evidence.append(f"{len(largest) - _MOST_NAMED} more take {duration(rest)}")
    yield Finding(
        "imports", f"imports take {duration(spent)}", MEASURED, evidence,
        "import within the function that needs it what not every run needs; 'nvspan stats --tree "
        f"--filter \"*{_MODULE}\"' shows what each of them imports",
        spent / whole,
    )  # fmt: skip


def _import_of(name: str | None) -> str | None:
    """The module or package whose code a range is; None: code that is no file's."""
    file = (name or "").partition(":")[0]
    if not file.endswith(".py") and not file.startswith("<frozen "):
        return None
    return file.removesuffix(".py").removesuffix("/__init__").removeprefix("<frozen ").rstrip(">")
