# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The time outside of steps: between them, before the first, after the last, and stages of the
run such as evaluation and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from nvspan._results.loops import LoopGapPart, LoopGaps
from nvspan.answers.dominant import data_advice
from nvspan.answers.finding import Finding
from nvspan.answers.lines.finder import LineFinder
from nvspan.answers.waits import meanwhile_lines
from nvspan.answers.words import quoted, share, time_each
from nvspan.loops.vocabulary import CHECKPOINT, EVALUATION, LOADING, has_word
from nvspan.recording.listing import listing
from nvspan.recording.time_text import counted, duration

BETWEEN = 0.1  # of the loop
_STAGE, _KNOWN_STAGE = 0.05, 0.01  # of the run; of one that is evaluation or a checkpoint
_RARE, _SOMETIMES = 1 / 3, 1 / 2  # of the pauses between steps
_NAMED, _UNNAMED = 0.01, 0.02  # of the loop
_DATA, _DATA_BOUND = 0.5, 0.3  # of the time between steps, of the loop
_MAX_NAMED = 3


def stage_word(name: str) -> str:
    """ "evaluation", "checkpoint" or nothing, as the name says."""
    if has_word(name, EVALUATION):
        return "evaluation"
    return "checkpoint" if has_word(name, CHECKPOINT) else ""


def stages_and_others(gaps: LoopGaps) -> tuple[list[LoopGapPart], list[LoopGapPart]]:
    """The ranges between steps: those that are a stage of the run, and those of its rounds."""
    pauses = len(memoryview(gaps.series))
    stages: list[LoopGapPart] = []
    others: list[LoopGapPart] = []
    for part in gaps.parts:
        with_it = len(pauses_with(part))
        word = stage_word(part.name)
        is_rare = pauses >= 3 and with_it <= _RARE * pauses
        is_saved = word == "checkpoint" and with_it <= _SOMETIMES * pauses
        (stages if is_rare or is_saved or word == "evaluation" else others).append(part)
    return stages, others


def pauses_with(part: LoopGapPart) -> list[int]:
    """The pauses between steps that have a range of this part."""
    return [] if part.pauses is None else memoryview(part.pauses).tolist()


def stage_findings(
    gaps: LoopGaps, unit: str, run: int, thread_name: Callable[[int], str], lines: LineFinder
) -> Iterator[Finding]:
    """What takes time between steps, before the first and after the last one."""
    stages, others = stages_and_others(gaps)
    for part in stages:
        if part.total >= (_KNOWN_STAGE if stage_word(part.name) else _STAGE) * run:
            yield _stage(part, unit, run)
    rest = gaps.total - sum(part.total for part in stages)
    if rest > 0 and rest >= BETWEEN * gaps.loop:
        yield _between(gaps, others, rest, unit, run, thread_name, lines)
    for time, where, parts in (
        (gaps.lead, f"before the first {unit}", gaps.before),
        (gaps.tail, f"after the last {unit}", gaps.after),
    ):
        if time >= _STAGE * run:
            evidence = [listing([_with_time(part) for part in parts[:_MAX_NAMED]])] if parts else []
            text = f"{share(time, run)} of the run is {where} ({duration(time)})"
            yield Finding("stage", text, evidence=evidence, cost=time / run)


def _stage(part: LoopGapPart, unit: str, run: int) -> Finding:
    distances = {b - a for a, b in pairwise(pauses_with(part))}
    often = ""
    if part.calls >= 3 and len(distances) == 1 and min(distances) > 1:
        often = f", every {distances.pop()} {unit}s"
    text = f"{_stage_name(part)} takes {share(part.total, run)} of the run"
    calls = f"{counted(part.calls, 'call')} between {unit}s{often}"
    each = time_each(part.total, part.calls)
    return Finding("stage", text, evidence=[f"{calls}, {each}"], cost=part.total / run)


def _between(
    gaps: LoopGaps,
    parts: Sequence[LoopGapPart],
    rest: int,
    unit: str,
    run: int,
    thread_name: Callable[[int], str],
    lines: LineFinder,
) -> Finding:
    named = [part for part in parts if part.total > _NAMED * gaps.loop][:_MAX_NAMED]
    unnamed = rest - sum(part.total for part in parts)
    shares = [f"{quoted(part.name)} {share(part.total, run)}" for part in named]
    if unnamed > _UNNAMED * gaps.loop:
        shares.append(f"outside any range {share(unnamed, run)}")
    loading = [part.name for part in parts if has_word(part.name, LOADING)]
    data = float(sum(part.total for part in parts if part.name in loading))
    evidence = [listing(shares)] if shares else []
    awaited = gaps.meanwhile if any(other.ends_it for other in gaps.meanwhile) else []
    if awaited and gaps.other is not None:
        evidence += meanwhile_lines(
            awaited, thread_name(gaps.other), "time", f"the next {unit} starts"
        )
        ahead = [other for other in awaited if has_word(other.name, LOADING)]
        loading += [other.name for other in ahead]
        data += sum(other.share for other in ahead) * gaps.total
    pauses = max(len(memoryview(gaps.series)), 1)
    text = f"{share(rest, run)} of the run is between {unit}s ({duration(rest / pauses)} each time)"
    found = lines.in_pauses(gaps, unit)
    advice = ""
    if loading and data >= _DATA * rest:
        bound = "data-bound" if data >= _DATA_BOUND * gaps.loop else "it waits for data"
        text = f"{text}: {bound}"
        advice = data_advice(loading[0])
    elif unnamed >= rest / 2 and not awaited:
        advice = found.next or f"put ranges around what runs between {unit}s"
    evidence += found.texts
    return Finding("between", text, evidence=evidence, next=advice, cost=rest / run)


def _stage_name(part: LoopGapPart) -> str:
    word = stage_word(part.name)
    return quoted(part.name) if word in part.name.lower() else f"{word} {quoted(part.name)}"


def _with_time(part: LoopGapPart) -> str:
    return f"{_stage_name(part)} {duration(part.total)}"
