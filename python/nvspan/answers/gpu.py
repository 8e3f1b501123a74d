# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the GPU waits for in a step, the modules that it takes time for, and time in no phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nvspan._results import StatsRow
from nvspan.answers.bottleneck import (
    IDLE_ENOUGH,
    Bottleneck,
    at_least,
    at_most,
    find_bottleneck,
)
from nvspan.answers.dominant import TORCH_ADVICE, UNNAMED
from nvspan.answers.finding import LIKELY, MEASURED, UNKNOWN, Finding
from nvspan.answers.lines.finder import LineAnswer, LineFinder
from nvspan.answers.words import times_text
from nvspan.recording import Kernels
from nvspan.recording.modules import Module, Modules
from nvspan.recording.opened import WORK_DOMAINS
from nvspan.recording.statistics import median
from nvspan.recording.steps import COMMUNICATION, OTHER, Steps
from nvspan.recording.time_text import counted, duration, percent
from nvspan.report.text import printable

_LARGE = 0.2  # of the GPU's time: a module
_ODD_BLOCK, _BLOCKS = 1.5, 4  # times the median of so many blocks
_NEXT = {
    "data": TORCH_ADVICE,
    "launch": "larger batches, torch.compile or CUDA graphs launch less for the same work",
    "synchronising": "keep values on the GPU: .item(), .cpu(), .tolist() and printing a tensor "
    "wait for it",
    "gpu": "nvspan modules FILES",
    "cpu": "put ranges around the parts of it",
}
_UNKNOWN_NEXT = "'nvspan record --cuda kernels' or 'nvspan nsys' records the GPU"
_MOST_STEPS, _MOST_NAMES = 3, 3
_AFTER_CAUSE = 0.99  # of its cost: what limits the step comes before its kernels
_TOP_KERNEL = 0.1  # of the time in which the GPU is busy: a kernel


def is_gpu_work(row: StatsRow) -> bool:
    """Whether the ranges of a row are device ranges, or kernels and copies of another tool."""
    return row.kind == "device" or row.domain in WORK_DOMAINS


def unknown_finding() -> Finding:
    """That the process used a GPU, whose work was not recorded."""
    text = "cannot tell what the GPU did: the program used CUDA, and no GPU work was recorded"
    return Finding("bound-unknown", text, UNKNOWN, next=_UNKNOWN_NEXT)


def bound_findings(steps: Steps, lines: LineFinder) -> Iterator[Finding]:
    """What the typical step waits for."""
    typical = steps.typical
    found = find_bottleneck(steps)
    bound, idle = found.bound, found.idle
    largest = max(typical.gpu, key=typical.gpu.__getitem__, default=OTHER)
    if bound is None or idle is None:
        evidence, advice = [], _UNKNOWN_NEXT
        if largest == COMMUNICATION:
            evidence = [f"{duration(typical.gpu[largest])} of the GPU's time are {largest}"]
            advice = f"nvspan ranks {lines.files}"
        yield Finding("bound-unknown", found.text, UNKNOWN, evidence, advice)
        return
    certainty = LIKELY if steps.of_device_ranges and bound in ("launch", "cpu") else MEASURED
    cost = max(idle, 1 - idle) if bound in ("gpu", "launch") else idle
    evidence = [line.strip() for line in found.text.partition(": ")[2].split(";")]
    advice = _NEXT[bound].replace("FILES", lines.files)
    if bound == "gpu" and largest == COMMUNICATION:
        evidence.append(f"{duration(typical.gpu[largest])} of it are {largest}")
        advice = f"nvspan ranks {lines.files}"
    if bound == "launch" and not steps.of_device_ranges and typical.ops:
        mean = duration(typical.busy / typical.ops)
        evidence.append(f"{typical.ops:,.0f} kernels and copies per step, of {mean}")
    if bound in ("data", "cpu", "launch", "synchronising"):
        place = lines.in_steps() if found.phase == OTHER else _in_phase(lines, found.phase)
        evidence += place.texts
        advice = place.next or advice if bound == "cpu" else advice
    yield Finding(f"bound-{bound}", _bound_text(steps, found), certainty, evidence, advice, cost)


def _in_phase(lines: LineFinder, phase: str) -> LineAnswer:
    return lines.called(phase, f"'{printable(phase)}'")


def _bound_text(steps: Steps, found: Bottleneck) -> str:
    typical = steps.typical
    idle, part = duration(found.idle_time), percent(found.idle)
    phase, most = found.phase, duration(found.phase_time)
    late = typical.behind or 0
    if found.bound == "gpu" and steps.of_device_ranges:
        return f"GPU-bound: the GPU is {duration(late)} late when the CPU has launched a step"
    if found.bound == "gpu":
        busy = f"{at_most(steps)}{percent(1 - (found.idle or 0.0))}"
        return f"GPU-bound: the GPU is busy for {busy} of the step"
    if found.bound == "launch" and (found.idle or 0.0) <= IDLE_ENOUGH:
        return f"launch-bound: the GPU has finished {duration(late)} after the CPU has launched"
    share = percent(found.phase_time / typical.duration)
    idle = at_least(steps) + idle
    if found.bound == "data":
        return f"the GPU waits {most} per step for data ({share} of the step)"
    if found.bound == "launch":
        return f"launch-bound: the GPU waits {idle} per step for work ({part} of the step)"
    if found.bound == "synchronising":
        waits = f"{typical.wait_calls:.3g} times per step"
        return f"the CPU waits for the GPU {waits}, and the GPU then {idle} for the CPU"
    where = "outside any phase" if phase == OTHER else f"in '{printable(phase)}'"
    return f"the GPU waits {most} per step for the CPU {where} ({share} of the step)"


def kernel_findings(kernels: Kernels, steps: Steps, lines: LineFinder) -> Iterator[Finding]:
    """The kernel that takes most of the GPU's time, with the range and the line that launch it."""
    top = next(iter(kernels.rows), None)
    if top is None or top.share < _TOP_KERNEL or top.kind == "graph":
        return
    name = printable(top.name or "-")
    evidence = [f"{counted(top.count, 'call')} of {duration(top.mean)}"]
    if top.range is not None:
        more = f" and {top.ranges - 1} more" if top.ranges > 1 else ""
        evidence.append(f"launched in '{printable(top.range)}'{more}")
        evidence += _in_phase(lines, top.range).texts
    yield Finding(
        "kernel",
        f"{name} takes {percent(top.share)} of the GPU's busy time",
        evidence=evidence,
        next=f"nvspan kernels --by range {lines.files}",
        cost=_AFTER_CAUSE * min(top.share, 1.0) * (1 - (find_bottleneck(steps).idle or 0.0)),
    )


def first_runs(kernels: Callable[[], Kernels], steps: Steps, indices: Sequence[int]) -> list[str]:
    """That steps run kernels which no step before them ran."""
    if not steps.has_work or steps.of_device_ranges or len(indices) > _MOST_STEPS:
        return []
    starts, lengths = steps["start"], steps["duration"]
    spans = [(starts[index], starts[index] + lengths[index]) for index in indices]
    names = [
        printable(row.name or "-")
        for row in kernels().rows
        if row.kind == "kernel" and any(begin <= row.first < end for begin, end in spans)
    ]
    if not names:
        return []
    shown = ", ".join(names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    runs = "a kernel runs" if len(names) == 1 else f"{len(names)} kernels run"
    return [f"compiles or loads: {runs} for the first time in it: {shown}{more}"]


def unnamed_findings(steps: Steps) -> Iterator[Finding]:
    """The GPU's time outside any phase, where it is what limits the step."""
    if find_bottleneck(steps).bound != "gpu" or not steps.typical.duration or len(steps.phases) < 2:
        return
    spent = steps.typical.gpu[OTHER]
    part = spent / steps.typical.duration
    if part > UNNAMED:
        yield Finding(
            "unnamed",
            f"{percent(part)} of the step is GPU work launched outside any phase "
            f"({duration(spent)} per step)",
            next="put a range around its launch",
            cost=min(part, 1.0),
        )


def module_findings(modules: Modules) -> Iterator[Finding]:
    """The leaf module that takes most, and blocks that take longer than their siblings."""
    rows = modules.rows(fold=False)
    levels = [row["level"] for row in rows[1:]] + [0]
    leaves = [row for row, below in zip(rows, levels, strict=False) if below <= row["level"] != 0]
    if leaves:
        top = max(leaves, key=lambda row: row["share"])
        if top["share"] >= _LARGE:
            yield Finding(
                "module",
                f"'{printable(top['path'])}' takes {percent(top['share'])} of the GPU's time in a "
                "step",
                evidence=[_times(top, modules)],
                cost=top["share"],
            )
    for model in modules.models:
        yield from _odd_blocks(model, modules)


def _times(row: dict[str, Any], modules: Modules) -> str:
    parts = [
        f"{way} {duration(row[f'{way}_gpu'] / (modules.steps or 1))}"
        for way in ("forward", "backward")
        if row[f"{way}_gpu"] is not None
    ]
    return f"{' and '.join(parts)} {'per step' if modules.steps else 'in all'}"


def _odd_blocks(module: Module, modules: Modules) -> Iterator[Finding]:
    blocks = [child for child in module.children if child.name.isdecimal() and child.children]
    times = [(block.forward_gpu or 0.0) + (block.backward_gpu or 0.0) for block in blocks]
    if len(blocks) >= _BLOCKS and (usual := median(times)):
        for block, time in zip(blocks, times, strict=True):
            if time > _ODD_BLOCK * usual:
                yield Finding(
                    "odd",
                    f"'{printable(block.path)}' takes {times_text(time / usual)} as long as the "
                    f"median of its {len(blocks)} siblings",
                    evidence=[f"{duration(time)}, the median is {duration(usual)}"],
                    cost=(time - usual) / modules.span if modules.span else None,
                )
    for child in module.children:
        yield from _odd_blocks(child, modules)
