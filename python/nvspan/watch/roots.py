# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Steps or requests of a recording that is read again and again, each once, with what lies in
them."""

from __future__ import annotations

import bisect

from nvspan.watch.window import DEVICE, LAST, Window, now_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nvspan.recording import Recording

_NEAR = 1_000_000  # ns: a time differs by less from reading to reading
_BATCH = 500  # roots whose ranges are looked at together
_SETTLED = 2_000_000_000  # ns in which the device ranges of a root that ended come in
_CLOCKS = 200_000_000  # ns by which a GPU's clock may be placed too early on a busy machine

Key = tuple[int, "str | None", "str | None"]  # thread id, domain, name


class Tree:
    """A root and the rows of the ranges in it.

    Attributes:
        part: the recording, or a part of it, that has the rows.
        root: its row.
        rows: those of the ranges of its thread in it, the root first, parents before children.
        devices: those of the device ranges that were asked for in them.
        beyond: how many more ranges there are, which are past the limit.
    """

    def __init__(self, part: Recording, root: int) -> None:
        self.part = part
        self.root = root
        self.rows = [root]
        self.devices: list[int] = []
        self.beyond = 0


class Roots:
    """The roots of one recording.

    Args:
        match: patterns of their names, or of "domain:name".
        slower_than: shorter ones, in ns, are left out.
        most: how many ranges of a root are taken.
    """

    def __init__(self, match: tuple[str, ...], slower_than: int, most: int) -> None:
        self._match = match
        self._slower_than = slower_than
        self._most = most
        self._window = Window(_SETTLED)
        self._waiting: list[tuple[Key, int]] = []
        #: How many a ring overwrote while they were open.
        self.missed = 0

    @property
    def unseen(self) -> int:
        """Ns of events that a ring overwrote before they were read."""
        return self._window.unseen

    def ended(self, recording: Recording, at_once: bool = False) -> Iterator[Tree]:
        """Those that have ended since the last reading, with their ranges.

        Args:
            recording: another reading of the same file.
            at_once: takes those as well whose device ranges may not be in the file yet.
        """
        part = self._window.advance(recording, self._match, at_once)
        if part is not None:
            self._waiting += [(key, start) for key, start, _, _ in _rows(part)]
        if not self._waiting:
            return
        now = now_of(recording.processes[0])
        settled = LAST if at_once or now == LAST else now - _SETTLED
        ready: list[tuple[int, int, Key]] = []
        waiting = []
        found = _Index(recording, self._match, [start for _, start in self._waiting])
        for key, start in self._waiting:
            row = found.nearest(key, start)
            if row is None:
                self.missed += 1
            elif row[1] is None or row[1] > settled:
                waiting.append((key, row[0]))
            elif row[1] - row[0] >= self._slower_than:
                ready.append((row[0], row[1], key))
        self._waiting = waiting
        ready.sort(key=lambda one: one[0])
        for first in range(0, len(ready), _BATCH):
            yield from self._trees(recording, ready[first : first + _BATCH])

    def _trees(self, recording: Recording, ready: list[tuple[int, int, Key]]) -> Iterator[Tree]:
        last = max(end for _, end, _ in ready)
        # The GPU may begin what a root asked for after the root has ended.
        part = recording.filter(start=ready[0][0] - _CLOCKS, stop=last + _SETTLED)
        wanted = {(start, key) for start, _, key in ready}
        table = part.ranges
        parents, starts, kinds = table["parent"], table["start"], table["kind"]
        launchers, threads = table["launcher"], table["thread"]
        domains, names = table.text("domain"), table.text("name")
        tids = part.threads["tid"]
        trees: dict[int, Tree] = {}  # of each row that is in one
        roots = []
        for row, kind in enumerate(kinds):
            if kind == DEVICE:
                continue
            tree = trees.get(parents[row])
            key = (tids[threads[row]], domains[row], names[row])
            if tree is None and (starts[row], key) in wanted:
                tree = trees[row] = Tree(part, row)
                roots.append(tree)
            elif tree is not None:
                trees[row] = tree
                if len(tree.rows) < self._most:
                    tree.rows.append(row)
                else:
                    tree.beyond += 1
        for row, kind in enumerate(kinds):
            tree = trees.get(launchers[row]) if kind == DEVICE else None
            if tree is None:
                continue
            if len(tree.rows) + len(tree.devices) < self._most:
                tree.devices.append(row)
            else:
                tree.beyond += 1
        yield from roots


def _rows(part: Recording) -> Iterator[tuple[Key, int, int | None, int]]:
    """(key, start, end, row) of the ranges of the CPU in a part."""
    table = part.ranges
    tids, threads = part.threads["tid"], table["thread"]
    domains, names = table.text("domain"), table.text("name")
    starts, ends, reasons, kinds = (table[name] for name in ("start", "end", "end_reason", "kind"))
    for row in range(len(table)):
        if kinds[row] != DEVICE:
            end = None if reasons[row] else ends[row]
            yield (tids[threads[row]], domains[row], names[row]), starts[row], end, row


class _Index:
    """Where the roots of an earlier reading are in this one."""

    def __init__(self, recording: Recording, match: tuple[str, ...], starts: list[int]) -> None:
        part = recording.filter(match=match, start=min(starts) - _NEAR, stop=max(starts) + _NEAR)
        self._found: dict[Key, list[tuple[int, int | None]]] = {}
        for key, start, end, _ in _rows(part):
            self._found.setdefault(key, []).append((start, end))
        for rows in self._found.values():
            rows.sort(key=lambda row: row[0])

    def nearest(self, key: Key, start: int) -> tuple[int, int | None] | None:
        rows = self._found.get(key, [])
        at = bisect.bisect_left(rows, start, key=lambda row: row[0])
        near = [row for row in rows[max(0, at - 1) : at + 1] if abs(row[0] - start) < _NEAR]
        return min(near, key=lambda row: abs(row[0] - start), default=None)
