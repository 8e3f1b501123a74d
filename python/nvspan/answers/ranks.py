# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks whose steps take longer than those of the others, or whom the others wait for."""

from __future__ import annotations

from dataclasses import dataclass

from nvspan.answers.finding import LIKELY, MEASURED, Finding
from nvspan.answers.words import files_text, times_text
from nvspan.recording import Recording
from nvspan.recording.statistics import average, median
from nvspan.recording.steps import Steps
from nvspan.recording.time_text import duration
from nvspan.report.text import printable

_SLOW = 1.2  # times the median of the ranks
_LEAST_RANKS, _LEAST_PART = 3, 0.05
_HELD_UP, _MADE_UP = 0.2, 0.5  # of a step, more in one phase; of that, less in another


@dataclass(frozen=True)
class Waiting:
    """Where ranks wait for another one: the phase, and ns of the mean rank's step in it."""

    phase: str
    ns: float


def rank_findings(recording: Recording, steps: Steps) -> tuple[list[Finding], Waiting | None]:
    """The ranks whose typical steps take longer, in which phases, and where the others wait.

    Where ranks wait for one another in each step, steps take as long on all of them: then those
    that take longer in one phase, and shorter in the phase in which the others wait.
    """
    processes = recording.processes
    if len({process.rank for process in processes} - {None}) < _LEAST_RANKS:
        return [], None
    typical: dict[int, list[int]] = {}  # the places of each rank's
    owners = steps["process"].tolist()
    for place in steps.places(("typical",)):
        rank = processes[owners[place]].rank
        if rank is not None:
            typical.setdefault(rank, []).append(place)
    means = _means(steps["duration"], dict(sorted(typical.items())))
    if len(means) < _LEAST_RANKS or not (usual := median(means.values())):
        return [], None
    slow = {rank: mean for rank, mean in means.items() if mean > _SLOW * usual}
    if not slow:
        return _waited_for(steps, typical, usual, files_text(recording))
    listed = ", ".join(map(str, slow))
    are = f"ranks {listed} take" if len(slow) > 1 else f"rank {listed} takes"
    evidence = [
        f"the typical step of rank {rank} takes {duration(mean)}, the median of {len(means)} "
        f"ranks is {duration(usual)}"
        for rank, mean in list(slow.items())[:3]
    ]
    worst = max(slow, key=lambda rank: slow[rank])
    evidence += _phases(recording, steps, worst, set(slow), usual)
    found = Finding(
        "slow-rank", f"{are} {times_text(slow[worst] / usual)} as long for a step as the others",
        MEASURED, evidence,
        f"nvspan ranks {files_text(recording)}",
        1 - usual / slow[worst],
    )  # fmt: skip
    return [found], None


def _means(column: memoryview, by_rank: dict[int, list[int]]) -> dict[int, float]:
    return {rank: average([column[place] for place in of]) for rank, of in by_rank.items()}


def _waited_for(
    steps: Steps, by_rank: dict[int, list[int]], usual: float, files: str
) -> tuple[list[Finding], Waiting | None]:
    over: dict[str, dict[int, float]] = {}  # what a rank takes more than the median one
    medians = {}
    for phase in steps.phases:
        means = _means(steps[f"cpu.{phase}"], by_rank)
        medians[phase] = median(means.values())
        over[phase] = {rank: mean - medians[phase] for rank, mean in means.items()}
    found = []
    for rank in sorted(by_rank):
        longer = max(steps.phases, key=lambda phase: over[phase][rank])
        shorter = min(steps.phases, key=lambda phase: over[phase][rank])
        more, less = over[longer][rank], -over[shorter][rank]
        if more >= _HELD_UP * usual and less >= _MADE_UP * more:
            found.append((more, less, rank, longer, shorter))
    if not found or 2 * len(found) >= len(by_rank):
        return [], None
    found.sort(reverse=True)
    listed = ", ".join(str(rank) for rank in sorted(rank for _, _, rank, _, _ in found))
    many = len(found) > 1
    evidence = []
    for more, less, rank, longer, shorter in found[:3]:
        evidence += [
            f"rank {rank} takes {duration(medians[longer] + more)} in '{printable(longer)}', the "
            f"median of {len(by_rank)} ranks is {duration(medians[longer])}",
            f"the others take {duration(less)} longer in '{printable(shorter)}', where they wait",
        ]
    most, less, _, _, phase = found[0]
    finding = Finding(
        "slow-rank", f"the other ranks wait for rank{'s' if many else ''} {listed}: "
        f"{duration(most)} of a step of {duration(usual)}", LIKELY, evidence,
        f"nvspan ranks {files}", min(most / usual, 1.0),
    )  # fmt: skip
    return [finding], Waiting(phase, less * (1 - len(found) / len(by_rank)))


def _phases(
    recording: Recording, steps: Steps, worst: int, slow: set[int], usual: float
) -> list[str]:
    """In which phases the worst rank takes longer than those that are not slow."""
    ranks = [process.rank for process in recording.processes]
    owners = memoryview(recording.threads["process"]).tolist()
    sides = []
    for wanted in ({worst}, set(ranks) - slow - {None}):
        threads = [row for row, owner in enumerate(owners) if ranks[owner] in wanted]
        try:
            sides.append(
                recording.filter(threads=threads).steps(steps.choice.pattern or None).typical.cpu
            )
        except ValueError:
            return []
    over = {phase: ns - sides[1].get(phase, 0.0) for phase, ns in sides[0].items()}
    most = sorted(over.items(), key=lambda item: -item[1])[:3]
    return [f"rank {worst} takes {duration(ns)} more in '{printable(phase)}'"
            for phase, ns in most if ns > _LEAST_PART * usual]  # fmt: skip
