# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA by its driver's functions, for the programs that tests run: the real driver, or the fake one
that NVSPAN_LIBCUDA names. Imported by those programs, so it imports no test framework."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NON_BLOCKING = 1
GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
SPIN = b"""
.version 7.3
.target sm_60
.address_size 64
.visible .entry spin(.param .u64 p_ns)
{
  .reg .u64 %ns, %since, %now, %spent;
  .reg .pred %go;
  ld.param.u64 %ns, [p_ns];
  mov.u64 %since, %globaltimer;
AGAIN:
  mov.u64 %now, %globaltimer;
  sub.u64 %spent, %now, %since;
  setp.lt.u64 %go, %spent, %ns;
  @%go bra AGAIN;
  ret;
}
"""
_HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Cuda:
    """A primary context made current, and what tests do in it. A failing call raises an error."""

    def __init__(self, device: int = 0) -> None:
        self.library = ctypes.CDLL(os.environ.get("NVSPAN_LIBCUDA") or "libcuda.so.1")
        self.fake = hasattr(self.library, "fake_cuda_fail")
        self.call("cuInit", 0)
        self.use(device)

    def use(self, device: int) -> None:
        """Makes the device's primary context current."""
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.context = context
        self._load()

    def _load(self) -> None:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), SPIN)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"spin")
        self.spin = function

    def call(self, name: str, *args: Any) -> None:
        result = getattr(self.library, name)(*args)
        if result != 0:
            raise RuntimeError(f"{name} failed with {result}")

    def new_context(self, device: int = 0) -> int:
        """A context of its own, made current."""
        context = ctypes.c_void_p()
        self.call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
        self._load()
        return context.value or 0

    def stream(self, flags: int = NON_BLOCKING) -> int:
        stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(stream), flags)
        return stream.value or 0

    def launch(self, stream: int, ns: int = 20_000, grid: int = 1) -> None:
        """A kernel of so many blocks of one thread that takes so long."""
        duration = ctypes.c_uint64(ns)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(duration))
        self.call("cuLaunchKernel", self.spin, grid, *(1,) * 5, 0, ctypes.c_void_p(stream),
                  arguments, None)  # fmt: skip

    def synchronize(self, stream: int | None = None) -> None:
        if stream is None:
            self.call("cuCtxSynchronize")
        else:
            self.call("cuStreamSynchronize", ctypes.c_void_p(stream))

    @contextmanager
    def capture(self, stream: int, mode: int = GLOBAL) -> Iterator[Graph]:
        """Captures what the block puts onto the stream."""
        graph = Graph(self)
        self.call("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), mode)
        try:
            yield graph
        finally:
            made = ctypes.c_void_p()
            result = self.library.cuStreamEndCapture(ctypes.c_void_p(stream), ctypes.byref(made))
            graph.result = result
            graph.handle = made.value or 0

    def fail(self, call: str, result: int, after: int = 0) -> None:
        """Has the fake driver answer a later call with an error; with ``after=-1`` all of them."""
        self.library.fake_cuda_fail(call.encode(), after, result)

    def end_kernels(self) -> None:
        """Has the fake driver end kernels of 100 ms and more at once, also those that come later.

        A GPU's end when their time is over.
        """
        if self.fake:
            self.library.fake_cuda_end_kernels()

    @contextmanager
    def replay(self) -> Iterator[None]:
        """Has the fake driver count as misuse what range replay of Nsight Compute refuses."""
        self.library.fake_cuda_replay(1)
        yield
        self.library.fake_cuda_replay(0)

    def misuses(self) -> int:
        """How often a dead handle was used, or a call not replayed, where that can be told."""
        if not self.fake:
            return 0
        self.library.fake_cuda_misuses.restype = ctypes.c_ulonglong
        return int(self.library.fake_cuda_misuses())


class Graph:
    """A captured graph; `result` is what ending the capture returned."""

    def __init__(self, cuda: Cuda) -> None:
        self.cuda = cuda
        self.handle = 0
        self.result = -1

    def instantiate(self, flags: int = 0) -> Executable:
        executable = ctypes.c_void_p()
        self.cuda.call(
            "cuGraphInstantiateWithFlags", ctypes.byref(executable), ctypes.c_void_p(self.handle),
            ctypes.c_ulonglong(flags),
        )  # fmt: skip
        return Executable(self.cuda, executable)

    def clone(self) -> Graph:
        made = Graph(self.cuda)
        handle = ctypes.c_void_p()
        self.cuda.call("cuGraphClone", ctypes.byref(handle), ctypes.c_void_p(self.handle))
        made.handle, made.result = handle.value or 0, 0
        return made

    def destroy(self) -> None:
        self.cuda.call("cuGraphDestroy", ctypes.c_void_p(self.handle))


class Executable:
    def __init__(self, cuda: Cuda, handle: ctypes.c_void_p) -> None:
        self.cuda = cuda
        self.handle = handle

    def launch(self, stream: int, times: int = 1) -> None:
        for _ in range(times):
            self.cuda.call("cuGraphLaunch", self.handle, ctypes.c_void_p(stream))

    def update(self, graph: Graph) -> None:
        """Makes it the executable of another graph of the same shape."""
        information = (ctypes.c_uint64 * 8)()
        self.cuda.call("cuGraphExecUpdate_v2", self.handle, ctypes.c_void_p(graph.handle),
                       ctypes.byref(information))  # fmt: skip

    def destroy(self) -> None:
        self.cuda.call("cuGraphExecDestroy", self.handle)
