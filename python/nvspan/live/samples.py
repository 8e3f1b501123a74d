# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sample each process twice and combine the recordings with ``/proc``."""

from __future__ import annotations

import math
import os
import time

from nvspan.live import process as system
from nvspan.live.model import Process, Thread
from nvspan.live.snapshot import Snapshot
from nvspan.live.stacks import CodeLine, Stack, is_hidden
from nvspan.recording.running import boot_id, is_writing
from nvspan.recording.source import Sources, short_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nvspan._results.jobs import LiveHeader, LiveSample, LiveThread
    from nvspan._results.stacks import LiveFrame, LiveStacks
    from nvspan.live.judge import Waits

_COUNTED = 1 << 43  # events of a thread are counted modulo this
_MOST_TIMED = 256  # processes of which each thread's CPU time is read


class Samples:
    """The recordings at `paths`, sampled by `start` and again by `snapshot`."""

    def __init__(self, paths: Sequence[str]) -> None:
        from nvspan import _reader

        self.paths = list(paths)
        self.files = _reader.LiveFiles([os.fsencode(path) for path in paths])
        self.headers = self.files.headers()
        self._boot = boot_id()
        self._first: list[LiveSample | str] | None = None
        self._times: dict[int, float] = {}  # CPU time of threads at the first sample
        self._since = 0.0

    def start(self) -> None:
        """Takes the first sample."""
        self._since = time.monotonic()
        self._first = self.files.sample()
        self._times = {}
        for header, sample in zip(self.headers, self._first, strict=True):
            if len(self.paths) > _MOST_TIMED or isinstance(header, str) or isinstance(sample, str):
                continue
            for thread in sample.threads:
                found = system.thread_state(header.pid, thread.tid)
                if found is not None:
                    self._times[thread.tid] = found[1]

    def snapshot(self, waits: Waits) -> Snapshot:
        """Takes the last sample: the processes now, and what moved since `start`, if that was."""
        last, gone = self._sample_at_rest()
        stacks = self._stacks()
        took = 0.0 if self._first is None else max(time.monotonic() - self._since, 1e-9)
        first = last if self._first is None else self._first
        processes: list[Process] = []
        problems: list[tuple[str, str]] = []
        for path, header, before, found, in_code in zip(
            self.paths, self.headers, first, last, stacks, strict=True
        ):
            if isinstance(header, str) or isinstance(found, str):
                problems.append((path, header if isinstance(header, str) else str(found)))
                continue
            process = _process(path, header, before, found, took, in_code)
            self._add_state(process, header, found.closed, gone, took)
            processes.append(process)
        processes.sort(key=lambda of: (of.rank is None, of.rank or 0, of.host, of.pid))
        return Snapshot(processes, problems, took, waits)

    def _stacks(self) -> list[dict[int, Stack]]:
        """The Python stacks of each process, by the thread's id."""
        found = self.files.stacks(is_hidden)
        began = min((of.started for of in self.headers if not isinstance(of, str)), default=0)
        return _stacks(found, Sources(began))

    def _is_here(self, header: LiveHeader) -> bool:
        return header.boot_id.strip() == self._boot

    def _sample_at_rest(self) -> tuple[list[LiveSample | str], set[int]]:
        """A sample, and which of the processes of this machine are gone.

        None of them went in between: who ended its recording was not killed, and who died first is
        gone if those are that it took along.
        """
        headers = [header for header in self.headers if not isinstance(header, str)]
        here = [of.pid for of in headers if self._is_here(of) and not of.frozen]

        def find_gone() -> set[int]:
            return {pid for pid in here if system.state_of(pid) in (system.GONE, "dead")}

        gone = find_gone()
        sample = self.files.sample()
        for _ in range(5):
            now = find_gone()
            if now == gone:
                break
            gone = now
            sample = self.files.sample()
        return sample, gone

    def _add_state(
        self, process: Process, header: LiveHeader, closed: bool, gone: set[int], took: float
    ) -> None:
        """What the system says of a process, if it is of this boot."""
        if header.frozen:
            process.state = "frozen"
            return
        if not self._is_here(header):
            process.state = "ended" if closed else process.state
            return
        # Another process may have got the id since.
        if process.pid in gone or is_writing(process.pid, process.file) is False:
            process.state = "ended" if closed else "killed"
            for thread in process.threads:
                if thread.stack is not None:
                    thread.stack.is_current = False
            return
        state = system.state_of(process.pid)
        process.state = "ending" if state in (system.GONE, "dead") else state
        for thread in list(process.threads):
            found = system.thread_state(process.pid, thread.tid)
            if found is None:
                process.forget_ended(thread)
                continue
            thread.state = found[0]
            if took and thread.tid in self._times:
                thread.busy = max(0.0, (found[1] - self._times[thread.tid]) / took)


def _stacks(found: list[LiveStacks | None], sources: Sources) -> list[dict[int, Stack]]:
    short = short_names(
        frame.file
        for of in found
        for stack in (of.threads if of is not None else ())
        for frame in stack.frames
        if frame.file is not None
    )
    lines: dict[int, CodeLine] = {}  # a frame is one object in all stacks of its process

    def line_of(frame: LiveFrame) -> CodeLine:
        if id(frame) not in lines:
            name = "?" if frame.file is None else short[frame.file]
            lines[id(frame)] = CodeLine(frame, name, sources)
        return lines[id(frame)]

    return [
        {}
        if of is None
        else {each.tid: Stack(each, list(map(line_of, each.frames)), of.looked)
              for each in of.threads}
        for of in found
    ]  # fmt: skip


def _process(
    path: str,
    header: LiveHeader,
    before: LiveSample | str,
    found: LiveSample,
    took: float,
    stacks: dict[int, Stack],
) -> Process:
    """A process of the sample `found`, with what moved, and what has not, since `before`."""
    threads, devices = ([], []) if isinstance(before, str) else (before.threads, before.devices)
    known = {thread.tid: thread.events for thread in threads}
    # In a frozen file nothing moves: what stayed is what is older than the time between.
    least = took * 1e9 if header.frozen else 0.0
    # A device range stays the same, but for `since`, while it stays in its state.
    earlier = {device.replace(since=None): device.since or 0 for device in devices}
    stayed = [
        device
        for device in found.devices
        if (device.since or 0) >= max(least, earlier.get(device.replace(since=None), math.inf))
    ]
    seen = [_thread(thread, known.get(thread.tid), took, stacks) for thread in found.threads]
    with_events = {thread.tid for thread in seen}
    return Process(
        file=path,
        pid=header.pid,
        parent_pid=header.parent_pid,
        rank=header.rank,
        host=header.host,
        command=header.command,
        mode=found.mode,
        sampler=found.sampler,
        lost=found.lost,
        threads=[
            *seen,
            *(_sampled(tid, stack) for tid, stack in stacks.items() if tid not in with_events),
        ],
        devices=found.devices,
        stayed=stayed,
    )


def _sampled(tid: int, stack: Stack) -> Thread:
    """A thread without NVTX events."""
    return Thread(
        tid=tid,
        name="",
        ranges=(),
        depth=0,
        events=0,
        moved=0,
        unchanged=None,
        at_least=False,
        changing=False,
        started=(),
        started_within=(),
        started_beyond=0,
        ended=False,
        stack=stack,
    )


def _thread(found: LiveThread, before: int | None, took: float, stacks: dict[int, Stack]) -> Thread:
    """A thread of a sample; it had `before` events in the first one, or was not there."""
    moved = 1 if before is None else (found.events - before) % _COUNTED
    unchanged = found.changed
    if unchanged is None and not moved and took:
        unchanged = int(took * 1e9)
    return Thread(
        tid=found.tid,
        name=found.name,
        ranges=found.open,
        depth=found.depth,
        events=found.events,
        moved=moved,
        unchanged=unchanged,
        at_least=found.changed is None,
        changing=found.changing,
        started=found.started,
        started_within=found.started_within,
        started_beyond=found.started_beyond,
        ended=found.ended,
        stack=None if found.ended else stacks.get(found.tid),
    )
