# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The first line of every answer: how many steps of what length, what they consist of, how steady
they are, how much of the run is outside; of a recording without steps, what it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nvspan import _reader
from nvspan._results.loops import LoopOpen, LoopSelf
from nvspan._results.variation import Effect
from nvspan.answers.bottleneck import at_most
from nvspan.answers.changes import jump_index
from nvspan.answers.parts import DIGITS, STEP, Parts
from nvspan.answers.stages import stages_and_others
from nvspan.answers.words import ordinal, plain_name, share
from nvspan.loops.choosing import Choice
from nvspan.loops.loop import Loop
from nvspan.recording import Recording
from nvspan.recording.label import label
from nvspan.recording.losses import has_events
from nvspan.recording.stats import Stats
from nvspan.recording.steps import Steps
from nvspan.recording.time_text import counted, duration, percent
from nvspan.report.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

_MAX_PARTS, _MAX_PATH, _MAX_NAMES = 3, 2, 3
_SMALL, _OUTSIDE = 0.02, 0.05  # of a step: a part that is left out, time outside that is said
_NOTHING, _TINY = 0.005, 0.0005  # of the run, of a step: not said
_FAMILY = 3  # numbered siblings that are said as one
_MIN_STEADY = 5  # steps
_STEADY = 0.25  # of the median, within which 90 % of the steps are
_SKEWED = 0.25  # of the median, by which the mean differs that phases are shares of


def step_headline(loop: Loop, choice: Choice, parts: Parts, effects: Sequence[Effect]) -> str:
    """Steps that follow one another."""
    growth = next((effect for effect in effects if effect.kind == "trend"), None)
    (typical,) = _reader.percentiles(parts.tree.steps, [0.5])
    mean = parts.total / parts.count
    text = f"{counted(choice.count, 'step')} of {duration(typical)}"
    if growth is None and abs(mean - typical) > _SKEWED * typical:
        text += f" (mean {duration(mean)})"
    if growth is not None:
        times = growth.low_time, growth.high_time
        before, after = times if growth.rises else times[::-1]
        way = "growing" if growth.rises else "shrinking"
        text += f", {way} from {duration(before)} to {duration(after)}"
    inside = composition(parts)
    clauses = [f"{text}: {inside}" if inside else text]
    clauses += _steadiness(parts.tree.steps, effects, loop, parts)
    clauses += _outside(loop)
    if choice.evaluation:
        clauses.append(f"{choice.evaluation:,} more of that name belong to evaluation")
    return "; ".join([*clauses, *_still_open(loop.still_open)])


def request_headline(loop: Loop, choice: Choice, parts: Parts) -> str:
    """Steps that overlap."""
    p50, p90, p99 = _reader.percentiles(parts.tree.steps, [0.5, 0.9, 0.99])
    seconds = loop.steps_extent / 1e9
    text = (
        f"{counted(choice.count, choice.unit)} of {duration(p50)} (p90 {duration(p90)}, "
        f"p99 {duration(p99)})"
    )
    inside = list(filter(None, [composition(parts)]))
    if parts.held:
        holder = plain_name(loop.holds.holds[0].name)
        inside.append(f"{share(parts.held, parts.total)} held up by {holder}")
    if inside:
        text += f": {', '.join(inside)}"
    rate = choice.count / max(seconds, 1e-9)
    a_second = f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"
    at_once = f"{loop.steps.mean_open:.1f} at once, at most {loop.steps.peak}"
    still_open = _still_open(loop.still_open)
    return "; ".join([text, f"{at_once}; {a_second} per second", *still_open])


def run_headline(loop: Loop) -> str:
    """Ranges without steps, by self time."""
    run = loop.whole
    largest = [row for row in loop.self_times[:_MAX_PARTS] if row.self > _SMALL * run]
    shares = [f"{self_name(row)} {share(row.self, run)}" for row in largest]
    text = f"{duration(run)} and no steps, {counted(loop.ranges, 'range')}"
    if shares:
        text += f"; self time: {', '.join(shares)}"
    return "; ".join([text, *_still_open(loop.still_open)])


def self_name(row: LoopSelf) -> str:
    """A range by its self time, marked where that is its time so far."""
    return plain_name(row.name) + (" (still open)" if row.still_open else "")


def composition(parts: Parts) -> str:
    """The largest parts, each with the path of its largest ones, in shares of the whole."""
    total = parts.total
    clauses: list[tuple[float, str]] = []
    for family in parts.families(STEP):
        if len(family) >= _FAMILY:
            time = sum(map(parts.time, family))
            name = printable(parts.family_name(family[0]))
            clauses.append((time, f"{len(family)} {name} {share(time, total)}"))
            continue
        for index in family:
            inner = [_share_of(parts, inside) for inside in parts.largest_path(index)[:_MAX_PATH]]
            text = _share_of(parts, index)
            clauses.append((parts.time(index), f"{text} ({', '.join(inner)})" if inner else text))
    clauses.sort(key=lambda clause: -clause[0])
    shown = [text for time, text in clauses[:_MAX_PARTS] if time > _SMALL * total]
    shown = shown or [text for time, text in clauses[:1] if time > _TINY * total]
    if shown and parts.unnamed >= _OUTSIDE * total:
        shown.append(f"{share(parts.unnamed, total)} outside any phase")
    return ", ".join(shown)


def _share_of(parts: Parts, index: int) -> str:
    return f"{plain_name(parts.name(index))} {share(parts.time(index), parts.total)}"


def _steadiness(series: Buffer, effects: Sequence[Effect], loop: Loop, parts: Parts) -> list[str]:
    said = [text for effect in effects if (text := _shape(effect, loop, parts))]
    if (
        said
        or len(memoryview(series)) < _MIN_STEADY
        or any(effect.kind == "trend" for effect in effects)
    ):
        return said
    lead = any(effect.kind == "warm_up" for effect in effects)
    odd = [index for e in effects if e.kind in ("warm_up", "rare") for index in e.high]
    low, middle, high = _reader.percentiles(series, [0.05, 0.5, 0.95], odd)
    after = " after warm-up" if lead else ""
    if high - low > _STEADY * middle:
        return [f"90% take {duration(low)} to {duration(high)}{after}"]
    rare = any(effect.kind == "rare" for effect in effects)
    return [f"steady{after}" + (" but for rare slow ones" if rare else "")]


def _shape(effect: Effect, loop: Loop, parts: Parts) -> str:
    if effect.kind == "jump":
        at = jump_index(effect, parts, loop.steps.means(effect.high, effect.low))
        return f"{'slower' if effect.rises else 'faster'} from step {at} on"
    if effect.kind == "period" and effect.slow_in_period == 1:
        return f"every {ordinal(effect.period or 1)} is slow"
    if effect.kind == "period":
        return f"{effect.slow_in_period} of every {effect.period} are slow"
    if effect.kind == "sawtooth":
        return f"a sawtooth of {effect.period}"
    return {"levels": "slow in stretches", "modes": "two modes"}.get(effect.kind, "")


def _outside(loop: Loop) -> list[str]:
    """How much of the run is outside of every step."""
    gaps = loop.gaps
    run = max(loop.span, 1)
    if gaps.total < _NOTHING * run:
        return []
    _, others = stages_and_others(gaps)
    named = [
        f"{plain_name(part.name)} {share(part.total, run)}"
        for part in others[:_MAX_PATH]
        if part.total >= 0.01 * gaps.loop
    ]
    text = f"{share(gaps.total, run)} of the run is between steps"
    return [f"{text} ({', '.join(named)})" if named else text]


def _still_open(ranges: Sequence[LoopOpen]) -> list[str]:
    """Ranges that had not ended, by name, with their time so far; the longest of several."""
    families: dict[str, list[LoopOpen]] = {}
    for row in ranges:
        families.setdefault(DIGITS.sub("#", label(row.domain, row.name)), []).append(row)
    clauses = []
    for family, rows in families.items():
        names = {label(row.domain, row.name) for row in rows}
        name = family if len(names) > 1 else names.pop()
        count = sum(row.ranges for row in rows)
        many = f" x{count:,} for up to" if count > 1 else " for"
        clauses.append(f"{printable(name)}{many} {duration(rows[0].end - rows[0].begin)}")
    more = len(clauses) - _MAX_NAMES
    text = ", ".join(clauses[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
    return [f"still open: {text}"] if text else []


def gpu_clause(steps: Steps) -> str:
    """How much of a step the GPU is busy."""
    typical = steps.typical
    if not typical.duration:
        return ""
    return f"; GPU busy {at_most(steps)}{share(typical.busy, typical.duration)}"


def event_headline(recording: Recording, stats: Stats, still_open: Sequence[LoopOpen]) -> str:
    """A recording without closed ranges of the CPU: device ranges, open ranges, marks, totals."""
    rows = [row for row in stats.rows if row.calls]
    if rows:
        kind = "device range" if has_events(recording) else "range"
        calls = sum(row.calls for row in rows)
        times = {label(row.domain, row.name, row.backward): row.total for row in rows}
        whole = max(stats.whole, _recorded(recording), 1)
        names = ", ".join(
            f"{plain_name(name)} {percent(min(time / whole, 1.0))}"
            for name, time in sorted(times.items(), key=lambda item: -item[1])[:_MAX_PARTS]
        )
        totals = "" if has_events(recording) else " (totals only: --mode stats)"
        text = f"{counted(calls, kind)} in {duration(whole)}{totals}: {names}"
        return "; ".join([text, *_still_open(still_open)])
    if still_open:
        return "; ".join(["no range ended", *_still_open(still_open)])
    if marks := sum(mark.calls for mark in stats.marks):
        counts: Counter[str] = Counter()
        for mark in stats.marks:
            counts[label(mark.domain, mark.name)] += mark.calls
        return f"no ranges, {counted(marks, 'mark')}: {_names(counts)}"
    if values := len(recording.counters):
        return f"no ranges, {counted(values, 'counter value')}"
    return "nothing recorded: no ranges, no marks"


def _recorded(recording: Recording) -> int:
    """How long the processes recorded that closed their files."""
    closed = [process for process in recording.processes if process.closed]
    return max((process.end - process.start for process in closed), default=0)


def _names(counts: dict[str, int]) -> str:
    """Names with their counts, the most first; those that differ by numbers alone as one."""
    families: dict[str, dict[str, int]] = {}
    for name, count in counts.items():
        families.setdefault(DIGITS.sub("#", name), {})[name] = count
    merged = {
        pattern if len(names) > 1 else next(iter(names)): sum(names.values())
        for pattern, names in families.items()
    }
    ordered = sorted(merged.items(), key=lambda item: -item[1])
    shown = [f"{printable(name)} x{count}" if count > 1 else printable(name)
             for name, count in ordered[:_MAX_NAMES]]  # fmt: skip
    more = len(ordered) - _MAX_NAMES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
