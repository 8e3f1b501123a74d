# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What each module of a model costs, forward and backward."""

from __future__ import annotations

from bisect import bisect_right
from glob import escape

from nvspan.recording.frame import Frame
from nvspan.recording.label import label, matches
from nvspan.recording.losses import need_events
from nvspan.recording.steps import STATES, Steps
from nvspan.recording.time_text import percent, time_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from nvspan._results import CallNode
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
_DEVICE = 2  # `kind` of a device range
_TYPICAL = STATES.index("typical")
_MOST_RUNS = 16  # of typical steps: each is a pass over the recording


class Module:
    """A module of a model, or several of one kind that follow one another.

    Attributes:
        name: its own part of the path, ``attention``, or ``0..11`` for several.
        path: ``h.0.attention``, of several ``h.0..11.attention``; of the model its class.
        kind: its class, where it is called by a number only; else None.
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
        setattr(self, time, (getattr(self, time) or 0.0) + ns)

    def __repr__(self) -> str:
        return f"<nvspan Module {self.path}>"


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
        ambiguous: names that several modules have, in two models or where several modules call
            one: their backward passes and their work on the GPU are with the first of these.
    """

    __module__ = "nvspan.recording"

    def __init__(
        self, recording: OpenedFiles, domain: str = "torch", step: str | None = None,
        steps: Steps | None = None,
    ) -> None:  # fmt: skip
        from nvspan import _reader

        need_events(recording, "modules")
        self.steps = self.warm_up = self.outliers = 0
        self.gpu_used = recording.has_gpu()
        parts = [recording]
        try:
            steps = Steps(recording, step) if steps is None else steps
        except ValueError:
            if step is not None:
                raise
        else:
            parts = self._typical_parts(recording, steps)
        step_label = steps.step if steps is not None and self.steps else None
        patterns = [f"{escape(domain)}:*"]
        if step_label is not None:  # as a pattern, and as it stands
            patterns += [step_label, escape(step_label)]
        trees = [_reader.tree(part.filter(match=patterns)._reader.handle()) for part in parts]
        self.models: list[Module] = []
        self._by_name: dict[str, list[Module]] = {}
        self._kinds = _forward_passes(recording, domain)
        self.ambiguous: list[str] = []
        own = [node for nodes in trees for node in nodes if node.domain == domain]
        self.has_backward = any(node.backward for node in own)
        self.has_gpu = any(node.kind == "device" for node in own)
        is_module = _module_test(self._kinds, domain)
        outside = [self._grow(nodes, is_module, step_label) for nodes in trees]
        if self.steps == 0:
            self.span: float = recording._reader.stats("name").whole
        by_launch = self.has_gpu and steps is not None and (any(outside) or len(parts) > 1)
        for node in own:  # what is within a range of its name is a part of that node
            if node.kind != "device" or not by_launch:
                self._take(node.name, node.backward, node.kind, node.total)
        if by_launch and steps is not None:
            for (name, backward), total in _launched_in(steps, recording, domain).items():
                self._take(name, backward, "device", total)

    def _typical_parts(self, recording: OpenedFiles, steps: Steps) -> list[OpenedFiles]:
        """The parts that hold the typical steps and no others; all of it without steps.

        One part without the warm-up where many outliers lie between them, or steps of threads
        overlap.
        """
        runs = _runs(steps)
        if 0 < len(runs) <= _MOST_RUNS:
            typical = steps.typical
            self.steps, self.warm_up, self.outliers = (
                typical.steps, typical.warm_up, typical.outliers,
            )  # fmt: skip
            self.span = sum(took for _, _, took in runs)
            return [recording.filter(start=begin, stop=end) for begin, end, _ in runs]
        kept = steps._after_warm_up
        if not kept.steps:
            return [recording]
        self.steps = kept.steps
        self.warm_up = len(steps) - self.steps
        self.span = kept.duration
        return [recording.filter(start=kept.begin, stop=kept.end)]

    def _grow(
        self, nodes: list[CallNode], is_module: Callable[[CallNode], bool], step: str | None
    ) -> bool:
        """The trees, from which ranges were open around which; calls and times of forward passes.

        Returns whether modules were called outside of the steps: those calls are left out.
        """
        in_step: list[bool] = []
        around_steps: set[int] = set()  # an epoch is no module, though its domain be theirs
        for index, node in enumerate(nodes):
            parent = node.parent
            inside = parent is not None and in_step[parent]
            if step is not None and not inside and _is_step(node, step):
                inside = True
                while parent is not None:
                    around_steps.add(parent)
                    parent = nodes[parent].parent
                around_steps.add(index)
            in_step.append(inside)
        modules = [
            index not in around_steps and is_module(node) for index, node in enumerate(nodes)
        ]
        within = [inside for inside, module in zip(in_step, modules, strict=True) if module]
        bounded = any(within)  # else the steps are of another thread, or cycles without a range
        places: list[Module | None] = []
        for index, node in enumerate(nodes):
            around = None if node.parent is None else places[node.parent]
            if modules[index] and (in_step[index] or not bounded):
                around = self._called(around, node.name or "")
                around.calls += node.calls
                around.add("forward_cpu", node.total)
            places.append(around)
        return bounded and not all(within)

    def _called(self, caller: Module | None, path: str) -> Module:
        """The module of that path within the one that called it; without one, a model."""
        if caller is None:
            model = next((each for each in self.models if each.name == path), None)
            if model is None:
                model = self._made(Module(path, path, self._kinds.get(path)))
                self.models.append(model)
            return model
        if caller in self.models:
            return self._within(caller, path)
        if path.startswith(f"{caller.path}."):
            return self._within(caller, path.removeprefix(f"{caller.path}."), caller.path)
        return self._child(caller, path, path)  # a module of another part of the model

    def _within(self, model: Module, path: str, prefix: str = "") -> Module:
        at = model
        for part in path.split("."):
            prefix = f"{prefix}.{part}" if prefix else part
            at = self._child(at, part, prefix)
        return at

    def _child(self, around: Module, name: str, path: str) -> Module:
        child = next((each for each in around.children if each.name == name), None)
        if child is None:
            child = self._made(Module(name, path, self._kinds.get(path)))
            around.children.append(child)
        return child

    def _made(self, module: Module) -> Module:
        self._by_name.setdefault(module.path, []).append(module)
        return module

    def _take(self, name: str | None, backward: bool, kind: str, total: float) -> None:
        """Adds what is not nested in its caller: backward passes, and the GPU's work."""
        repeated = name is not None and name.endswith(_RECOMPUTE)
        named = self._by_name.get((name or "").removesuffix(_RECOMPUTE))
        if named is None or not (backward or repeated or kind == "device"):
            return
        if len(named) > 1 and named[0].path not in self.ambiguous:
            self.ambiguous.append(named[0].path)
        way = "backward" if backward or repeated else "forward"
        named[0].add(f"{way}_gpu" if kind == "device" else f"{way}_cpu", total)

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
        return f"<nvspan Modules of {', '.join(model.name for model in self.models) or 'nothing'}>"


def row_title(row: dict[str, Any]) -> str:
    """What a row is called: its name, the class behind a number, how many it stands for."""
    many = f"x{row['count']}" if row["count"] > 1 else ""
    return " ".join(filter(None, (row["name"], row["class"], many)))


def _is_step(node: CallNode, step: str) -> bool:
    return node.kind == "push_pop" and (
        label(node.domain, node.name) == step or matches((step,), node.domain, node.name)
    )


def _forward_passes(recording: OpenedFiles, domain: str) -> dict[str | None, str | None]:
    """The names of annotate_module's forward passes, with the classes that they carry."""
    reader, index = recording._reader, 0
    kinds: dict[str | None, str | None] = {}
    while True:
        try:
            of, name, _, _, _, category, _ = reader.site(index)
        except IndexError:
            return kinds
        word, _, kind = (category or "").partition(" ")
        if of == domain and word == _FORWARD and "::" not in (name or ""):  # else an operator
            same = kinds.setdefault(name, kind or None) == kind
            kinds[name] = kind if kind and same else None  # two models may use one name
        index += 1


def _module_test(known: dict[str | None, str | None], domain: str) -> Callable[[CallNode], bool]:
    """Tells forward passes of modules: by their category, where the recording has it."""

    def is_module(node: CallNode) -> bool:
        name = node.name
        if node.domain != domain or node.kind != "push_pop" or name is None:
            return False
        if name.endswith(_RECOMPUTE) or "::" in name:
            return False
        return name in known if known else name not in _OTHERS

    return is_module


def _runs(steps: Steps) -> list[tuple[int, int, int]]:
    """Typical steps that follow one another: begin, end, the sum of their durations.

    None where the steps are of several threads.
    """
    if len({*zip(steps["process"], steps["thread"], strict=True)}) > 1:
        return []
    runs: list[tuple[int, int, int]] = []
    follows = False
    for begin, took, state in sorted(
        zip(steps["start"], steps["duration"], steps["state"], strict=True)
    ):
        if state == _TYPICAL and follows:
            first, _, total = runs.pop()
            runs.append((first, begin + took, total + took))
        elif state == _TYPICAL:
            runs.append((begin, begin + took, took))
        follows = state == _TYPICAL
    return runs


def _launched_in(
    steps: Steps, part: OpenedFiles, domain: str
) -> dict[tuple[str | None, bool], float]:
    """Durations of the device ranges that typical steps launched, by name and pass.

    One whose launch is not known counts by its own start.
    """
    reader, strings = part._reader, part.strings
    columns = {
        name: memoryview(reader.column("ranges", name))
        for name in ("kind", "domain", "name", "category_name", "start", "duration", "launcher")
    }
    columns_of_steps = (steps["start"], steps["duration"], steps["state"])
    spans = sorted(
        (begin, begin + took)
        for begin, took, state in zip(*columns_of_steps, strict=True)
        if state == _TYPICAL
    )
    starts = [start for start, _ in spans]
    totals: dict[tuple[str | None, bool], float] = {}
    for row, kind in enumerate(columns["kind"]):
        of = columns["domain"][row]
        if kind != _DEVICE or of < 0 or strings[of] != domain:
            continue
        launcher = columns["launcher"][row]
        begin = columns["start"][row if launcher < 0 else launcher]
        place = bisect_right(starts, begin) - 1
        if place < 0 or begin >= spans[place][1]:
            continue
        name, category = columns["name"][row], columns["category_name"][row]
        key = (
            None if name < 0 else strings[name],
            category >= 0 and strings[category] == "backward",
        )
        totals[key] = totals.get(key, 0.0) + columns["duration"][row]
    return totals


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
