# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The results about kernels, their launches and the GPUs that ran them. Times are ns."""

from __future__ import annotations

from nvspan._result import Result, Row


class Gpu(Result):
    """A GPU, with the limits of its multiprocessors."""

    process: int  #: a row of `Recording.processes`
    device: int  #: its number in the process
    name: str  #: such as "NVIDIA H100 80GB HBM3"
    capability: tuple[int, int]  #: its compute capability
    processors: int  #: how many multiprocessors it has
    warp: int  #: how many threads a warp has
    warps: int  #: the most warps that a multiprocessor runs
    blocks: int  #: the most blocks of it
    registers: int  #: how many registers it has
    shared: int  #: bytes of its shared memory


class GpuGap(Result):
    """Time in which the work of GPUs was not recorded, or not all of it."""

    process: int  #: a row of `Recording.processes`
    start: int  #: when it started
    end: int  #: when it ended
    reason: str  #: why


class LaunchShape(Result):
    """With what a kernel was launched."""

    grid: tuple[int, int, int]  #: how many blocks, along x, y and z
    block: tuple[int, int, int]  #: how many threads a block has
    registers: int  #: of a thread
    static_shared: int  #: bytes of shared memory of a block that the kernel declares
    dynamic_shared: int  #: bytes of it that the launch adds


class KernelRow(Result):
    """The calls of one kernel that the ranges of one name on a thread launched."""

    thread: int | None  #: a row of `Recording.threads`; None: not known
    domain: str | None  #: of the ranges
    name: str | None  #: of the ranges
    kind: str | None  #: of the ranges; None: launched within no range
    kernel: str | None  #: the kernel's name
    ranges: int  #: how many ranges launched it
    kernels: int  #: how many calls of it
    total: int  #: the sum of their durations
    mean: float  #: the mean duration
    median: float  #: the median
    min: int  #: the shortest
    max: int  #: the longest
    std: float  #: the standard deviation


class KernelTime(Row):
    """The calls of one kernel, copy or set: all of them, or those of one range or module."""

    name: str | None  #: of the kernel
    kind: str  #: "kernel", "copy", "set", or "graph" for one that was recorded as a whole
    shapes: int  #: in how many shapes it was launched, by grid, block, registers, shared memory
    grid: tuple[int, int, int] | None  #: blocks along x, y and z, in the shape with the most time
    block: tuple[int, int, int] | None  #: likewise the threads of a block; None: not known
    registers: int | None  #: likewise of a thread
    shared: int | None  #: likewise bytes of shared memory of a block
    occupancy: float | None  #: likewise the theoretical occupancy, 0 to 1; None: not known
    limiter: str | None  #: what allows no more of it, or "unknown"; None: no GPU's limits are known
    domain: str | None  #: of the range
    range: str | None  #: the innermost range of the launch; by name the one with the most time
    ranges: int  #: by name: how many names of ranges launched it; else 0
    module: str | None  #: by module: its name; None: launched in no module
    backward: bool  #: whether the range, or the module's pass, is backward
    count: int  #: how many calls
    total: int  #: their durations, added up
    mean: float  #: the mean duration
    p50: float | None  #: the median, within 0.4%; None: too many rows to keep durations
    min: int  #: the shortest
    max: int  #: the longest
    first: int  #: when the first was launched; where that is not known, when it started
    share: float  #: `total` as a part of the time in which the GPU was busy


class KernelWork(Result):
    """What the GPU did."""

    rows: list[KernelTime]  #: the most time first
    count: int  #: pieces of work
    total: int  #: their durations, added up
    busy: int  #: time with one at least under way, over all devices
    span: int  #: from the first start to the last end
    outside: int  #: how many were launched in no range
    unlaunched: int  #: how many have no known launch
    devices: int  #: on how many devices
    has_work: bool  #: whether the recording, with what is filtered out, has any


KERNEL_RESULTS = (Gpu, GpuGap, KernelRow, KernelTime, KernelWork, LaunchShape)
