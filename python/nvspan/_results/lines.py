# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The results of `nvspan._reader.Lines`: samples of Python's stacks. Times are ns."""

from __future__ import annotations

from nvspan._result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    Text = str | None
    Times = tuple[int, int, int, int]  # samples, running, ready, waiting
    # Parent (-1: none), root, whether it is a range, its number, total, self, how many it holds
    # folded.
    SampledNode = tuple[int, int, bool, int, Times, Times, int]
    # A node, the line, total, self, and half of the 95% interval of the total's share there.
    SampledNodeLine = tuple[int, int, Times, Times, float]
    # A node (-1: all), the function, the line, and likewise of the share of its self time there.
    SampledHotLine = tuple[int, int, int, float]


class SampledTime(Result):
    """Samples, and the time that they stand for, of all threads together."""

    samples: int  #: how many
    running: int  #: time on a CPU core
    ready: int  #: time in which the thread waited for a CPU core
    waiting: int  #: time in which it was blocked: in a lock, a sleep, the operating system


class SampledLine(SampledTime):
    """A line, function or expression, and the time in which it was the innermost of the stack."""

    file: str | None  #: the source file; None: unknown
    function: str | None  #: its qualified name, on CPython 3.10 its name; None: unknown
    line: int | None  #: where a function starts, else the line; None: unknown
    end_line: int | None  #: by expression: its last line
    column: int | None  #: by expression: where it starts, in bytes of UTF-8; None: unknown
    end_column: int | None  #: by expression: where it ends


class LineRow(SampledLine):
    """A line, function or expression. `samples` to `waiting` are those of `self`."""

    self: int  #: time in which it was the innermost of the stack
    total: int  #: time in which it was anywhere in the stack
    total_samples: int  #: samples that have it anywhere in the stack
    total_running: int  #: the part of `total` on a CPU core
    total_ready: int  #: the part of `total` spent waiting for a CPU core
    total_waiting: int  #: the part of `total` spent blocked
    share: float  #: `self` as a fraction of the time of all rows
    margin: float  #: half of the 95% interval of `share`
    c_function: str | None  #: the C function that has most of `self`; None: none, or unknown


class FunctionCaller(Result):
    """One of the two callers that have the most of a function's self time."""

    file: str | None  #: of the function
    function: str | None  #: its qualified name, on CPython 3.10 its name; None: unknown
    line: int  #: where it starts; 0: unknown
    caller_file: str | None  #: None: nobody is shown that called it
    caller: str | None  #: the function that did; None: likewise, or unknown
    call_line: int  #: the line of the call; 0: unknown
    share: float  #: the part of the function's self time


class SampledPath(SampledTime):
    """A path of nested ranges, by name; the first one is the whole program."""

    parent: int | None  #: the index of the path around it; None: it is the first one
    domain: str | None  #: None: the default domain
    name: str | None  #: None: a range without a message
    pair: tuple[int, int] | None  #: the numbers of both, as `Reader.pairs` has them


class LineTable(SampledTime):
    """Rows, and the time of all of them."""

    rows: list[LineRow]  #: the largest `self` first
    idle_threads: int  #: threads that are left out, because they only waited
    idle: int  #: their time


class SampledFlame(Result):
    """The paths of ranges and functions with the most time."""

    roots: list[tuple[int, int]]  #: threads: a row of `Recording.processes`, the system's number
    ranges: list[tuple[Text, Text]]  #: domain and name
    functions: list[tuple[Text, Text, int]]  #: function, file, the line where it starts
    nodes: list[SampledNode]  #: parents before their children
    lines: list[SampledNodeLine]  #: by their nodes
    hottest: list[SampledHotLine]  #: those with the most self time in each range, and in all
    folded: int  #: how many paths were left out, as small ones


class SampledTimeline(Result):
    """The functions of threads' stacks in time, as bytes of blocks."""

    first: int  #: the first time
    last: int  #: the last one
    resolution: int  #: shorter stretches are merged; 0: all are there
    hidden_levels: int  #: stretches on levels past the limit
    hidden_tracks: int  #: stretches of further threads
    tracks: list[tuple[int, int, int, bytes]]  #: process, the system's number, stretches, blocks
    functions: list[tuple[Text, Text, int, int, float]]  #: as of a flame, stretches, their time
    names: list[list[int]]  #: sets of functions


class LineShare(SampledLine):
    """A line in some stretches of time of some threads."""

    share: float  #: its fraction of the threads' time in these stretches
    margin: float  #: half of the 95% interval of `share`


class LineShares(SampledTime):
    """The lines of some threads in some stretches of time, and the time of all of them."""

    rows: list[LineShare]  #: the most time first


class LineGain(SampledLine):
    """A line that has more time in some stretches, whose `samples` to `waiting` these are, than in
    others."""

    gain: float  #: by how much more in the mean one of them than in the mean other one
    margin: float  #: half of the 95% interval of `gain`
    gain_ready: float  #: the part of `gain` spent waiting for a CPU core
    gain_waiting: float  #: the part of `gain` spent blocked


class LineGains(Result):
    """The lines that have more time in some stretches of time than in others."""

    rows: list[LineGain]  #: the largest gains first, at most eight
    covered: float  #: the part of those stretches that samples stand for


class ThreadTime(SampledTime):
    """A thread in some stretches of time."""

    process: int  #: a row of `Recording.processes`
    tid: int  #: its number in the operating system


class SampleFacts(Result):
    """How the program was sampled, and what was missed."""

    processes: int  #: how many have samples
    threads: int  #: how many have samples
    period: int  #: time from one look at the threads to the next, at the end; 0: unknown
    looks: int  #: how often the sampler looked at a process
    samples: int  #: stacks that it read
    torn: int  #: stacks that changed too fast to be read
    unnamed: int  #: stacks with a function that was freed or could not be read
    cut: int  #: stacks that are kept without a part of their frames
    unlisted: int  #: looks at which some threads could not be found
    sampler: int  #: CPU time of the sampler
    overwritten: int  #: samples that newer ones replaced: all modes but "full" keep the newest
    missing: int  #: samples that were recorded and are damaged or not in the file
    has_gap: bool  #: whether further samples are missing, of an unknown number


LINE_RESULTS = (
    FunctionCaller,
    LineGain,
    LineGains,
    LineRow,
    LineShare,
    LineShares,
    LineTable,
    SampledFlame,
    SampledPath,
    SampledTimeline,
    SampleFacts,
    ThreadTime,
)
