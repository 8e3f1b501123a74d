# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a step as a tree to walk: children, and the path of the largest."""

from __future__ import annotations

import re

from nvspan._results.loops import LoopHolds, LoopMeans, LoopTree
from nvspan.loops.vocabulary import place_in_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

STEP = -1  # the place of the step itself
_DOMINANT = 0.5
_MAX_DEPTH = 30
DIGITS = re.compile(r"\d+")


class Parts:
    """The parts of a typical step, or of a run without steps. Times are sums over the steps.

    Attributes:
        tree: what it is made of.
        count: how many steps it is about.
        total: their time.
        unnamed: of it, the time in no part.
        held: of it, the time in which another request holds the event loop: in no part.
    """

    def __init__(self, tree: LoopTree, means: LoopMeans | None = None, count: int = 0) -> None:
        """With `means` of the `count` typical steps times are theirs, else those of all steps."""
        self.tree = tree
        self.count = count or max(len(memoryview(tree.steps)), 1)
        self.total, self.unnamed = float(tree.total), float(tree.unnamed)
        self.held = 0.0
        self._times = [float(part.total) for part in tree.parts]
        if means is not None:
            self.total, self.unnamed = means.steps[0] * count, means.self[0] * count
            whole = max(tree.total, 1)
            self._times = [
                part.total / whole * self.total if pair is None else pair[0] * count
                for part, pair in zip(tree.parts, means.parts, strict=True)
            ]
        self._children: dict[int, list[int]] = {}
        for index, part in enumerate(tree.parts):
            self._children.setdefault(part.parent, []).append(index)
        self._sort()

    def _sort(self) -> None:
        for indices in self._children.values():
            indices.sort(key=lambda index: -self._times[index])

    def extend(self, whole: int, still_open: int) -> None:
        """Makes a run as long as it was with ranges that did not end: so much of it is in them."""
        self.unnamed = max(0.0, self.unnamed + whole - self.total - still_open)
        self.total = float(whole)

    def hold(self, holds: LoopHolds) -> None:
        """Takes out the time in which other requests hold the event loop."""
        free = {part.group: 1 - part.held / max(part.total, 1) for part in holds.parts}
        before = sum(map(self.time, self.children()))
        self._times = [
            time * free.get(part.group, 1.0)
            for part, time in zip(self.tree.parts, self._times, strict=True)
        ]
        in_parts = before - sum(map(self.time, self.children()))
        self.held = float(holds.held)
        self.unnamed = max(0.0, self.unnamed - max(0.0, self.held - in_parts))
        self._sort()

    def __len__(self) -> int:
        return len(self.tree.parts)

    def name(self, index: int) -> str:
        """What the ranges of a part are called."""
        return self.tree.parts[index].name

    def children(self, index: int = STEP) -> list[int]:
        """The parts directly within one, the largest first."""
        return self._children.get(index, [])

    def time(self, index: int) -> float:
        """The time in a part, ns; of the steps themselves for `STEP`."""
        return self.total if index == STEP else self._times[index]

    def own_time(self, index: int) -> float:
        """The time in a part and in none within it."""
        if self.tree.is_followed:
            return float(self.tree.parts[index].self)
        return max(0.0, self.time(index) - sum(map(self.time, self.children(index))))

    def series(self, index: int) -> Buffer | None:
        """The part's time in each step; None: it is a small one."""
        return self.tree.parts[index].series

    def largest_path(self, start: int = STEP) -> list[int]:
        """The largest child, its largest child and so on, while it holds half of what is around
        it."""
        path: list[int] = []
        while len(path) < _MAX_DEPTH and (inside := self.children(start)):
            if self.time(inside[0]) < _DOMINANT * self.time(start):
                break
            start = inside[0]
            path.append(start)
        return path

    def family_name(self, index: int) -> str:
        """A part's name without its numbers.

        ``h.3`` is ``h.#``.
        """
        return DIGITS.sub("#", self.name(index))

    def families(self, index: int) -> list[list[int]]:
        """Children whose names differ by numbers alone, together; the others alone."""
        families: dict[str, list[int]] = {}
        for child in self.children(index):
            name = self.name(child)
            is_numbered = DIGITS.search(name) and place_in_code(name) is None
            key = DIGITS.sub("#", name) if is_numbered else str(child)
            families.setdefault(key, []).append(child)
        return list(families.values())
