# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Find the process that NCCL's operations wait for on the GPUs, from what its plugin reports."""

from __future__ import annotations

from nvspan.live.model import label, names, path_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nvspan._results.jobs import OpenDeviceRange
    from nvspan.live.model import Process

_BETWEEN_TWO = frozenset({"Send", "Recv"})  # they have no number


class Found:
    """Which processes the others wait for; none: it cannot be told, and `text` says why."""

    def __init__(self, processes: list[Process], text: str) -> None:
        self.processes = processes
        self.text = text


def _operations(process: Process) -> list[OpenDeviceRange]:
    return [device for device in process.devices if device.ranks]


def _waits(process: Process, device: OpenDeviceRange) -> bool:
    """The GPU was in this operation at both looks."""
    return device.state == "begun" and device in process.stayed


def _age(device: OpenDeviceRange) -> tuple[bool, int]:
    """What an operation has more of than those behind it; that it began may be told late."""
    return device.state == "begun", device.since or 0


def _behind(process: Process) -> str:
    """What the GPU of a process does while an operation waits for its turn."""
    for device in process.devices:
        if not device.ranks and device.state == "begun":
            return f", after {label((device.domain, device.name))}, which has not ended"
    return ""


class _Communicator:
    """One communicator at the last look."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        # By rank: the oldest operation.
        self.of: dict[int | None, tuple[Process, OpenDeviceRange]] = {}

    def add(self, process: Process, device: OpenDeviceRange) -> None:
        known = self.of.get(device.rank)
        if known is None or _age(device) > _age(known[1]):
            self.of[device.rank] = (process, device)

    def judge(self, there: Sequence[Process]) -> tuple[str, list[Process]] | None:
        """A sentence, and the processes that have not come to an operation that others wait in.

        None: nobody waits in one, or who is late has just come.
        """
        waiting = [(process, of) for process, of in self.of.values() if _waits(process, of)]
        operations = {(of.name, of.number) for _, of in waiting}
        late = [(process, of) for process, of in self.of.values() if not _waits(process, of)]
        if not waiting or any(of not in process.stayed for process, of in late):
            return None
        group = [process for process, _ in waiting]
        gpus = f"the GPU{'s' if len(group) > 1 else ''} of {names(group)}"
        are = "are" if len(group) > 1 else "is"
        if len(operations) > 1:
            several = ", ".join(f"{name} {number}" for name, number in sorted(operations))
            return f"{gpus} are in different operations of a communicator: {several}", []
        ((name, number),) = operations
        what = f"NCCL:{name} {number}"
        if len(waiting) == self.ranks:
            return f"{gpus} {are} in {what}, and no rank is missing", []
        inside = {id(process) for process, _ in self.of.values()}
        never = [process for process in there if id(process) not in inside]
        missing = self.ranks - len(self.of)
        if missing not in (0, len(never)):
            return (
                f"{gpus} {are} in {what}; {missing} of the {self.ranks} ranks of its "
                "communicator never launched it, and which processes they are is not known"
            ), []
        parts = [
            f"{names([p])} launched {what}, and its GPU has not started it{_behind(p)}"
            for p, _ in sorted(late, key=lambda each: each[1].rank or 0)
        ]
        if missing:
            oldest = max(never, key=lambda process: process.unchanged or 0)
            parts.append(
                f"{names(never)} never launched {what}, and "
                f"{'is' if missing == 1 else 'are'} in {path_text(oldest.path)}"
            )
        text = f"{'; '.join(parts)}; {gpus} {'wait' if len(group) > 1 else 'waits'} in it"
        return text, [*(process for process, _ in late), *(never if missing else [])]


def held_back(there: Sequence[Process]) -> Found | None:
    """Which of the processes `there` the GPUs of the others wait for, at two looks.

    A process whose own GPU waits in another communicator is held back itself. None: no GPU waits,
    or NCCL's plugin is not loaded.
    """
    communicators: dict[int | None, _Communicator] = {}
    waiting: set[int] = set()
    for process in there:
        for device in _operations(process):
            if _waits(process, device):
                waiting.add(id(process))
            if device.name not in _BETWEEN_TWO:
                number = device.communicator
                if number not in communicators:
                    communicators[number] = _Communicator(device.ranks or 0)
                communicators[number].add(process, device)
    sentences: list[str] = []
    held: dict[int, Process] = {}
    for communicator in communicators.values():
        found = communicator.judge(there)
        if found is None:
            continue
        said, processes = found
        own = [process for process in processes if id(process) not in waiting]
        if own or not processes:
            sentences.append(said)
        held.update((id(process), process) for process in own)
    if not sentences:
        return None
    if held and 2 * len(held) < len(there):
        return Found(list(held.values()), "; ".join(sentences))
    if held:
        sentences.append("that is half of the processes or more")
    return Found([], "; ".join(sentences))
