# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Find the process that blocks a job, or explain why none can be singled out."""

from __future__ import annotations

import re

from nvspan.live.collectives import held_back
from nvspan.live.model import members, names, path_text
from nvspan.recording.listing import listing
from nvspan.recording.time_text import age

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nvspan.live.model import Process, Range, Thread

#: Whose ranges are waits for other processes.
DOMAINS = frozenset({"torch.distributed", "NCCL", "gloo", "MPI"})
_FOLDED_DOMAINS = frozenset(domain.lower() for domain in DOMAINS)
# Names by libraries and programs; those with a prefix are torch's own, of its profiler's ranges.
_COLLECTIVE = re.compile(
    r"(^|[^a-z])(barrier|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all)"
    r"|^(c10d|_c10d_functional)::|^(nccl|gloo|mpi|ucc):|^ddp\.gradients$",
    re.IGNORECASE,
)
_MAX_PATHS = 3  # of processes that block a job
_DEAD = ("killed", "dead")
_HALTED = (*_DEAD, "stopped", "stopped by a debugger")


class Verdict:
    """Which process of a job blocks the others.

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
        name = range[1]
        return self._is_listed(range) or (name is not None and _COLLECTIVE.search(name) is not None)

    def _is_listed(self, range: Range) -> bool:
        domain, name = range
        listed = domain in self._domains or name in self._names
        return listed or (domain is not None and domain.lower() in _FOLDED_DOMAINS)

    def outermost_wait(self, process: Process) -> Range | None:
        """The outermost wait that its main thread is in, or has started and entered nothing since.

        Where there is none, a library's in another thread: torch runs a backward pass for a GPU in
        its own.
        """
        main = process.main
        if main is None:
            return None
        waits = filter(self.is_wait, (*main.ranges, *main.innermost_spans))
        others = (thread for thread in process.threads if thread is not main and not thread.ended)
        return next(waits, None) or next(filter(None, map(self._library_wait, others)), None)

    def _library_wait(self, thread: Thread) -> Range | None:
        ranges = (*thread.ranges, *thread.innermost_spans)
        return next(filter(self._is_listed, ranges), None)


def _no_verdict(text: str) -> Verdict:
    return Verdict("cannot tell", [], f"no verdict: {text}")


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
    """The verdict on a job's `members`, sampled twice in `took` seconds; 0: one sample."""
    there = [process for process in members(processes) if process.state != "ended"]
    if not there:
        return _no_verdict("every process has ended")
    halted = [process for process in there if process.state in _HALTED]
    if len(there) == 1:
        text = _halted(halted) or "one process: nothing to compare it with"
        return Verdict("halted" if halted else "one process", halted, text)
    if halted:
        return _by_halted(there, halted)
    if not took:
        return _no_verdict("one sample does not show what moves; take 2 or more")
    on_gpu = _by_collectives(there, waits)
    if on_gpu is not None:
        return on_gpu
    moving = [process for process in there if process.moved]
    still = [process for process in there if not process.moved]
    if not still:
        return Verdict("moving", [], "nothing is stuck: every process moved between the samples")
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
        return _no_verdict(found.text)
    return Verdict("held back", found.processes, found.text)


def _by_halted(there: list[Process], halted: list[Process]) -> Verdict:
    # One that dies takes others along, by errors in their collectives or by the job's launcher.
    dead = [process for process in halted if process.state in _DEAD]
    if len(dead) > 1:
        return _no_verdict(f"{_halted(halted)}; which of them was first is not known")
    if 2 * len(halted) >= len(there):
        return _no_verdict(f"{_halted(halted)}; that is half of the processes or more")
    return Verdict("halted", halted, _halted(halted))


def _by_waits(there: list[Process], waiting: list[Process], waits: Waits) -> Verdict:
    in_wait = set(map(id, waiting))
    rest = [process for process in there if id(process) not in in_wait]
    kinds = {waits.outermost_wait(process) for process in waiting}
    where = listing(sorted(path_text([kind]) for kind in kinds if kind is not None))
    if not rest:
        if len(kinds) == 1:
            return _no_verdict(f"every process waits in {where}")
        return _no_verdict(f"the processes wait in different collectives: {where}")
    if len(kinds) != 1:
        return _no_verdict(f"{names(waiting)} wait in different collectives: {where}")
    if any(waits.outermost_wait(process) is not None for process in rest):
        return _no_verdict("processes went through collectives between the samples")
    verb = "waits" if len(waiting) == 1 else "wait"
    if 2 * len(rest) >= len(there):
        return _no_verdict(f"only {names(waiting)} {verb} in {where}; that is half of them or less")
    text = f"{names(rest)} {'blocks' if len(rest) == 1 else 'block'} the job: {_places(rest)}"
    return Verdict("held back", rest, f"{text}; {names(waiting)} {verb} in {where}")


def _places(processes: list[Process]) -> str:
    """What processes are in, and for how long, the oldest first."""
    groups: dict[tuple[Range, ...], list[Process]] = {}
    for process in sorted(processes, key=lambda process: -(process.unchanged or 0)):
        groups.setdefault(process.path, []).append(process)
    texts = []
    for path, group in groups.items():
        who = f"{names(group)} in " if len(groups) > 1 else ""
        texts.append(f"{who}{path_text(path)}{_duration(group)}")
    if len(texts) > _MAX_PATHS:
        texts[_MAX_PATHS - 1 :] = [f"{len(texts) - _MAX_PATHS + 1:,} other places"]
    return listing(texts) if len(texts) > 1 else texts[0]


def _duration(group: list[Process]) -> str:
    if any(process.moved for process in group):
        return ", still moving"
    main = group[0].main
    if main is None or main.at_least or main.unchanged is None:
        return ""
    return f", for {age(main.unchanged)}"


def _by_minority(there: list[Process], moving: list[Process], still: list[Process]) -> Verdict:
    if moving:
        verb = "is" if len(still) == 1 else "are"
        return _no_verdict(f"{names(still)} {verb} stuck, but no process waits in a collective")
    if len({process.path for process in still}) == 1:
        return _no_verdict(f"every process is in {path_text(still[0].path)}")
    return _no_verdict(
        "no process is in a known collective (torch.distributed, NCCL, gloo, MPI); name yours "
        "with --waits NAME"
    )
