# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What became slower or faster from some runs to others, and how sure that is.

The unit is the run: a mean over the calls of one run says nothing of how the machine drifts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nvspan._results import RangeName, StatsRow
from nvspan.recording import Recording, read
from nvspan.recording.differences import Difference, differences
from nvspan.recording.frame import Frame, flat
from nvspan.recording.parallel import each
from nvspan.recording.statistics import average, deviation, median
from nvspan.recording.stats import record
from nvspan.recording.steps import OTHER, WAITING, Steps
from nvspan.recording.time_text import percent, time_cell
from nvspan.report.kernel_changes import add_kernels, kernel_columns
from nvspan.report.line_changes import add_lines, line_columns
from nvspan.report.text import range_label

SURE = 0.95
ONE_RUN = "a change cannot be told from drift of the machine"
_TIMES = (("cpu", ""), ("gpu", " (GPU)"), ("idle", " (GPU idle)"))
_LEAST_OF_STEP = 0.001  # a phase that is a smaller part of both steps is left out


@dataclass(frozen=True)
class _Entry:
    """What a row is of, and its figures on both sides; None where no run has it."""

    row: dict[str, Any]
    old: dict[str, Any] | None
    new: dict[str, Any] | None
    of_range: str | None = None  # what the range is called; None: it is none of the CPU

    @property
    def has_logarithms(self) -> bool:
        return (
            self.old is not None
            and self.new is not None
            and min(*self.old["means"], *self.new["means"]) > 0
        )


class Changes(Frame, list[dict[str, Any]]):
    """Rows of changes, the largest first: a list of dicts, and a table."""

    __slots__ = ()

    def _records(self) -> list[dict[str, Any]]:
        return [flat({**row, **line_columns(row), **kernel_columns(row)}) for row in self]

    def _preview(self) -> tuple[Sequence[str], Iterator[Sequence[str]], int]:
        def mean(side: dict[str, Any] | None) -> str:
            return "" if side is None else time_cell(side["mean"])

        rows = (
            (
                row["label"],
                mean(row["before"]),
                mean(row["after"]),
                percent(row["change"], "+"),
                row["verdict"],
            )
            for row in self
        )
        return ("name", "before", "after", "change", "verdict"), rows, len(self)


def read_runs(*paths: str | os.PathLike[str], each: bool = False) -> list[Recording]:
    """The runs of a program that recordings are of, each as one recording, in order of their start.

    Files of one `nvspan record`, and files whose times overlap, are of one run: the ranks and
    worker processes of a job.

    Args:
        paths: as for `nvspan.read`.
        each: every file is a run of its own.

    Raises:
        OSError, ValueError: as `nvspan.read`.
    """
    if not paths:
        raise ValueError("read_runs() needs the path of a recording")
    files = sorted(((_span(found), path, found) for path in dict.fromkeys(paths)
                    for found in [read(path)]), key=lambda file: file[0])  # fmt: skip
    runs: list[tuple[int, set[int], list[Any], Recording]] = []
    for (start, end), path, recording in files:
        ids = {process.run for process in recording.processes} - {0, 1}
        place = next((i for i, run in enumerate(runs) if start < run[0] or ids & run[1]), None)
        if each or place is None:
            runs.append((end, ids, [path], recording))
        else:
            last, known, of_run, first = runs[place]
            runs[place] = (max(last, end), known | ids, [*of_run, path], first)
    return [first if len(of_run) == 1 else read(*of_run) for _, _, of_run, first in runs]


def _span(recording: Recording) -> tuple[int, int]:
    """When a recording began and ended, in ns since 1970."""
    processes = recording.processes
    return (
        min(p.start + p.unix_offset for p in processes),
        max(p.end + p.unix_offset for p in processes),
    )


def compare(
    before: Recording | Sequence[Recording],
    after: Recording | Sequence[Recording],
    threshold: float = 0.05,
    sure: float = SURE,
) -> Changes:
    """A row for each range, the largest change first.

    Keys: domain, name, kind, backward, label, `before` and `after` (rows of statistics or None, in
    which calls, mean and std are without the `warmup` calls; `runs`, how many have it), `change` of
    the mean duration as a part of the former, None where that was 0, `low` and `high` (the limits
    in which the change lies), `confidence` that the means differ at all, and `verdict`:

    - "slower", "faster": the change is `threshold` or more, and its limits are on one side of 0;
    - "same": the limits are within the threshold;
    - "new", "gone": the range is in every run of one side and in none of the other;
    - "unsure": anything else.

    `line` is a `LineChange` of a range that is "slower", where samples of all runs name what takes
    longer in it; else None. `kernel` is likewise a `KernelChange`, where all runs have kernels.

    Args:
        before: a recording, or a list of recordings of several runs, as `read_runs` returns.
        after: the same, to judge.
        threshold: the part by which a mean must change.
        sure: the probability with which the limits of all rows hold at once.

    With one run on each side a change cannot be told from drift of the machine: there are no limits
    then, and all that both have is "unsure". Means of runs are compared by their logarithms, with a
    variance to which the other rows contribute.
    """
    sides = _listed(before), _listed(after)
    entries = _ranges(*sides)
    rows = _judged(entries, sides, threshold, sure)
    _add_evidence([(entries, rows)], sides, sure)
    return _sorted(rows)


def compare_all(
    before: Recording | Sequence[Recording],
    after: Recording | Sequence[Recording],
    threshold: float = 0.05,
    sure: float = SURE,
    *,
    step: str | None = None,
    phases: Sequence[str] | None = None,
    ranges: tuple[Sequence[Recording], Sequence[Recording]] | None = None,
) -> tuple[Changes, Changes]:
    """The rows of `compare_steps` and of `compare`, whose limits hold at once.

    A phase and its range do not contradict each other: of two that would, "same" is "unsure", and
    so are "slower" and "faster". `ranges` are the runs for the rows of ranges, where these are not
    of all that the steps are of.

    Raises:
        ValueError: as `compare_steps`.
    """
    sides = _listed(before), _listed(after)
    of_steps = _steps(*sides, step, phases)
    entries = [*of_steps, *_ranges(*(ranges or sides))]
    rows = _judged(entries, sides, threshold, sure)
    found = rows[: len(of_steps)], rows[len(of_steps) :]
    _reconcile([(entry.of_range, row) for entry, row in zip(of_steps, found[0], strict=True)],
               found[1])  # fmt: skip
    _add_evidence([(of_steps, found[0]), (entries[len(of_steps) :], found[1])], sides, sure)
    return Changes(found[0]), _sorted(found[1])


def _ranges(before: Sequence[Recording], after: Sequence[Recording]) -> list[_Entry]:
    rows: dict[tuple[Any, ...], tuple[list[Any], list[Any]]] = {}
    runs = [*before, *after]
    for place, stats in enumerate(each(lambda recording: recording.stats(), runs)):
        side = 0 if place < len(before) else 1
        for row in stats.rows:
            if row.calls:
                key = (row.domain, row.name, row.kind, row.backward)
                rows.setdefault(key, ([], []))[side].append(_without_warmup(row))
    entries = []
    for key, sides in rows.items():
        entry = dict(zip(("domain", "name", "kind", "backward"), key, strict=True))
        entry["label"] = range_label(RangeName(*key))
        entries.append(_Entry(entry, _pooled(sides[0]), _pooled(sides[1]), key[1]))
    return entries


def _sorted(rows: list[dict[str, Any]]) -> Changes:
    def key(row: dict[str, Any]) -> tuple[bool, float, str]:
        return row["change"] is None, -abs(row["change"] or 0), row["label"]

    return Changes(sorted(rows, key=key))


def compare_steps(
    before: Recording | Sequence[Recording],
    after: Recording | Sequence[Recording],
    threshold: float = 0.05,
    sure: float = SURE,
    *,
    step: str | None = None,
    phases: Sequence[str] | None = None,
) -> Changes:
    """A row for the typical step, and one for each of its phases: as `compare`, with `of_step`.

    The kind of a row is "step_cpu", "step_gpu" or "step_idle" (the GPU has no work), its domain
    that of the steps and its name the phase, or "step" for all of them. `of_step` is the
    difference as a part of the former step. Phases of less than a thousandth of a step are left
    out. See `Recording.steps`.

    Raises:
        ValueError: a side has no steps, or the steps of one are not called as those of the other.
    """
    sides = _listed(before), _listed(after)
    entries = _steps(*sides, step, phases)
    rows = _judged(entries, sides, threshold, sure)
    _add_evidence([(entries, rows)], sides, sure)
    return Changes(rows)


def _steps(
    before: Sequence[Recording],
    after: Sequence[Recording],
    step: str | None,
    phases: Sequence[str] | None,
) -> list[_Entry]:
    runs = [*before, *after]
    all_steps = each(lambda recording: recording.steps(step, phases), runs)
    sides = all_steps[: len(before)], all_steps[len(before) :]
    called = sorted({steps.step for side in sides for steps in side})
    if len(called) > 1:
        raise ValueError(
            f"cannot compare steps: the runs use {' and '.join(map(repr, called))} as steps; "
            "choose one with --step NAME"
        )
    entries = []
    usual = average([steps.typical.duration for steps in sides[0]])
    for kind, name, label in _of_steps([steps for side in sides for steps in side]):
        parts = [[_figures(steps, kind, name) for steps in side] for side in sides]
        old, new = (_pooled([part for part in side if part is not None]) for side in parts)
        means = [0.0 if side is None else side["mean"] for side in (old, new)]
        if max(means) < _LEAST_OF_STEP * usual:
            continue
        domain, _, own = called[0].rpartition(":")
        of_step = (means[1] - means[0]) / usual if usual and old and new else None
        entry = {"domain": domain or None, "name": "step" if name is None else name,
                 "kind": f"step_{kind}", "backward": False, "label": label,
                 "of_step": of_step}  # fmt: skip
        of_range = (own if name is None else name) if kind == "cpu" else None
        entries.append(_Entry(entry, old, new, of_range))
    return entries


def _of_steps(all_steps: Sequence[Steps]) -> Iterator[tuple[str, str | None, str]]:
    """The rows that steps have: which time, of which phase, and how it is called."""
    has_work = any(steps.has_work for steps in all_steps)
    has_idle = any(steps.has_idle for steps in all_steps)
    phases = dict.fromkeys(phase for steps in all_steps for phase in steps.phases if phase != OTHER)
    for kind, mark in _TIMES[: 1 + has_work + has_idle]:
        waiting = [WAITING] if kind == "idle" else []
        for name in (None, *phases, OTHER, *waiting):
            yield kind, name, f"{'step' if name is None else name}{mark}"


def _figures(steps: Steps, kind: str, name: str | None) -> dict[str, Any] | None:
    typical = steps.typical
    if not typical.steps:
        return None
    if name is not None:
        if name not in typical[kind]:
            return None
        mean, std = typical[kind][name], typical.std[kind][name]
    elif kind == "cpu":
        mean, std = typical.duration, typical.std.duration
    else:
        mean = typical.busy if kind == "gpu" else sum(typical.idle.values())
        std = typical.std["busy" if kind == "gpu" else "all_idle"]
    calls = typical.steps
    return {"calls": calls, "mean": mean, "std": std, "p50": None, "total": mean * calls,
            "warmup": typical.warm_up + typical.outliers}  # fmt: skip


def _listed(recordings: Recording | Sequence[Recording]) -> Sequence[Recording]:
    return recordings if isinstance(recordings, Sequence) else [recordings]


def _without_warmup(row: StatsRow) -> dict[str, Any]:
    """The row of the calls that ended, with calls, mean and std of those that are no warm-up."""
    figures = record(row, () if row.devices is None else ("devices",))
    figures["total"] = row.total - row.open_time
    if row.warmup:
        calls = row.calls - row.warmup
        total = row.sum - row.warmup_total
        mean = total / calls
        squares = row.squares - row.warmup_squares - total * mean
        std = math.sqrt(max(squares, 0.0) / (calls - 1)) if calls > 1 else 0.0
        figures.update(calls=calls, mean=mean, std=std)
    return figures


def _pooled(rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The rows of one range in several runs as one: each run's mean counts the same."""
    if not rows:
        return None
    means = [row["mean"] for row in rows]
    all_calls = [row["calls"] + row["warmup"] for row in rows]
    pooled = {**rows[0], "runs": len(rows), "means": means, "all_calls": all_calls}
    if len(rows) > 1:
        pooled.update({key: sum(row[key] for row in rows) for key in ("calls", "total", "warmup")})
        pooled["mean"], pooled["std"] = average(means), deviation(means)
        if rows[0]["p50"] is not None:
            pooled["p50"] = median(row["p50"] for row in rows)
    return pooled


def _judged(
    entries: Sequence[_Entry],
    sides: tuple[Sequence[Recording], Sequence[Recording]],
    threshold: float,
    sure: float,
) -> list[dict[str, Any]]:
    """All rows, judged together."""
    runs = [len(side) for side in sides]
    compared = [entry for entry in entries if entry.has_logarithms]
    found = differences(
        [(_logarithms(entry.old), _logarithms(entry.new)) for entry in compared],
        sure,
    )
    judged = {id(entry): difference for entry, difference in zip(compared, found, strict=True)}
    return [_row(entry, judged.get(id(entry)), runs, threshold) for entry in entries]


def _add_evidence(
    tables: Sequence[tuple[Sequence[_Entry], Sequence[dict[str, Any]]]],
    sides: tuple[Sequence[Recording], Sequence[Recording]],
    sure: float,
) -> None:
    """Names lines and kernels of rows that became slower, once verdicts are final; jobs have
    neither."""
    if all(isinstance(run, Recording) for side in sides for run in side):
        named = [
            [(row, entry.of_range) for entry, row in zip(entries, rows, strict=True)]
            for entries, rows in tables
        ]
        add_lines(named, *sides, sure)
        add_kernels(named, *sides, sure)


def _logarithms(side: dict[str, Any] | None) -> list[float]:
    return [] if side is None else [math.log(mean) for mean in side["means"]]


def _row(
    entry: _Entry, found: Difference | None, runs: Sequence[int], threshold: float
) -> dict[str, Any]:
    old, new = entry.old, entry.new
    row = {**entry.row, "before": old, "after": new, "change": None, "low": None, "high": None,
           "confidence": None, "verdict": "unsure", "line": None, "kernel": None}  # fmt: skip
    if old is None or new is None:
        side, count = (new, runs[1]) if old is None else (old, runs[0])
        if side is not None and side["runs"] == count:
            row["verdict"] = "new" if old is None else "gone"
    elif found is None:
        if old["mean"] > 0:
            row["change"] = new["mean"] / old["mean"] - 1
        elif new["mean"] == 0:
            row["verdict"] = "same"
    else:
        row["change"] = math.expm1(found.value)
        if found.margin is not None:
            low, high = (math.expm1(found.value + side * found.margin) for side in (-1, 1))
            row.update(low=low, high=high, confidence=found.confidence)
            row["verdict"] = _verdict(row["change"], low, high, threshold)
    return row


def _verdict(change: float, low: float, high: float, threshold: float) -> str:
    if -threshold <= low and high <= threshold:
        return "same"
    if low > 0 and change >= threshold:
        return "slower"
    if high < 0 and change <= -threshold:
        return "faster"
    return "unsure"


def _reconcile(
    phases: Sequence[tuple[str | None, dict[str, Any]]], ranges: Sequence[dict[str, Any]]
) -> None:
    """Makes verdicts of a phase and of its range unsure where they contradict each other.

    The two differ where calls are outside of steps, or where a step has more of them.
    """
    for name, phase in phases:
        for row in ranges:
            if name != row["name"] or row["backward"] or row["kind"] == "device":
                continue
            both = {phase["verdict"], row["verdict"]}
            if both == {"slower", "faster"}:
                phase["verdict"] = row["verdict"] = "unsure"
            elif "same" in both and both & {"slower", "faster"}:
                for one in (phase, row):
                    if one["verdict"] == "same":
                        one["verdict"] = "unsure"
