# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What each module of a model costs, forward and backward."""

from __future__ import annotations

from nvspan.recording.frame import Frame
from nvspan.recording.losses import need_events
from nvspan.recording.steps import Steps
from nvspan.recording.time_text import percent, time_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan._results import CallNode
    from nvspan.recording.opened import OpenedFiles

# Ranges of the same domain that `nvspan.torch` makes, and that are no modules.
_OTHERS = frozenset((
    "step", "dataloader.next", "h2d", "forward", "backward", "optimizer.step", "zero_grad", "loss",
    "profile",
))  # fmt: skip
_RECOMPUTE = " (recompute)"
TIMES = ("forward_cpu", "backward_cpu", "forward_gpu", "backward_gpu")
_SIMILAR = 1.5  # times of two modules of one kind are within this factor
_LEAST_SIMILAR = 4


class Module:
    """A module of a model, or several of one kind that follow one another.

    Attributes:
        name: its own part of the path, ``attention``, or ``0..11`` for several.
        path: ``h.0.attention``, of several ``h.0..11.attention``; of the model its class.
        count: how many modules it stands for.
        calls: of their forward passes; 0 for one that has modules and no range of its own.
        forward_cpu, backward_cpu, forward_gpu, backward_gpu: ns of all its calls; None where
            nothing was recorded. A pass that was repeated for activation checkpointing is in
            backward.
        children: the modules within it, in the order of their first calls.
    """

    __slots__ = ("backward_cpu", "backward_gpu", "calls", "children", "count", "forward_cpu",
                 "forward_gpu", "name", "path")  # fmt: skip

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path
        self.count = 1
        self.calls = 0
        self.forward_cpu: float | None = None
        self.backward_cpu: float | None = None
        self.forward_gpu: float | None = None
        self.backward_gpu: float | None = None
        self.children: list[Module] = []

    def add(self, time: str, ns: float) -> None:
        setattr(self, time, (getattr(self, time) or 0.0) + ns)

    def __repr__(self) -> str:
        return f"<nvspan Module {self.path}>"


class Modules(Frame):
    """The models of a recording as trees of modules. Made by `Recording.modules`.

    Attributes:
        models: a `Module` for each model, with the others within it.
        steps: how many steps the figures are about, 0 where no steps were found: then they are
            about the whole recording.
        warm_up: how many steps of warm-up were left out before them.
        span: ns of those steps, or of the recording.
        has_backward, has_gpu: whether such ranges were recorded.
        ambiguous: names that modules of several models have: their backward passes and their work
            on the GPU are with the first of these.
    """

    __module__ = "nvspan.recording"

    def __init__(
        self, recording: OpenedFiles, domain: str = "torch", step: str | None = None,
        steps: Steps | None = None,
    ) -> None:  # fmt: skip
        from nvspan import _reader

        need_events(recording, "modules")
        self.steps = self.warm_up = 0
        part = recording
        try:
            steps = Steps(recording, step) if steps is None else steps
        except ValueError:
            if step is not None:
                raise
        else:
            part = self._without_warm_up(recording, steps)
        nodes = _reader.tree(part.filter(domains=[domain])._reader.handle())
        self.models: list[Module] = []
        self._by_name: dict[str, list[Module]] = {}
        self._grow(nodes)
        self.ambiguous: list[str] = []
        self.has_backward = any(node.backward for node in nodes)
        self.has_gpu = any(node.kind == "device" for node in nodes)
        if self.steps == 0:
            self.span: float = part._reader.stats("name").whole
        for node in nodes:  # what is within a range of its name is a part of that node
            self._take(node)

    def _without_warm_up(self, recording: OpenedFiles, steps: Steps) -> OpenedFiles:
        kept = steps._after_warm_up
        if not kept.steps:
            return recording
        self.steps = kept.steps
        self.warm_up = len(steps) - self.steps
        self.span = kept.duration
        return recording.filter(start=kept.begin, stop=kept.end)

    def _grow(self, nodes: list[CallNode]) -> None:
        """The trees, from which ranges were open around which."""
        root: dict[int, Module | None] = {}
        roots: dict[str, Module] = {}
        for index, node in enumerate(nodes):
            parent = node.parent
            around = None if parent is None else root[parent]
            root[index] = around
            name = node.name
            if node.kind != "push_pop" or name is None or name in _OTHERS:
                continue
            if name.endswith(_RECOMPUTE):
                continue
            if around is None:
                around = root[index] = roots.setdefault(name, Module(name, name))
                if around.calls == 0 and around not in self.models:
                    self.models.append(around)
                    self._by_name.setdefault(name, []).append(around)
                module = around
            else:
                module = self._within(around, name)
            module.calls += node.calls

    def _within(self, model: Module, path: str) -> Module:
        at = model
        parts = path.split(".")
        for depth, part in enumerate(parts):
            found = next((child for child in at.children if child.name == part), None)
            if found is None:
                found = Module(part, ".".join(parts[: depth + 1]))
                at.children.append(found)
                self._by_name.setdefault(found.path, []).append(found)
            at = found
        return at

    def _take(self, node: CallNode) -> None:
        name = node.name or ""
        repeated = name.endswith(_RECOMPUTE)
        named = self._by_name.get(name.removesuffix(_RECOMPUTE))
        if named is None or (node.kind == "start_end" and not node.backward):
            return
        on_gpu = node.kind == "device"
        if len(named) > 1 and (on_gpu or node.backward) and name not in self.ambiguous:
            self.ambiguous.append(name)
        backward = node.backward or repeated
        time = ("backward" if backward else "forward") + ("_gpu" if on_gpu else "_cpu")
        named[0].add(time, node.total)

    def rows(self, *, fold: bool = True) -> list[dict[str, Any]]:
        """The trees as dicts, each before the modules within it.

        Keys: `path`, `name`, `level`, `count`, `calls`, the four times in ns, and `share`, the part
        that they are of `span`: of the GPU's where there are any, else of the CPU's. With `fold`
        neighbours whose names are numbers are one row where they have the same modules within them,
        or none and similar times.
        """
        rows: list[dict[str, Any]] = []

        def walk(modules: list[Module], level: int) -> None:
            for each in _folded(modules) if fold else modules:
                module = _without_container(each, fold)
                times = {time: getattr(module, time) for time in TIMES}
                kind = "_gpu" if self.has_gpu else "_cpu"
                spent = sum(times[time] or 0.0 for time in TIMES if time.endswith(kind))
                rows.append({
                    "path": module.path, "name": module.name, "level": level,
                    "count": module.count, "calls": module.calls, **times,
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
                "\u2003" * row["level"]
                + row["name"]
                + (f" x{row['count']}" if row["count"] > 1 else ""),
                f"{row['calls']:,}",
                *(time_cell(row[time]) for time in times),
                percent(row["share"]),
            )
            for row in found
        )
        return ("module", "calls", *(t.replace("_", " ") for t in times), "share"), rows, len(found)

    def __repr__(self) -> str:
        return f"<nvspan Modules of {', '.join(model.name for model in self.models) or 'nothing'}>"


def _without_container(module: Module, folds: bool) -> Module:
    """What is in a module that has no range of its own, as a ModuleList, where it is one thing."""
    while not module.calls:
        children = _folded(module.children) if folds else module.children
        if len(children) != 1:
            break
        module = _together(children, f"{module.name}.{children[0].name}", children[0].path)
    return module


def _shape(module: Module) -> tuple[Any, ...]:
    return tuple((child.name, _shape(child)) for child in module.children)


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
    whole = Module(name, path)
    whole.count = sum(module.count for module in run)
    whole.calls = sum(module.calls for module in run)
    for time in TIMES:
        for module in run:
            if getattr(module, time) is not None:
                whole.add(time, getattr(module, time))
    for number, child in enumerate(run[0].children):
        children = [module.children[number] for module in run]
        whole.children.append(_together(children, child.name, f"{path}.{child.name}"))
    return whole
