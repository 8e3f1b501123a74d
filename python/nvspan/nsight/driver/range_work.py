# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a program has CUDA's driver do within a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nvspan.nsight.driver.driver_calls import (
    CONTEXT_CREATED,
    MODULE_LOADED,
    DriverCall,
    ProcessCalls,
)
from nvspan.nsight.driver.replay_calls import Verdict, verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.nsight.ranges.occurrences import Occurrence

_COLD = {"cuInit", "cuDevicePrimaryCtxRetain", "cuCtxCreate", CONTEXT_CREATED}
_LEGACY = 1
_WAITS_FOR_ALL = {"cuCtxSynchronize", "cuMemFree"}
_WAITS_FOR_DEFAULT = {"cuMemcpyDtoH", "cuMemcpyHtoD", "cuMemcpy", "cuMemcpyDtoD"}
_RECORDS_EVENT = {"cuEventRecord", "cuEventRecordWithFlags"}
_NO_CALLS = {CONTEXT_CREATED, MODULE_LOADED}


@dataclass(frozen=True)
class Work:
    """One time that a range ran.

    Attributes:
        process: a row of the recording's processes.
        start: ns of its clock.
        is_first: whether it is the first time in its process.
        launches: how many kernels and graphs were launched, by the range's thread where only they
            count.
        launches_elsewhere: how many by other threads, where these do not count.
        refused, unlisted: the names of calls that range replay refuses, or may refuse.
        is_cold: whether CUDA, or a context, began.
        loads: whether a module was loaded.
        captures: whether a stream was captured.
        begins_amid_work, ends_amid_work: whether something before the first launch, and before the
            end, had not been waited for.
    """

    process: int
    start: int
    is_first: bool
    launches: int
    launches_elsewhere: int
    refused: tuple[str, ...]
    unlisted: tuple[str, ...]
    is_cold: bool
    loads: bool
    captures: bool
    begins_amid_work: bool
    ends_amid_work: bool


_Progress = dict[int, int]
"""How much of the work of streams is done: by stream, the number of its last piece."""


class _Streams:
    """The work of streams that nobody has waited for, and the threads that capture."""

    def __init__(self) -> None:
        self._given: _Progress = {}
        self._done: _Progress = {}
        self._behind: dict[int, _Progress] = {}  # what a stream has waited for, of other streams
        self._events: dict[int, _Progress] = {}  # what is done once an event is reached
        self._capturing: set[int] = set()

    def copy(self) -> _Streams:
        made = _Streams()
        made._given, made._done = self._given.copy(), self._done.copy()
        # What these hold is replaced, and never changed.
        made._behind, made._events = self._behind.copy(), self._events.copy()
        made._capturing = self._capturing.copy()
        return made

    @property
    def is_busy(self) -> bool:
        return any(self._done.get(stream, 0) < given for stream, given in self._given.items())

    def see(self, call: DriverCall) -> None:
        name, stream = call.name, call.stream
        if name == "cuStreamBeginCapture":
            self._capturing.add(call.thread)
        elif name == "cuStreamEndCapture":
            self._capturing.discard(call.thread)
        elif name in _WAITS_FOR_ALL:
            self._done = self._given.copy()
        elif name == "cuStreamSynchronize":
            self._done = _later(self._done, self._end_of(stream))
        elif name in _WAITS_FOR_DEFAULT:
            self._done = _later(self._done, self._end_of(_LEGACY))
        elif name == "cuEventSynchronize":
            self._done = _later(self._done, self._events.get(call.event, {}))
        elif name == "cuEventDestroy":
            self._events.pop(call.event, None)
        elif not stream or call.thread in self._capturing:
            pass
        elif name in _RECORDS_EVENT:
            self._events[call.event] = self._end_of(stream)
        elif name == "cuStreamWaitEvent":
            reached = self._events.get(call.event, {})
            self._behind[stream] = _later(self._behind.get(stream, {}), reached)
        else:
            self._given[stream] = self._given.get(stream, 0) + 1

    def _end_of(self, stream: int) -> _Progress:
        """What is done once a stream has done all that it was given."""
        return _later(self._behind.get(stream, {}), {stream: self._given.get(stream, 0)})

    def runs(self, call: DriverCall) -> bool:
        """Whether a launch is done, and not captured."""
        return call.thread not in self._capturing


def _later(first: _Progress, second: _Progress) -> _Progress:
    """What is done when both are."""
    made = first.copy()
    for stream, number in second.items():
        made[stream] = max(made.get(stream, 0), number)
    return made


def is_launch(name: str) -> bool:
    return name == "cuGraphLaunch" or (name.startswith("cuLaunch") and name != "cuLaunchHostFunc")


def works(chosen: Sequence[Occurrence], of: ProcessCalls, *, only_own_thread: bool) -> list[Work]:
    """What was called each time, of one process; the times are in the order of their beginnings."""
    streams, at, made = _Streams(), 0, []
    calls = of.calls
    for number, hit in enumerate(chosen):
        # Of ranges of several threads that overlap, the later one sees what the earlier one did.
        while at < len(calls) and calls[at].time < hit.start:
            streams.see(calls[at])
            at += 1
        within = of.between(hit.start, hit.end)
        made.append(_work(hit, within, streams.copy(), number, only_own_thread))
    return made


def _work(
    hit: Occurrence, calls: Sequence[DriverCall], streams: _Streams, number: int, own: bool
) -> Work:
    launches = elsewhere = 0
    amid = False
    for call in calls:
        if is_launch(call.name) and streams.runs(call):
            amid = amid or (not launches and not elsewhere and streams.is_busy)
            if own and call.thread != hit.thread:
                elsewhere += 1
            else:
                launches += 1
        streams.see(call)
    names = dict.fromkeys(call.name for call in calls)
    verdicts = {name: verdict(name) for name in names if name not in _NO_CALLS}
    return Work(
        process=hit.process,
        start=hit.start,
        is_first=number == 0,
        launches=launches,
        launches_elsewhere=elsewhere,
        refused=tuple(n for n, found in verdicts.items() if found is Verdict.REFUSED),
        unlisted=tuple(n for n, found in verdicts.items() if found is Verdict.UNLISTED),
        is_cold=not _COLD.isdisjoint(names),
        loads=MODULE_LOADED in names,
        captures="cuStreamBeginCapture" in names,
        begins_amid_work=amid,
        ends_amid_work=streams.is_busy,
    )
