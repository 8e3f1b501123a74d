# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The share of samples in which ranges were open: as a tree of a thread, and by range."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from nvspan.live.model import Range

_MIN_SAMPLES = 3  # in fewer, others of the range's name may have come and gone between two samples


@dataclass
class Tally:
    """What was sampled of a range.

    Attributes:
        looks: the samples in which it was open, once for each thread.
        innermost: those of them in which no range was within it.
        begun: how often it was seen to begin.
        depth: how many ranges were around it, at least.
    """

    looks: int = 0
    innermost: int = 0
    begun: int = 0
    depth: int = 1 << 30

    @property
    def begun_at_least(self) -> bool:
        """It may have begun more often: it was open too briefly to be seen each time."""
        return self.begun > 0 and self.looks < _MIN_SAMPLES * self.begun


@dataclass
class Branch:
    """A range within those around it, of one thread; of the root (None, None).

    `children` are sorted by samples, the most first.
    """

    range: Range
    tally: Tally
    children: list[Branch] = field(default_factory=list)

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


def branches(nodes: Sequence[tuple[int, Range, int, int]]) -> Branch:
    """The root of a thread's ranges.

    Each node has the index of its parent, which comes before it, its range, the samples in which it
    was the innermost one, and how often it began; the first one is the root.
    """
    made = [Branch(of, Tally(looks, looks, begun)) for _, of, looks, begun in nodes]
    made[0].range = (None, None)
    for (parent, *_), branch in reversed(list(zip(nodes, made, strict=True))[1:]):
        branch.children.sort(key=lambda child: -child.tally.looks)
        made[parent].tally.looks += branch.tally.looks
        made[parent].children.append(branch)
    made[0].children.sort(key=lambda child: -child.tally.looks)
    return made[0]


def by_range(threads: Sequence[Branch]) -> dict[Range, Tally]:
    """The tally of each range, wherever it was open; a range within one of its name counts once."""
    found: dict[Range, Tally] = {}

    def add(branch: Branch, around: tuple[Range, ...]) -> None:
        for child in branch.children:
            tally = found.setdefault(child.range, Tally())
            tally.innermost += child.tally.innermost
            tally.depth = min(tally.depth, len(around))
            if child.range not in around:
                tally.looks += child.tally.looks
                tally.begun += child.tally.begun
            add(child, (*around, child.range))

    for thread in threads:
        add(thread, ())
    return found
