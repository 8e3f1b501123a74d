# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time of a step or of a run is: the path of the largest parts, and what is in none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from nvspan._results import StatsRow
from nvspan._results.loops import LoopSelf
from nvspan.answers.finding import Finding
from nvspan.answers.lines.finder import LineFinder
from nvspan.answers.parts import STEP, Parts
from nvspan.answers.words import path_text, quoted, share, times_text
from nvspan.loops.loop import Loop
from nvspan.loops.vocabulary import LOADING, has_word, place_in_code
from nvspan.recording.statistics import median
from nvspan.recording.time_text import counted, duration

UNNAMED = 0.2  # of the step, outside any phase
_WRAPPER = 0.9  # of a run: a range that only holds others says nothing
_HALF, _OWN = 0.5, 0.005  # of a part; of the step, self time that is worth saying
_PART = 0.05  # of a part: the largest within it is worth saying
_ODD, _FAMILY, _ODD_SHARE = 1.5, 4, 0.05  # times the median of so many siblings, of the whole
_AMBIGUOUS = frozenset(("load", "loading", "read", "input"))  # also of what is no loop's data
DATA_ADVICE = "prepare the next batch while this one is used: more loader workers, or a thread"
TORCH_ADVICE = "DataLoader(..., num_workers=4, pin_memory=True)"


def data_advice(name: str) -> str:
    """What to do about a wait for data in ranges of this name."""
    return TORCH_ADVICE if "dataloader" in name.lower() else DATA_ADVICE


def dominant_findings(
    parts: Parts,
    unit: str,
    per_run: float,
    lines: LineFinder,
    explained: Set[str] = frozenset(),
    overlapping: bool = False,
) -> Iterator[Finding]:
    """The largest part of a `unit`: "step", "request" or "run"; they are `per_run` of the run.

    `explained`: ranges that other findings are about. `overlapping`: whether units overlap.
    """
    total = parts.total
    if total <= 0:
        return
    path = parts.largest_path()
    if path:
        leaf = path[-1]
        name, time, own = quoted(parts.name(leaf)), parts.time(leaf), parts.own_time(leaf)
        holds_others = time >= _WRAPPER * total and own < time / 10
        is_explained = parts.name(leaf) in explained
        if not is_explained and not (unit == "run" and holds_others):
            yield _largest(parts, path, unit, per_run, overlapping, lines)
        large = own >= _HALF * time and own >= UNNAMED * total and not is_explained
        if parts.children(leaf) and large and not parts.tree.is_followed:
            group = {parts.tree.parts[leaf].group}
            found = lines.in_groups(group, parts.name(leaf), name, inner=False)
            yield Finding(
                "unnamed",
                f"{share(own, total)} of the {unit} is in {name} itself, outside its parts",
                evidence=found.texts,
                next=found.next or f"put ranges around the rest of {name}",
                cost=own / total * per_run,
            )
    around = {parts.tree.unnamed_after, parts.tree.unnamed_before}
    if len(parts) and parts.unnamed >= UNNAMED * total and not around & explained:
        yield _outside(parts, unit, per_run, lines)
    yield from _odd_siblings(parts, path, unit, per_run)


def _largest(
    parts: Parts,
    path: list[int],
    unit: str,
    per_run: float,
    overlapping: bool,
    lines: LineFinder,
) -> Finding:
    total = parts.total
    first, leaf = path[0], path[-1]
    inside = parts.children(leaf)
    evidence = []
    if len(path) > 1:
        evidence.append(f"{quoted(parts.name(first))} takes {share(parts.time(first), total)}")
    if inside and parts.time(inside[0]) >= _PART * parts.time(leaf):
        own = parts.own_time(leaf)
        text = f"its largest part is {quoted(parts.name(inside[0]))}"
        text += f", {share(parts.time(inside[0]), total)}"
        evidence.append(f"self time {share(own, total)}; {text}" if own >= _OWN * total else text)
    if overlapping and parts.tree.is_followed:
        evidence.append(f"{unit}s overlap: it includes the time in which another {unit} runs")
    text = (
        f"{path_text(map(parts.name, path))} takes {share(parts.time(leaf), total)} of the {unit} "
        f"({_time_each(parts, parts.time(leaf), unit)})"
    )
    is_divided = inside or place_in_code(parts.name(leaf))
    name = quoted(parts.name(leaf))
    advice = "" if is_divided else f"put ranges inside {name} to see which part it is"
    if has_word(parts.name(first), LOADING - _AMBIGUOUS):
        text, advice = f"{text}: data-bound", data_advice(parts.name(first))
    found = lines.in_groups({parts.tree.parts[leaf].group}, parts.name(leaf), name)
    evidence += found.texts
    if not advice or advice.startswith("put ranges"):
        advice = found.next or advice
    cost = parts.time(first) / total * per_run
    return Finding("dominant", text, evidence=evidence, next=advice, cost=cost)


def _outside(parts: Parts, unit: str, per_run: float, lines: LineFinder) -> Finding:
    tree = parts.tree
    evidence: list[str] = []
    if tree.unnamed_after is not None and tree.unnamed_before is not None:
        after = quoted(tree.unnamed_after) if tree.unnamed_after else f"the {unit}'s start"
        before = quoted(tree.unnamed_before) if tree.unnamed_before else f"the {unit}'s end"
        evidence.append(f"most of it between {after} and {before}")
    where = "range" if unit == "run" else "phase"
    found = lines.outside_ranges() if unit == "run" else lines.in_steps()
    evidence += found.texts
    return Finding(
        "unnamed",
        f"{share(parts.unnamed, parts.total)} of the {unit} is outside any {where} "
        f"({_time_each(parts, parts.unnamed, unit)})",
        evidence=evidence,
        next=found.next or "put a range around it",
        cost=parts.unnamed / parts.total * per_run,
    )


def _time_each(parts: Parts, time: float, unit: str) -> str:
    each = "" if unit == "run" else f" per {unit}"
    return f"{duration(time / parts.count)}{each}"


def _odd_siblings(parts: Parts, path: list[int], unit: str, per_run: float) -> Iterator[Finding]:
    """One of several numbered siblings that takes longer than the others."""
    for index in (STEP, *path):
        for family in parts.families(index):
            times = [parts.time(child) for child in family]
            usual = median(times)
            if len(times) < _FAMILY or times[0] <= max(_ODD * usual, _ODD_SHARE * parts.total):
                continue
            yield Finding(
                "odd",
                f"{quoted(parts.name(family[0]))} takes {times_text(times[0] / max(usual, 1))} as "
                f"long as the median of its {len(times)} siblings",
                evidence=[f"{share(times[0], parts.total)} of the {unit}"],
                cost=(times[0] - usual) / parts.total * per_run,
            )


def self_finding(
    parts: Parts, largest: LoopSelf, loop: Loop, rows: Iterable[StatsRow], lines: LineFinder
) -> Iterator[Finding]:
    """The function or range with the largest self time, where a run has no steps."""
    spent, run = largest.self, max(loop.whole, 1)
    path = [parts.name(index) for index in parts.largest_path()]
    if spent >= UNNAMED * run:
        calls = counted(largest.calls, "range" if largest.still_open else "call")
        still_open = " that did not end" if largest.still_open else ""
        said = f"{duration(spent)} of self time in {calls}{still_open}"
        for row in rows:
            is_row = (row.domain, row.name) == (largest.domain, largest.name)
            if is_row and row.resumptions:
                said += f", resumed {counted(row.resumptions, 'time')}"
            if is_row and row.awaited:
                said += f", suspended for {duration(row.awaited)}"
        evidence = [said]
        if len(path) > 1 and path[-1] == largest.name:
            evidence.append(f"called in {path_text(path[:-1])}")
        name = quoted(largest.name)
        advice = f"put ranges inside {name}, or record --profile, to see which part it is"
        advice = "" if loop.is_profile else advice
        found = lines.called(largest.name, name, inner=False)
        evidence += found.texts
        yield Finding(
            "self",
            f"{share(spent, run)} of the run is in {name}",
            evidence=evidence,
            next=found.next or advice,
            cost=min(spent / run, 1.0),
        )
