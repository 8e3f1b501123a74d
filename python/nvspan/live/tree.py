# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tree of the open ranges of many threads."""

from __future__ import annotations

from nvspan.live.model import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from nvspan.live.model import Process, Range, Thread


class Node:
    """A range, or a thread's name at the top: who is in it.

    Attributes:
        range: its domain and name; of a root (None, the threads' name).
        threads: each (process, thread) that is in it.
        ends: those of them whose innermost range it is.
        children: the ranges within it, the one with the most processes first.
    """

    __slots__ = ("children", "ends", "range", "threads")

    def __init__(self, of: Range) -> None:
        self.range = of
        self.threads: list[tuple[Process, Thread]] = []
        self.ends: list[tuple[Process, Thread]] = []
        self.children: dict[Range, Node] = {}

    @property
    def processes(self) -> list[Process]:
        """The processes of its threads, each once."""
        return list({id(process): process for process, _ in self.threads}.values())

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "domain": self.range[0],
            "name": self.range[1],
            "processes": len(self.processes),
            "threads": len(self.threads),
            "innermost": len(self.ends),
            "ranks": sorted({p.rank for p in self.processes if p.rank is not None}),
            "pids": [process.pid for process in self.processes],
            "children": [child.as_dict() for child in self.children.values()],
        }


def role_of(process: Process, thread: Thread) -> str:
    """What threads of several processes have in common."""
    if thread is process.main:
        return "main thread"
    return thread.name or "a thread without a name"


def grow(processes: Iterable[Process]) -> list[Node]:
    """A tree for the threads of each name, the main threads first."""
    roots: dict[str, Node] = {}
    for process in processes:
        for thread in process.threads:
            role = role_of(process, thread)
            node = roots.get(role)
            if node is None:
                node = roots[role] = Node((None, role))
            pair = (process, thread)
            node.threads.append(pair)
            for each in thread.path:
                inner = node.children.get(each)
                if inner is None:
                    inner = node.children[each] = Node(each)
                node = inner
                node.threads.append(pair)
            node.ends.append(pair)
    _sort(roots)
    return sorted(roots.values(), key=lambda node: node.range[1] != "main thread")


def _sort(nodes: dict[Any, Node]) -> None:
    ordered = sorted(nodes.items(), key=lambda item: (-len(item[1].threads), label(item[1].range)))
    nodes.clear()
    nodes.update(ordered)
    for node in nodes.values():
        _sort(node.children)
