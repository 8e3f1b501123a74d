# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of CUDA's driver in a dry recording: marks that the injection library makes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from nvspan.nsight.driver.replay_calls import plain_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nvspan.recording import Recording

DOMAIN = "nvspan.cuda_driver"
"""The domain of the marks."""

CONTEXT_CREATED, MODULE_LOADED = "context created", "module loaded"
_SUBSCRIBED, _NOT_CHECKED, _EVENT = "subscribed", "not checked", "event"
_MEMORY_TOTAL, _MEMORY_USED = "memory total", "memory used"
_NO_CALLS = ("the recording has no calls of CUDA's driver: the program used no CUDA, or it was not "
             "recorded for this ('nvspan ncu' without --using does)")  # fmt: skip


class DriverCall(NamedTuple):
    """A call when it began.

    Attributes:
        time: ns of the recording's clock.
        name: without the version; or CONTEXT_CREATED, MODULE_LOADED.
        stream: 0 where it has none; 1 and 2 are the default streams.
        thread: a row of the recording's threads.
        event: 0 where it has none.
    """

    time: int
    name: str
    stream: int
    thread: int
    event: int = 0


class Memory(NamedTuple):
    """The memory of a device at a time, in bytes."""

    time: int
    device: int
    used: int
    total: int


@dataclass
class ProcessCalls:
    """What one process called, in the order of time."""

    calls: list[DriverCall] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)

    def between(self, start: int, end: int) -> Sequence[DriverCall]:
        """The calls of all threads that began in this time."""
        first = bisect_left(self.calls, start, key=_time)
        return self.calls[first : bisect_right(self.calls, end, key=_time)]

    def memory_at(self, time: int) -> list[Memory]:
        """What was known of each device at a time: the last before it, else the first after."""
        known: dict[int, Memory] = {}
        for memory in self.memory:
            if memory.device not in known or memory.time <= time:
                known[memory.device] = memory
        return list(known.values())


@dataclass
class DriverCalls:
    """The calls of all processes of a recording.

    Attributes:
        processes: by the rows of `Recording.processes`; none that used no CUDA.
        problem: why there are none; None if there are.
    """

    processes: dict[int, ProcessCalls]
    problem: str | None


def _time(call: DriverCall) -> int:
    return call.time


def has_driver_calls(recording: Recording) -> bool:
    """Whether a process of the recording was asked for its calls."""
    return DOMAIN in recording._reader.domains()


def driver_calls(recording: Recording) -> DriverCalls:
    """The calls of CUDA's driver that a dry recording has."""
    if not has_driver_calls(recording):
        return DriverCalls({}, _NO_CALLS)
    marks, strings = recording.marks, recording.strings
    wanted = strings.index(DOMAIN)
    of: dict[int, ProcessCalls] = {}
    names = {index: plain_name(text) for index, text in enumerate(strings)}
    problem, fails = None, set[int]()  # threads, of which the next mark says why
    totals: dict[tuple[int, int], int] = {}
    events: dict[int, int] = {}  # by thread: of the call that its next mark is
    columns = ("domain", "process", "thread", "name", "category", "time", "payload_value")
    for domain, process, thread, name, category, time, value in zip(
        *(marks[column] for column in columns), strict=True
    ):
        if domain != wanted:
            continue
        text = names[name]
        found = of.setdefault(process, ProcessCalls())
        if thread in fails:
            problem = strings[name]
            fails.discard(thread)
        elif text == _NOT_CHECKED:
            fails.add(thread)
        elif text == _EVENT:
            events[thread] = int(value)
        elif text == _MEMORY_TOTAL:
            totals[process, category] = int(value)
        elif text == _MEMORY_USED:
            total = totals.get((process, category), 0)
            found.memory.append(Memory(time, category, int(value), total))
        elif text != _SUBSCRIBED:
            event = events.pop(thread, 0)
            found.calls.append(DriverCall(time, text, int(value), thread, event))
    of = {process: found for process, found in of.items() if found.calls}
    for found in of.values():
        found.calls.sort()
        found.memory.sort()
    return DriverCalls(of, None if of else problem or _NO_CALLS)
