# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What has moved between two looks, and what the system says of processes and their threads."""

from __future__ import annotations

import math

from nvspan.live import process as system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nvspan._reader import LiveFiles
    from nvspan._results.jobs import LiveHeader, LiveSample
    from nvspan.live.model import Process

_COUNTED = 1 << 43  # events of a thread are counted modulo this


def compare(
    process: Process, before: LiveSample | str, took: float, *, frozen: bool = False
) -> None:
    """What has moved, and what has not, since the sample `before`, so many seconds ago.

    In a `frozen` file nothing moves: what stayed is what is older than that.
    """
    known = {} if isinstance(before, str) else {t.tid: t.events for t in before.threads}
    for thread in process.threads:
        if thread.tid not in known:
            thread.moved = 1
            continue
        thread.moved = (thread.events - known[thread.tid]) % _COUNTED
        if thread.unchanged is None and not thread.moved and took:
            thread.unchanged = int(took * 1e9)
    least = took * 1e9 if frozen else 0.0
    devices = [] if isinstance(before, str) else before.devices
    # A device range stays the same, but for `since`, while it stays in its state.
    earlier = {device.replace(since=None): device.since or 0 for device in devices}
    process.stayed = [
        device
        for device in process.devices
        if (device.since or 0) >= max(least, earlier.get(device.replace(since=None), math.inf))
    ]


def processor_times(
    headers: Sequence[LiveHeader | str], samples: Sequence[LiveSample | str]
) -> dict[int, float]:
    """Of threads of processes that are few enough to be asked for each."""
    most = 256
    times: dict[int, float] = {}
    if len(headers) > most:
        return times
    for header, sample in zip(headers, samples, strict=True):
        if isinstance(header, str) or isinstance(sample, str):
            continue
        for thread in sample.threads:
            found = system.thread_state(header.pid, thread.tid)
            if found is not None:
                times[thread.tid] = found[1]
    return times


def _gone(pids: Iterable[int]) -> set[int]:
    return {pid for pid in pids if system.state_of(pid) in (system.GONE, "dead")}


def sample_at_rest(
    files: LiveFiles, headers: Sequence[LiveHeader | str], boot: str
) -> tuple[list[LiveSample | str], set[int]]:
    """A sample of `files`, and which of their processes of this `boot` are gone.

    None of them went in between: who ended its recording was not killed, and who died first is gone
    if those are that it took along.
    """
    here = [
        header.pid
        for header in headers
        if not isinstance(header, str) and header.boot_id.strip() == boot and not header.frozen
    ]
    gone = _gone(here)
    sampled = files.sample()
    for _ in range(5):
        now = _gone(here)
        if now == gone:
            break
        gone = now
        sampled = files.sample()
    return sampled, gone


def add_state(
    process: Process,
    header: LiveHeader,
    closed: bool,
    boot: str,
    gone: set[int],
    times: dict[int, float],
    took: float,
) -> None:
    """What the system says of a process, if it is of this `boot`.

    `times`: what its threads had of a processor, `took` seconds ago.
    """
    if header.frozen:
        process.state = "frozen"
        return
    if header.boot_id.strip() != boot:
        process.state = "ended" if closed else process.state
        return
    # Another process may have got the id since.
    if process.pid in gone or system.is_writing(process.pid, process.file) is False:
        process.state = "ended" if closed else "killed"
        return
    state = system.state_of(process.pid)
    process.state = "ending" if state in (system.GONE, "dead") else state
    for thread in process.threads:
        found = system.thread_state(process.pid, thread.tid)
        if found is None:
            continue
        thread.state = found[0]
        if took and thread.tid in times:
            thread.busy = max(0.0, (found[1] - times[thread.tid]) / took)
