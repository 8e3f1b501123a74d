# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What stands out in a recording: findings in plain words, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nvspan.answers.finding import LIKELY, MEASURED, UNKNOWN, Finding
from nvspan.answers.imports import of_imports
from nvspan.answers.ranks import Waiting, of_ranks
from nvspan.answers.steps import differences, limit
from nvspan.recording import Recording
from nvspan.recording.losses import has_events
from nvspan.recording.modules import Module, Modules
from nvspan.recording.parallel import both
from nvspan.recording.statistics import median
from nvspan.recording.stats import Stats
from nvspan.recording.steps import COMMUNICATION, OTHER, Steps
from nvspan.recording.time_text import duration, percent
from nvspan.report.text import label, printable

# From where on something is worth a sentence: parts of the time of all steps, or of one.
_WARM_UP, _OUTLIERS, _OTHER, _LARGE, _MOST = 0.05, 0.02, 0.2, 0.2, 0.5
_TREND, _TREND_STEPS, _TREND_SURE = 0.1, 20, 4.0  # part, steps, deviations
_ODD_BLOCK, _BLOCKS = 1.5, 4  # times the median of so many blocks
_OVERHEAD = 0.1

_ADVICE = {
    "data": "give the loader more workers, or prepare batches earlier: "
    "DataLoader(num_workers=..., prefetch_factor=..., pin_memory=True)",
    "launch": "larger batches, CUDA graphs or torch.compile launch less for the same work",
    "synchronising": "keep values on the GPU: .item(), .cpu(), .tolist() and the printing of a "
    "tensor wait for it",
    "gpu": "'nvspan modules' shows which layer takes the GPU's time",
    "cpu": "put ranges around the parts of it, to see which one it is",
}


@dataclass(frozen=True)
class Found:
    """The findings of a recording, and what they were found in; None: it has no such thing."""

    findings: list[Finding]
    stats: Stats
    steps: Steps | None = None
    modules: Modules | None = None


def find(recording: Recording, step: str | None = None) -> list[Finding]:
    """The findings of a recording: what is missing from it, then the rank that holds the others up,
    then the others by what they cost, then what cannot be told.

    Raises:
        ValueError: no range is called as `step` says.
    """
    return look(recording, step).findings


def look(recording: Recording, step: str | None = None) -> Found:
    """As `find`, with what was read for it.

    Raises:
        ValueError: no range is called as `step` says.
    """

    def read_steps() -> Steps | ValueError:
        try:
            return recording.steps(step)
        except ValueError as error:
            if step is not None:
                raise
            return error

    steps, stats = both(read_steps, recording.stats)
    if isinstance(steps, ValueError):
        said = f"cannot tell where steps spend their time: {steps}"
        advice = (
            "nvspan.torch.auto(...) or nvspan.step() mark the steps; --step names another range"
            if has_events(recording)
            else "record without --mode stats; --mode ring=64 bounds the file"
        )
        missing = Finding("no-steps", said, UNKNOWN, [], advice)
        return Found([*_of_recorder(stats), *of_imports(recording, None), missing], stats)
    modules = Modules(recording, steps=steps)
    bound = limit(steps) if steps.typical.steps else None
    across, waiting = of_ranks(recording, steps)
    found = [
        *_of_recorder(stats), *across, *of_imports(recording, steps),
        *_of_limit(steps, bound), *_of_phase(steps, waiting), *_of_odd_steps(steps),
        *_of_trend(steps), *_of_other(steps, bound), *_of_modules(modules),
    ]  # fmt: skip
    found.sort(key=_place)
    return Found(found, stats, steps, modules)


def _place(finding: Finding) -> tuple[int, float]:
    lead = {"losses": 0, "slow-rank": 1}.get(finding.kind, 2)
    return 3 if finding.certainty == UNKNOWN else lead, -(finding.cost or 0.0)


def _of_recorder(stats: Stats) -> Iterator[Finding]:
    lost = stats.lost + stats.overwritten
    if lost or stats.gaps:
        count = f"{lost} events are" if lost != 1 else "1 event is"
        what = count if lost else "an unknown number of events is"
        yield Finding(
            "losses", f"{what} missing from the recording, so times and calls are too low",
            MEASURED, [loss.reason for loss in stats.losses[:3]],
            "the first lines of 'nvspan stats' say which, and of which threads",
        )  # fmt: skip
    for row in stats.rows:
        spent = row.overhead / row.total if row.total else 0.0
        whole = stats.last - stats.first
        if spent > _OVERHEAD and row.total > _WARM_UP * whole:
            name = label(row.domain, row.name)
            calls = f"{duration(row.total)} in {row.calls} calls"
            yield Finding(
                "overhead", f"the recording itself is a part of what '{name}' takes", LIKELY,
                [f"about {percent(spent)} of {calls}"],
                "record fewer ranges within it: a lower level, or --domain",
                spent * row.total / whole,
            )  # fmt: skip
            return


def _of_limit(steps: Steps, found: dict[str, Any] | None) -> Iterator[Finding]:
    if found is None:
        return
    bound = found["bound"]
    if bound is None:
        advice = "auto(..., device=True), annotate(device=True) or 'nvspan nsys' record the GPU"
        yield Finding("bound-unknown", found["text"], UNKNOWN, [], "" if steps.has_work else advice)
        return
    certainty = LIKELY if steps.of_device_ranges and bound in ("launch", "cpu") else MEASURED
    head, _, rest = found["text"].partition(": ")
    text = f"the typical step of {duration(steps.typical.duration)} is {head}"
    idle = found["idle"]
    cost = max(idle, 1 - idle) if bound in ("gpu", "launch") else idle
    evidence, advice = rest.split("; "), _ADVICE[bound]
    work = steps.typical.gpu
    most = max(work, key=work.__getitem__)
    if bound == "gpu" and most == COMMUNICATION:
        evidence.append(f"{duration(work[most])} of it are {most}")
        advice = "'nvspan ranks' shows how much of that is waiting, and for which rank"
    yield Finding(f"bound-{bound}", text, certainty, evidence, advice, cost)


def _of_phase(steps: Steps, waiting: Waiting | None) -> Iterator[Finding]:
    """The phase that takes most of the step, where it is not known what the GPU did meanwhile.

    What a rank waits for another one belongs to the other one.
    """
    typical = steps.typical
    if steps.has_work or not typical.duration:
        return
    times = dict(typical.cpu)
    if waiting is not None:
        times[waiting.phase] -= waiting.ns
    phase, spent = max(times.items(), key=lambda item: item[1])
    part = spent / typical.duration
    if phase != OTHER and part > _MOST:
        yield Finding(
            "phase", f"'{printable(phase)}' takes {percent(part)} of the typical step",
            MEASURED, [f"{duration(spent)} of {duration(typical.duration)}"],
            _ADVICE["data" if phase == "data wait" else "cpu"], part,
        )  # fmt: skip


def _of_odd_steps(steps: Steps) -> Iterator[Finding]:
    usual = steps.typical.duration
    whole = 0
    for kind, state, least in (
        ("warm-up", "warm-up", _WARM_UP),
        ("outliers", "outlier", _OUTLIERS),
    ):
        places = steps.places([state])
        durations = steps["duration"]
        whole = whole or (sum(durations) if places else 0)
        over = sum(durations[place] - usual for place in places)
        if not places or not usual or over < least * whole:
            continue
        many = f"{len(places)} steps" if len(places) > 1 else "1 step"
        if kind == "warm-up":
            many = f"the first {many}" if len(places) > 1 else "the first step"
        usually = "the typical one" if len(places) == 1 else "as many typical ones"
        text = f"{many} took {duration(over)} more than {usually}"
        evidence = [
            f"that is {percent(over / whole)} of the time of all {len(steps)} steps",
            *_phases_of(steps, places),
        ]
        if kind == "outliers":
            evidence.append(_which(steps, places))
            if every := _period(places):
                evidence.append(f"they come every {every} steps")
        yield Finding(kind, text, MEASURED, evidence, cost=over / whole)


def _phases_of(steps: Steps, places: list[int]) -> list[str]:
    sums = {phase: sum(differences(steps, phase, places)) for phase in steps.phases}
    longest = sorted(sums.items(), key=lambda item: -item[1])[:3]
    said = [f"{duration(ns)} in '{printable(phase)}'" for phase, ns in longest if ns > 0]
    return [f"of it {', '.join(said)}"] if said else []


def _which(steps: Steps, places: list[int]) -> str:
    numbers, has_number = steps["number"], steps["has_number"]
    named = [str(numbers[place] if has_number[place] else place) for place in places[:8]]
    more = f" and {len(places) - 8} more" if len(places) > 8 else ""
    return f"{'steps' if len(places) > 1 else 'step'} {', '.join(named)}{more}"


def _period(places: list[int]) -> int | None:
    """The distance of steps that come at regular intervals, if these do."""
    gaps = {b - a for a, b in pairwise(places)}
    return gaps.pop() if len(places) >= 3 and len(gaps) == 1 and min(gaps) > 1 else None


def _of_trend(steps: Steps) -> Iterator[Finding]:
    kept = steps["duration"].tolist()
    if steps.typical.warm_up:
        states = steps["state"].tolist()
        kept = [duration for duration, state in zip(kept, states, strict=True) if state != 1]
    if len(kept) < _TREND_STEPS:
        return
    sure = _rank_trend(kept[:: max(len(kept) // 2000, 1)])
    if sure < _TREND_SURE or len(set(steps["thread"])) > 1:
        return
    third = len(kept) // 3
    before, after = median(kept[:third]), median(kept[-third:])
    change = after / before - 1 if before else 0.0
    if abs(change) < _TREND:
        return
    way = "slower" if change > 0 else "faster"
    evidence = [
        f"the median goes from {duration(before)} in the first third to {duration(after)} in the "
        f"last ({percent(change, '+')}), {sure:.1f} deviations from chance"
    ]
    changes = {phase: _thirds(steps, phase) for phase in steps.phases}
    phase, most = max(changes.items(), key=lambda item: item[1] * (1 if change > 0 else -1))
    if abs(most) > abs(after - before) / 2:
        evidence.append(
            f"'{printable(phase)}' takes {duration(abs(most))} {'more' if most > 0 else 'less'}"
        )
    yield Finding(
        "trend", f"steps become {way} in the course of the recording", MEASURED, evidence,
        cost=abs(after - before) / (after + before),
    )  # fmt: skip


def _thirds(steps: Steps, phase: str) -> float:
    """How much longer a phase takes in the last third of the steps than in the first."""
    pairs = zip(steps[f"cpu.{phase}"].tolist(), steps["state"].tolist(), strict=True)
    kept = [spent for spent, state in pairs if state != 1]
    return median(kept[-(len(kept) // 3) :]) - median(kept[: len(kept) // 3])


def _rank_trend(values: list[int]) -> float:
    """How far the correlation of ranks and places is from chance, in standard deviations."""
    count = len(values)
    order = sorted(range(count), key=values.__getitem__)
    distance = sum((place - rank) ** 2 for rank, place in enumerate(order))
    correlation = 1 - 6 * distance / (count * (count * count - 1))
    return float(abs(correlation) * (count - 1) ** 0.5)


def _of_other(steps: Steps, found: dict[str, Any] | None) -> Iterator[Finding]:
    typical = steps.typical
    # Where a step takes as long as the GPU does, the CPU is in no phase because it waits.
    of_gpu = found is not None and found["bound"] == "gpu"
    spent = typical["gpu" if of_gpu else "cpu"][OTHER]
    part = spent / typical.duration if typical.duration else 0.0
    if part > _OTHER and len(steps.phases) > 1:
        yield Finding(
            "other", f"{percent(part)} of the typical step is in no phase", MEASURED,
            [f"{duration(spent)} of {duration(typical.duration)}" + " of the GPU" * of_gpu],
            "put a range around it, and give it with --phases, to see what it is", part,
        )  # fmt: skip


def _of_modules(modules: Modules) -> Iterator[Finding]:
    rows = modules.rows(fold=False)
    levels = [row["level"] for row in rows[1:]] + [0]
    leaves = [row for row, below in zip(rows, levels, strict=False) if below <= row["level"] != 0]
    if leaves:
        top = max(leaves, key=lambda row: row["share"])
        if top["share"] >= _LARGE:
            unit = "of the GPU's time in a step" if modules.has_gpu else "of the step"
            yield Finding(
                "module", f"'{printable(top['path'])}' takes {percent(top['share'])} {unit}",
                MEASURED, [_times(top, modules)], cost=top["share"],
            )  # fmt: skip
    for model in modules.models:
        yield from _odd_blocks(model, modules)


def _times(row: dict[str, Any], modules: Modules) -> str:
    kind = "gpu" if modules.has_gpu else "cpu"
    parts = [f"{way} {duration(row[f'{way}_{kind}'] / (modules.steps or 1))}"
             for way in ("forward", "backward") if row[f"{way}_{kind}"] is not None]  # fmt: skip
    return f"{' and '.join(parts)} {'a step' if modules.steps else 'in all'}"


def _odd_blocks(module: Module, modules: Modules) -> Iterator[Finding]:
    blocks = [child for child in module.children if child.name.isdecimal() and child.children]
    times = [_spent(block, modules.has_gpu) for block in blocks]
    if len(blocks) >= _BLOCKS and (usual := median(times)):
        for block, time in zip(blocks, times, strict=True):
            if time > _ODD_BLOCK * usual:
                yield Finding(
                    "block", f"'{printable(block.path)}' takes {time / usual:.1f} times as long as "
                    "its like", MEASURED,
                    [f"{duration(time)}, the median of {len(blocks)} is {duration(usual)}"],
                    cost=(time - usual) / modules.span if modules.span else None,
                )  # fmt: skip
    for child in module.children:
        yield from _odd_blocks(child, modules)


def _spent(module: Module, has_gpu: bool) -> float:
    times = (
        (module.forward_gpu, module.backward_gpu)
        if has_gpu
        else (module.forward_cpu, module.backward_cpu)
    )
    return sum(time or 0.0 for time in times)
