# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of many ranks side by side."""

from __future__ import annotations

from typing import Any

from nvspan import _reader
from nvspan._results.jobs import JobProcess, RankSteps
from nvspan.recording.statistics import average, median

_TYPICAL = 0  # Steps: state


class ManySteps:
    """The steps of every rank. Made by `ManyRecordings.steps`.

    ``len()`` is the number of steps; times are ns.

    Attributes:
        ranks: a `RankSteps` for each process with steps, by its rank, whose fields may be read by
            key as well: `rank`, `host`, `path`, `process`, `steps`, `total`; of the typical steps
            `mean`, `median` and `max`, and `cpu` and `gpu`, the mean of each phase by its name.
        phases: the names of the phases, the one with the most time first.
        columns: a value for each step: `process` (a number that is the same wherever its file
            lies), `start` (on the clock of its machine), `duration`, `number`, `has_number`,
            `busy`, `ops`, `state`.
    """

    __module__ = "nvspan.ranks"

    def __init__(self, summary: _reader.RankSummary, processes: list[JobProcess]) -> None:
        self.columns: dict[str, memoryview] = summary.table("steps")
        if not self.columns:
            raise ValueError("no steps are known: read_many(..., steps=True) looks for them")
        durations: dict[int, list[int]] = {}
        typical: dict[int, list[int]] = {}
        for process, lasts, state in zip(
            *(self.columns[key] for key in ("process", "duration", "state")), strict=True
        ):
            durations.setdefault(process, []).append(lasts)
            if state == _TYPICAL:
                typical.setdefault(process, []).append(lasts)
        times = _phase_times(summary.table("phases"))
        self.ranks: list[RankSteps] = []
        for at, about in enumerate(processes):
            key = about.process
            if key not in durations:
                continue
            kept = typical.get(key) or durations[key]
            phases = times.get(key, {})
            rank = about.into(
                RankSteps,
                process=at,
                steps=len(durations[key]),
                total=sum(durations[key]),
                mean=average(kept),
                median=median(kept),
                max=max(kept),
                cpu={phase: cpu / len(kept) for phase, (cpu, _) in phases.items()},
                gpu={phase: gpu / len(kept) for phase, (_, gpu) in phases.items()},
            )
            self.ranks.append(rank)
        sums: dict[str, float] = {}
        for row in self.ranks:
            for phase, ns in row.cpu.items():
                sums[phase] = sums.get(phase, 0.0) + ns
        self.phases: list[str] = sorted(sums, key=lambda phase: (-sums[phase], phase))

    def __len__(self) -> int:
        return len(self.columns["start"])

    def __repr__(self) -> str:
        return f"<nvspan ManySteps: {len(self)} of {len(self.ranks)} processes>"


def _phase_times(table: dict[str, Any]) -> dict[int, dict[str, tuple[int, int]]]:
    """The time on CPU and GPU of each process in each phase, of its typical steps."""
    times: dict[int, dict[str, tuple[int, int]]] = {}
    keys = ("process", "phase", "cpu", "gpu")
    for process, phase, cpu, gpu in zip(*(table.get(key, ()) for key in keys), strict=True):
        before = times.setdefault(process, {}).get(phase, (0, 0))
        times[process][phase] = before[0] + cpu, before[1] + gpu
    return times
