# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What has moved between two looks, and what the system says of processes and their threads."""

from __future__ import annotations

from nvspan.live import process as system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from nvspan.live.look import Process

_COUNTED = 1 << 43  # events of a thread are counted modulo this


def compare(process: Process, before: dict[str, Any] | str, took: float) -> None:
    """What has moved since the sample `before`, so many seconds ago."""
    known = {} if isinstance(before, str) else {t["tid"]: t["events"] for t in before["threads"]}
    for thread in process.threads:
        if thread.tid not in known:
            thread.moved = 1
            continue
        thread.moved = (thread.events - known[thread.tid]) % _COUNTED
        if thread.unchanged is None and not thread.moved and took:
            thread.unchanged = int(took * 1e9)


def processor_times(headers: list[Any], samples: list[Any]) -> dict[int, float]:
    """Of threads of processes that are few enough to be asked for each."""
    most = 256
    times: dict[int, float] = {}
    if len(headers) > most:
        return times
    for header, sample in zip(headers, samples, strict=True):
        if isinstance(header, str) or isinstance(sample, str):
            continue
        for thread in sample["threads"]:
            found = system.thread_state(header["pid"], thread["tid"])
            if found is not None:
                times[thread["tid"]] = found[1]
    return times


def add_states(
    found_in: Sequence[tuple[Process, int]], files: Any, last: list[Any], boot: str,
    times: dict[int, float], took: float,
) -> None:  # fmt: skip
    """What the system says of processes, each with its index in `files`, which were sampled `last`.

    One may have ended its recording since, and so was not killed; and whoever is gone may have
    taken others along since they were asked, or they it: then all are asked again.
    """
    headers = files.headers()
    killed: list[int] = []
    for _ in range(5):
        for process, i in found_in:
            closed = not isinstance(last[i], str) and last[i]["closed"]
            _add_state(process, headers[i], closed, boot, times, took)
        now = [i for process, i in found_in if process.state == "killed"]
        if now == killed:
            return
        killed = now
        last = files.sample()


def _add_state(
    process: Process, header: dict[str, Any], closed: bool, boot: str, times: dict[int, float],
    took: float,
) -> None:  # fmt: skip
    """What the system says of it, if it is of this `boot`; `times`: of processor, `took` ago."""
    if header["frozen"]:
        process.state = "frozen"
        return
    if header["boot_id"].strip() != boot:
        process.state = "ended" if closed else process.state
        return
    state = system.state_of(process.pid)
    # Another process may have got the id since.
    if state not in (system.GONE, "dead") and system.is_writing(process.pid, process.file) is False:
        state = system.GONE
    if state in (system.GONE, "dead"):
        process.state = "ended" if closed else "killed"
        return
    process.state = state
    for thread in process.threads:
        found = system.thread_state(process.pid, thread.tid)
        if found is None:
            continue
        thread.state = found[0]
        if took and thread.tid in times:
            thread.busy = max(0.0, (found[1] - times[thread.tid]) / took)
