# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of ``nsys stats`` that project ranges onto the GPU, with their columns and figures.

Graphs that nsys traced as a whole are in none of them, as there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nvspan.nsight.summary import (
    COLUMNS,
    STYLES,
    collection_end,
    nvtx_sum,
    shown_name,
    sum_order,
    tenths,
)
from nvspan.recording import Recording
from nvspan.recording.projection import Projection

PROJECTION_SUM = (
    "Range", "Style", "Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances",
    "Proj Avg (ns)", "Proj Med (ns)", "Proj Min (ns)", "Proj Max (ns)", "Proj StdDev (ns)",
    "Total GPU Ops", "Avg GPU Ops", "Avg Range Lvl", "Avg Num Child",
)  # fmt: skip
PROJECTION_TRACE = (
    "Name", "Projected Start (ns)", "Projected Duration (ns)", "Orig Start (ns)",
    "Orig Duration (ns)", "Style", "PID", "TID", "NumGPUOps", "Lvl", "NumChild", "RangeId",
    "ParentId", "RangeStack",
)  # fmt: skip
KERNEL_SUM = (
    "NVTX Range", "Style", "PID", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)", "Avg (ns)",
    "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", "Kernel Name",
)  # fmt: skip
_KIND_STYLES = ("PushPop", "StartEnd")

Rows = list[dict[str, Any]]


def _projection(recording: Recording, kernels: str = "") -> Projection:
    end = collection_end(recording)
    return Projection(
        recording, kernels=kernels, without=("graph",), unclosed_end=end, midpoints=True
    )


def gpu_projection_sum(recording: Recording) -> Rows:
    """``nvtx_gpu_proj_sum``: each name, the most projected time first."""
    table = []
    rows = sorted(_projection(recording).rows, key=lambda row: sum_order(recording, row))
    for row in rows:
        calls = row.calls
        if calls == 0:
            continue
        values = (
            shown_name(recording, row.domain, row.name), STYLES[row.kind], row.total,
            row.range_time, calls, tenths(row.mean), tenths(row.median), row.min, row.max,
            tenths(row.std), row.launches, tenths(row.launches / calls),
            tenths(row.levels / calls), tenths(row.children / calls),
        )  # fmt: skip
        table.append(dict(zip(PROJECTION_SUM, values, strict=True)))
    return table


def gpu_projection_trace(recording: Recording) -> Rows:
    """``nvtx_gpu_proj_trace``: each range with work, in the order of the ranges' starts, as there.

    A range's id is its row in `Recording.ranges`.
    """
    found = _projection(recording)
    pids = [process.pid for process in recording.processes]
    threads = recording.threads
    of_thread = list(zip((pids[p] for p in threads["process"]), threads["tid"], strict=True))
    columns = ["row", "start", "end", "first", "last", "kind", "thread", "launches", "level",
               "children", "parent"]  # fmt: skip
    stacks: dict[int, str] = {}
    table = []
    names = zip(found.text("domain"), found.text("name"), strict=True)
    for (domain, name), row in zip(
        names, zip(*(found[column].tolist() for column in columns), strict=True), strict=True
    ):
        at, start, end, first, last, kind, thread, launches, level, children, parent = row
        if launches == 0:
            continue
        # Whatever encloses a range with work has that work as well, and comes before it.
        stacks[at] = f"{stacks.get(parent, '')}:{at}"
        values = (
            shown_name(recording, domain, name), first, last - first, start, end - start,
            _KIND_STYLES[kind], *of_thread[thread], launches, level, children, at,
            None if parent < 0 else parent, stacks[at],
        )  # fmt: skip
        table.append(dict(zip(PROJECTION_TRACE, values, strict=True)))
    table.sort(key=lambda row: (row["Orig Start (ns)"], row["RangeId"]))
    return table


def kernel_sum(recording: Recording) -> Rows:
    """``nvtx_kern_sum``: each kernel within the ranges of a name on a thread."""
    pids = [process.pid for process in recording.processes]
    threads = recording.threads
    of_thread = list(zip((pids[p] for p in threads["process"]), threads["tid"], strict=True))
    table = []
    for row in _projection(recording, "kernel")._kernels:
        name = None
        if row.kind is not None:
            name = shown_name(recording, row.domain, row.name)
        pid, tid = (None, None) if row.thread is None else of_thread[row.thread]
        values = (
            name, None if row.kind is None else STYLES[row.kind], pid, tid, row.ranges,
            row.kernels, row.total, tenths(row.mean), tenths(row.median), row.min, row.max,
            tenths(row.std), row.kernel,
        )  # fmt: skip
        table.append(dict(zip(KERNEL_SUM, values, strict=True)))

    def order(row: dict[str, Any]) -> tuple[Any, ...]:
        name, pid, tid = row["NVTX Range"], row["PID"], row["TID"]
        text = (name or "").encode("utf-8", "surrogateescape")  # in the order of bytes, as SQLite's
        return (name is not None, text, pid or 0, tid or 0, -row["Total Time (ns)"])

    table.sort(key=order)
    return table


# Their names in nsys: the columns, the rows, and which columns are text.
REPORTS: dict[str, tuple[tuple[str, ...], Callable[[Recording], Rows], tuple[str, ...]]] = {
    "nvtx_sum": (COLUMNS, nvtx_sum, ("Style", "Range")),
    "nvtx_gpu_proj_sum": (PROJECTION_SUM, gpu_projection_sum, ("Range", "Style")),
    "nvtx_gpu_proj_trace": (
        PROJECTION_TRACE,
        gpu_projection_trace,
        ("Name", "Style", "RangeStack"),
    ),
    "nvtx_kern_sum": (KERNEL_SUM, kernel_sum, ("NVTX Range", "Style", "Kernel Name")),
}
