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
# The module of torch's collectives, and those that the expression above does not know.
_TORCH_MODULE = "/torch/distributed/distributed_c10d.py"
_TORCH_CALL = re.compile(r"^_?(broadcast|reduce|scatter|gather|send|recv|monitored_barrier)")
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
        its own. Else a collective of torch's that is in the main thread's Python stack.
        """
        main = process.main
        if main is None:
            return None
        waits = filter(self.is_wait, (*main.ranges, *main.innermost_spans))
        others = (thread for thread in process.threads if thread is not main and not thread.ended)
        library_waits = filter(None, map(self._library_wait, others))
        return next(waits, None) or next(library_waits, None) or _called_wait(main)

    def _library_wait(self, thread: Thread) -> Range | None:
        ranges = (*thread.ranges, *thread.innermost_spans)
        return next(filter(self._is_listed, ranges), None)


def _called_wait(thread: Thread) -> Range | None:
    for frame in reversed(thread.stack.frames if thread.stack is not None else ()):
        name = frame.function
        if (frame.file or "").endswith(_TORCH_MODULE) and (
            _COLLECTIVE.search(name) or _TORCH_CALL.search(name)
        ):
            return "torch.distributed", name
    return None


def _no_verdict(text: str) -> Verdict:
    return Verdict("cannot tell", [], f"no verdict: {text}")


def _halted(of: Sequence[Process]) -> str:
    groups: dict[tuple[int, str], list[Process]] = {}
    for process in of:
        groups.setdefault((_HALTED.index(process.state), _last_place(process)), []).append(process)
    parts = []
    for (state, place), found in sorted(
        groups.items(), key=lambda each: (each[0][0], len(each[1]))
    ):
        was = _HALTED[state] == "killed"
        verb = ("was" if was else "is") if len(found) == 1 else ("were" if was else "are")
        parts.append(f"{names(found)} {verb} {_HALTED[state]}, {place}")
    return "; ".join(parts)


def _last_place(process: Process) -> str:
    """What a process that does not run is in, or was."""
    place = f"in {path_text(process.path)}"
    if process.stack is None:
        return place
    line = process.stack.line
    return f"{place}, last seen at {line.place} {line.call}"


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
    moving = [process for process in there if process.is_moving(took)]
    still = [process for process in there if not process.is_moving(took)]
    if not still:
        return Verdict("moving", [], "nothing is stuck: every process moved between the samples")
    waiting = [process for process in still if waits.outermost_wait(process) is not None]
    if waiting:
        return _by_waits(there, waiting, waits, took)
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


def _by_waits(there: list[Process], waiting: list[Process], waits: Waits, took: float) -> Verdict:
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
    text = f"{names(rest)} {'blocks' if len(rest) == 1 else 'block'} the job: {_places(rest, took)}"
    return Verdict("held back", rest, f"{text}; {names(waiting)} {verb} in {where}")


def _places(processes: list[Process], took: float) -> str:
    """What processes are in, and for how long, the oldest first: the line, where they stand still
    at one, else the ranges."""
    groups: dict[tuple[tuple[Range, ...], str], list[Process]] = {}
    for process in sorted(processes, key=lambda process: -(process.unchanged or 0)):
        stack = process.stack
        stands = stack is not None and stack.stands(took) and not process.moved
        line = f"{stack.line.place} {stack.line.call}" if stack is not None and stands else ""
        groups.setdefault((process.path, line), []).append(process)
    texts = []
    for (path, line), group in groups.items():
        who = f"{names(group)} in " if len(groups) > 1 else ""
        stacks = [process.stack for process in group if process.stack is not None]
        if line:
            text = min(stacks, key=lambda stack: stack.time).place_text
        else:
            text = f"{path_text(path)}{_duration(group)}"
            if len(group) == len(stacks) == 1:
                text += f", now at {stacks[0].line.place} {stacks[0].line.call}"
        texts.append(who + text)
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
