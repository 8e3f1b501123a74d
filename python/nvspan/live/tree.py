# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The open ranges of many threads as one tree: who is in the same range has it in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan.live.look import Process, Range, Thread


def label(of: Range) -> str:
    """A range as it is written: ``domain:name``; of the default domain its name alone."""
    domain, name = of
    text = "(no name)" if name is None else name
    return text if domain is None else f"{domain}:{text}"


def path_text(path: Iterable[Range]) -> str:
    """Ranges within one another."""
    return " > ".join(map(label, path)) or "no range"


def numbers(of: Iterable[int]) -> str:
    """Numbers as they are written: ``0-2,4``."""
    runs: list[list[int]] = []
    for number in sorted(set(of)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def names(processes: Sequence[Process], most: int = 8) -> str:
    """Processes by their ranks, or by their process ids where they have none."""
    ranks = [process.rank for process in processes if process.rank is not None]
    if len(ranks) == len(processes) == len(set(ranks)) and ranks:
        return f"{'rank' if len(ranks) == 1 else 'ranks'} {numbers(ranks)}"
    shown = ",".join(str(process.pid) for process in processes[:most])
    more = f" and {len(processes) - most:,} more" if len(processes) > most else ""
    return f"{'process' if len(processes) == 1 else 'processes'} {shown}{more}"


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
            for each in thread.ranges:
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
