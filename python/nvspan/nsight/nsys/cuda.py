# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA activity in a report of Nsight Systems, as ranges of a recording.

Calls of the runtime and the driver are start/end ranges of their threads in the domain
`CALL_DOMAIN`, with the correlation id as payload: so the self time of the program's own ranges is
as if there were none. Kernels, copies, sets and whole graphs are ranges of their device and stream
in the domain `WORK_DOMAIN`, with the id of the call that launched them; kernels have the shape of
their launch, copies and sets their bytes as payload.
"""

from __future__ import annotations

from array import array

from nvspan import _reader
from nvspan.nsight.nsys.report import NO_NAME, Report, process_of
from nvspan.nsight.nsys.tables import integers_of
from nvspan.recording.projection import CALL_DOMAIN, WORK_DOMAIN

KERNEL, COPY, SET, GRAPH = "kernel", "copy", "set", "graph"
_CATEGORIES = {KERNEL: 1, COPY: 2, SET: 3, GRAPH: 4}
_API = "CUPTI_ACTIVITY_KIND_RUNTIME"
_TABLES = {
    KERNEL: "CUPTI_ACTIVITY_KIND_KERNEL",
    COPY: "CUPTI_ACTIVITY_KIND_MEMCPY",
    SET: "CUPTI_ACTIVITY_KIND_MEMSET",
    GRAPH: "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
}
_WORK_COLUMNS = (
    *("start", "end", "deviceId", "streamId", "correlationId", "globalPid"),
    *("demangledName", "shortName", "bytes", "copyKind", "graphExecId"),
)
# As a LaunchShape has them: grid, block, registers, static and dynamic shared memory.
_SHAPE_COLUMNS = (
    *("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"),
    *("registersPerThread", "staticSharedMemory", "dynamicSharedMemory"),
)
# As ExternalWriter.gpu() takes them.
_LIMIT_COLUMNS = (
    *("computeMajor", "computeMinor", "smCount", "threadsPerWarp"),
    *("maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm", "maxShmemPerSm"),
)
_PROCESS_MASK = ~0xFFFFFF


def write_cuda(report: Report) -> None:
    """Writes all that the report has of it."""
    calls = _calls(report)
    kinds = report.tables.rows("ENUM_CUDA_MEMCPY_OPER", ["id"], ["label"])
    copies = {kind: label for (kind,), (label,) in kinds}
    for category, name in _TABLES.items():
        columns = (*_WORK_COLUMNS, *(_SHAPE_COLUMNS if category == KERNEL else ()))
        for table in report.tables.blocks(name, [(column, "i") for column in columns]):
            if len(table):
                _work(report, category, table, calls, copies)
    _names(report)


def _calls(report: Report) -> _reader.CallTimes:
    """Writes the calls."""
    calls = _reader.CallTimes(_PROCESS_MASK)
    columns = ["start", "end", "globalTid", "correlationId", "nameId"]
    for table in report.tables.blocks(_API, [(name, "i") for name in columns]):
        if len(table):
            calls.add(table, "globalTid", "correlationId", "start")
            _call_block(report, table)
    return calls


def _call_block(report: Report, table: _reader.ImportTable) -> None:
    report.name_column(table, "name", "nameId")
    for begin, end, (tid,), _ in table.group(["globalTid"], []):
        if tid is None:
            continue
        start, stop, name, correlation = (
            memoryview(table.column(column) or b"")[begin:end]
            for column in ("start", "end", "name", "correlationId")
        )
        thread, domain = report.thread(tid), report.domain(tid, CALL_DOMAIN)
        payload = correlation.cast("B").cast("Q")
        report.writer.ranges(
            thread, domain, start, stop, name=name, payload=payload, kind="start_end"
        )


def _work(
    report: Report,
    category: str,
    table: _reader.ImportTable,
    calls: _reader.CallTimes,
    copies: dict[int | None, str | None],
) -> None:
    if len(calls):
        calls.find(table, "globalPid", "correlationId", "launched", "tid")
    _add_names(report, category, table, copies)
    for begin, end, (pid,), _ in table.group(["globalPid"], []):
        if pid is None:
            continue

        def part(column: str, begin: int = begin, end: int = end) -> memoryview | None:
            found = table.column(column) if column in table.names() else None
            return None if found is None else memoryview(found)[begin:end]

        domain = report.domain(pid, WORK_DOMAIN)
        report.writer.category(domain, _CATEGORIES[category], category)
        size = part("bytes")
        shape = tuple(found for name in _SHAPE_COLUMNS if (found := part(name)) is not None)
        report.writer.device_ranges(
            report.process(pid),
            domain,
            part("start") or b"",
            part("end") or b"",
            device=part("deviceId") or 0,
            stream=part("streamId") or 0,
            name=part("name"),
            correlation=part("correlationId"),
            launched=part("launched"),
            tid=part("tid"),
            shape=shape if len(shape) == len(_SHAPE_COLUMNS) else None,
            category=_CATEGORIES[category],
            payload=None if size is None else size.cast("B").cast("Q"),
        )


def _add_names(
    report: Report, category: str, table: _reader.ImportTable, copies: dict[int | None, str | None]
) -> None:
    if category == KERNEL:
        report.name_column(table, "name", "demangledName")
        return
    if category == COPY:
        names = {
            kind: f"[CUDA memcpy {copies.get(kind) or kind}]"
            for kind in set(integers_of(table, "copyKind"))
        }
        table.replace("copyKind", 0, 0)
        key = "copyKind"
    elif category == SET:
        names, key = {0: "[CUDA memset]"}, "always 0"
        table.replace(key, 0, 0)
    else:
        names = {graph: f"[CUDA graph {graph}]" for graph in set(integers_of(table, "graphExecId"))}
        key = "graphExecId"
    texts = report.writer.strings(list(names.values()))
    table.look_up("name", key, array("q", names), texts, NO_NAME)


def _names(report: Report) -> None:
    """The names of streams and devices."""
    rows = report.tables.rows
    columns = ["processId", "streamId", "vmId", "hwId"]
    for numbers, (name,) in rows("TARGET_INFO_NVTX_CUDA_STREAM", columns, ["name"]):
        pid, stream, vm, hardware = (number or 0 for number in numbers)
        process = process_of(hardware << 56 | vm << 48 | pid << 24)
        if name is not None and report.knows(process):
            report.writer.stream_name(report.process(process), stream, name)
    gpus = {
        gpu: (name, limits)
        for (gpu, *limits), (name,) in rows("TARGET_INFO_GPU", ["id", *_LIMIT_COLUMNS], ["name"])
    }
    for (gpu, device, number), _ in rows("TARGET_INFO_CUDA_DEVICE", ["gpuId", "cudaId", "pid"]):
        name, found = gpus.get(gpu, (None, []))
        if name is None:
            continue
        limits = [limit for limit in found if limit is not None]
        for process in report.processes_of(number or 0):
            report.writer.device_name(process, device or 0, name)
            if len(limits) == len(_LIMIT_COLUMNS):
                report.writer.gpu(process, device or 0, name, limits)
