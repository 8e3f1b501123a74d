# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What each module of a model costs, forward and backward."""

from __future__ import annotations

import re
from array import array

from nvspan.recording.frame import Frame
from nvspan.recording.label import printable
from nvspan.recording.loop import names_in
from nvspan.recording.losses import need_events
from nvspan.recording.opened import WORK_DOMAINS
from nvspan.recording.steps import STATES, Steps
from nvspan.recording.time_text import percent, time_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from nvspan._reader import RankSummary
    from nvspan._results import ModuleRow
    from nvspan.recording.opened import OpenedFiles

# Ranges of the same domain that `nvspan.torch` makes, and that are no modules.
_OTHERS = frozenset((
    "step", "dataloader.next", "h2d", "forward", "backward", "optimizer.step", "zero_grad", "loss",
    "profile",
))  # fmt: skip
_FORWARD = "forward"  # the category of annotate_module's ranges, a class may follow
_RECOMPUTE = " (recompute)"
TIMES = ("forward_cpu", "backward_cpu", "forward_gpu", "backward_gpu")
_SIMILAR = 1.5  # times of two modules of one kind are within this factor
_LEAST_SIMILAR = 4
_TYPICAL = STATES.index("typical")
PART, CALL, CLASS = "\x1f", "\x1e", "\x1d"  # as src/ranks/modules/module_places.hpp has them


class Module:
    """A module of a model, or several of one kind that follow one another.

    Attributes:
        name: its own part of the path, ``attention``, or ``0..11`` for several.
        path: ``h.0.attention``, of several ``h.0..11.attention``; of the model its class.
        kind: its class, where it is called by a number only; else None. Two of one place that
            differ in their class are two.
        count: how many modules it stands for.
        calls: of their forward passes; 0 for one that has modules and no range of its own.
        forward_cpu, backward_cpu, forward_gpu, backward_gpu: ns of all its calls; None where
            nothing was recorded. A pass that was repeated for activation checkpointing is in
            backward.
        children: the modules within it, in the order of their first calls.
    """

    __slots__ = ("backward_cpu", "backward_gpu", "calls", "children", "count", "forward_cpu",
                 "forward_gpu", "kind", "name", "path")  # fmt: skip

    def __init__(self, name: str, path: str, kind: str | None = None) -> None:
        self.name = name
        self.path = path
        self.kind = kind
        self.count = 1
        self.calls = 0
        self.forward_cpu: float | None = None
        self.backward_cpu: float | None = None
        self.forward_gpu: float | None = None
        self.backward_gpu: float | None = None
        self.children: list[Module] = []

    def add(self, time: str, ns: float) -> None:
        """Adds to one of the four times; None becomes a number."""
        setattr(self, time, (getattr(self, time) or 0.0) + ns)

    def __repr__(self) -> str:
        return f"<nvspan Module {printable(self.path)}>"


class Modules(Frame):
    """The models of a recording as trees of modules. Made by `Recording.modules`.

    Attributes:
        models: a `Module` for each model, with the modules that it called within it. One that
            several modules call is within each of them.
        steps: how many steps the figures are about, 0 where no steps were found: then they are
            about the whole recording. Calls outside of steps, such as an evaluation, are left out.
        warm_up: how many steps of warm-up were left out before them.
        outliers: how many outliers were left out among them, as `Steps` tells them.
        span: ns of those steps, or of the recording.
        has_backward, has_gpu: whether such ranges were recorded.
        gpu_used: whether the program used a GPU, recorded or not.
        ambiguous: names that several modules have, where nothing tells whose a backward pass, or
            work on the GPU, is: those times are with the first of these modules.
    """

    __module__ = "nvspan.recording"

    def __init__(
        self, recording: OpenedFiles, domain: str = "torch", step: str | None = None,
        steps: Steps | None = None,
    ) -> None:  # fmt: skip
        from nvspan import _reader

        summary = _reader.RankSummary()
        add_modules(recording, summary, domain, step, steps)
        summary.collapse()
        self._read(summary)

    def _read(self, summary: RankSummary) -> list[tuple[ModuleRow, Module]]:
        """Takes what `add_modules` added: each row with its module, forward passes first."""
        sums = {name: sum(column) for name, column in summary.table("modules").items()}
        self.steps, self.warm_up, self.outliers, self.span = (
            sums.get(name, 0) for name in ("steps", "warm_up", "outliers", "span")
        )
        self.gpu_used = sums.get("gpu_used", 0) > 0
        self.ambiguous = list(dict.fromkeys(summary.table("ambiguous modules").get("name", ())))
        self.models: list[Module] = []
        rows = [
            (row, self._module(row.domain or "", row.name or ""))
            for row in sorted(summary.modules(), key=_by_first)
        ]
        self.has_backward = any(TIMES[row.time].startswith("backward") for row, _ in rows)
        self.has_gpu = any(TIMES[row.time].endswith("gpu") for row, _ in rows)
        for row, module in rows:
            module.add(TIMES[row.time], row.total)
            if row.time == 0:
                module.calls += row.calls
        return rows

    def _module(self, model: str, way: str) -> Module:
        """The module at the end of a way from its model: its parts, and modules that it calls."""
        at, prefix = _child(self.models, "", model), ""
        for mark, name in re.findall(f"([{PART}{CALL}])([^{PART}{CALL}]*)", way):
            at = _child(at.children, prefix if mark == PART else "", name)
            prefix = f"{at.path}."
        return at

    def rows(self, *, fold: bool = True) -> list[dict[str, Any]]:
        """The trees as dicts, each before the modules within it.

        Keys: `path`, `name`, `class`, `level`, `count`, `calls`, the four times in ns, and `share`,
        the part that they are of `span`: of the GPU's where there are any, else of the CPU's. With
        `fold` neighbours whose names are numbers are one row where they have the same class and
        modules within them, or none and similar times.
        """
        rows: list[dict[str, Any]] = []

        def walk(modules: list[Module], level: int) -> None:
            for each in _folded(modules) if fold else modules:
                module = _without_container(each, fold)
                times = {time: getattr(module, time) for time in TIMES}
                kind = "_gpu" if self.has_gpu else "_cpu"
                spent = sum(times[time] or 0.0 for time in TIMES if time.endswith(kind))
                rows.append({
                    "path": module.path, "name": module.name, "class": module.kind,
                    "level": level, "count": module.count, "calls": module.calls, **times,
                    "share": spent / self.span if self.span else 0.0,
                })  # fmt: skip
                walk(module.children, level + 1)

        walk(self.models, 0)
        return rows

    def _records(self) -> list[dict[str, Any]]:
        return self.rows()

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[str]], int]:
        found = self.rows()
        times = [time for time in TIMES if any(row[time] is not None for row in found)]
        rows = (
            (
                "\u2003" * row["level"] + row_title(row),
                f"{row['calls']:,}",
                *(time_cell(row[time]) for time in times),
                percent(row["share"]),
            )
            for row in found
        )
        return ("module", "calls", *(t.replace("_", " ") for t in times), "share"), rows, len(found)

    def __repr__(self) -> str:
        names = ", ".join(model.name for model in self.models)
        return f"<nvspan Modules of {printable(names) or 'nothing'}>"


def row_title(row: dict[str, Any]) -> str:
    """What a row is called: its name, the class behind a number, how many it stands for."""
    many = f"x{row['count']}" if row["count"] > 1 else ""
    return " ".join(filter(None, (row["name"], row["class"], many)))


def add_modules(
    recording: OpenedFiles,
    summary: RankSummary,
    domain: str,
    step: str | None = None,
    steps: Steps | None = None,
) -> None:
    """Adds what the modules of a recording cost to a summary: of its typical steps, or of all.

    Raises:
        ValueError: no range is called as `step` says, or the recording has statistics alone.
    """
    need_events(recording, "modules")
    try:
        steps = Steps(recording, step) if steps is None else steps
    except ValueError:
        if step is not None:
            raise
    sums: dict[str, int] = {"gpu_used": recording.has_gpu()}
    chosen: list[tuple[int, int, int]] | None = None
    if steps is None:
        sums |= {"steps": 0, "warm_up": 0, "outliers": 0}
        sums["span"] = round(recording._reader.stats("name").whole)
    else:
        columns = (steps[name] for name in ("thread", "start", "duration", "state"))
        chosen = [
            (thread, start, start + took)
            for thread, start, took, state in zip(*columns, strict=True)
            if state == _TYPICAL
        ]
        sums |= {name: getattr(steps.typical, name) for name in ("steps", "warm_up", "outliers")}
        sums["span"] = sum(end - start for _, start, end in chosen)
    summary.add_table("modules", {name: memoryview(array("q", [n])) for name, n in sums.items()})
    around = set() if steps is None else _step_sites(recording, steps)
    sites = _forward_passes(recording, domain, around)
    handle = recording._reader.handle()
    if shared := summary.add_modules(handle, sites, around, chosen, list(WORK_DOMAINS)):
        summary.add_table("ambiguous modules", {"name": shared})


def _forward_passes(recording: OpenedFiles, domain: str, around: Collection[int]) -> list[int]:
    """The sites of modules' forward passes.

    Where no site has such a category, all of the domain are, but those that are known for others
    and those `around` modules.
    """
    named: list[int] = []
    others: list[int] = []
    for site, (of, name, category) in enumerate(recording.sites()):
        if of != domain or name is None or name.endswith(_RECOMPUTE) or "::" in name:
            continue  # an operator
        if (category or "").partition(" ")[0] == _FORWARD:
            named.append(site)
        elif name not in _OTHERS and site not in around:
            others.append(site)
    return named or others


def forward_passes(recording: OpenedFiles, domain: str) -> list[int]:
    """The sites of modules' forward passes."""
    return _forward_passes(recording, domain, ())


def _step_sites(recording: OpenedFiles, steps: Steps) -> set[int]:
    """The sites of the ranges that are steps; those of a cycle may be modules."""
    if steps.choice.members:
        return set()
    names = names_in(recording)
    own = {names[pair] for pair in steps.loop.pairs_in(steps.loop.step_groups) if pair in names}
    return {site for site, (of, name, _) in enumerate(recording.sites()) if (of, name) in own}


def _child(among: list[Module], prefix: str, named: str) -> Module:
    """The module of that name and class among those, a new one where there is none."""
    name, _, kind = named.partition(CLASS)
    path = prefix + name
    for each in among:
        if (each.name, each.path, each.kind) == (name, path, kind or None):
            return each
    among.append(Module(name, path, kind or None))
    return among[-1]


def _by_first(row: ModuleRow) -> tuple[bool, int, str, str, int]:
    """Forward passes on the CPU, which make the tree, before all others; then by the first call."""
    return row.time != 0, row.first, row.domain or "", row.name or "", row.time


def _without_container(module: Module, folds: bool) -> Module:
    """What is in a module that has no range of its own, as a ModuleList, where it is one thing."""
    while not module.calls:
        children = _folded(module.children) if folds else module.children
        if len(children) != 1:
            break
        module = _together(children, f"{module.name}.{children[0].name}", children[0].path)
    return module


def _shape(module: Module) -> tuple[Any, ...]:
    return tuple((child.name, child.kind, _shape(child)) for child in module.children)


def _is_similar(a: Module, b: Module) -> bool:
    """Whether two modules without others in them may be of one kind."""
    for time in TIMES:
        x, y = getattr(a, time), getattr(b, time)
        if (x is None) != (y is None):
            return False
        if (
            x
            and y
            and not 1 / _SIMILAR <= (x / max(a.calls, 1)) / (y / max(b.calls, 1)) <= _SIMILAR
        ):
            return False
    return True


def _folded(modules: list[Module]) -> list[Module]:
    runs: list[list[Module]] = []
    for module in modules:
        last = runs[-1][-1] if runs else None
        follows = (
            last is not None
            and module.name.isdecimal()
            and last.name.isdecimal()
            and int(module.name) == int(last.name) + 1
            and module.kind == last.kind
            and _shape(module) == _shape(last)
            and (bool(module.children) or _is_similar(runs[-1][0], module))
        )
        if follows:
            runs[-1].append(module)
        else:
            runs.append([module])
    folded = []
    for run in runs:
        least = 2 if run[0].children else _LEAST_SIMILAR
        folded += run if len(run) < least else [_one_of(run)]
    return folded


def _one_of(run: list[Module]) -> Module:
    """A module that stands for all of `run`, and so do those within it."""
    name = f"{run[0].name}..{run[-1].name}" if run[0].name != run[-1].name else run[0].name
    path = run[0].path.removesuffix(run[0].name) + name
    return _together(run, name, path)


def _together(run: list[Module], name: str, path: str) -> Module:
    whole = Module(name, path, run[0].kind)
    whole.count = sum(module.count for module in run)
    whole.calls = sum(module.calls for module in run)
    for time in TIMES:
        for module in run:
            if getattr(module, time) is not None:
                whole.add(time, getattr(module, time))
    for number, child in enumerate(run[0].children):
        children = [module.children[number] for module in run]
        within = child.path.startswith(f"{run[0].path}.")
        inner = f"{path}.{child.name}" if within else child.path
        whole.children.append(_together(children, child.name, inner))
    return whole
