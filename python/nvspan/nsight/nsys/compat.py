# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of ``nsys stats`` about ranges, kernels and calls, with their columns and figures.

Graphs that nsys traced as a whole are in none of the projections, as there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from nvspan import _reader
from nvspan._results import ExactRow
from nvspan._results.kernels import KernelRow
from nvspan.recording import Recording
from nvspan.recording.projection import CALL_DOMAIN, WORK_DOMAIN, Projection

Cell = int | float | str | None
Rows = list[dict[str, Cell]]

_DURATIONS = ("Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)")
NVTX_SUM = ("Time (%)", "Total Time (ns)", "Instances", *_DURATIONS, "Style", "Range")
KIND_SUM = tuple(name for name in NVTX_SUM if name != "Style")
PUSH_POP_TRACE = (
    *(
        "Start (ns)",
        "End (ns)",
        "Duration (ns)",
        "DurChild (ns)",
        "DurNonChild (ns)",
        "Name",
        "PID",
    ),
    *("TID", "Lvl", "NumChild", "RangeId", "ParentId", "RangeStack", "NameTree"),
)
PROJECTION_SUM = (
    *("Range", "Style", "Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances"),
    *(f"Proj {name}" for name in _DURATIONS),
    *("Total GPU Ops", "Avg GPU Ops", "Avg Range Lvl", "Avg Num Child"),
)
PROJECTION_TRACE = (
    *("Name", "Projected Start (ns)", "Projected Duration (ns)", "Orig Start (ns)"),
    *("Orig Duration (ns)", "Style", "PID", "TID", "NumGPUOps", "Lvl", "NumChild", "RangeId"),
    *("ParentId", "RangeStack"),
)
KERNEL_SUM = (
    *("NVTX Range", "Style", "PID", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)"),
    *_DURATIONS,
    "Kernel Name",
)
_CUDA_TIMES = ("Time (%)", "Total Time (ns)", "Instances", *_DURATIONS)
GPU_KERNEL_SUM = (*_CUDA_TIMES, "Name")
MEMORY_SUM = ("Time (%)", "Total Time (ns)", "Count", *_DURATIONS, "Operation")
API_SUM = ("Time (%)", "Total Time (ns)", "Num Calls", *_DURATIONS, "Name")
_STYLES = {"push_pop": "PushPop", "start_end": "StartEnd", "device": "StartEnd"}
_KIND_STYLES = ("PushPop", "StartEnd", "StartEnd")
_PUSH_POP = 0


def _tenths(value: float) -> float:
    return math.floor(value * 10 + 0.5) / 10


def _table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Rows:
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _durations(row: ExactRow | KernelRow) -> tuple[float, float, int, int, float]:
    return _tenths(row.mean), _tenths(row.median), row.min, row.max, _tenths(row.std)


def _namer(recording: Recording) -> Callable[[str | None, str | None], str]:
    """How nsys prints the domain and the name of a range: versions from 2024 on put a colon before
    those of no domain."""
    tools = [source.tool for source in recording._sources.values()]
    years = [int(found[1]) for tool in tools if (found := re.search(r" (\d{4})\.", tool))]
    default = ":" if years and min(years) >= 2024 else ""
    return lambda domain, name: (default if domain is None else f"{domain}:") + (name or "")


def _collection_end(recording: Recording) -> int | None:
    """When the collection of nsys ended, until which it lets ranges last that did not end."""
    ends = [source.end for source in recording._sources.values() if source.end is not None]
    return max(ends) if len(ends) == 1 else None


def _bytes(name: str) -> bytes:
    """Names are in the order of their bytes, as SQLite's."""
    return name.encode("utf-8", "surrogateescape")


def _order(recording: Recording) -> Callable[[ExactRow], tuple[int, bytes, str]]:
    """The order of rows: the largest total first, and equal ones by their names."""
    name = _namer(recording)
    return lambda row: (-row.total, _bytes(name(row.domain, row.name)), _STYLES[row.kind])


def _threads(recording: Recording) -> list[tuple[int, int]]:
    """The process id and the thread id of each thread."""
    threads = recording.threads
    pids = [recording.processes[process].pid for process in threads["process"]]
    return list(zip(pids, threads["tid"], strict=True))


def _projection(recording: Recording, kernels: str = "") -> Projection:
    end = _collection_end(recording)
    return Projection(
        recording, kernels=kernels, without=("graph",), unclosed_end=end, as_nsys=True
    )


def _sum(recording: Recording, styles: Sequence[str]) -> list[tuple[Cell, ...]]:
    """A row for each name of ranges of these styles, without the style."""
    name = _namer(recording)
    rows = [
        row
        for row in _reader.exact(recording._reader.handle(), _collection_end(recording))
        if _STYLES[row.kind] in styles and row.domain not in (CALL_DOMAIN, WORK_DOMAIN)
    ]
    total = sum(row.total for row in rows) or 1
    values: list[tuple[Cell, ...]] = []
    for row in sorted(rows, key=_order(recording)):
        times = (_tenths(100 * row.total / total), row.total, row.calls, *_durations(row))
        style = () if len(styles) == 1 else (_STYLES[row.kind],)
        values.append((*times, *style, name(row.domain, row.name)))
    return values


def nvtx_sum(recording: Recording) -> Rows:
    """``nvtx_sum``: each name, the largest total first.

    Every figure is exact; the median is as nsys has it: of an even number, the mean of the two
    middle values. "Time (%)" is the share of the sum of all rows, so nested ranges count twice in
    it, as they do there. nsys lets a range that did not end last until the end of its collection:
    so it is in a report of nsys, and in a recording it is left out.
    """
    return _table(NVTX_SUM, _sum(recording, _KIND_STYLES))


def push_pop_sum(recording: Recording) -> Rows:
    """``nvtx_pushpop_sum``: the push/pop ranges of `nvtx_sum` alone, with shares of theirs."""
    return _table(KIND_SUM, _sum(recording, _KIND_STYLES[:1]))


def start_end_sum(recording: Recording) -> Rows:
    """``nvtx_startend_sum``: the start/end ranges of `nvtx_sum` alone, with shares of theirs."""
    return _table(KIND_SUM, _sum(recording, _KIND_STYLES[1:2]))


@dataclass
class _Traced:
    """A push/pop range, with what lies directly within it."""

    row: int
    start: int
    end: int
    stack: tuple[_Traced, ...]
    children: int = 0
    children_time: int = 0


def _traced(recording: Recording) -> Iterator[tuple[int, _Traced]]:
    """The push/pop ranges with their threads. A range's parent is the shortest one of its thread
    that encloses it, of any domain."""
    collection_end = _collection_end(recording)
    columns = ("thread", "start", "end", "kind", "end_reason", "domain")
    ranges, rows = recording.ranges, []
    domains = ranges.text("domain")
    values = zip(*(ranges[column].tolist() for column in columns[:-1]), domains, strict=True)
    for at, (thread, start, end, kind, reason, domain) in enumerate(values):
        until = collection_end if reason else end
        is_own = domain not in (CALL_DOMAIN, WORK_DOMAIN)
        if kind == _PUSH_POP and until is not None and is_own:
            rows.append((thread, start, -until, at))
    around: list[_Traced] = []
    current = -1
    for thread, start, negative_end, at in sorted(rows):
        end = -negative_end
        around = [outer for outer in around if outer.end >= start] if thread == current else []
        current = thread
        enclosing = [outer for outer in reversed(around) if outer.end >= end]
        parent = min(enclosing, key=lambda outer: outer.end - outer.start, default=None)
        stack = (*parent.stack, parent) if parent else ()
        around.append(_Traced(at, start, end, stack))
        if parent:
            parent.children += 1
            parent.children_time += end - start
        yield thread, around[-1]


def push_pop_trace(recording: Recording) -> Rows:
    """``nvtx_pushpop_trace``: each push/pop range, in the order of the starts.

    A range's id is its row in `Recording.ranges`.
    """
    name, threads = _namer(recording), _threads(recording)
    ranges = recording.ranges
    names = list(map(name, ranges.text("domain"), ranges.text("name")))
    values: list[tuple[Cell, ...]] = []
    for thread, found in sorted(_traced(recording), key=lambda pair: (pair[1].start, pair[1].row)):
        time, level, shown = found.end - found.start, len(found.stack), names[found.row]
        times = (found.start, found.end, time, found.children_time, time - found.children_time)
        parent = found.stack[-1].row if found.stack else None
        ids = "".join(f":{outer.row}" for outer in (*found.stack, found))
        place = (*threads[thread], level, found.children, found.row, parent, ids)
        values.append((*times, shown, *place, "--" * level + shown))
    return _table(PUSH_POP_TRACE, values)


def gpu_projection_sum(recording: Recording) -> Rows:
    """``nvtx_gpu_proj_sum``: each name, the most projected time first."""
    name = _namer(recording)
    values: list[tuple[Cell, ...]] = []
    for row in sorted(_projection(recording).rows, key=_order(recording)):
        if row.calls:
            times = (row.total, row.range_time, row.calls, *_durations(row), row.launches)
            means = (_tenths(n / row.calls) for n in (row.launches, row.levels, row.children))
            values.append((name(row.domain, row.name), _STYLES[row.kind], *times, *means))
    return _table(PROJECTION_SUM, values)


def gpu_projection_trace(recording: Recording) -> Rows:
    """``nvtx_gpu_proj_trace``: each range with work, in the order of the ranges' starts, as there.

    A range's id is its row in `Recording.ranges`.
    """
    found, name, threads = _projection(recording), _namer(recording), _threads(recording)
    names = map(name, found.text("domain"), found.text("name"))
    columns = (
        *("row", "start", "end", "first", "last", "kind"),
        *("thread", "launches", "level", "children", "parent"),
    )
    stacks: dict[int, str] = {}
    values: list[tuple[Cell, ...]] = []
    for shown, *row in zip(names, *(found[column].tolist() for column in columns), strict=True):
        at, start, end, first, last, kind, thread, launches, level, children, parent = row
        if launches == 0:
            continue
        # Whatever encloses a range with work has that work as well, and comes before it.
        stacks[at] = f"{stacks.get(parent, '')}:{at}"
        times = (first, last - first, start, end - start)
        counts = (_KIND_STYLES[kind], *threads[thread], launches, level, children)
        parents = (None if parent < 0 else parent, stacks[at])
        values.append((start, at, shown, *times, *counts, at, *parents))
    return _table(PROJECTION_TRACE, (row[2:] for row in sorted(values, key=itemgetter(0, 1))))


def kernel_sum(recording: Recording) -> Rows:
    """``nvtx_kern_sum``: each kernel within the ranges of a name on a thread."""
    name, threads = _namer(recording), _threads(recording)
    values = []
    for row in _projection(recording, "kernel")._kernels:
        shown, style = None, None
        if row.kind is not None:
            shown, style = name(row.domain, row.name), _STYLES[row.kind]
        pid, tid = (None, None) if row.thread is None else threads[row.thread]
        times = (row.ranges, row.kernels, row.total, *_durations(row))
        order = (shown is not None, _bytes(shown or ""), pid or 0, tid or 0, -row.total)
        values.append((order, (shown, style, pid, tid, *times, row.kernel)))
    return _table(KERNEL_SUM, (row for _, row in sorted(values, key=itemgetter(0))))


def _of_cuda(recording: Recording, takes: Callable[[ExactRow], bool], name: str) -> Rows:
    """The exact figures of calls or work, by their names."""
    rows = [row for row in _reader.exact(recording._reader.handle(), None) if takes(row)]
    total = sum(row.total for row in rows) or 1
    rows.sort(key=lambda row: (-row.total, _bytes(row.name or "")))
    return [
        {**dict(zip(_CUDA_TIMES, (_tenths(100 * row.total / total), row.total, row.calls,
                                  *_durations(row)), strict=True)), name: row.name}
        for row in rows
    ]  # fmt: skip


def _is_memory(row: ExactRow) -> bool:
    return row.domain == WORK_DOMAIN and (row.name or "").startswith("[CUDA mem")


def _is_kernel(row: ExactRow) -> bool:
    return row.domain == WORK_DOMAIN and not (row.name or "").startswith("[CUDA ")


def gpu_kernel_sum(recording: Recording) -> Rows:
    """``cuda_gpu_kern_sum``: each kernel, the largest total first."""
    return _of_cuda(recording, _is_kernel, "Name")


def gpu_memory_sum(recording: Recording) -> Rows:
    """``cuda_gpu_mem_time_sum``: copies and sets by their direction."""
    rows = _of_cuda(recording, _is_memory, "Operation")
    return [dict(zip(MEMORY_SUM, row.values(), strict=True)) for row in rows]


def api_sum(recording: Recording) -> Rows:
    """``cuda_api_sum``: calls of the runtime and the driver, those that were recorded."""
    rows = _of_cuda(recording, lambda row: row.domain == CALL_DOMAIN, "Name")
    for row in rows:
        row["Name"] = re.sub(r"_v\d{4}$", "", str(row["Name"]))  # of the call's version
    return [dict(zip(API_SUM, row.values(), strict=True)) for row in rows]


# Their names in nsys: the columns, the rows, and which columns are text.
REPORTS: dict[str, tuple[tuple[str, ...], Callable[[Recording], Rows], tuple[str, ...]]] = {
    "nvtx_sum": (NVTX_SUM, nvtx_sum, ("Style", "Range")),
    "nvtx_pushpop_sum": (KIND_SUM, push_pop_sum, ("Range",)),
    "nvtx_startend_sum": (KIND_SUM, start_end_sum, ("Range",)),
    "nvtx_pushpop_trace": (PUSH_POP_TRACE, push_pop_trace, ("Name", "RangeStack", "NameTree")),
    "nvtx_gpu_proj_sum": (PROJECTION_SUM, gpu_projection_sum, ("Range", "Style")),
    "nvtx_gpu_proj_trace": (
        PROJECTION_TRACE,
        gpu_projection_trace,
        ("Name", "Style", "RangeStack"),
    ),
    "nvtx_kern_sum": (KERNEL_SUM, kernel_sum, ("NVTX Range", "Style", "Kernel Name")),
    "cuda_gpu_kern_sum": (GPU_KERNEL_SUM, gpu_kernel_sum, ("Name",)),
    "cuda_gpu_mem_time_sum": (MEMORY_SUM, gpu_memory_sum, ("Operation",)),
    "cuda_api_sum": (API_SUM, api_sum, ("Name",)),
}
