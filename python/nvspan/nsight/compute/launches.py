# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What Nsight Compute will meet in a range, from a recording with the launches of the program."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence

from nvspan.nsight.compute.messages import Finding, note
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.recording import Recording
from nvspan.recording.projection import CALL_DOMAIN

_PUSH_POP = 0
_SPAN = "write it as a start/end range, nvspan.span, which counts for all threads"

Span = tuple[int, int, int]  # the thread, start and end of a range


def launch_findings(
    filters: Sequence[RangeFilter], recording: Recording, replay: str
) -> list[Finding]:
    """Notes on push/pop ranges: launches that other threads make, and, for range replay, a cold
    context and an end that does not wait. Nothing where the recording has no launches."""
    launches = _Launches(recording)
    if not launches.of_thread:
        return []
    found = []
    for filter in filters:
        if filter.regex or filter.span:
            continue
        ranges = list(_ranges(recording, filter.domain, filter.names[-1]))
        found += launches.elsewhere(filter, ranges)
        if replay == "range":
            found += launches.cold(filter, ranges)
            found += _unwaited(filter, recording)
    return found


def _ranges(recording: Recording, domain: str | None, name: str) -> Iterator[Span]:
    selected = recording.filter(domains=[domain], names=[name]).ranges
    columns = (selected[column] for column in ("kind", "thread", "start", "end"))
    for kind, thread, start, end in zip(*columns, strict=True):
        if kind == _PUSH_POP:
            yield thread, start, end


class _Launches:
    """When calls launched work: by thread, and by process."""

    def __init__(self, recording: Recording) -> None:
        self._process_of = recording.threads["process"]
        self._is_whole = [process.mode == "full" for process in recording.processes]
        self.of_thread: defaultdict[int, list[int]] = defaultdict(list)
        self._of_process: defaultdict[int, list[int]] = defaultdict(list)
        calls = recording.filter(domains=[CALL_DOMAIN]).ranges
        for name, thread, start in zip(
            calls.text("name"), calls["thread"], calls["start"], strict=True
        ):
            if "Launch" in (name or ""):
                self.of_thread[thread].append(start)
                self._of_process[self._process_of[thread]].append(start)
        for times in (*self.of_thread.values(), *self._of_process.values()):
            times.sort()

    def elsewhere(self, filter: RangeFilter, ranges: Sequence[Span]) -> list[Finding]:
        """Launches of other threads: ncu profiles those of the range's own."""
        own = others = 0
        for thread, start, end in ranges:
            here = _within(self.of_thread.get(thread, []), start, end)
            own += here
            others += _within(self._of_process[self._process_of[thread]], start, end) - here
        if not others:
            return []
        text = (
            f"other threads make {others} of the {own + others} launches during '{filter}', as "
            f"autograd does: ncu profiles only the range's thread, with {own}"
        )
        return [note(text, _SPAN)]

    def cold(self, filter: RangeFilter, ranges: Sequence[Span]) -> list[Finding]:
        """The first launch of a process, which creates what range replay cannot repeat."""
        for thread, start, end in ranges:
            process = self._process_of[thread]
            times = self._of_process[process]
            if self._is_whole[process] and times and start <= times[0] <= end:
                text = (
                    f"the first launch of the process lies within '{filter}': range replay cannot "
                    "repeat what creates the context and loads kernels"
                )
                remedy = (
                    "run it once before the range starts: nvspan.torch.warmup(model, *inputs), or "
                    "nvspan.nsight.profile_region(..., warmup=1)"
                )
                return [note(text, remedy, options=("--calls", "1:"))]
        return []


def _within(times: Sequence[int], start: int, end: int) -> int:
    return bisect_right(times, end) - bisect_left(times, start)


def _unwaited(filter: RangeFilter, recording: Recording) -> list[Finding]:
    projection = recording.projection()
    wanted = zip(projection.text("domain"), projection.text("name"), strict=True)
    columns = (projection[column] for column in ("kind", "start", "end", "last", "ops"))
    calls = unwaited = 0
    for called, kind, start, end, last, ops in zip(wanted, *columns, strict=True):
        is_meant = called == (filter.domain, filter.names[-1]) and kind == _PUSH_POP
        if not is_meant or not ops or start == end:  # a replay of what was captured in it
            continue
        calls += 1
        unwaited += last > end
    if not unwaited:
        return []
    return [
        note(
            f"'{filter}' ended before its work on the GPU in {unwaited} of {calls} calls: range "
            "replay needs an end that waits",
            "annotate(sync=True), nvspan.nsight.profile_region and torch.cuda.synchronize() wait",
            options=("--replay", "app-range"),
        )
    ]
