# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks whose steps take longer than those of the others."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, median

from nvspan.answers.finding import MEASURED, Finding
from nvspan.recording import Recording
from nvspan.recording.steps import Steps
from nvspan.recording.time_text import duration
from nvspan.report.text import printable

_SLOW = 1.2  # times the median of the ranks
_LEAST_RANKS, _LEAST_PART = 3, 0.05


def of_ranks(recording: Recording, steps: Steps) -> Iterator[Finding]:
    """The ranks whose typical steps take longer, and in which phases."""
    processes = recording.processes
    if len({process["rank"] for process in processes} - {None}) < _LEAST_RANKS:
        return
    durations: dict[int, list[int]] = {}
    columns = (steps["process"].tolist(), steps["duration"].tolist(), steps["state"].tolist())
    for process, lasts, state in zip(*columns, strict=True):
        if state == 0 and processes[process]["rank"] is not None:
            durations.setdefault(processes[process]["rank"], []).append(lasts)
    means = {rank: fmean(values) for rank, values in sorted(durations.items())}
    if len(means) < _LEAST_RANKS or not (usual := median(means.values())):
        return
    slow = {rank: mean for rank, mean in means.items() if mean > _SLOW * usual}
    if not slow:
        return
    listed = ", ".join(map(str, slow))
    are = f"ranks {listed} take" if len(slow) > 1 else f"rank {listed} takes"
    evidence = [
        f"the typical step of rank {rank} takes {duration(mean)}, the median of {len(means)} "
        f"ranks is {duration(usual)}"
        for rank, mean in list(slow.items())[:3]
    ]
    worst = max(slow, key=lambda rank: slow[rank])
    evidence += _phases(recording, steps, worst, set(slow), usual)
    yield Finding(
        "slow-rank", f"{are} {max(slow.values()) / usual:.1f} times as long for a step as the "
        "others", MEASURED, evidence,
        f"look at its file alone: 'nvspan explain' of rank {worst}; 'nvspan stats --by rank'",
    )  # fmt: skip


def _phases(
    recording: Recording, steps: Steps, worst: int, slow: set[int], usual: float
) -> list[str]:
    """In which phases the worst rank takes longer than those that are not slow."""
    ranks = [process["rank"] for process in recording.processes]
    owners = memoryview(recording.threads["process"]).tolist()
    sides = []
    for wanted in ({worst}, set(ranks) - slow - {None}):
        threads = [row for row, owner in enumerate(owners) if ranks[owner] in wanted]
        try:
            sides.append(recording.filter(threads=threads).steps(steps.step).typical["cpu"])
        except ValueError:
            return []
    over = {phase: ns - sides[1].get(phase, 0.0) for phase, ns in sides[0].items()}
    most = sorted(over.items(), key=lambda item: -item[1])[:3]
    return [f"rank {worst} takes {duration(ns)} more in '{printable(phase)}'"
            for phase, ns in most if ns > _LEAST_PART * usual]  # fmt: skip
