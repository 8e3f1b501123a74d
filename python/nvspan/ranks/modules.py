# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What each module of a model costs, of the ranks of a job together."""

from __future__ import annotations

from array import array

from nvspan import _reader
from nvspan._results import ModuleRow
from nvspan._results.jobs import ModuleFigures
from nvspan.recording import Modules, Recording
from nvspan.recording.modules import TIMES, Module

_RECOMPUTE = " (recompute)"


def add(recording: Recording, summary: _reader.RankSummary, domain: str, step: str | None) -> None:
    """Adds the modules of a recording: of its steps after warm-up, or of all where it has none."""
    try:
        steps = recording.steps(step)
    except ValueError:
        if step is not None:
            return
        steps = None
    try:
        found = Modules(recording, domain, step, steps)
    except ValueError:  # it holds statistics alone
        return
    if not found.models:
        return
    part = recording.filter(domains=[domain])
    count, span = found.steps, found.span
    if steps is not None and found.steps:  # outliers count here
        kept = steps._after_warm_up
        count, span = kept.steps, kept.duration
        part = part.filter(start=kept.begin, stop=kept.end)
    handle = part._reader.handle()
    summary.add_modules(handle, _places(found))
    process = min(summary.table("processes")["process"])
    columns = {
        "process": process, "steps": count, "warm_up": found.warm_up, "span": round(span),
        "has_backward": found.has_backward, "has_gpu": found.has_gpu,
        "gpu_used": found.gpu_used,
    }  # fmt: skip
    summary.add_table("modules", {name: _numbers([int(of)]) for name, of in columns.items()})
    if found.ambiguous:
        summary.add_table("ambiguous modules", {"name": list(found.ambiguous)})


def _places(found: Modules) -> dict[str, tuple[str, str, bool]]:
    """The model and path that the ranges of each name are of."""
    places: dict[str, tuple[str, str, bool]] = {}

    def walk(model: str, module: Module) -> None:
        if module.path not in places:
            places[module.path] = model, module.path, False
            places[module.path + _RECOMPUTE] = model, module.path, True
        for child in module.children:
            walk(model, child)

    for model in found.models:
        walk(model.name, model)
    return places


def _numbers(values: list[int]) -> memoryview:
    return memoryview(array("q", values))


class ManyModules(Modules):
    """The models of a job as trees of modules, all ranks together. Made by
    `ManyRecordings.modules`.

    Times are sums over the ranks, and `span` is the sum of what each of them recorded, so a share
    is that of the ranks' time; the modules within one are in the order of their first calls.

    Attributes:
        figures: a `ModuleFigures` for each module and each of its four times: `model`, `path`,
            `time` (as "forward_cpu"), and of its calls `calls`, `total`, `mean`, `std`, `min`,
            `p50`, `p90`, `p99` and `max` in ns. Fields may be read by key, too.
    """

    __module__ = "nvspan.ranks"

    def __init__(self, summary: _reader.RankSummary) -> None:
        sums = summary.table("modules")
        self.steps = sum(sums.get("steps", ()))
        self.warm_up = sum(sums.get("warm_up", ()))
        self.outliers = 0  # they are not left out
        self.span: float = float(sum(sums.get("span", ())))
        self.has_backward = any(sums.get("has_backward", ()))
        self.has_gpu = any(sums.get("has_gpu", ()))
        self.gpu_used = any(sums.get("gpu_used", ()))
        self.ambiguous = sorted(set(summary.table("ambiguous modules").get("name", ())))
        self.figures: list[ModuleFigures] = []
        self.models: list[Module] = []
        self._by_name: dict[str, list[Module]] = {}
        self._kinds = {}
        for row in sorted(summary.modules(), key=_by_first):
            model, path, time = row.domain or "", row.name or "", TIMES[row.time]
            module = self._module(model, path)
            module.add(time, row.total)
            if row.time == 0:
                module.calls += row.calls
            self.figures.append(row.into(ModuleFigures, model=model, path=path, time=time))

    def _module(self, model: str, path: str) -> Module:
        around = next((each for each in self.models if each.name == model), None)
        if around is None:
            around = Module(model, model)
            self.models.append(around)
        return around if path == model else self._within(around, path)


def _by_first(row: ModuleRow) -> tuple[bool, int, str, str, int]:
    """Forward passes on the CPU, which make the tree, before all others; then by the first call."""
    return row.time != 0, row.first, row.domain or "", row.name or "", row.time
