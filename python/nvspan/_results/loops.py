# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The results of `nvspan._reader.Loops`: the loop of a program, its steps and their parts.

Ranges are those of the CPU that ended, nested by time. A group is what one name stands for, or the
numbered names of a loop's rounds. Buffers hold int64. Times are ns.
"""

from __future__ import annotations

from nvspan._result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer


class LoopName(Result):
    """What ranges of one domain and name are called, in the order of `Loops.nest`."""

    domain: str | None  #: None: the default domain
    name: str | None  #: None: they have no message
    pair: tuple[int, int]  #: the numbers of both, as `Reader.pairs` has them
    ranges: int  #: how many of them ended
    unclosed: int  #: how many did not


class LoopOpen(Result):
    """The ranges of one name that had not ended when their thread, process or file did."""

    domain: str | None  #: None: the default domain
    name: str | None  #: None: they have no message
    thread: int  #: a row of `Recording.threads`
    ranges: int  #: how many
    begin: int  #: when the first of them started
    end: int  #: the last moment in which it was known to be open
    self: int  #: time in which no other range of the thread was open within them


class LoopThread(Result):
    """A thread that has ranges."""

    thread: int  #: a row of `Recording.threads`
    ranges: int  #: how many
    floating: int  #: of them, start/end ranges that overlap others of the thread
    begin: int  #: when its first range starts
    end: int  #: when its last range ends
    covered: int  #: time in which one is open, floating ones aside
    waiting: int  #: time in which a wait is, floating ones aside


class LoopCandidate(Result):
    """A group of ranges, of which each may be a step."""

    group: int  #: its number
    ranges: int  #: the outermost of the group that count, on `thread` or on all threads of a pool
    all_ranges: int  #: every range of the group
    thread: int  #: the thread whose loop it is, or that has most of them
    total: int  #: the sum of their durations
    coverage: float  #: the part of the thread's time in which one is open
    extent: float  #: from the first to the last, as a part of the run
    parts: int  #: how many groups have three in ten of them or more directly within
    overlapping: bool  #: whether they overlap: requests
    recursive: bool  #: whether ranges of the group hold others of it
    tiny: bool  #: whether most of them are shorter than 2 us


class LoopInside(Result):
    """How the ranges of one group lie within those of another."""

    contained: float  #: the part of the inner ranges within outer ones; below 0.8 all figures are 0
    rounds: float  #: how many of them an outer one has that has any
    time: float  #: the part of the outer ones' time that they take


class LoopPart(Result):
    """The ranges of one path from the step down; one directly within its like counts once."""

    name: str  #: of the group
    group: int  #: its number
    parent: int  #: a place in `LoopTree.parts`, which is before this one; -1: directly in the step
    calls: int  #: how many ranges
    total: int  #: time in which one is open
    self: int  #: of it, time outside of its parts
    series: Buffer | None  #: its time in each step, of the 64 largest; None: a smaller one


class LoopTree(Result):
    """Where the time of steps goes; without steps, that of the whole recording."""

    parts: list[LoopPart]  #: parents before their parts
    steps: Buffer  #: the duration of each step
    self: Buffer  #: of each step, the time in no part
    total: int  #: the sum of `steps`
    unnamed: int  #: the sum of `self`
    unnamed_after: str | None  #: half of `unnamed` is after this part; "": after the step's start
    unnamed_before: str | None  #: and before this one; "": the step's end; None: no such place
    is_followed: bool  #: whether the order of events says whose a range is, as steps overlap
    doubtful: float  #: of the ranges within such steps, the part that may be another one's


class LoopMeans(Result):
    """The means of two sets of steps, the one and the other."""

    steps: tuple[float, float]  #: of their durations
    self: tuple[float, float]  #: of the time in no part
    parts: list[tuple[float, float] | None]  #: of each of `LoopTree.parts`; None: it has no series


class LoopGapPart(Result):
    """The ranges of one group outside of every step."""

    name: str  #: of the group
    calls: int  #: how many
    total: int  #: the sum of their durations
    pauses: Buffer | None  #: the pauses that have one, in order; of the 64 largest between steps
    series: Buffer | None  #: their time in each pause, likewise


class LoopMeanwhile(Result):
    """What another thread did while one waited."""

    name: str  #: of the group
    share: float  #: the part of the wait in which it was in such a range, and in none within it
    ends_it: bool  #: whether waits end as such a range does


class LoopGaps(Result):
    """The time between the steps of a thread, and before and after them."""

    thread: int  #: a row of `Recording.threads`
    loop: int  #: from the beginning of its first step to the end of its last
    total: int  #: time between steps
    series: Buffer  #: of each pause, one fewer than the thread has steps
    lead: int  #: from the thread's first range to the first step
    tail: int  #: from the last step to the end of the thread's last range
    parts: list[LoopGapPart]  #: the outermost ranges in pauses, the largest total first
    before: list[LoopGapPart]  #: those before the first step
    after: list[LoopGapPart]  #: those after the last
    other: int | None  #: the thread that is most likely waited for between steps; None: none
    meanwhile: list[LoopMeanwhile]  #: what it does then, the largest share first


class LoopWait(Result):
    """The waits of one name on a thread, or of requests on theirs."""

    name: str  #: of the group
    calls: int  #: how many
    total: int  #: the sum of their durations
    share: float  #: of the time from the first step to the last, or of the requests'; 0.1 or more
    thread: int | None  #: the thread that was waited for, or the busiest; None: none for 15 %
    of_requests: bool  #: whether other requests were waited for, which run in any thread
    meanwhile: list[LoopMeanwhile]  #: what it did, the largest share first
    others: bool  #: whether any other thread has a range meanwhile
    waiter: int | None  #: the thread that waits; None: maybe several
    starts: Buffer  #: when each of them starts
    ends: Buffer  #: when each of them ends


class LoopHold(Result):
    """The ranges of one name that hold an event loop."""

    name: str  #: of the group
    thread: int  #: that of the first, a row of `Recording.threads`
    threads: int  #: in how many they are
    calls: int  #: how many
    total: int  #: the sum of their durations
    longest: int  #: the longest one
    waiting: int  #: the time that the other requests wait meanwhile, their sum
    nested: bool  #: whether they are pushed and popped: then no coroutine can have been switched


class LoopHeld(Result):
    """The ranges of one name within requests, some of them while another request holds the loop."""

    name: str  #: of the group
    group: int  #: its number
    total: int  #: the sum of their durations
    held: int  #: of it, while another request holds the loop
    held_calls: int  #: those of which a part is held
    free_calls: int  #: the others
    held_median: int  #: the median duration of those; 0: there are none
    free_median: int  #: of the others, likewise


class LoopHolds(Result):
    """Which ranges hold an event loop, and who waits for them."""

    holds: list[LoopHold]  #: those that others wait longest for first
    held: int  #: the time of all requests in which another one holds the loop
    parts: list[LoopHeld]  #: those that are held for some time


class LoopStretches(Result):
    """Stretches of threads in which they surely work for one step, as columns."""

    step: Buffer  #: its number
    thread: Buffer  #: a row of `Recording.threads`
    start: Buffer  #: ns
    end: Buffer  #: ns


class LoopSelf(Result):
    """The time of a group's ranges on a thread outside of the ranges within them."""

    name: str  #: of the group
    domain: str | None  #: of its first name
    calls: int  #: on all threads
    self: int  #: the time
    still_open: bool  #: whether they had not ended: this is their time so far


class LoopTiny(Result):
    """A group that has many ranges."""

    name: str  #: of the group
    ranges: int  #: how many
    median: int  #: their median duration
    group: int  #: its number
    registered: bool  #: whether the names are registered strings, as those of annotations are


LOOP_RESULTS = (
    LoopCandidate,
    LoopGapPart,
    LoopGaps,
    LoopHeld,
    LoopHold,
    LoopHolds,
    LoopInside,
    LoopMeans,
    LoopMeanwhile,
    LoopName,
    LoopOpen,
    LoopPart,
    LoopSelf,
    LoopStretches,
    LoopThread,
    LoopTiny,
    LoopTree,
    LoopWait,
)
