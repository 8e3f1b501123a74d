# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How steps differ from one another: warm-up, jumps, trends, periods, modes, rare slow steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from nvspan import _reader
from nvspan._results.loops import LoopMeans
from nvspan._results.variation import Effect
from nvspan.answers.difference import causing_path, difference
from nvspan.answers.finding import Finding
from nvspan.answers.parts import Parts
from nvspan.answers.words import ordinal, quoted, times_text
from nvspan.recording.statistics import median
from nvspan.recording.time_text import counted, duration, percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

Indices: TypeAlias = "Sequence[int] | memoryview[int]"
# Compares the steps at the first indices with those at the second.
Means: TypeAlias = "Callable[[Indices, Indices], LoopMeans]"
# Why ranges of a name take long in the steps at the indices.
Causes: TypeAlias = "Callable[[Indices, str], list[str]]"
# The lines that make the slow steps of an effect slow; what these take more, in ns; which they are.
Slower: TypeAlias = "Callable[[Effect, float, str], list[str]]"
# What the steps at the indices do that none before them did.
FirstRuns: TypeAlias = "Callable[[Indices], list[str]]"
LASTING = ("jump", "trend", "levels")  # effects that change the steps for good, or for a stretch
_MIN_COST = 0.02  # of an effect, for the order of findings
_WARM_UP = 0.01  # of the steps' time
_CANCELLING = 0.1  # of the steps' time, for a part to be looked at
_GROWTH = 0.05  # of a step: a phase, and what it grows by inside steps that do not
_SAMPLE = 4096  # values of a series that are looked at first
_NEARBY = 5  # steps between the jump of a step and that of the part that causes it
_MAX_STRETCHES, _MAX_STEPS, _MAX_FACTOR = 6, 6, 2.0
_LEAST_FACTOR = 1.25  # of a rare slow step, as src/core/statistics/thresholds.hpp has it


def change_findings(
    effects: Sequence[Effect],
    parts: Parts,
    means: Means,
    unit: str,
    per_run: float,
    causes: Causes | None = None,
    slower: Slower | None = None,
    first_runs: FirstRuns | None = None,
) -> Iterator[Finding]:
    """A finding for each effect that is worth one; `means` compares two sets of steps."""
    series = memoryview(parts.tree.steps)
    for effect in effects:
        compared = means(effect.high, effect.low)
        rare = min(len(effect.high), len(effect.low))
        cost = effect.size * rare / max(parts.tree.total, 1)
        if effect.kind == "warm_up" and cost < _WARM_UP:
            continue
        at = jump_index(effect, parts, compared)
        evidence = [*_details(effect, unit, parts.tree.total), *difference(parts, compared)]
        path = causing_path(parts, compared)
        if first_runs is not None and effect.kind == "rare":
            evidence += first_runs(effect.high)
        if causes is not None and path:
            evidence += causes(effect.high, parts.name(path[-1]))
        if slower is not None:
            excess = compared.steps[0] - compared.steps[1]
            evidence += slower(effect, excess, which_are_slow(effect, unit, at))
        yield Finding(
            effect.kind.replace("_", "-"),
            _sentence(effect, unit, len(series), at),
            evidence=evidence,
            cost=max(cost, _MIN_COST) * per_run,
        )


def _sentence(effect: Effect, unit: str, count: int, at: int) -> str:
    slow, usual = duration(effect.high_time), duration(effect.low_time)
    many = len(effect.high)
    if effect.kind == "warm_up":
        if many == 1:
            return f"the first {unit} takes {slow}, the others {usual}"
        mean = duration(effect.low_time + effect.size)
        return f"the first {many} {unit}s take {mean} on average, the others {usual}"
    if effect.kind == "jump":
        way = "slower" if effect.rises else "faster"
        return f"{unit}s become {way} at {unit} {at}: {_from_to(effect)}"
    if effect.kind == "trend":
        way = "slow down" if effect.rises else "speed up"
        return f"{unit}s {way} {_factor(effect)}: {_from_to(effect)}"
    if effect.kind == "levels":
        return f"{unit}s slow down and recover: {slow} in slow stretches, {usual} in the others"
    if effect.kind == "period":
        if effect.slow_in_period == 1:
            return f"every {ordinal(effect.period or 1)} {unit} takes {slow}, the others {usual}"
        slow_ones = f"{effect.slow_in_period} of every {effect.period} {unit}s"
        return f"{slow_ones} take {slow}, the others {usual}"
    if effect.kind == "sawtooth":
        way = "rise" if effect.rises else "fall"
        low, high = (usual, slow) if effect.rises else (slow, usual)
        back = f"{way} from {low} to {high} and start over"
        return f"{unit} times {back} every {effect.period} {unit}s"
    if effect.kind == "modes":
        part = percent(many / count)
        return f"two modes: {part} of the {unit}s take {slow}, the others {usual}"
    take = "takes" if many == 1 else "take"
    factor = effect.high_time / max(effect.low_time, 1.0)
    some = f"{many} of {counted(count, unit)} {take}"
    if factor < _LEAST_FACTOR:  # a slow one of a growing series may be shorter than later ones
        return f"{some} {duration(effect.size)} longer than comparable {unit}s: {slow}"
    return f"{some} {times_text(factor)} as long as the others: {slow}, {usual}"


def _from_to(effect: Effect) -> str:
    times = effect.low_time, effect.high_time
    before, after = times if effect.rises else times[::-1]
    if effect.kind == "jump":
        return f"{duration(before)} before, {duration(after)} after"
    return f"{duration(before)} in the first quarter, {duration(after)} in the last"


def _factor(effect: Effect) -> str:
    factor = effect.high_time / max(effect.low_time, 1.0)
    if factor >= _MAX_FACTOR:
        return times_text(factor)
    change = factor - 1 if effect.rises else 1 - 1 / factor
    return f"by {percent(change)}"


def _details(effect: Effect, unit: str, total: int) -> Iterator[str]:
    if effect.stretches is not None:
        shown = [
            f"{stretch.first} to {stretch.last} {duration(stretch.time)}"
            for stretch in effect.stretches[:_MAX_STRETCHES]
        ]
        more = len(effect.stretches) - _MAX_STRETCHES
        yield f"{unit}s {', '.join(shown)}" + (f" and {more} more" if more > 0 else "")
    if effect.kind == "rare":
        numbers = ", ".join(map(str, effect.high[:_MAX_STEPS].tolist()))
        more = len(effect.high) - _MAX_STEPS
        which = f"{unit}{'s' * (len(effect.high) > 1)} {numbers}"
        yield which + (f" and {more} more" if more > 0 else "")
        if effect.extra is not None:
            verb = "it adds" if len(effect.high) == 1 else "they add"
            yield f"{verb} {percent(effect.extra / total)} to the time of all {unit}s"
    if effect.every is not None:
        yield f"about every {effect.every} {unit}s"


def which_are_slow(effect: Effect, unit: str, at: int = 0) -> str:
    """The slow ones of an effect, within a sentence; `at`: where they jump."""
    if effect.kind == "period" and effect.slow_in_period == 1:
        return f"every {ordinal(effect.period or 1)} {unit}"
    if effect.kind == "jump":
        return f"each {unit} {'from' if effect.rises else 'before'} {unit} {at}" + (
            " on" if effect.rises else ""
        )
    if effect.kind == "trend":
        return f"a {unit} of the {'last' if effect.rises else 'first'} quarter"
    if effect.kind == "levels":
        return f"a {unit} of the slow stretches"
    if effect.kind == "warm_up":
        many = len(effect.high)
        return f"the first {unit}" if many == 1 else f"each of the first {many} {unit}s"
    return "it" if len(effect.high) == 1 else f"each slow {unit}"


def jump_index(effect: Effect, parts: Parts, compared: LoopMeans) -> int:
    """Where steps jump: where the part that causes it does, as it has less noise."""
    if effect.at is None:
        return 0
    gains = [
        (pair[0] - pair[1], index)
        for index in parts.children()
        if (pair := compared.parts[index]) is not None
    ]
    gain, index = max(gains, default=(0.0, 0))
    series = parts.series(index) if gains else None
    if series is not None and gain >= effect.size / 2:
        at = _reader.jump_index(series)
        if abs(at - effect.at) <= _NEARBY:
            return at
    return effect.at


def cancelling_findings(parts: Parts, unit: str, per_run: float) -> Iterator[Finding]:
    """Two parts of which one grows as the other shrinks, while the step takes as long as before."""
    large = [
        index for index in parts.children()
        if parts.series(index) is not None
        and parts.tree.parts[index].total >= _CANCELLING * parts.tree.total
    ]  # fmt: skip
    series = [part for index in large if (part := parts.series(index)) is not None]
    pair = _reader.cancelling(parts.tree.steps, series) if len(series) > 1 else None
    if pair is not None:
        up, down = (parts.name(large[index]) for index in (pair.grows, pair.shrinks))
        total = parts.tree.total / len(memoryview(parts.tree.steps))
        verbs = ("grows", "shrinks") if pair.over_time else ("varies", "varies the other way,")
        text = (
            f"{quoted(up)} {verbs[0]} from {duration(pair.grows_from)} to "
            f"{duration(pair.grows_to)} while {quoted(down)} {verbs[1]} from "
            f"{duration(pair.shrinks_from)} to {duration(pair.shrinks_to)}"
        )
        yield Finding(
            "cancel",
            text,
            evidence=[f"the {unit} takes as long as before"],
            cost=min((pair.grows_to - pair.grows_from) / total, 1.0) * per_run,
        )


def phase_growth_findings(parts: Parts, unit: str, per_run: float) -> Iterator[Finding]:
    """A finding for each phase that becomes longer, whose steps do not."""
    usual = median(_sample(parts.tree.steps))
    large = [index for index in parts.children() if parts.time(index) >= _GROWTH * parts.total]
    for index in large:
        times = parts.series(index)
        if times is None:
            continue
        sample = _sample(times)
        quarter = len(sample) // 4
        if not quarter or median(sample[-quarter:]) < median(sample[:quarter]) + _GROWTH * usual:
            continue
        change = _reader.slow_change(times, len(large))
        if change is None or change.kind != "trend" or change.after <= change.before:
            continue
        yield Finding(
            "trend",
            f"{quoted(parts.name(index))} slows down: {duration(change.before)} in the first "
            f"quarter of the {unit}s, {duration(change.after)} in the last",
            evidence=[f"the {unit}s vary too much to show it"],
            cost=min((change.after - change.before) / usual, 1.0) / 2 * per_run,
        )


def _sample(series: Buffer) -> list[int]:
    """Some thousands of the values, evenly."""
    values = memoryview(series)
    return values[:: max(1, len(values) // _SAMPLE)].tolist()
