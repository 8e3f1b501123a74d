# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which group of ranges is a step: marked, numbered or known names, structure, or a cycle."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from nvspan.loops.groups import CUDA_CALLS, EVALUATES, NO_NAME, WAIT, Group
from nvspan.loops.groups import MARKED as IS_MARKED
from nvspan.loops.vocabulary import (
    CHECKPOINT,
    COARSE_WORDS,
    LAYER_WORDS,
    REQUEST_WORDS,
    STEP_WORDS,
    has_word,
    snake,
    words_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvspan._reader import Loops
    from nvspan._results.loops import LoopCandidate

_MOST_OTHERS = 16  # that are looked at
_FEW_ROUNDS, _OTHER_WORK = 10, 0.1  # of a loop; of the range around it, beside the loop
_PARTS_OF_STEPS = ("optimizer", "optim", "opt_", "scheduler", "lr_scheduler", "scaler", "env_")

MARKED = "marked by nvspan.step or auto"
GIVEN = "given by --step"
NUMBERED = "numbered names"
KNOWN = "a usual name of a step"
AROUND = "the repeating range around each of them"
WIDEST = "the repeating range around most of the main thread's time"
STRETCH = "the repeating range around most of the time from its first to its last"
INNERMOST = "the innermost repeating range that holds different parts"
OVERLAPPING = "ranges that overlap"
ONLY = "the only range that repeats"
REGULAR = "the largest range that repeats regularly"
CYCLE = "no range is around a step: these follow each other in turn"


class Strength(IntEnum):
    """Why a range may be a step."""

    NOTHING = 0
    STRUCTURE = 1
    COARSE = 2
    NAMED = 3
    MARKED = 4


@dataclass(frozen=True)
class Candidate:
    """A group whose ranges may be the steps: `place` is its number for `Loops`."""

    place: int
    group: Group
    figures: LoopCandidate
    strength: Strength

    @property
    def label(self) -> str:
        """What its ranges are called."""
        return self.group.label

    @property
    def overlapping(self) -> bool:
        """Whether its ranges overlap each other."""
        return self.figures.overlapping


@dataclass(frozen=True)
class Other:
    """The group that would be the step otherwise.

    Attributes:
        label: what its ranges are called.
        count: how many there are.
        pattern: what ``--step`` takes to choose them.
    """

    label: str
    count: int
    pattern: str


@dataclass(frozen=True)
class Choice:
    """What a step is.

    Attributes:
        label: what steps are called; of a cycle, its ranges in turn.
        pattern: the pattern that takes them, as ``--step`` has it; empty for a cycle.
        why: why it is these.
        count: how many there are.
        overlapping: whether they overlap, as requests do.
        unit: "step" or "request".
        next_best: what a step would be otherwise; None: nothing else.
        evaluation: how many of the same name are left out, as they lie within evaluation.
        members: the ranges of a cycle; empty otherwise.
    """

    label: str
    pattern: str
    why: str
    count: int
    overlapping: bool
    unit: str
    next_best: Other | None
    evaluation: int = 0
    members: tuple[str, ...] = ()


def unit_of(label: str, *, overlapping: bool) -> str:
    """What a step is called: those that overlap are requests, unless their name says otherwise."""
    word = snake(label)
    is_step = word in STEP_WORDS - REQUEST_WORDS and not word.endswith("request")
    return "request" if overlapping and not is_step else "step"


def _strength(group: Group, figures: LoopCandidate) -> Strength:
    label = group.label
    words, word = words_in(label), snake(label)
    names = {word, "_".join(words[-2:])}
    if label == NO_NAME or group.traits & EVALUATES or "backward" in words:
        return Strength.NOTHING
    if group.domain == CUDA_CALLS:
        return Strength.NOTHING
    if group.traits & IS_MARKED:
        return Strength.MARKED
    if group.traits & WAIT:
        return Strength.NOTHING
    if not names.isdisjoint(COARSE_WORDS):
        return Strength.COARSE
    if _is_layer(group):
        return Strength.NOTHING
    names.add(snake(re.split(r"[.:/]", label)[-1]))
    if not names.isdisjoint(STEP_WORDS) and not word.startswith(_PARTS_OF_STEPS):
        return Strength.NAMED
    if group.is_numbered and figures.ranges >= 3:
        return Strength.NAMED
    if figures.recursive or figures.tiny:
        return Strength.NOTHING
    return Strength.STRUCTURE


def _is_layer(group: Group) -> bool:
    """Whether only its last word, as in 'write_block', says that it is a part of a model."""
    words = words_in(group.label)
    excluded = group.traits & (EVALUATES | WAIT) or "backward" in words
    return not excluded and bool(words) and words[-1] in LAYER_WORDS


def _is_step_word(candidate: Candidate) -> bool:
    return snake(candidate.label) in STEP_WORDS


class Chooser:
    """The candidates of a run, and the choice among them; the first that there is.

    Marked steps; numbered or known names; the loop's body by structure; requests; a cycle of
    siblings; the one range that repeats; one that comes regularly.
    """

    def __init__(self, loops: Loops, groups: Sequence[Group], loop_thread: int) -> None:
        self._loops = loops
        self._thread = loop_thread
        self.all = [
            Candidate(
                place, groups[figures.group], figures, _strength(groups[figures.group], figures)
            )
            for place, figures in enumerate(loops.candidates(loop_thread))
        ]
        self._usable = [each for each in self.all if each.strength]

    def best(self) -> tuple[Candidate, str] | None:
        """The candidate, and why it is that one; COARSE ones may have a cycle of rounds within."""
        return self._marked() or self._named() or self._structural()

    def fallback(self) -> tuple[Candidate, str] | None:
        """Without a body and without a cycle: the one range that repeats, or comes regularly.

        Last, one whose name is like that of a layer: no other range is around it.
        """
        flat = [
            each
            for each in self._usable
            if each.strength == Strength.STRUCTURE
            and not each.overlapping
            and each.figures.thread == self._thread
            and self._loops.are_siblings(each.place)
        ]
        single = [c for c in flat if c.figures.coverage >= 0.50 and c.figures.ranges >= 5]
        if single:
            return max(single, key=lambda c: c.figures.coverage), ONLY
        regular = [
            c
            for c in flat
            if c.figures.ranges >= 10
            and c.figures.extent >= 0.6
            and c.figures.coverage >= 0.05
            and self._loops.is_regular(c.place)
        ]
        if regular:
            return max(regular, key=lambda c: c.figures.coverage), REGULAR
        stretches = [
            c
            for c in flat
            if c.figures.ranges >= _FEW_ROUNDS
            and c.figures.parts >= 2
            and c.figures.extent >= 0.25
            and c.figures.coverage >= 0.80 * c.figures.extent
        ]
        if stretches:  # a loop after a long set-up, or before a long end
            return max(stretches, key=lambda c: c.figures.coverage), STRETCH
        layers = [
            c
            for c in self.all
            if _is_layer(c.group)
            and not c.overlapping
            and c.figures.thread == self._thread
            and c.figures.ranges >= 5
            and c.figures.parts >= 2
            and c.figures.coverage >= 0.50
        ]
        return (max(layers, key=lambda c: c.figures.coverage), WIDEST) if layers else None

    def next_best(self, chosen: Candidate | None) -> Other | None:
        """What a step would be otherwise; a part that each step has once is none."""
        others = [
            c
            for c in self.all
            if c is not chosen and c.strength and c.figures.ranges >= 3 and c.figures.extent > 0.1
        ]
        others.sort(
            key=lambda c: (c.strength >= Strength.COARSE, c.figures.parts >= 2, c.figures.coverage),
            reverse=True,
        )
        for other in others[:_MOST_OTHERS]:
            if chosen is not None:
                within = self._loops.inside(other.place, chosen.place)
                if within.contained > 0.9 and within.rounds <= 1.05:
                    continue
            return Other(other.label, other.figures.ranges, other.group.pattern)
        return None

    def _marked(self) -> tuple[Candidate, str] | None:
        marked = [c for c in self._usable if c.strength == Strength.MARKED]
        return (max(marked, key=lambda c: c.figures.ranges), MARKED) if marked else None

    def _named(self) -> tuple[Candidate, str] | None:
        """Numbered and known names: overlapping ones by their time, else the loop's body."""
        named = [
            c
            for c in self._usable
            if c.strength == Strength.NAMED
            and c.figures.ranges >= (2 if c.overlapping else 3)
            and (
                c.figures.extent >= 0.10
                or c.figures.coverage >= 0.05
                or snake(c.label) in STEP_WORDS - REQUEST_WORDS
            )
        ]
        floats = [c for c in named if c.overlapping]
        flat = [c for c in named if not c.overlapping]
        around = False
        if floats and (not flat or max(c.figures.coverage for c in flat) < 0.5):
            chosen = max(floats, key=lambda c: c.figures.total)
            if not _is_step_word(chosen):  # 'calendar.query' of a request of another name
                body = self._body_around(chosen)
                around = body is not chosen
                chosen = body
        elif flat:
            chosen = max(flat, key=self._weight)
            chosen = self._innermost(
                chosen,
                flat,
                lambda inner, outer: (
                    (inner.figures.parts >= 2 or outer.figures.parts < 2 or _is_step_word(inner))
                    and (not _is_step_word(outer) or _is_step_word(inner))
                ),
            )
            body = self._body_around(chosen)
            around = body is not chosen
            chosen = body
        else:
            return None
        return chosen, AROUND if around else NUMBERED if chosen.group.is_numbered else KNOWN

    def _weight(self, candidate: Candidate) -> float:
        figures = candidate.figures
        weight = min(figures.coverage, 1) + 0.5 * figures.extent
        return weight if figures.thread == self._thread else 0.7 * weight

    def _innermost(
        self,
        chosen: Candidate,
        pool: Sequence[Candidate],
        allowed: Callable[[Candidate, Candidate], bool],
    ) -> Candidate:
        """Down to a loop within each instance that covers 60 % of it: batches of an epoch.

        Not where few rounds are a part of it like others: folds, and what suggests the next trial.
        Neither the shares nor the rounds per instance change with the length of the run.
        """
        for _ in range(6):
            inner = []
            for each in pool:
                if each.group is chosen.group or not allowed(each, chosen):
                    continue
                within = self._loops.inside(each.place, chosen.place)
                if within.contained > 0.8 and within.rounds >= 2 and within.time >= 0.6:
                    inner.append((within, each))
            if not inner:
                break
            within, loop = max(inner, key=lambda pair: pair[0].time)
            is_short = within.rounds <= _FEW_ROUNDS and not _is_step_word(loop)
            if is_short and self._has_other_work(chosen, loop):
                break
            chosen = loop
        return chosen

    def _has_other_work(self, outer: Candidate, loop: Candidate) -> bool:
        """Whether another range is a part of each `outer`, neither in the loop nor around it."""
        least = _OTHER_WORK * outer.figures.total
        for other in self.all:
            label, traits = other.label, other.group.traits
            if other.figures.total < least or traits & EVALUATES or has_word(label, CHECKPOINT):
                continue
            if other in (outer, loop):
                continue
            within = self._loops.inside(other.place, outer.place)
            if within.contained > 0.8 and within.time >= _OTHER_WORK:
                is_in_loop = self._loops.inside(other.place, loop.place).contained
                if not is_in_loop and not self._loops.inside(loop.place, other.place).contained:
                    return True
        return False

    def _body_around(self, chosen: Candidate) -> Candidate:
        """A named range that is alone in each round of a repeating range is a part of that."""
        around = []
        for c in self._usable:
            figures = c.figures
            if c is chosen or c.overlapping != chosen.overlapping or figures.ranges < 3:
                continue
            if c.strength not in (Strength.STRUCTURE, Strength.NAMED):
                continue
            may_be_alone = 0.8 <= figures.ranges / chosen.figures.ranges <= 1.2
            # 'query', 'message', ... are often parts of the work on something else.
            may_be_part = (
                snake(chosen.label).rpartition("_")[2] in REQUEST_WORDS
                and c.strength == Strength.STRUCTURE
                and figures.parts >= 2
                and figures.coverage >= 0.7
            )
            if not may_be_alone and not may_be_part:
                continue
            within = self._loops.inside(chosen.place, c.place)
            is_alone = may_be_alone and within.rounds <= 1.05
            is_part = may_be_part and within.rounds >= 2 and within.time < 0.4
            if within.contained > 0.9 and (is_alone or is_part):
                around.append(c)
        return max(around, key=lambda c: c.figures.total, default=chosen)

    def _structural(self) -> tuple[Candidate, str] | None:
        """The innermost repeating range with different parts that covers half of the thread."""
        flat = [
            c
            for c in self._usable
            if not c.overlapping
            and c.figures.thread == self._thread
            and (
                (
                    c.strength == Strength.STRUCTURE
                    and c.figures.ranges >= 5
                    and c.figures.coverage >= 0.50
                    and c.figures.parts >= 2
                )
                or (c.strength == Strength.COARSE and c.figures.extent >= 0.25)
            )
        ]
        if flat:
            widest = max(flat, key=lambda c: c.figures.coverage)
            found = self._innermost(
                widest,
                self._usable,
                lambda inner, _: (
                    inner.strength in (Strength.STRUCTURE, Strength.COARSE)
                    and inner.figures.ranges >= 5
                    and inner.figures.parts >= 2
                ),
            )
            return found, WIDEST if found is widest else INNERMOST
        floats = [
            c
            for c in self._usable
            if c.overlapping
            and c.strength == Strength.STRUCTURE
            and c.figures.ranges >= 5
            and c.figures.extent >= 0.3
        ]
        return (max(floats, key=lambda c: c.figures.total), OVERLAPPING) if floats else None
