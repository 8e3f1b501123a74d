# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Who made whom wait: the ranks of a job, their delays, and what each costs the job."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypedDict

from nvspan.ranks.cause import collectives, single
from nvspan.ranks.cause.bootstrap import mean_of
from nvspan.ranks.cause.delays import Delay, Delays
from nvspan.ranks.cause.together import (
    find_apart,
    find_contradiction,
    find_impossible_wait,
)
from nvspan.recording.statistics import median

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    from nvspan._reader import RankJob
    from nvspan._results.jobs import Rank
    from nvspan.ranks.cause.single import SingleCollective
    from nvspan.ranks.traced import FileTime

    Value = TypeVar("Value", int, float)

_MOST_CANDIDATES = 5  # ranks that are replayed at their median
LEAST_PART = 0.01  # of the job's time, that a rank costs for sure if it is named
LEAST_GPU_PART = 0.0025  # the same where GPUs show their work, whose steps vary less
_LEAST_NS = 250_000  # of a step: less is what an operating system does to a thread
_LEAST_GPU_NS = 20_000  # of a step: what the clocks of GPUs of one host may be apart
_WARM_UP = 2  # steps at the start, where there are more


class Imbalance(TypedDict):
    """How the time of a range differs from rank to rank, in ns."""

    range: str
    mean: float
    median: float
    max: int
    rank: int  # the one with `max`
    imbalance: float  # by which part of the mean it is above it


class CriticalWork(TypedDict):
    """A rank and range on the critical path."""

    rank: int
    range: str
    ns: int


class Cost:
    """What the job would save if a rank were as fast as the others.

    Attributes:
        rank: The rank's number.
        range: The range, or None for all that the rank does.
        part: The part of the job's time, with its interval.
        ns: ns of a step.
        steps: In which part of the steps it saves something, 0 to 1.
    """

    def __init__(
        self, rank: int, name: str | None, savings: Sequence[float], times: Sequence[float]
    ) -> None:
        whole = sum(times) / max(1, len(times))
        saved = mean_of(savings)
        self.rank = rank
        self.range = name
        self.ns = saved
        self.part = saved.scaled(1 / whole if whole > 0 else 0.0)
        self.steps = sum(value > 0 for value in savings) / max(1, len(savings))
        ordered = sorted(savings, reverse=True)
        tenth = ordered[: max(1, len(ordered) // 10)]
        #: The part of it that comes from a tenth of the steps.
        self.of_few = sum(tenth) / sum(savings) if sum(savings) > 0 else 0.0
        #: The median of a step: what one slow step does not change.
        self.usual: float = median(savings) if savings else 0.0


class Verdict:
    """What holds the job back.

    Attributes:
        kind: ``"culprit"``, ``"drifting"``, ``"rotating"``, ``"transient"``, ``"none"`` or
            ``"cannot tell"``.
        rank: The culprit's number, else None.
        suspect: The number of the rank that the sentence speaks of, also where its delay is not
            there all the time; else None.
        range: The culprit's range; None where all of its ranges take longer, or there is none.
        cost: Its :class:`Cost`, else None.
        delay: Its :class:`nvspan.ranks.cause.delays.Delay`, else None.
        smallest: By range (None: anywhere), ns of a step by which a rank must be late to be named
            in 99 of 100 recordings such as these.
        text: The verdict in a sentence.
        evidence: The figures that it stands on.
        limits: What the recordings cannot tell.
        next: What to do.
    """

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text
        self.rank: int | None = None
        self.suspect: int | None = None
        self.range: str | None = None
        self.cost: Cost | None = None
        self.delay: Delay | None = None
        self.smallest: dict[str | None, float] = {}
        self.evidence: list[str] = []
        self.limits: list[str] = []
        self.next = ""

    def as_dict(self) -> dict[str, object]:
        """The verdict for JSON."""
        cost, delay = self.cost, self.delay
        return {
            "verdict": self.kind, "text": self.text, "rank": self.rank, "range": self.range,
            "suspect": self.suspect,
            "cost": None if cost is None else {
                "part": cost.part.value, "part_low": cost.part.low, "part_high": cost.part.high,
                "ns_per_step": cost.ns.value,
            },
            "delay": None if delay is None else {
                "ns_per_step": delay.ns.value, "ns_low": delay.ns.low, "ns_high": delay.ns.high,
                "chance": delay.chance, "steps": delay.part,
            },
            "smallest_delay": {name or "": ns for name, ns in self.smallest.items()},
            "evidence": self.evidence, "cannot_tell": self.limits, "next": self.next,
        }  # fmt: skip


class Ranks:
    """The ranks of a job side by side. Made by :func:`nvspan.ranks.cause.analysis.ranks`.

    Attributes:
        ranks: A `Rank` for each file, by number.
        verdict: What it comes to: a :class:`Verdict`.
        costs: What the slowest ranks and their ranges cost, the largest first.
        delays: Which ranks take longer than the others beyond chance: a
            :class:`nvspan.ranks.cause.delays.Delays`.
        least_part: What a rank must cost at least to be named, as a part of the job's time.
        collectives: For each collective of each communicator, a dict: ``count``, ``ranks``,
            ``bytes`` of one rank, ns that ranks ``waited`` together, ns that the last came
            ``late``, after the median of the others, and the rank that was ``last`` most often.
        imbalance: For each range, how its time differs from rank to rank.
        critical: ns by rank and range of the chain of work that the job's end hangs on.
        problems: Files that are left out, and why.
        step: The pattern that takes the steps, as ``--step`` has it; empty: ranges that take turns,
            or none.
        damage: What is damaged in files that were read: pairs of path and sentence.
        counts: How many collectives are matched, and how many are not.
        unrelated: Why the files cannot be of one run; None: nothing speaks against it.
        unsynchronised: Why the collectives do not make the ranks wait for one another; likewise.
    """

    def __init__(self, job: RankJob, files: collectives.Files) -> None:
        self._job = job
        self.problems = list(files.problems)
        self.step = files.step
        self.damage = list(files.damage)
        self.ranks = job.rank_rows()
        counted = job.counts()
        self.clocks = counted.clocks
        self._table = collectives.columns(job.collectives())
        self.collectives = collectives.by_communicator(
            job, self._table, [rank.rank for rank in self.ranks]
        )
        usable = [
            members > 1 and whole and not differs
            for members, whole, differs in zip(
                self._table["members"], self._table["whole"], self._table["differs"], strict=True
            )
        ]
        self.counts: dict[str, int] = {
            "collectives": sum(usable),
            "apart": sum(
                members > 1 and whole and differs
                for members, whole, differs in zip(
                    self._table["members"],
                    self._table["whole"],
                    self._table["differs"],
                    strict=True,
                )
            ),
            "unmatched": counted.alone,
            "absent": counted.absent,
            "incomplete": len(usable) - sum(usable) - counted.alone,
            "uncertain": counted.uncertain,
            "contradictions": counted.contradictions,
            "enqueued": sum(
                bool(queued) and used
                for queued, used in zip(self._table["enqueued"], usable, strict=True)
            ),
        }
        self.unrelated = find_contradiction(files.times)
        self.unsynchronised = self._find_unsynchronised(files.times)
        self.step_numbers = job.steps()
        self._steps = self._chosen_steps()
        self.step_times = self._of_steps(job.step_times())
        self._blame()
        gpu = all(rank.gpu for rank in self.ranks)
        self.least_part = LEAST_GPU_PART if gpu else LEAST_PART
        usual = median(self.step_times) if self.step_times else 0.0
        floor = max(_LEAST_GPU_NS if gpu else _LEAST_NS, self.least_part * usual)
        self.delays = Delays(job, self._steps, [rank.rank for rank in self.ranks], floor)
        self.costs = [] if self.unrelated or self.unsynchronised else self._costs()
        self.imbalance = self._imbalance()
        self.critical = self._critical()
        self.verdict = Verdict("none", "")  # judge() replaces it

    def _find_unsynchronised(self, times: Sequence[FileTime]) -> str | None:
        apart = find_apart(self.counts["apart"], self.counts["collectives"])
        wait, place = max(
            zip(self._table["delay"], self._table["last"], strict=True), default=(0, 0)
        )
        if apart or not wait or self.clocks > 1:
            return apart
        last = self.ranks[place]
        lengths = [time.end - time.begin for time in times if time.path != last.path]
        return find_impossible_wait(wait, last.rank, lengths)

    def _chosen_steps(self) -> list[int]:
        """The places of the steps that count: those after warm-up that have a number."""
        chosen = [i for i, number in enumerate(self.step_numbers) if number >= 0]
        times = self._job.step_times()
        chosen = [i for i in chosen if times[i] > 0]
        return chosen[_WARM_UP:] if len(chosen) > 4 * _WARM_UP else chosen

    def _of_steps(self, values: Sequence[Value]) -> list[Value]:
        return [values[i] for i in self._steps]

    def late(self, rank: int) -> list[float]:
        """By step, by how many ns the rank came later than the median of all, at most."""
        return self._of_steps(self._job.late(self._place(rank)))

    @property
    def steps(self) -> list[int]:
        """The numbers of the steps that count: warm-up is none of them."""
        return self._of_steps(self.step_numbers)

    def by_step(self) -> Iterator[tuple[Rank, list[float], list[float]]]:
        """Each rank with, by step, how late it came and how long its step took, in ns.

        As :meth:`late` says; 0 for a step that the rank does not have.
        """
        for place, each in enumerate(self.ranks):
            late, durations = self._job.late(place), self._job.durations(place)
            yield each, self._of_steps(late), self._of_steps(durations)

    @property
    def single_count(self) -> int:
        """How many single collectives there are, those that are not compared among them."""
        return len(self._table["op"])

    def single(self, most: int | str | None = None) -> Iterator[SingleCollective]:
        """The single collectives: when each rank came, who was last, how long the others waited.

        Args:
            most: How many: those in which ranks waited longest together, the longest first. None:
                100, or fewer, with 20,000 ranks in them together. ``"all"``: all, in the order of
                time; memory does not grow with their number.

        Returns:
            An iterator of dicts: ``name``, ``communicator``, the ``number`` in it, ``step``,
            ``bytes``, whether the ranks are ``compared`` (not where one is missing, or its clock
            contradicts the others), whether it was ``enqueued`` (times are those at which the CPU
            asked for it), the rank that came ``last`` (None: not known, or nobody waited), ns that
            all ``waited`` together, ns that the last came ``late``, after the median of the others,
            and the ``uncertainty`` of that. ``ranks`` has a dict for each: ``rank``, ``arrived``
            and ``left`` in ns of CLOCK_MONOTONIC of the first rank's host (None: not known), the ns
            that it ``waited`` until the last had come, and by how many ns ``arrived`` may be off.

        Raises:
            ValueError: `most` is neither a number nor ``"all"``.

        >>> for each in found.single(10):                                # doctest: +SKIP
        ...     print(each["name"], each["last"], each["waited"])
        """
        chosen = single.chosen(self._table, most)
        numbers = [rank.rank for rank in self.ranks]
        return single.rows(self._job, self._table, numbers, self.step_numbers, chosen)

    def _place(self, rank: int) -> int:
        for place, each in enumerate(self.ranks):
            if each.rank == rank:
                return place
        raise ValueError(f"rank must be one of the job's ranks, not {rank!r}")

    def _blame(self) -> None:
        wanted = set(self._steps)
        steps = self._table["step"]
        roots = collectives.columns(self._job.roots())
        by_rank: dict[int, dict[int, int]] = {}
        #: ns of delay that each step has of each rank, by place.
        self.blame: dict[int, dict[int, int]] = {}
        for of, rank, name, ns in zip(
            roots["collective"], roots["rank"], roots["name"], roots["ns"], strict=True
        ):
            if steps[of] not in wanted:
                continue
            names = by_rank.setdefault(rank, {})
            names[name] = names.get(name, 0) + ns
            blamed = self.blame.setdefault(rank, {})
            blamed[steps[of]] = blamed.get(steps[of], 0) + ns
        for place, names in by_rank.items():
            ordered = sorted(names.items(), key=lambda item: -item[1])
            self.ranks[place].roots.update((self._job.text(name), ns) for name, ns in ordered if ns)

    def cost(self, rank: int, name: str | None = None) -> Cost:
        """What the job would save if the rank took as long as the median of the others.

        Args:
            rank: The number of a rank.
            name: In the ranges of this name; None: in all that it does between collectives.

        Raises:
            ValueError: There is no such rank, or no range of this name.
        """
        number = -1 if name is None else self._number(name)
        savings = self._job.savings(self._place(rank), number)
        return Cost(rank, name, self._of_steps(savings), self.step_times)

    def _number(self, name: str) -> int:
        work = collectives.columns(self._job.work())
        for number in sorted(set(work["name"])):
            if self._job.text(number) == name:
                return number
        raise ValueError(f"name must be that of a range between collectives, not {name!r}")

    def _costs(self) -> list[Cost]:
        if not self._steps or len(self.ranks) < 2:
            return []
        # By what they were blamed for, and by the delays that stand out.
        blamed = {i: sum(of.values()) for i, of in self.blame.items()}
        order = [self.ranks[i].rank for i in sorted(blamed, key=lambda i: -blamed[i])]
        order = order[:_MOST_CANDIDATES]
        standing = [delay for delay in self.delays.all if delay.stands]
        wanted: dict[int, list[str]] = {rank: [] for rank in order}
        for delay in standing:
            if delay.rank in wanted or len(wanted) < 2 * _MOST_CANDIDATES:
                names = wanted.setdefault(delay.rank, [])
                if delay.range is not None and delay.range not in names:
                    names.append(delay.range)
        costs = [self.cost(rank) for rank in wanted]
        costs.sort(key=lambda cost: -cost.ns.value)
        found = []
        for cost in costs:
            found.append(cost)
            roots = self.ranks[self._place(cost.rank)].roots
            names = wanted[cost.rank]
            names += [name for name in list(roots)[:3] if name not in names]
            found += [self.cost(cost.rank, name) for name in names]
        return found

    def cost_of(self, delay: Delay) -> Cost | None:
        """The cost of a delay that stands out."""
        for cost in self.costs:
            if (cost.rank, cost.range) == (delay.rank, delay.range):
                return cost
        return None

    def quarters(self, delay: Delay) -> list[float]:
        """ns of a step by which the rank is later, in each quarter of the steps: the median."""
        number = -1 if delay.range is None else self._number(delay.range)
        values = self._of_steps(self._job.excess_of(self._place(delay.rank), number))
        bounds = [len(values) * i // 4 for i in range(5)]
        return [median(values[a:b]) for a, b in pairwise(bounds)]

    def smallest_delays(self) -> dict[str | None, float]:
        """By range, ns of a step by which a rank must be late to be named in 99 of 100 recordings.

        None stands for a delay that may be anywhere. Empty where there are too few steps.
        """
        if not self.delays.blocks or not self.step_times:
            return {}
        usual = median(self.step_times)
        by_wait = sorted(range(len(self.ranks)), key=lambda i: self.ranks[i].waited)
        place = by_wait[(len(by_wait) - 1) // 2]  # the median rank
        return self.delays.smallest(place, self._steps, self.least_part, usual)

    def _imbalance(self) -> list[Imbalance]:
        work = collectives.columns(self._job.work())
        by_name: dict[int, dict[int, int]] = {}
        for rank, name, ns in zip(work["rank"], work["name"], work["ns"], strict=True):
            by_name.setdefault(name, {})[rank] = ns
        rows: list[Imbalance] = []
        for name, of in by_name.items():
            values = [of.get(i, 0) for i in range(len(self.ranks))]
            slowest = max(range(len(values)), key=values.__getitem__)
            mean = sum(values) / len(values)
            rows.append(
                {
                    "range": self._job.text(name),
                    "mean": mean,
                    "median": float(median(values)),
                    "max": values[slowest],
                    "rank": self.ranks[slowest].rank,
                    "imbalance": values[slowest] / mean - 1 if mean else 0.0,
                }
            )
        return sorted(rows, key=lambda row: row["mean"] - row["max"])

    def _critical(self) -> list[CriticalWork]:
        path = self._job.critical_path()
        self.critical_duration = path.duration
        self.critical_collectives = path.collectives
        found = collectives.columns(path.columns)
        rows: list[CriticalWork] = [
            {"rank": self.ranks[rank].rank, "range": self._job.text(name), "ns": ns}
            for rank, name, ns in zip(found["rank"], found["name"], found["ns"], strict=True)
        ]
        return sorted(rows, key=lambda row: -row["ns"])

    def __repr__(self) -> str:
        collectives = self.counts["collectives"]
        return f"<nvspan.ranks.Ranks of {len(self.ranks)} ranks, {collectives} collectives>"
