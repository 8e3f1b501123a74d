# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What became slower or faster from some recordings to others, and how sure that is."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

from nvspan._results import RangeName, StatsRow
from nvspan.recording import Recording, read
from nvspan.recording.frame import Frame, flat
from nvspan.recording.parallel import each
from nvspan.recording.statistics import (
    average,
    confidence,
    deviation,
    error_of_calls,
    error_of_runs,
    median,
    t_limit,
)
from nvspan.recording.stats import record
from nvspan.recording.steps import OTHER, WAITING, Steps
from nvspan.recording.time_text import percent, time_cell
from nvspan.report.text import range_label

SURE = 0.95
_TIMES = (("cpu", ""), ("gpu", " (GPU)"), ("idle", " (GPU idle)"))
_LEAST_OF_STEP = 0.001  # a phase that is a smaller part of both steps is left out


class Changes(Frame, list[dict[str, Any]]):
    """Rows of changes, the largest first: a list of dicts, and a table."""

    __slots__ = ()

    def _records(self) -> list[dict[str, Any]]:
        return [flat(row) for row in self]

    def _preview(self) -> tuple[Sequence[str], Iterator[Sequence[str]], int]:
        def mean(side: dict[str, Any] | None) -> str:
            return "" if side is None else time_cell(side["mean"])

        rows = (
            (
                row["label"],
                mean(row["before"]),
                mean(row["after"]),
                percent(row["change"], "+.1f"),
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
    in which the change lies with the confidence `sure`), `confidence` that the means differ at all,
    and `verdict`: "slower" or "faster" when the change exceeds `threshold` and is as sure as asked
    for, "same", "unsure" (larger, but too little to tell by), "new" or "gone".

    Args:
        before: a recording, or a list of recordings of several runs, as `read_runs` returns.
        after: the same, to judge.
        threshold: the part by which a mean must change.
        sure: how certain it must be.

    With one run on each side the test is Welch's, on the means of calls; it takes calls to be
    independent, so that a slow spell of the machine looks more certain than it is. With more runs
    the noise is what varies from run to run: the test is Student's, on the means of the runs, or
    Welch's from three runs on each side on.
    """
    rows: dict[tuple[Any, ...], tuple[list[Any], list[Any]]] = {}
    runs = [*_listed(before), *_listed(after)]
    for place, stats in enumerate(each(lambda recording: recording.stats(), runs)):
        side = 0 if place < len(_listed(before)) else 1
        for row in stats.rows:
            if row.calls:
                key = (row.domain, row.name, row.kind, row.backward)
                rows.setdefault(key, ([], []))[side].append(_without_warmup(row))
    changes = []
    for key, sides in rows.items():
        entry = dict(zip(("domain", "name", "kind", "backward"), key, strict=True))
        entry["label"] = range_label(RangeName(*key))
        changes.append(_judged(entry, [_pooled(side) for side in sides], threshold, sure))
    changes.sort(key=lambda row: (row["change"] is None, -abs(row["change"] or 0), row["label"]))
    return Changes(changes)


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
    runs = [*_listed(before), *_listed(after)]
    all_steps = each(lambda recording: recording.steps(step, phases), runs)
    sides = all_steps[: len(_listed(before))], all_steps[len(_listed(before)) :]
    called = sorted({steps.step for side in sides for steps in side})
    if len(called) > 1:
        raise ValueError(f"the steps are called differently: {' and '.join(called)}")
    rows = []
    usual = average([steps.typical.duration for steps in sides[0]])
    for kind, name, label in _of_steps([steps for side in sides for steps in side]):
        parts = [[_figures(steps, kind, name) for steps in side] for side in sides]
        found = [_pooled([part for part in side if part is not None]) for side in parts]
        means = [0.0 if side is None else side["mean"] for side in found]
        if max(means) < _LEAST_OF_STEP * usual:
            continue
        domain = called[0].rpartition(":")[0] or None
        entry = {"domain": domain, "name": "step" if name is None else name,
                 "kind": f"step_{kind}", "backward": False, "label": label}  # fmt: skip
        row = _judged(entry, found, threshold, sure)
        row["of_step"] = (means[1] - means[0]) / usual if usual and all(found) else None
        rows.append(row)
    return Changes(rows)


def _of_steps(all_steps: Sequence[Steps]) -> Iterator[tuple[str, str | None, str]]:
    """The rows that steps have: which time, of which phase, and how it is called."""
    has_work = any(steps.has_work for steps in all_steps)
    phases = dict.fromkeys(phase for steps in all_steps for phase in steps.phases if phase != OTHER)
    for kind, mark in _TIMES if has_work else _TIMES[:1]:
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
    """The row with calls, mean and std of the calls that are no warm-up."""
    figures = record(row, () if row.devices is None else ("devices",))
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
    pooled = {**rows[0], "runs": len(rows), "means": means}
    if len(rows) > 1:
        pooled.update({key: sum(row[key] for row in rows) for key in ("calls", "total", "warmup")})
        pooled["mean"], pooled["std"] = average(means), deviation(means)
        if rows[0]["p50"] is not None:
            pooled["p50"] = median(row["p50"] for row in rows)
    return pooled


def _judged(
    entry: dict[str, Any], sides: Sequence[dict[str, Any] | None], threshold: float, sure: float
) -> dict[str, Any]:
    old, new = sides
    row = {**entry, "before": old, "after": new, "change": None, "low": None, "high": None,
           "confidence": None}  # fmt: skip
    if old is None or new is None:
        row["verdict"] = "new" if old is None else "gone"
    else:
        row.update(_change(old, new, threshold, sure))
    return row


def _change(
    old: dict[str, Any], new: dict[str, Any], threshold: float, sure: float
) -> dict[str, Any]:
    difference = new["mean"] - old["mean"]
    figures: dict[str, Any] = {}
    if old["runs"] == new["runs"] == 1:
        noise = error_of_calls((old["std"], new["std"]), (old["calls"], new["calls"]))
    else:
        noise = error_of_runs(old["means"], new["means"])
    margin = None
    if noise is not None:
        error, freedom = noise
        if error > 0:
            figures["confidence"] = confidence(difference / error, freedom)
            margin = t_limit(sure, freedom) * error
        else:
            figures["confidence"] = 1.0 if difference else 0.0
            margin = 0.0
    change = math.inf if difference > 0 else 0.0
    if old["mean"] > 0:
        change = figures["change"] = difference / old["mean"]
        if margin is not None:
            figures["low"] = (difference - margin) / old["mean"]
            figures["high"] = (difference + margin) / old["mean"]
    if abs(change) <= threshold:
        figures["verdict"] = "same"
    elif figures.get("confidence") is None or figures["confidence"] < sure:
        figures["verdict"] = "unsure"
    else:
        figures["verdict"] = "slower" if change > 0 else "faster"
    return figures
