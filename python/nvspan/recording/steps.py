# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time of each step went."""

from __future__ import annotations

from nvspan.loops.groups import MARKED
from nvspan.recording.frame import Frame, flat
from nvspan.recording.label import label, printable
from nvspan.recording.loop import matching, names_in, nearest_names, read_loop, why_no_steps
from nvspan.recording.opened import WORK_DOMAINS
from nvspan.recording.projection import CALL_DOMAIN
from nvspan.recording.time_text import plain_cell, time_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypedDict

    from nvspan.loops.loop import Loop
    from nvspan.recording.loop import Names, Pair
    from nvspan.recording.opened import OpenedFiles

    class StepRow(TypedDict):
        """A step, as the columns of `Steps` have it; None: not known."""

        index: int
        process: int
        thread: int
        start: int
        duration: int
        busy: int
        ops: int
        waits: int
        wait_calls: int
        number: int | None
        ahead: int | None
        behind: int | None
        state: str
        cpu: dict[str, int]
        gpu: dict[str, int]
        idle: dict[str, int]


OTHER, WAITING, COMMUNICATION = "other", "synchronising", "communication"
OUTSIDE = "(outside any phase)"  # OTHER, where people read it
HELD_UP = "held up"
STATES = ("typical", "warm-up", "outlier")
# What `nvspan.torch.auto` and torch's own profiler call the phases of a training step.
_PHASES = (
    ("data wait", ("dataloader.next", "enumerate(DataLoader)*")),
    ("h2d", ("h2d",)),
    ("forward", ("forward",)),
    ("loss", ("loss",)),
    ("backward", ("backward",)),
    (COMMUNICATION, ("torch.distributed:*", "NCCL:nccl[!C]*", "NCCL:[A-Z]*")),
    ("optimizer", ("optimizer.step", "zero_grad", "Optimizer.step#*", "Optimizer.zero_grad#*")),
)
# One of these says that `auto` or the profiler named the phases: a program may say `forward`, too.
_SURE = ("torch:*", "*:dataloader.next", "*:optimizer.step", "*#*")
# Calls in which the CPU waits for the GPU.
_WAITING = (
    *("cuda*Synchronize*", "cu*Synchronize*", "cudaMemcpy", "cudaMemcpy_v*", "synchronize"),
    "torch.cuda.synchronize",
)
_NOT_KNOWN = -(2**63)
_STEP_ROLE, _WAITING_ROLE, _FIRST_PHASE = 1, 2, 3
_MOST_FOUND, _MOST_PHASES = 12, 64


def phase_title(phase: str) -> str:
    """A phase as tables have it.

    >>> phase_title("load"), phase_title("other")
    ('load', '(outside any phase)')
    """
    return OUTSIDE if phase == OTHER else printable(phase)


class Steps(Frame):
    """The steps of a recording, and the one that is typical of them. Made by `Recording.steps`.

    Each moment of a step belongs to one phase, the innermost that is open on the step's thread, or
    to "other": phases add up to the step. What the GPU did belongs to the step and the phase in
    which it was launched.

    ``len()`` is the number of steps. Columns, as ``steps["duration"]``, have a value for each, in
    ns unless said otherwise:

    ==================  ========================================================================
    process, thread     rows of `Recording.processes` and `Recording.threads`
    number, has_number  what `nvspan.step` or `nvspan.torch.auto` counted, and whether they did
    start, duration     on the CPU
    cpu.PHASE           time in the phase
    gpu.PHASE           time in which at least one piece of work that it launched was under way
    idle.PHASE          time of the phase in which the GPU had no work; ``idle.synchronising``: in
                        which the CPU waited for the GPU, whatever the phase
    busy, ops           as gpu.PHASE, of all work that the step launched; pieces of work
    ahead               from a launch to the beginning of its work, the median; -1: not known
    behind              from the end of the phase that launched it to the end of the work, the
                        median; -2**63: not known
    waits, wait_calls   time in which the CPU waited for the GPU, where a tool saw CUDA's calls or
                        the program has ranges called "synchronize"; and how often
    state               0 typical, 1 warm-up, 2 outlier
    ==================  ========================================================================

    A step is not typical where its duration is further from the median of the later half of its
    thread's steps than 5 standard deviations, estimated by the median distance, and than 25%.
    Steps that lead and are longer are warm-up, others are outliers. Of a thread with fewer than 5
    steps all are typical.

    Steps that overlap, as the requests of a server do, have the parts directly within them as
    phases. Time in which another one holds their event loop is in none of these, but in "held up",
    where such ranges make the others wait for a tenth of their time. Work of the GPU is the step's
    that alone is open on the launching thread, or has a range open there. `idle` is 0: what one
    step leaves idle, another may use.

    Attributes:
        step: what steps are called, ``domain:name``.
        choice: why these ranges are the steps, a `nvspan.loops.choosing.Choice`.
        loop: the ranges in, between and around them, a `nvspan.loops.loop.Loop`.
        phases: the names of the phases, the last "other".
        typical: a `TypicalStep`, the means of the typical steps, whose fields may be read by key
            as well: ``typical["cpu"]["forward"]``.
        has_work: whether the recording has work of a GPU.
        of_device_ranges: whether device ranges stand for it, as no kernel was recorded: they last
            from their first kernel to their last, also while the GPU has nothing to do in between.
        graphs: pieces of work that are whole graphs, in which the GPU may be idle as well.
        has_idle: whether `idle` is known: not where steps overlap.
        outside: pieces of work that no step launched.
        unshared: pieces of work that one of several steps launched, and nothing tells which: they
            are in none.
        by_run_time: pieces of work whose launch is not known, as of a CUDA graph's replay: they
            belong to the step during which they began.
        unclosed: steps that did not end, or ended in another thread.
        other_devices: devices that `idle` is not about: it is about the busiest.
    """

    __module__ = "nvspan.recording"

    def __init__(
        self,
        recording: OpenedFiles,
        step: str | None = None,
        phases: Sequence[str] | None = None,
        loop: Loop | None = None,
    ) -> None:
        loop = loop or read_loop(recording, step)
        names = names_in(recording)
        groups = _given_phases(names, phases) if phases else _known_phases(names)
        if loop.choice is None:
            raise ValueError(why_no_steps(loop))
        self.loop = loop
        self.choice = choice = loop.choice
        self.step = label(loop.groups[min(loop.step_groups)].domain, choice.label)
        waiting = matching(names, _WAITING)
        is_cycle = bool(choice.members)
        is_marked = bool(loop.groups[min(loop.step_groups)].traits & MARKED)
        needs_scan = groups or waiting or is_cycle or is_marked or loop.loops.has_device_ranges
        has_parts_alone = loop.steps.is_floating or not needs_scan
        if has_parts_alone:
            parts = _phase_parts(loop, groups if phases else ())
            is_held = bool(loop.large_holds)
            self.phases: list[str] = [*parts, *[HELD_UP] * is_held, OTHER]
            found = loop.steps.found_by_parts(
                list(parts.values()),
                is_held,
                [*self.phases, WAITING],
                CALL_DOMAIN,
                list(WORK_DOMAINS),
            )
        else:
            direct = not groups and not is_cycle
            if not groups:
                inner = loop.step_groups if is_cycle else _largest_parts(loop)
                groups = _group_phases(loop, inner)
            roles = dict.fromkeys(waiting, _WAITING_ROLE)
            for number, (_, pairs) in reversed(list(enumerate(groups))):
                roles.update(dict.fromkeys(pairs, _FIRST_PHASE + number))
            if not is_cycle:
                roles.update(dict.fromkeys(loop.pairs_in(loop.step_groups), _STEP_ROLE))
            self.phases = [*(name for name, _ in groups), OTHER]
            found = loop.steps.found(
                roles, [*self.phases, WAITING], direct, CALL_DOMAIN, list(WORK_DOMAINS)
            )
        self.has_work = found.has_work
        self.of_device_ranges = found.of_device_ranges
        self.graphs = found.graphs
        self.has_idle = found.has_work and not has_parts_alone
        self.outside = found.outside
        self.unshared = found.unshared
        self.by_run_time = found.by_run_time
        self.unclosed = loop.unclosed_steps
        self.other_devices = found.devices_left
        self._columns = found.columns
        self.typical = found.typical

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        split = {"cpu": self.phases, "gpu": self.phases, "idle": [*self.phases, WAITING]}
        return [
            name
            for column in self._columns
            for name in ([f"{column}.{p}" for p in split[column]] if column in split else [column])
        ]

    def __len__(self) -> int:
        return len(self["start"])

    def __getitem__(self, column: str) -> memoryview:
        kind, _, phase = column.partition(".")
        if not phase:
            if kind in ("cpu", "gpu", "idle"):
                raise KeyError(column)
            return memoryview(self._columns[column])
        phases = [*self.phases, WAITING] if kind == "idle" else self.phases
        if phase not in phases:
            raise KeyError(column)
        return memoryview(self._columns[kind])[phases.index(phase) :: len(phases)]

    def rows(self, states: Iterable[str] = STATES) -> list[StepRow]:
        """A dict for each step of these states, in their order; `cpu`, `gpu`, `idle` by phase."""
        columns = {name: memoryview(column) for name, column in self._columns.items()}
        return [self._row(columns, index) for index in self.places(states)]

    def places(self, states: Iterable[str] = STATES) -> list[int]:
        """The places of the steps of these states in the columns."""
        counts = (self.typical.steps, self.typical.warm_up, self.typical.outliers)
        wanted = {number for state in states if counts[number := STATES.index(state)]}
        if not wanted:
            return []
        states_of = memoryview(self._columns["state"]).tolist()
        return [index for index, state in enumerate(states_of) if state in wanted]

    def _row(self, columns: dict[str, memoryview], index: int) -> StepRow:
        def by_phase(column: str, phases: Sequence[str]) -> dict[str, int]:
            first = index * len(phases)
            values = columns[column][first : first + len(phases)]
            return dict(zip(phases, values, strict=True))

        ahead, behind = columns["ahead"][index], columns["behind"][index]
        return {
            "index": index,
            "process": columns["process"][index],
            "thread": columns["thread"][index],
            "start": columns["start"][index],
            "duration": columns["duration"][index],
            "busy": columns["busy"][index],
            "ops": columns["ops"][index],
            "waits": columns["waits"][index],
            "wait_calls": columns["wait_calls"][index],
            "number": columns["number"][index] if columns["has_number"][index] else None,
            "ahead": None if ahead < 0 else ahead,
            "behind": None if behind == _NOT_KNOWN else behind,
            "state": STATES[columns["state"][index]],
            "cpu": by_phase("cpu", self.phases),
            "gpu": by_phase("gpu", self.phases),
            "idle": by_phase("idle", [*self.phases, WAITING]),
        }

    def _records(self) -> list[dict[str, Any]]:
        return [flat(row) for row in self.rows()]

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[str]], int]:
        gpu = ["gpu"] if self.has_work else []
        headings = ["step", "state", "duration", *self.phases, *gpu]
        columns = {name: memoryview(column) for name, column in self._columns.items()}
        rows = (
            (
                plain_cell(row["index"] if row["number"] is None else row["number"]),
                row["state"],
                time_cell(row["duration"]),
                *(time_cell(row["cpu"][phase]) for phase in self.phases),
                *(time_cell(row["busy"]) for _ in gpu),
            )
            for row in (self._row(columns, index) for index in range(len(self)))
        )
        return headings, rows, len(self)

    def __repr__(self) -> str:
        return f"<nvspan Steps: {len(self)} of {printable(self.step)}>"


def _given_phases(names: Names, phases: Sequence[str]) -> list[tuple[str, set[Pair]]]:
    if len(phases) > _MOST_PHASES:
        raise ValueError(f"at most {_MOST_PHASES} phases can be told apart, not {len(phases)}")
    groups = []
    for phase in dict.fromkeys(phases):
        pairs = matching(names, [phase])
        if not pairs:
            raise ValueError(f"no range is called {phase!r}{nearest_names(phase, names)}")
        groups.append((phase, pairs))
    return groups


def _known_phases(names: Names) -> list[tuple[str, set[Pair]]]:
    groups = [(label, matching(names, patterns)) for label, patterns in _PHASES]
    groups = [(label, pairs) for label, pairs in groups if pairs]
    sure = any(matching({pair: names[pair]}, _SURE) for _, pairs in groups for pair in pairs)
    return groups if sure else []


def _group_phases(loop: Loop, groups: Iterable[int]) -> list[tuple[str, set[Pair]]]:
    """A phase for each group, the names that it stands for."""
    chosen = sorted(groups)
    labels = _labels([(loop.groups[group].domain, loop.groups[group].label) for group in chosen])
    return list(zip(labels, (loop.pairs_in({group}) for group in chosen), strict=True))


def _largest_parts(loop: Loop) -> list[int]:
    """The groups of the ranges directly within a step, those that take the most time."""
    parts = [part for part in loop.tree.parts if part.parent < 0]
    parts.sort(key=lambda part: -part.total)
    return [part.group for part in parts[:_MOST_FOUND]]


def _phase_parts(loop: Loop, given: Sequence[tuple[str, set[Pair]]]) -> dict[str, int]:
    """Of steps that overlap: the places of parts directly within them, the largest or the given."""
    parts = loop.tree.parts
    places = [place for place, part in enumerate(parts) if part.parent < 0]
    places.sort(key=lambda place: -parts[place].total)
    if given:
        of_pairs = {
            pair: place
            for place in reversed(places)
            for pair in loop.pairs_in({parts[place].group})
        }
        wanted = ((name, [of_pairs[p] for p in pairs if p in of_pairs]) for name, pairs in given)
        return {name: found[0] for name, found in wanted if found}
    chosen = [loop.groups[parts[place].group] for place in places[:_MOST_FOUND]]
    labels = _labels([(group.domain, group.label) for group in chosen])
    return dict(zip(labels, places, strict=False))


def _labels(names: Sequence[tuple[str | None, str]]) -> list[str]:
    """The names alone; with their domains where two of them have one name."""
    alone = [name for _, name in names]
    return [
        name
        if alone.count(name) == 1 and name not in (OTHER, WAITING, HELD_UP)
        else f"{domain}:{name}"
        for domain, name in names
    ]
