# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the delays of a job's ranks come to: one culprit, several in turn, some steps, or none."""

from __future__ import annotations

from statistics import median

from nvspan.recording.time_text import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nvspan.ranks.cause.job import Cost, Ranks

CULPRIT, ROTATING, TRANSIENT = "culprit", "rotating", "transient"
NONE, CANNOT_TELL = "none", "cannot tell"

_FEWEST_STEPS = 5
_LEAST_PART = 0.015  # of the job's time
_LEAST_NS = 250_000  # of a step: what an operating system does to a thread at times
_LEAST_GPU_NS = 20_000  # a step: what the clocks of GPUs of one host may be apart
_BY_CHANCE = 0.005  # how probable a culprit is where there is none
_LEAST_BLOCKS = 0.85  # of the stretches of steps
_LEAST_STEPS = 0.55  # of the steps, that a culprit holds back
_LEAST_SPIKE = 0.05  # of the job's time, of what happens in few steps
_OF_FEW_STEPS = 0.7  # of a cost, that comes from a tenth of the steps
_LEAST_WAIT = 0.05  # of a rank's time, from which on waiting is worth a word
_MOST_OF_IT = 0.5  # of a rank's cost, from which on one range is the reason


class Verdict:
    """What holds the job back.

    Attributes:
        kind: ``"culprit"``, ``"rotating"``, ``"transient"``, ``"none"`` or ``"cannot tell"``.
        rank: The culprit's number, else None.
        range: The culprit's range; None where all of its ranges take longer, or there is none.
        cost: Its :class:`nvspan.ranks.cause.job.Cost`, else None.
        text: The verdict in a sentence.
        evidence: The figures that it stands on.
        limits: What the recordings cannot tell.
        next: What to do.
    """

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text
        self.rank: int | None = None
        self.range: str | None = None
        self.cost: Cost | None = None
        self.evidence: list[str] = []
        self.limits: list[str] = []
        self.next = ""

    def as_dict(self) -> dict[str, Any]:
        """The verdict for JSON."""
        cost = self.cost
        return {
            "verdict": self.kind, "text": self.text, "rank": self.rank, "range": self.range,
            "cost": None if cost is None else {
                "part": cost.part.value, "part_low": cost.part.low, "part_high": cost.part.high,
                "ns_per_step": cost.ns.value,
            },
            "evidence": self.evidence, "cannot_tell": self.limits, "next": self.next,
        }  # fmt: skip


def percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def _price(cost: Cost) -> str:
    return f"{100 * cost.part.value:.1f} % +- {100 * cost.part.half:.1f}"


def judge(found: Ranks) -> Verdict:
    """The verdict on a job's ranks."""
    verdict = _judge(found)
    verdict.limits += _limits(found)
    return verdict


def _judge(found: Ranks) -> Verdict:
    why = _cannot_tell(found)
    if why:
        verdict = Verdict(CANNOT_TELL, f"cannot tell: {why[0]}")
        verdict.next = why[1]
        return verdict
    whole = [cost for cost in found.costs if cost.range is None]
    top = whole[0] if whole else None
    culprit = _usual_culprit(whole, found)
    if culprit is None and top is not None and _is_culprit(top, found):
        culprit = top
    if culprit is not None:
        return _culprit(culprit, found)
    if top is not None and _is_spike(top):
        return _transient(top, found)
    waits = _waiting(found)
    if waits < _LEAST_WAIT:
        verdict = Verdict(NONE, "no rank holds the job back")
        verdict.evidence.append(f"ranks wait {percent(waits)} of their time for others")
        verdict.next = "look at what a step waits for within one rank: 'nvspan explain'"
        return verdict
    return _rotating(waits, found)


def _cannot_tell(found: Ranks) -> tuple[str, str] | None:
    if len(found.ranks) < 2:
        return "there is one rank alone", "give the files of all ranks"
    if found.counts["collectives"] == 0:
        return (
            "the ranks have no collectives in common",
            "record with 'nvspan.torch.auto(..., distributed=True)', or with NCCL's own ranges",
        )
    if found.counts["enqueued"] == found.counts["collectives"] and not found.step_times:
        return "nothing shows when collectives ran", "annotate steps"
    if len(found.step_times) < _FEWEST_STEPS:
        return f"there are {len(found.step_times)} steps after warm-up", "record more steps"
    if 2 * found.counts["uncertain"] > found.counts["collectives"]:
        return (
            "the clocks of the hosts are known less closely than their ranks are apart",
            "record more collectives of all ranks, or measure the clocks: 'nvspan clock', then "
            "'nvspan ranks --clocks FILE'",
        )
    return None


def _least_ns(found: Ranks) -> int:
    return _LEAST_GPU_NS if all(rank.gpu for rank in found.ranks) else _LEAST_NS


def _usual_culprit(whole: list[Cost], found: Ranks) -> Cost | None:
    """The rank that has more work in nearly every step, whatever single steps do."""
    least = max(_LEAST_PART * median(found.step_times), _least_ns(found))
    sure = [
        each for each in found.excess
        if each.usual >= least
        and each.chance < _BY_CHANCE / len(found.ranks) and each.blocks >= _LEAST_BLOCKS
    ]  # fmt: skip
    if not sure:
        return None
    most = max(sure, key=lambda each: each.usual)
    cost = next((each for each in whole if each.rank == most.rank), None)
    enough = cost is not None and cost.part.low > 0 and cost.part.value >= _LEAST_PART
    return cost if enough else None


def _is_culprit(top: Cost, found: Ranks) -> bool:
    """Whether it costs something on average, in steps that are not few."""
    if top.part.low <= 0 or top.part.value < 2 * _LEAST_PART or top.steps < _LEAST_STEPS:
        return False
    if top.blocks < _LEAST_BLOCKS or top.ns.value < _least_ns(found):
        return False
    chance = [cost.ns.value for cost in found.by_chance]
    return not chance or top.ns.low > max(0.0, *chance)


def _is_spike(top: Cost) -> bool:
    large = top.part.low > 0 and top.part.value >= _LEAST_SPIKE
    return large and top.of_few >= _OF_FEW_STEPS


def _culprit(top: Cost, found: Ranks) -> Verdict:
    of_ranges = [cost for cost in found.costs if cost.rank == top.rank and cost.range is not None]
    of_ranges.sort(key=lambda cost: (-max(0.0, cost.usual), -cost.ns.value))
    reason = of_ranges[0] if of_ranges else None
    if (
        reason is not None
        and max(reason.ns.value / top.ns.value, reason.usual / top.usual if top.usual > 0 else 0.0)
        < _MOST_OF_IT
    ):
        reason = None
    cost = reason or top
    if reason is not None:
        text = f"rank {top.rank}'s {reason.range} costs the job {_price(reason)}"
    else:
        text = f"rank {top.rank} is slower in all that it does: this costs the job {_price(top)}"
    verdict = Verdict(CULPRIT, text)
    verdict.rank, verdict.cost = top.rank, cost
    verdict.range = None if reason is None else reason.range
    rank = next(each for each in found.ranks if each.rank == top.rank)
    verdict.evidence = [
        f"a step would take {duration(cost.ns.value)} less if rank {top.rank} were as fast there "
        f"as the median of the others; it does in {percent(cost.steps)} of "
        f"{len(found.step_times)} steps",
        f"rank {top.rank} came last in {rank.was_last} of {rank.collectives} collectives, and "
        f"waited {duration(rank.waited)} itself; the median rank waited "
        f"{duration(median(each.waited for each in found.ranks))}",
    ]
    verdict.evidence += [
        f"in '{each.range}' it takes {duration(each.ns.value)} of a step"
        for each in of_ranges[1:3]
        if each.part.low > 0
    ]
    verdict.next = (
        f"look at '{verdict.range}' of rank {top.rank}: 'nvspan explain {rank.path}'"
        if verdict.range else f"look at the host of rank {top.rank} ({rank.host}): its clock rate, "
        "what else runs there, its memory"
    )  # fmt: skip
    return verdict


def _transient(top: Cost, found: Ranks) -> Verdict:
    place = next(i for i, each in enumerate(found.ranks) if each.rank == top.rank)
    blamed = found.blame.get(place, {})
    worst = sorted(blamed, key=lambda step: -blamed[step])[:3]
    numbers = [found.step_numbers[step] for step in worst]
    verdict = Verdict(
        TRANSIENT,
        f"single steps are slow: they cost the job {_price(top)}, most of it on rank {top.rank}",
    )
    verdict.evidence = [
        f"step {number}: rank {top.rank} delays the others by {duration(blamed[step])}"
        for number, step in zip(numbers, worst, strict=True)
    ]
    verdict.evidence.append(f"in its usual step it costs {duration(top.usual)}")
    verdict.next = f"look at these steps: 'nvspan view {found.ranks[place].path}'"
    return verdict


def _waiting(found: Ranks) -> float:
    """The part of the ranks' time that they wait for others, of the median rank."""
    whole = sum(found.step_times)
    steps = len(found.step_times) / max(1, len(found.step_numbers))
    waits = median(each.waited for each in found.ranks) * steps
    return waits / whole if whole else 0.0


def _rotating(waits: float, found: Ranks) -> Verdict:
    blamed = {i: sum(of.values()) for i, of in found.blame.items()}
    most = sorted(blamed, key=lambda i: -blamed[i])[:5]
    verdict = Verdict(
        ROTATING,
        f"ranks wait {percent(waits)} of their time, and for others in turn: no one of them holds "
        "the job back",
    )
    verdict.evidence = [
        f"rank {found.ranks[i].rank} came last in {found.ranks[i].was_last} collectives, and "
        f"delayed the others by {duration(blamed[i])} in all"
        for i in most
    ]
    verdict.next = "make the work of a step more even: sizes of batches, shards of data, padding"
    return verdict


def _limits(found: Ranks) -> list[str]:
    limits = []
    counts = found.counts
    if counts["enqueued"]:
        limits.append(
            f"{counts['enqueued']} collectives show when the CPU asked for them: that a rank came "
            "late means that its CPU did; when its GPU did is not known"
        )
    if counts["unmatched"]:
        limits.append(f"{counts['unmatched']} collectives are in one rank's file alone")
    if counts["incomplete"]:
        limits.append(
            f"{counts['incomplete']} collectives miss a rank, or do not fit together; they are "
            "left out"
        )
    if counts["uncertain"]:
        limits.append(
            f"in {counts['uncertain']} collectives the ranks are less apart than their clocks are "
            "known"
        )
    if counts["contradictions"]:
        limits.append(
            f"{counts['contradictions']} collectives contradict a host's clock, and are left out: "
            "they are matched wrongly, or the clock was set"
        )
    return limits
