# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The results of `nvspan._reader`: each field, its type and its meaning.

C++ fills the fields by name and checks every value against its annotation; a field that may be None
need not be filled. Times are ns. The comments are the tables of fields in the documentation.
"""

from __future__ import annotations

from nvspan._result import Result, Row
from nvspan._results.jobs import JOB_RESULTS
from nvspan._results.kernels import KERNEL_RESULTS, KernelRow
from nvspan._results.lines import LINE_RESULTS
from nvspan._results.loops import LOOP_RESULTS
from nvspan._results.stacks import STACK_RESULTS
from nvspan._results.variation import VARIATION_RESULTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    # Domain, name, kind, whether it is backward, and color.
    Look = tuple[str | None, str | None, str, bool, int | None]
    # Parent (-1: none), root, look, calls, total, self, unclosed, how many it holds folded.
    FlameNode = tuple[int, int, Look, int, int, int, int, int]


class NamedRange(Result):
    """What tells ranges apart."""

    domain: str | None  #: None: the default domain
    name: str | None  #: None: a range without a message
    kind: str  #: "push_pop", "start_end" or "device"


class RangeName(NamedRange):
    """What tells ranges apart, and their backward pass from the forward one."""

    backward: bool  #: whether its category marks it as the backward pass of `name`


class CallNode(RangeName):
    """A path of nested ranges. `min`, `max`, `p50` and `typical` are of the calls that ended."""

    parent: int | None  #: the place of the path around it
    lane: str | None  #: the stream of a device's ranges
    calls: int  #: ranges that ended
    unclosed: int  #: ranges still open: `total`, `covered` and `self` have their time so far
    open_time: int  #: that time, a part of `total`
    resumptions: int | None  #: of a generator or coroutine in a profile: how often it went on
    awaited: int | None  #: the time in which it was suspended; None: unknown
    total: int  #: their durations; nested ones count once
    covered: int  #: time in which one was open, thread by thread
    lane_covered: int | None  #: time in which any range of the stream was open
    self: int | None  #: time in which it was the innermost; None: start/end ranges do not nest
    min: int | None  #: the shortest call; None in the sums of a stream
    max: int | None  #: the longest call
    threads: int  #: how many threads it ran in
    p50: float | None  #: the median; None: too many paths to keep durations
    typical: float | None  #: the mean without outliers


class StatsRow(RangeName):
    """The ranges of one name. `sum` and what is of single calls is of those that ended."""

    calls: int  #: ranges that ended
    unclosed: int  #: ranges still open: `total`, `covered` and `self` have their time so far
    open_time: float  #: that time, a part of `total`; 0 for a device's ranges
    resumptions: int | None  #: of a generator or coroutine in a profile: how often it went on
    awaited: float | None  #: the time in which it was suspended; None: unknown
    total: float  #: their durations, over all threads or streams; nested ones count once
    covered: float | None  #: time in which one was open, over all threads or devices; None: unknown
    self: float  #: time in which it was the innermost
    mean: float  #: the mean call
    std: float  #: the standard deviation of calls
    min: float  #: the shortest call
    p50: float  #: the median
    p90: float  #: 90 of 100 calls are shorter
    p99: float  #: 99 of 100 calls are shorter
    p999: float  #: 999 of 1000 calls are shorter
    max: float  #: the longest call
    threads: int  #: how many threads it ran in
    overhead: float  #: the recorder's part of `total`
    typical: float  #: the mean of the calls without `outliers`, within 0.4%
    outliers: int  #: calls longer than 3 p50, 2 p75 and 10 us; 0 where calls are nested
    outlier_total: float  #: their time
    warmup: int  #: outliers among the first 16 calls of a thread
    warmup_total: float  #: their time
    warmup_squares: float  #: the sum of the squares of their durations
    sum: float  #: all durations, with those of nested ranges
    squares: float  #: the sum of their squares
    first: int  #: when the first call started
    devices: int | None  #: of a "device": on how many of them it ran
    thread: int | None  #: by thread: a row of `Recording.threads`
    process: int | None  #: by thread, process, device or stream: a row of `Recording.processes`
    category: int | None  #: by category: its number
    category_name: str | None  #: by category: its name
    payload_type: int | None  #: by payload: how it was given
    payload: int | None  #: by payload: its bits
    field: int | float | str | None  #: by payload.FIELD: its value; None: there is none
    device: int | None  #: by device or stream: its number
    device_name: str | None  #: by device or stream: its name
    stream: int | None  #: by stream: its number
    stream_name: str | None  #: by stream: its name
    lane: str | None  #: by device or stream: how it is shown


class JobRow(StatsRow):
    """The ranges of one name in a job or in one of its ranks. `first` and `last`: ns since 1970."""

    last: int  #: when the last call ended
    group: int  #: the rank's number, below 0 without one
    rank: int | None  #: by rank: its number


class ModuleRow(JobRow):
    """A module in one of its passes: `domain` is the model, `name` the path."""

    time: int  #: 0 to 3: forward and backward on the CPU, forward and backward on the GPU


class CollectiveRow(JobRow):
    """A collective of a communicator: `domain` has its number and size."""

    bytes: float  #: what the ranks passed to it


class ExactRow(NamedRange):
    """The ranges of one name, for tables that promise the exact figures of another tool."""

    calls: int  #: ranges that are counted
    total: int  #: the sum of their durations
    mean: float  #: the mean duration
    median: float  #: the median
    min: int  #: the shortest
    max: int  #: the longest
    std: float  #: the standard deviation


class ProjectedRow(ExactRow, Row):
    """What the GPU did for the ranges of one name that launched work.

    The figures of durations are of the spans from the first start to the last end on the GPU.
    """

    range_time: int  #: time of the ranges themselves
    sum: int  #: durations of kernels, copies and sets, added up
    busy: int  #: time with at least one of them under way
    waiting: int  #: the rest of `total`, in which the GPU waits
    exclusive: int  #: `sum` of what no range within these launched
    ops: int  #: how many kernels, copies and sets
    launches: int  #: how many calls launched them; a graph's launch is one
    levels: int  #: how many ranges are around each of them, added up
    children: int  #: ranges with work whose tightest range is one of them
    backward_ops: int  #: what autograd launched on its threads for them: in no other field
    backward_sum: int  #: its durations, added up
    backward_busy: int  #: time with at least one piece of it under way


class ProjectedWork(Result):
    """The work of the GPU, and the ranges that launched it."""

    work: int  #: how many kernels, copies and sets there are
    outside: int  #: how many of them no range holds
    unlaunched: int  #: how many of them have no known call
    of_device_ranges: bool  #: whether device ranges stand for the work, as no kernel was recorded
    sums: list[ProjectedRow]  #: the names of ranges, the most projected time first
    kernels: list[KernelRow]  #: the kernels of each name, where they were asked for
    columns: dict[str, Buffer]  #: of the single ranges that launched work


class StepDeviations(Row):
    """The standard deviations of a typical step's times."""

    duration: float  #: of the step
    busy: float  #: of the GPU
    all_idle: float  #: of the sum of `idle`
    cpu: dict[str, float]  #: by phase
    gpu: dict[str, float]  #: by phase
    idle: dict[str, float]  #: by phase


class TypicalStep(Row):
    """The means of the typical steps, which add up as steps do."""

    steps: int  #: how many are typical
    warm_up: int  #: how many are warm-up
    outliers: int  #: how many are outliers
    duration: float  #: on the CPU
    busy: float  #: time in which at least one piece of work of the step was under way
    ops: float  #: pieces of work
    waits: float  #: time in which the CPU waited for the GPU
    wait_calls: float  #: how often it did
    cpu: dict[str, float]  #: time in each phase
    gpu: dict[str, float]  #: by phase, as `busy`, of the work that it launched
    idle: dict[str, float]  #: by phase, its time in which the GPU had no work
    std: StepDeviations  #: the standard deviations of these
    min: int  #: the shortest
    p50: int  #: the median duration
    p90: int  #: 90 of 100 are shorter
    p99: int  #: 99 of 100 are shorter
    max: int  #: the longest
    ahead: int | None  #: from a launch to the beginning of its work, the median; None: not known
    behind: int | None  #: from the end of the launching phase to that of its work, the median


class FoundSteps(Result):
    """The steps of a recording."""

    columns: dict[str, Buffer]  #: of the single steps
    typical: TypicalStep  #: the one that is typical of them
    has_work: bool  #: whether the recording has work of a GPU
    of_device_ranges: bool  #: whether device ranges stand for it, as no kernel was recorded
    graphs: int  #: pieces of work that are whole graphs, in which the GPU may be idle
    outside: int  #: pieces of work that no step launched
    unshared: int  #: pieces of work that one of several steps launched, and nothing tells which
    by_run_time: int  #: pieces of work that belong to the step during which they started
    unclosed: int  #: steps that did not end, or ended in another thread
    devices_left: int  #: devices that `idle` is not about


class TimelineKey(RangeName):
    """The name of ranges or marks ("mark") in a timeline, with their category and color."""

    color: int | None  #: ARGB; None: it has none
    category: int  #: its number; 0: none
    category_name: str | None  #: its name
    calls: int  #: how many ranges
    sum: float  #: their durations
    durations: list[tuple[int, int]] | None  #: buckets of a histogram and their counts


class TimelineTrack(Result):
    """A thread, the spans of a process or a stream in a timeline."""

    kind: str  #: "thread", "spans" or "device"
    process: int  #: a row of `Recording.processes`
    thread: int | None  #: a row of `Recording.threads`
    device: str  #: what the stream is called; "": none
    ranges: int  #: how many it has
    blocks: bytes  #: laid out as src/reader/page/timeline_bytes.hpp has it


class TimelineCounter(Result):
    """A counter, or a field of one, in a timeline."""

    process: int  #: a row of `Recording.processes`
    domain: str | None  #: None: the default domain
    name: str | None  #: of the counter
    field: str | None  #: of a group
    unit: str | None  #: of the values
    samples: int  #: how many it has
    points: list[tuple[int, float, float, float, int]]  #: time, least, greatest, last, how many


class Timeline(Result):
    """A recording reduced to what a page draws."""

    first: int  #: when it starts
    last: int  #: when it ends
    resolution: int  #: shorter ranges are merged; 0: none are
    hidden_levels: int  #: ranges that are too deep
    hidden_tracks: int  #: ranges and marks of threads and streams beyond the limit
    hidden_counters: int  #: counters beyond the limit
    payloads: int  #: ranges and marks that have one
    shown_payloads: int  #: of them those whose text is in `texts`
    tracks: list[TimelineTrack]  #: from the top
    keys: list[TimelineKey]  #: which blocks name by number
    names: list[list[int]]  #: sets of keys
    texts: list[str]  #: payloads
    counters: list[TimelineCounter]  #: from the top


class FlameRoot(Result):
    """A thread, the spans of a process or a stream in a flame graph."""

    group: int  #: of the windows that were given
    process: int  #: a row of `Recording.processes`
    thread: int | None  #: a row of `Recording.threads`
    device: str  #: what the stream is called; "": none


class Flame(Result):
    """The paths of ranges with the most time."""

    roots: list[FlameRoot]  #: what paths begin with
    nodes: list[FlameNode]  #: parents before their children
    folded: int  #: how many paths were left out, as small ones


class FileHeader(Result):
    """The first page of a recording."""

    version: int  #: of the format
    pid: int  #: the process that wrote it
    run: int  #: the same in all files of one `nvspan record` run
    closed: bool  #: whether the process finished the file


class ImportCounts(Row):
    """How much of a trace became a recording."""

    ranges: int  #: how many
    device_ranges: int  #: how many
    marks: int  #: how many
    samples: int  #: of counters
    overlapping: int  #: ranges that overlapped another of their thread
    left_out: dict[str, int]  #: what a recording has no place for, and how many


class MarkRow(Result):
    """The marks of one name."""

    domain: str | None  #: None: the default domain
    name: str | None  #: None: a mark without a message
    calls: int  #: how many


class Loss(Result):
    """A time in which events are missing."""

    process: int  #: a row of `Recording.processes`
    thread: int | None  #: a row of `Recording.threads`; None: not known
    begin: int  #: from when
    end: int  #: until when
    count: int | None  #: how many events; None: not known
    reason: str  #: why, such as "overwritten"

    def as_dict(self) -> dict[str, object]:
        """The fields as ``--json`` prints them: ``from`` and ``to`` for `begin` and `end`."""
        names = {"begin": "from", "end": "to"}
        return {names.get(name, name): value for name, value in super().as_dict().items()}


class Statistics(Result):
    """The statistics of a recording's ranges, and what is missing from them."""

    by: str  #: what the rows are grouped by
    rows: list[StatsRow]  #: the ranges, the largest total first
    losses: list[Loss]  #: when events were lost
    lost: int  #: events that could not be recorded, where that is known
    gaps: int  #: in how many places a ring overwrote older events
    overwritten: int  #: how many events it overwrote there
    orphans: int  #: how many ends and pops had nothing to close
    others: int  #: ranges and marks beyond the space for names, in the rows "(other names)"
    first: int  #: when the first of these ranges started
    last: int  #: when the last of them ended
    whole: int  #: from the first begin to the last end of all ranges, with those filtered out
    marks: list[MarkRow]  #: the marks


class RecordedProcess(Result):
    """A file of a recording, which one process wrote."""

    path: str  #: the file; for another tool's report, the report
    pid: int  #: its number in the operating system
    parent_pid: int  #: its parent's number
    host: str  #: the name of its machine
    boot_id: str  #: identifies a machine from one start to the next
    command: list[str]  #: the command line
    rank: int | None  #: its rank in the job; None: not set
    local_rank: int | None  #: its rank on its machine
    world_size: int | None  #: how many ranks the job has
    run: int  #: the same in all files of one `nvspan record` run
    mode: str  #: "full", "ring", "stats" or "armed"
    clock: str  #: the clock of its events: "tsc", "monotonic" or "given"
    resolution: float  #: ns between two values of that clock
    closed: bool  #: whether the process finished the file
    open_chunks: int  #: chunks without a checksum
    start: int  #: when the recording started
    end: int  #: when it ended
    unix_offset: int  #: added to a time, gives ns since 1970
    event_cost: float  #: the recorder's time for an event
    inner_cost: float  #: the part of it that lies within the event's range
    annotate_cost: int | None  #: time of one `with annotate`, recorded; None: not known
    min_duration: int  #: shorter ranges were not recorded
    cuda: str | None  #: "none", "mapped" (libcuda), "context"; None: not known
    tool: str | None  #: the program that wrote another tool's report; None: nvspan


class RecordedThread(Result):
    """A thread that made NVTX calls."""

    process: int  #: a row of `Recording.processes`
    pid: int  #: its process's number in the operating system
    tid: int  #: its own number
    name: str | None  #: None: it has none


RESULTS = (
    *JOB_RESULTS,
    *KERNEL_RESULTS,
    *LINE_RESULTS,
    *LOOP_RESULTS,
    *STACK_RESULTS,
    *VARIATION_RESULTS,
    CallNode,
    CollectiveRow,
    ExactRow,
    FileHeader,
    Flame,
    FlameRoot,
    FoundSteps,
    ImportCounts,
    JobRow,
    Loss,
    MarkRow,
    ModuleRow,
    ProjectedRow,
    ProjectedWork,
    RecordedProcess,
    RecordedThread,
    Statistics,
    StatsRow,
    StepDeviations,
    Timeline,
    TimelineCounter,
    TimelineKey,
    TimelineTrack,
    TypicalStep,
)
