# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Find the process that blocks a job, or explain why none can be singled out."""

from __future__ import annotations

import re

from nvspan.live.collectives import held_back
from nvspan.live.model import names, path_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan.live.model import Process, Range

#: Whose ranges are waits for other processes.
DOMAINS = frozenset({"torch.distributed", "NCCL", "gloo", "MPI"})
_COLLECTIVE = re.compile(
    r"(^|[^a-z])(barrier|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all)", re.IGNORECASE
)
_DEAD = ("killed", "dead")
_HALTED = (*_DEAD, "stopped", "stopped by a debugger")


class Verdict:
    """What a look at several processes comes to.

    Attributes:
        kind: "held back": the others wait for `processes`; "halted": they do not run, and the
            others may wait for them; "moving": nothing is stuck; "one process": there is nothing to
            compare; "cannot tell".
        processes: who it is about; empty where it cannot be told.
        text: the same in sentences.
    """

    def __init__(self, kind: str, processes: Sequence[Process], text: str) -> None:
        self.kind = kind
        self.processes = list(processes)
        self.text = text

    @property
    def ranks(self) -> list[int]:
        """The ranks of `processes`."""
        return sorted(p.rank for p in self.processes if p.rank is not None)

    @property
    def pids(self) -> list[int]:
        """Their process ids."""
        return [process.pid for process in self.processes]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"kind": self.kind, "ranks": self.ranks, "pids": self.pids, "text": self.text}


class Waits:
    """Which ranges are waits for other processes."""

    def __init__(self, names: Iterable[str]) -> None:
        given = [names] if isinstance(names, str) else list(names)
        self._names = {name for name in given if not name.endswith(":")}
        self._domains = DOMAINS | {name[:-1] for name in given if name.endswith(":")}

    def is_wait(self, range: Range) -> bool:
        """Whether a process in this range waits for others."""
        domain, name = range
        if domain in self._domains or name in self._names:
            return True
        return name is not None and _COLLECTIVE.search(name) is not None

    def outermost_wait(self, process: Process) -> Range | None:
        """The outermost wait that its main thread is in."""
        ranges = process.main.ranges if process.main is not None else ()
        return next((each for each in ranges if self.is_wait(each)), None)


def _cannot(text: str) -> Verdict:
    return Verdict("cannot tell", [], f"cannot tell: {text}")


def _halted(of: Sequence[Process]) -> str:
    groups: dict[tuple[int, tuple[Range, ...]], list[Process]] = {}
    for process in of:
        groups.setdefault((_HALTED.index(process.state), process.path), []).append(process)
    parts = []
    for (state, path), found in sorted(groups.items(), key=lambda each: (each[0][0], len(each[1]))):
        was = _HALTED[state] == "killed"
        verb = ("was" if was else "is") if len(found) == 1 else ("were" if was else "are")
        parts.append(f"{names(found)} {verb} {_HALTED[state]}, in {path_text(path)}")
    return "; ".join(parts)


def judge(processes: Sequence[Process], waits: Waits, took: float) -> Verdict:
    """The verdict on processes of one job, at which two looks were taken so many seconds apart; 0:
    one look."""
    there = [process for process in processes if process.state != "ended"]
    if not there:
        return _cannot("every process has ended")
    halted = [process for process in there if process.state in _HALTED]
    if len(there) == 1:
        text = _halted(halted) or "one process: nothing to compare it with"
        return Verdict("halted" if halted else "one process", halted, text)
    if halted:
        return _by_halted(there, halted)
    if not took:
        return _cannot("one look does not say what moves")
    on_gpu = _by_collectives(there, waits)
    if on_gpu is not None:
        return on_gpu
    moving = [process for process in there if process.moved]
    still = [process for process in there if not process.moved]
    if not still:
        return Verdict("moving", [], "nothing is stuck: every process moved between two looks")
    waiting = [process for process in still if waits.outermost_wait(process) is not None]
    if waiting:
        return _by_waits(there, waiting, waits)
    return _by_minority(there, moving, still)


def _by_collectives(there: list[Process], waits: Waits) -> Verdict | None:
    """By what the GPUs say of NCCL's operations; None: nothing."""
    in_wait = [p for p in there if not p.moved and waits.outermost_wait(p) is not None]
    found = held_back(there)
    if found is None or any(process in in_wait for process in found.processes):
        return None
    if not found.processes:
        return _cannot(found.text)
    return Verdict("held back", found.processes, found.text)


def _by_halted(there: list[Process], halted: list[Process]) -> Verdict:
    # One that dies takes others along, by errors in their collectives or by the job's launcher.
    dead = [process for process in halted if process.state in _DEAD]
    if len(dead) > 1:
        return _cannot(f"{_halted(halted)}; which of them was first is not known")
    if 2 * len(halted) >= len(there):
        return _cannot(f"{_halted(halted)}; that is half of them or more")
    return Verdict("halted", halted, _halted(halted))


def _by_waits(there: list[Process], waiting: list[Process], waits: Waits) -> Verdict:
    in_wait = set(map(id, waiting))
    rest = [process for process in there if id(process) not in in_wait]
    kinds = {waits.outermost_wait(process) for process in waiting}
    where = ", ".join(sorted(path_text([kind]) for kind in kinds if kind is not None))
    if not rest:
        if len(kinds) == 1:
            return _cannot(f"every process waits in {where}")
        return _cannot(f"the processes wait in different collectives: {where}")
    if len(kinds) != 1:
        return _cannot(f"{names(waiting)} wait in different collectives: {where}")
    if any(waits.outermost_wait(process) is not None for process in rest):
        return _cannot("processes went through collectives between two looks")
    if 2 * len(rest) >= len(there):
        return _cannot(
            f"{names(waiting)} wait in {where}, but half of the processes or more do not"
        )
    oldest = max(rest, key=lambda process: process.unchanged or 0)
    moves = " and moves" if any(process.moved for process in rest) else ""
    return Verdict(
        "held back",
        rest,
        f"{names(rest)} {'is' if len(rest) == 1 else 'are'} in {path_text(oldest.path)}{moves}; "
        f"{names(waiting)} {'waits' if len(waiting) == 1 else 'wait'} in {where}",
    )


def _by_minority(there: list[Process], moving: list[Process], still: list[Process]) -> Verdict:
    if moving:
        return _cannot(
            f"{names(still)} did not move between two looks, but nobody waits in a collective"
        )
    groups: dict[tuple[Range, ...], list[Process]] = {}
    for process in still:
        groups.setdefault(process.path, []).append(process)
    if len(groups) == 1:
        return _cannot(f"every process is in {path_text(still[0].path)}")
    return _cannot("no range is known as a collective; name those that wait with --waits")
