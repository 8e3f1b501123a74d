# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the delays of a job's ranks come to: one culprit, several in turn, some steps, or none."""

from __future__ import annotations

from nvspan.ranks.cause.delays import WITHOUT_A_CORE
from nvspan.ranks.cause.job import Verdict
from nvspan.recording.statistics import median
from nvspan.recording.time_text import counted, duration, percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.ranks.cause.delays import Delay
    from nvspan.ranks.cause.job import Cost, Ranks

CULPRIT, DRIFTING, ROTATING, TRANSIENT = "culprit", "drifting", "rotating", "transient"
NONE, CANNOT_TELL = "none", "cannot tell"

_FEWEST_STEPS = 5
_LEAST_SPIKE = 0.05  # of the job's time, of what happens in few steps
_OF_FEW_STEPS = 0.7  # of a cost, that comes from a tenth of the steps
_LEAST_WAIT = 0.05  # of a rank's time, from which on waiting is worth a word
_MOST_OF_IT = 0.5  # of a rank's delay, from which on one range is the reason
_SUSPICIOUS = 3.0  # standard errors: what one rank in a thousand shows by chance
_LEAST_OF_QUARTER = 0.25  # of a delay: less in a quarter of the steps is not there all the time
_MORE_BYTES = 0.05  # of the median rank's, by which a rank's share of the data differs
_WORTH_KNOWING = 0.1  # of a step: who sees only larger delays does not say that there are none


def _price(cost: Cost) -> str:
    return f"{percent(cost.part.value)} +-{percent(cost.part.half)}"


def judge(found: Ranks) -> Verdict:
    """The verdict on a job's ranks."""
    verdict = _judge(found)
    if not (found.unrelated or found.unsynchronised):
        verdict.limits += _limits(found)
    return verdict


def _judge(found: Ranks) -> Verdict:
    why = _cannot_tell(found)
    if why:
        verdict = Verdict(CANNOT_TELL, f"cannot tell: {why[0]}")
        verdict.next = why[1]
        return verdict
    smallest = found.smallest_delays()
    verdict = _named(found) or _unnamed(found, smallest.get(None))
    verdict.smallest = smallest
    if smallest and verdict.kind not in (CULPRIT, DRIFTING):
        verdict.limits.append(_power(smallest, median(found.step_times)))
    return verdict


def _power(smallest: dict[str | None, float], step: float) -> str:
    worst = max(smallest, key=lambda name: smallest[name])
    best = min(smallest, key=lambda name: smallest[name])
    text = (
        f"a delay below {duration(smallest[worst])} of a step ({percent(smallest[worst] / step)})"
    )
    if best is not None and smallest[best] < smallest[worst] / 2:
        text += f", or below {duration(smallest[best])} in '{best}',"
    return text + " could not be told from the noise here"


def _named(found: Ranks) -> Verdict | None:
    """One rank that costs the job something in most steps of it, or of one half."""
    sure = []
    for delay in found.delays.all:
        cost = found.cost_of(delay) if delay.stands else None
        if cost is not None and cost.part.low >= found.least_part:
            sure.append((cost.part.value, delay, cost))
    if not sure:
        return None
    whole = [each for each in sure if each[1].part == "whole"]
    _, delay, _ = max(whole or sure, key=lambda each: each[0])
    return _culprit(delay.rank, [each[1] for each in sure if each[1].rank == delay.rank], found)


def _unnamed(found: Ranks, smallest: float | None) -> Verdict:
    whole = [cost for cost in found.costs if cost.range is None]
    top = whole[0] if whole else None
    if top is not None and _is_spike(top):
        return _transient(top, found)
    waits = _waiting(found)
    doubt = _doubt(found)
    if doubt is not None:
        place = "" if doubt.range is None else f"'s {doubt.range}"
        verdict = Verdict(
            CANNOT_TELL,
            f"cannot tell: rank {doubt.rank}{place} may take {duration(doubt.ns.value)} longer "
            f"({duration(max(0.0, doubt.ns.low))} to {duration(doubt.ns.high)}); among these ranks "
            "and ranges that may be chance, or it costs the job next to nothing",
        )
        verdict.next = "record more steps"
        return verdict
    usual = median(found.step_times)
    if smallest is None or smallest > _WORTH_KNOWING * usual:
        verdict = Verdict(
            CANNOT_TELL,
            "cannot tell: the ranks' steps vary too much, or are too few, for delays below "
            + ("any length" if smallest is None else duration(smallest)),
        )
        verdict.evidence.append(_waits_text(waits))
        verdict.next = "record more steps, on a machine that does nothing else"
        if waits < _LEAST_WAIT or smallest is None:
            return verdict
    if waits < _LEAST_WAIT:
        verdict = Verdict(NONE, "no rank holds the job back")
        verdict.evidence.append(_waits_text(waits))
        verdict.next = "look at what a step waits for within one rank: 'nvspan explain'"
        return verdict
    return _rotating(waits, found)


def _doubt(found: Ranks) -> Delay | None:
    """What looks like a culprit, and does not pass."""
    for delay in found.delays.all:
        if delay.part == "whole" and delay.ratio >= _SUSPICIOUS:
            return delay
    return None


def _cannot_tell(found: Ranks) -> tuple[str, str] | None:
    if len(found.ranks) < 2:
        return "there is one rank alone", "give the files of all ranks"
    if found.unrelated:
        return f"the files were not recorded together: {found.unrelated}", "give one run's files"
    if found.unsynchronised:
        return (
            f"the collectives do not synchronize the ranks: {found.unsynchronised}",
            "give one run's files, and the domain of its collectives with --domain",
        )
    if found.counts["collectives"] == 0:
        return (
            "the ranks have no collectives in common",
            "record with 'nvspan.torch.auto(..., distributed=True)', or with NCCL's own ranges",
        )
    if found.counts["enqueued"] == found.counts["collectives"] and not found.step_times:
        return "nothing shows when collectives ran", "annotate steps"
    if len(found.step_times) < _FEWEST_STEPS:
        steps = len(found.step_times)
        verb = "is" if steps == 1 else "are"
        return f"there {verb} {counted(steps, 'step')} after warm-up", "record more steps"
    if 2 * found.counts["uncertain"] > found.counts["collectives"]:
        return (
            "the clocks of the hosts are known less closely than their ranks are apart",
            "record more collectives of all ranks, or measure the clocks and give "
            "their offsets: 'nvspan ranks --clocks FILE'",
        )
    return None


def _is_spike(top: Cost) -> bool:
    large = top.part.low > 0 and top.part.value >= _LEAST_SPIKE
    return large and top.of_few >= _OF_FEW_STEPS


def _reason(delays: list[Delay], found: Ranks) -> Delay:
    """The delay of one range if it is most of what the rank is late by, else that of all."""
    whole = [delay for delay in delays if delay.part == "whole"]
    chosen = whole or delays
    ranges = [delay for delay in chosen if delay.range is not None]
    every = next((delay for delay in chosen if delay.range is None), None)
    if not ranges:
        return chosen[0]
    longest = max(ranges, key=lambda delay: delay.ns.value)
    if every is not None and longest.ns.value < _MOST_OF_IT * every.ns.value:
        return every
    return longest


def _culprit(number: int, delays: list[Delay], found: Ranks) -> Verdict:
    delay = _reason(delays, found)
    cost = found.cost_of(delay)
    assert cost is not None
    of_ranges = [each for each in found.costs if each.rank == number and each.range is not None]
    starved = delay.range == WITHOUT_A_CORE
    if starved:
        text = (
            f"rank {number} had no core for {duration(delay.ns.value)} more of a step than the "
            f"others, though it was ready to run: this costs the job {_price(cost)}"
        )
    elif delay.range is not None:
        text = f"rank {number}'s {delay.range} costs the job {_price(cost)}"
    else:
        text = f"rank {number} is slower in all that it does: this costs the job {_price(cost)}"
    quarters = found.quarters(delay)
    drifts = delay.part != "whole" or min(quarters) < _LEAST_OF_QUARTER * delay.ns.value
    verdict = Verdict(DRIFTING if drifts else CULPRIT, text)
    verdict.suspect, verdict.cost, verdict.delay = number, cost, delay
    if drifts:
        verdict.text += ", but not all the time"
    else:
        verdict.rank, verdict.range = number, delay.range
    verdict.evidence.append(
        f"it takes {duration(delay.ns.value)} +-{duration(delay.ns.half)} of a step longer than "
        f"the median of the others; {_chance(delay)}"
    )
    if drifts:
        lasts = ", ".join(duration(max(0.0, each)) for each in quarters)
        verdict.evidence.append(f"in the four quarters of the steps it takes {lasts} longer")
    rank = next(each for each in found.ranks if each.rank == number)
    verdict.evidence += [
        f"a step would take {duration(cost.ns.value)} less if rank {number} were as fast there "
        f"as the median of the others; it does in {percent(cost.steps)} of "
        f"{counted(len(found.step_times), 'step')}",
        f"rank {number} came last in {rank.was_last:,} of "
        f"{counted(rank.collectives, 'collective')}, and "
        f"waited {duration(rank.waited)} itself; the median rank waited "
        f"{duration(median(each.waited for each in found.ranks))}",
    ]
    verdict.evidence += [
        f"in '{each.range}' it takes {duration(each.ns.value)} of a step"
        for each in of_ranges
        if each.part.low > 0 and each.range != delay.range
    ]
    size = median(each.bytes for each in found.ranks)
    if abs(rank.bytes - size) > _MORE_BYTES * size:
        verdict.evidence.append(
            f"it handed {rank.bytes:,} bytes to its collectives, the median rank {size:,.0f}: its "
            "share of the data differs"
        )
    if starved:
        verdict.next = (
            f"look at what else runs on the cores of rank {number} ({rank.host}): other programs, "
            "other ranks, workers of loaders, more threads than cores"
        )
        return verdict
    verdict.next = (
        f"look at '{delay.range}' of rank {number}: 'nvspan explain {rank.path}'"
        if delay.range else f"look at the host of rank {number} ({rank.host}): its clock rate, "
        "what else runs there, its memory"
    )  # fmt: skip
    return verdict


def _chance(delay: Delay) -> str:
    jobs = int(1 / delay.chance)
    jobs -= jobs % 10 ** max(len(str(jobs)) - 2, 0)  # two digits, and not more than there are
    return f"by chance that is so in fewer than 1 of {jobs:,} jobs"


def _transient(top: Cost, found: Ranks) -> Verdict:
    place = next(i for i, each in enumerate(found.ranks) if each.rank == top.rank)
    blamed = found.blame.get(place, {})
    worst = sorted(blamed, key=lambda step: -blamed[step])[:3]
    numbers = [found.step_numbers[step] for step in worst]
    verdict = Verdict(
        TRANSIENT,
        f"single steps are slow: they cost the job {_price(top)}, most of it on rank {top.rank}",
    )
    verdict.suspect = top.rank
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


def _waits_text(waits: float) -> str:
    """Several collectives in flight at once wait longer together than their rank's steps take."""
    time = "all" if waits > 1 else percent(waits)
    return f"ranks wait {time} of their time for others"


def _rotating(waits: float, found: Ranks) -> Verdict:
    blamed = {i: sum(of.values()) for i, of in found.blame.items()}
    most = sorted(blamed, key=lambda i: -blamed[i])[:5]
    verdict = Verdict(
        ROTATING,
        f"{_waits_text(waits)}, in turn: no one of them holds the job back",
    )
    verdict.evidence = [
        f"rank {found.ranks[i].rank} came last in "
        f"{counted(found.ranks[i].was_last, 'collective')}, and "
        f"delayed the others by {duration(blamed[i])} in all"
        for i in most
    ]
    verdict.next = "make the work of a step more even: sizes of batches, shards of data, padding"
    return verdict


def _limits(found: Ranks) -> list[str]:
    said = (
        ("enqueued", "collective", "measured on the CPU: when the GPU ran it is not known"),
        ("absent", "rank", "of the largest group without a file, never named as the last"),
        ("unmatched", "collective", "in the file of one rank alone"),
        ("incomplete", "collective", "left out: a rank is missing, or its calls do not match"),
        ("uncertain", "collective", "with ranks closer together than their clocks are known"),
        ("contradictions", "collective",
         "left out: a host's clock contradicts it (it is matched wrongly, or the clock was set)"),
    )  # fmt: skip
    counts = found.counts
    return [f"{counted(counts[key], noun)} {text}" for key, noun, text in said if counts[key]]
