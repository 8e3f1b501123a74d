# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of a run: what a step is, and where the time in and around steps goes."""

from __future__ import annotations

import re
from functools import cached_property

from nvspan._results.loops import LoopSelf
from nvspan.loops.choosing import CYCLE, GIVEN, Candidate, Choice, Chooser, Strength, unit_of
from nvspan.loops.groups import GIVEN as GIVEN_TRAIT
from nvspan.loops.groups import NO_NAME, PROFILE, WAIT, group_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from typing_extensions import Buffer

    from nvspan._reader import LoopSteps, RecordingHandle
    from nvspan._results import RecordedThread
    from nvspan._results.loops import (
        LoopGaps,
        LoopHold,
        LoopHolds,
        LoopThread,
        LoopTiny,
        LoopTree,
        LoopWait,
    )

    _Chosen = tuple[Choice | None, LoopSteps, set[int]]

_MOST_SELF, _MOST_TINY = 16, 3
_WAITING = 0.1  # of the steps' time, for a range that they wait for to be told


class Loop:
    """Which range of a recording is a step, and the ranges as columns.

    Attributes:
        choice: what a step is; None: there are no steps, and `steps` is the whole run as one.
        steps: the single steps, and what is asked of all of them.
        step_groups: the group of the steps; of a cycle, those of its ranges.
        loops: the ranges as columns, for what is not here.
        groups: what names stand for, by the numbers of the results.
        main_thread: the process's main thread, a row of `Recording.threads`.
        loop_thread: the one whose loop counts: that one, or the busiest where that mostly waits.
        is_profile: whether there are calls of a profile.
        begin, end: of all closed ranges of the CPU, ns.
        ranges: how many there are.
        still_open: ranges that did not end, the longest first.
    """

    def __init__(
        self,
        handle: RecordingHandle,
        given: Set[tuple[int, int]] = frozenset(),
        pattern: str = "",
    ) -> None:
        """`given` are the pairs of domains and names that are steps; empty: the best are chosen."""
        from nvspan import _reader

        self.loops = loops = _reader.Loops(handle)
        names = loops.names()
        self.groups, self._of_names = groups, of_names = group_names(names, given, pattern)
        self._names = names
        loops.nest(of_names, [g.label for g in groups], [g.traits for g in groups])
        self.begin, self.end = loops.begin, loops.end
        self.still_open = loops.still_open()
        self.ranges = sum(name.ranges for name in names)
        self.is_profile = any(group.traits & PROFILE for group in groups)
        self._threads = _reader.threads(handle)
        self.main_thread, self.loop_thread = _main_threads(
            loops.threads(), self._threads, self.span
        )
        self.choice: Choice | None
        self.steps: LoopSteps
        self.step_groups: set[int]
        self.choice, self.steps, self.step_groups = self._choose(
            Chooser(loops, groups, self.loop_thread), given
        )

    @property
    def span(self) -> int:
        """From the beginning of the first range to the end of the last, ns."""
        return self.end - self.begin

    @property
    def whole(self) -> int:
        """From the beginning of the first range to the end of the last or of what is still open."""
        begins = [row.begin for row in self.still_open] + [self.begin] * bool(self.ranges)
        ends = [row.end for row in self.still_open] + [self.end] * bool(self.ranges)
        return max(ends, default=0) - min(begins, default=0)

    @cached_property
    def steps_extent(self) -> int:
        """From the beginning of the first step to the end of the last, ns."""
        from nvspan import _reader

        (first,) = _reader.percentiles(self.steps.start, [0.0])
        (last,) = _reader.percentiles(self.steps.end, [1.0])
        return int(last - first)

    @property
    def threads(self) -> int:
        """How many threads there are, also without ranges."""
        return len(self._threads)

    def thread_name(self, thread: int) -> str:
        """What a thread is called: its name, or "thread" and its number."""
        return _thread_label(self._threads[thread])

    def thread_key(self, thread: int) -> tuple[int, int]:
        """A thread's process, a row of `Recording.processes`, and its number there."""
        row = self._threads[thread]
        return row.process, row.tid

    def name_of_key(self, key: tuple[int, int]) -> str:
        """What the thread of a process and a number is called."""
        rows = [row for row in self._threads if (row.process, row.tid) == key]
        return _thread_label(rows[0]) if rows else f"thread {key[1]}"

    def pairs_in(self, groups: Set[int]) -> set[tuple[int, int]]:
        """The numbers of the domains and names of groups, as `Reader.pairs` has them."""
        return {
            name.pair
            for name, group in zip(self._names, self._of_names, strict=True)
            if group in groups
        }

    def pairs_called(self, label: str) -> set[tuple[int, int]]:
        """Likewise of the groups that are called so."""
        return self.pairs_in({at for at, group in enumerate(self.groups) if group.label == label})

    @property
    def unclosed_steps(self) -> int:
        """Ranges that are called as the steps are, and did not end."""
        groups = self.step_groups if self.choice and not self.choice.members else ()
        return sum(
            name.unclosed
            for name, group in zip(self._names, self._of_names, strict=True)
            if group in groups
        )

    @cached_property
    def tree(self) -> LoopTree:
        """Where the time of the steps goes; without steps, that of the main thread."""
        return self.steps.tree()

    @cached_property
    def gaps(self) -> LoopGaps:
        """The time between steps, and before and after them. Not without steps."""
        return self.steps.gaps(self.loop_thread)

    @cached_property
    def waits(self) -> list[LoopWait]:
        """The waits on the steps' thread, by name; without steps, on the main thread."""
        return self.steps.waits(self.main_thread if self.choice is None else -1)

    @cached_property
    def waits_of_requests(self) -> list[LoopWait]:
        """The waits of all steps, wherever they run, by name."""
        return self.waits_of(range(len(self.steps.start)))

    def waits_of(self, which: Sequence[int] | Buffer) -> list[LoopWait]:
        """The waits of some steps, wherever they run, by name."""
        has_some = any(group.traits & WAIT for group in self.groups)
        return self.steps.waits_of(which) if has_some else []

    @cached_property
    def holds(self) -> LoopHolds:
        """Which ranges hold an event loop while other steps are open."""
        return self.steps.holds()

    @property
    def large_holds(self) -> list[LoopHold]:
        """Those for which the other steps wait a tenth of their time or more."""
        return [hold for hold in self.holds.holds if hold.waiting >= _WAITING * self.tree.total]

    @cached_property
    def self_times(self) -> list[LoopSelf]:
        """The groups with the largest self times on the main thread, the largest first; apart from
        them its ranges that are still open."""
        still_open = [
            row.into(LoopSelf, name=row.name or NO_NAME, calls=row.ranges, still_open=True)
            for row in self.still_open
            if row.thread == self.main_thread and row.self
        ]
        ended = self.loops.self_times(self.main_thread, _MOST_SELF)
        return sorted([*ended, *still_open], key=lambda row: -row.self)[:_MOST_SELF]

    @cached_property
    def tiny(self) -> list[LoopTiny]:
        """The three groups with the most ranges, where there are 1000 or more."""
        return self.loops.tiny(_MOST_TINY)

    def _choose(self, chooser: Chooser, given: Set[tuple[int, int]]) -> _Chosen:
        if given:
            chosen = next((c for c in chooser.all if c.group.traits & GIVEN_TRAIT), None)
            return self._of(chooser, chosen, GIVEN) if chosen else self._whole()
        best = chooser.best()
        if best is None or best[0].strength == Strength.COARSE:  # epochs whose rounds have no range
            cycle = self.loops.cycle(self.loop_thread, -1 if best is None else best[0].place)
            if cycle is not None:
                return self._of_cycle(chooser, *cycle)
        best = best or chooser.fallback()
        return self._of(chooser, *best) if best else self._whole()

    def _of(self, chooser: Chooser, chosen: Candidate, why: str) -> _Chosen:
        steps = self.loops.steps(chosen.place)
        overlapping = chosen.overlapping and steps.peak > 1
        choice = Choice(
            chosen.label,
            chosen.group.pattern,
            why,
            count=len(steps.start),
            overlapping=overlapping,
            unit=unit_of(chosen.label, overlapping=overlapping),
            next_best=chooser.next_best(chosen),
            evaluation=steps.evaluation,
        )
        return choice, steps, {chosen.figures.group}

    def _of_cycle(self, chooser: Chooser, members: Sequence[int], steps: LoopSteps) -> _Chosen:
        labels = tuple(self.groups[group].label for group in members)
        label = " -> ".join(labels[:4]) + (" ..." if len(labels) > 4 else "")
        choice = Choice(
            label,
            "",
            CYCLE,
            count=len(steps.start),
            overlapping=False,
            unit="step",
            next_best=chooser.next_best(None),
            members=labels,
        )
        return choice, steps, set(members)

    def _whole(self) -> _Chosen:
        return None, self.loops.whole(self.main_thread), set()


def _thread_label(thread: RecordedThread) -> str:
    return thread.name or f"thread {thread.tid}"


def _main_threads(
    used: Sequence[LoopThread], threads: Sequence[RecordedThread], span: int
) -> tuple[int, int]:
    """The main thread (called main, or the process's first), and the one whose loop counts."""
    if not used:
        return 0, 0
    labels = {row.thread: _thread_label(threads[row.thread]) for row in used}
    main = next(
        row
        for test in (
            lambda row: re.match("main", labels[row.thread], re.IGNORECASE),
            lambda row: threads[row.thread].tid == threads[row.thread].pid,
            lambda row: "main" in labels[row.thread].lower(),
            lambda row: True,
        )
        for row in used
        if test(row)
    )

    def busy(row: LoopThread) -> int:
        return max(0, row.covered - row.waiting)

    busiest = max(used, key=busy)
    serves = main.floating > 0
    waits = busy(main) < 0.2 * span and busy(busiest) > 2 * busy(main)
    return main.thread, busiest.thread if waits and not serves else main.thread
