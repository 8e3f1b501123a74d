# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The ranges of processes by what share of the looks found them open."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from nvspan.live.model import Range

#: Of a node: the index of its parent, its range, in how many looks it was the innermost one, and
#: how often it was seen to begin. The first one is the root.
Node = tuple[int, "Range", int, int]
_LOOKS_OF_ONE = 3  # in fewer, others of its name may have come and gone between two looks


class Tally:
    """What was found of a range.

    Attributes:
        looks: in how many it was open, once for each thread.
        innermost: in how many of them no range was within it.
        begun: how often it was seen to begin.
        depth: how many ranges were around it, at least.
    """

    __slots__ = ("begun", "depth", "innermost", "looks")

    def __init__(self) -> None:
        self.looks = 0
        self.innermost = 0
        self.begun = 0
        self.depth = 1 << 30

    @property
    def begun_at_least(self) -> bool:
        """It may have begun more often: it was open too shortly to be seen each time."""
        return self.begun > 0 and self.looks < _LOOKS_OF_ONE * self.begun


class Branch:
    """A range within those around it, of one thread.

    Attributes:
        range: its domain and name; of the root (None, None).
        tally: what was found of it.
        children: those within it, in which most looks were first.
    """

    __slots__ = ("children", "range", "tally")

    def __init__(self, of: Range) -> None:
        self.range = of
        self.tally = Tally()
        self.children: list[Branch] = []

    def as_dict(self, looks: int) -> dict[str, Any]:
        """For JSON: shares of `looks`."""
        return {
            "domain": self.range[0],
            "name": self.range[1],
            "share": self.tally.looks / looks,
            "innermost": self.tally.innermost / looks,
            "begun": self.tally.begun,
            "children": [child.as_dict(looks) for child in self.children],
        }

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Branch]]:
        """All branches within it, each before its children, with its depth."""
        for child in self.children:
            yield depth, child
            yield from child.walk(depth + 1)


def branches(nodes: Sequence[Node]) -> Branch:
    """The root of a thread's ranges. A node's parent comes before it."""
    made = [Branch(of) for _, of, _, _ in nodes]
    made[0].range = (None, None)
    for i in range(len(nodes) - 1, -1, -1):
        parent, _, looks, begun = nodes[i]
        tally = made[i].tally
        tally.innermost = looks
        tally.looks += looks
        tally.begun = begun
        if i:
            made[parent].tally.looks += tally.looks
            made[parent].children.append(made[i])
    for each in made:
        each.children.sort(key=lambda branch: -branch.tally.looks)
    return made[0]


def by_range(threads: Sequence[Branch]) -> dict[Range, Tally]:
    """What was found of each range of a process, wherever it was open.

    A range within one of its name counts once, as do looks at it.
    """
    found: dict[Range, Tally] = {}

    def add(branch: Branch, depth: int, around: frozenset[Range]) -> None:
        for child in branch.children:
            tally = found.get(child.range)
            if tally is None:
                tally = found[child.range] = Tally()
            tally.innermost += child.tally.innermost
            tally.depth = min(tally.depth, depth)
            if child.range not in around:
                tally.looks += child.tally.looks
                tally.begun += child.tally.begun
            add(child, depth + 1, around | {child.range})

    for thread in threads:
        add(thread, 0, frozenset())
    return found
