# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The results about processes that run and about jobs of many processes. Times are ns."""

from __future__ import annotations

from nvspan._result import Result, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    RangeNames = tuple[str | None, str | None]  # domain and name


class JobProcess(Result):
    """A process of a job whose recordings were reduced to one summary."""

    process: int  #: the same wherever its file lies
    group: int  #: its rank; of a process without one, a number below 0
    rank: int | None  #: its rank in the job; None: not set
    local_rank: int | None  #: its rank on its machine
    world_size: int | None  #: how many ranks the job has
    pid: int  #: its number in the operating system
    run: int  #: the same in all files of one `nvspan record` run
    unix_offset: int  #: added to a time of its machine, gives ns since 1970
    first: int  #: when its first range started
    last: int  #: when its last range ended
    ranges: int  #: how many it had
    lost: int  #: events that could not be recorded
    gaps: int  #: places at which a ring overwrote older events
    overwritten: int  #: events that were overwritten there
    orphans: int  #: ends and pops that had nothing to close
    others: int  #: ranges and marks beyond the space for names
    closed: bool  #: whether it finished the file
    mode: str  #: "full", "ring", "stats" or "armed"
    event_cost: float  #: the recorder's time for an event
    host: str  #: the name of its machine
    boot_id: str  #: identifies a machine from one start to the next
    command: str  #: the command line
    path: str  #: its file


class LiveHeader(Result):
    """The process of a recording that may be being written."""

    pid: int  #: its number in the operating system
    parent_pid: int  #: its parent's number
    host: str  #: the name of its machine
    boot_id: str  #: identifies a machine from one start to the next
    rank: int | None  #: its rank in the job; None: not set
    frozen: bool  #: whether the file is a copy in a bundle
    command: list[str]  #: the command line
    started: int  #: when the recording started, since 1970


class LiveThread(Result):
    """The open ranges of a thread at one moment."""

    tid: int  #: its number
    name: str  #: its name
    events: int  #: how many it has had, modulo 2**43
    depth: int  #: how many ranges are open
    changing: bool  #: whether it never rested while it was looked at
    changed: int | None  #: how long ago it had an event; None: not known
    ended: bool  #: whether it has ended
    open: tuple[RangeNames, ...]  #: the first 128 open ranges, the outermost first
    started: tuple[tuple[RangeNames, int | None], ...]  #: open spans, and how long they have been
    started_within: tuple[int, ...]  #: how many of `open` are older than each of them
    started_beyond: int  #: how many more are open


class OpenDeviceRange(Row):
    """A device range, or an operation of NCCL's, that has not ended."""

    domain: str | None  #: None: the default domain
    name: str  #: its name
    state: str  #: "opened", "launched", "begun" or "ended"
    device: int  #: the device's number
    stream: int | None  #: the stream's; None: an operation of NCCL's
    tid: int  #: the thread that started it
    number: int | None  #: of an operation of NCCL's, in its communicator
    rank: int | None  #: of such an operation: which rank of the communicator this is, from 0
    ranks: int | None  #: of such an operation: how many ranks the communicator has
    since: int | None  #: how long it has been in this state; None: not known
    communicator: int | None  #: of an operation of NCCL's: the communicator's id


class LiveSample(Result):
    """A recording that may be being written, at one moment."""

    mode: str  #: "full", "ring", "stats" or "armed"
    sampler: str  #: of lines: "on", "armed": it waits for a request, or "off": there is none
    closed: bool  #: whether the process finished the file
    lost: int  #: events that were lost, but those that a thread's part of the file counts
    threads: list[LiveThread]  #: those that have had an event
    devices: list[OpenDeviceRange]  #: those that have not ended


class Rank(Result):
    """One rank of a job."""

    rank: int  #: its number, or the file's place among the files where none is recorded
    host: str  #: its host's name
    path: str  #: its file
    waited: int  #: time that it waited for others, until the last had come
    late: int  #: by how much it was later than the median of the others, where it was the last
    was_last: int  #: in how many collectives it was the last
    collectives: int  #: how many of its collectives are matched with other ranks'
    uncertainty: int | None  #: by how much its clock may be off; None: not known
    contradictions: int  #: collectives that contradict its clock
    gpu: bool  #: whether its collectives and its work are those of the GPU
    bytes: int  #: what it handed to its collectives
    overlap: float | None  #: the part of its collectives' time in which it did not wait; None: none
    roots: dict[str, int]  #: delay by range, the largest first


class JobCounts(Result):
    """What of a job was matched, and what was not."""

    alone: int  #: collectives of which one rank alone has a range
    absent: int  #: ranks of the largest group that no file is of
    uncertain: int  #: collectives whose last rank is not known, as clocks are not
    clocks: int  #: how many clocks there are
    contradictions: int  #: collectives that contradict a clock


class CriticalPath(Result):
    """The chain of work and collectives that a job's end hangs on."""

    columns: dict[str, Buffer]  #: `rank`, `name` and `ns` of the work
    collectives: int  #: time between last arrivals and ends
    duration: int  #: of all of it


class Standings(Result):
    """By how much the ranks of a job take longer than the others in their usual step."""

    mean: list[float]  #: of each rank
    error: list[float]  #: its standard error
    chance: list[float]  #: at most: that one of ranks that are alike stands out as much
    stands: list[bool]  #: whether it does
    block: int  #: steps that are taken together, as neighbours are alike
    blocks: int  #: how many such blocks there are; 0: too few steps
    needed: float  #: standard errors above zero from which on a rank stands out
    half: float  #: standard errors on each side that hold the mean with 95% probability


class Collective(Row):
    """A collective of a communicator. Times are from when a rank came until it left."""

    name: str  #: such as "allreduce"
    communicator: str | None  #: its number, in hexadecimal; None: not known
    ranks: int | None  #: of the communicator; None: not known
    count: int  #: how many
    timed: int  #: those whose time is known: not those of which the CPU's request alone is
    bytes: float  #: what the ranks passed to it
    total: float  #: all times
    mean: float  #: the mean time
    min: float  #: the shortest
    p50: float  #: the median
    p90: float  #: 90 of 100 are shorter
    p99: float  #: 99 of 100 are shorter
    max: float  #: the longest


class RankCollective(Collective):
    """A collective of a communicator in one rank."""

    rank: int | None  #: its number; None: it has none


class RankSteps(Row):
    """The steps of one rank."""

    rank: int | None  #: its number; None: it has none
    host: str  #: the name of its machine
    path: str  #: its file
    process: int  #: a row of `ManyRecordings.processes`
    steps: int  #: how many it has
    total: int  #: the time of all of them
    mean: float  #: of the typical ones
    median: int  #: of the typical ones
    max: int  #: of the typical ones
    cpu: dict[str, float]  #: the mean of each phase, of the typical ones
    gpu: dict[str, float]  #: the work of the GPU that each phase launched, of the typical ones


class ModuleFigures(Row):
    """A module in one of its passes, of all ranks together."""

    model: str  #: the class of the model
    path: str  #: of the module in it
    caller: str | None  #: the module that calls it, where it is in another part of the model
    time: str  #: "forward_cpu", "backward_cpu", "forward_gpu" or "backward_gpu"
    calls: int  #: how many
    total: float  #: the time of all of them
    mean: float  #: the mean call
    std: float  #: the standard deviation
    min: float  #: the shortest
    p50: float  #: the median
    p90: float  #: 90 of 100 are shorter
    p99: float  #: 99 of 100 are shorter
    max: float  #: the longest


JOB_RESULTS = (
    CriticalPath,
    JobCounts,
    LiveHeader,
    LiveSample,
    LiveThread,
    OpenDeviceRange,
    Rank,
    Standings,
)
