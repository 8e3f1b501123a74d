# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs whose GPU is made up: what a recorded program calls, and what a test starts it with.

`FakeGpu` is used within the program. Its CUPTI is tests/kernels/fake_libcupti; what the driver does
when a program begins to use CUDA, to call InitializeInjection(), is done by `use`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
SOURCES = TESTS / "kernels" / "fake_libcupti"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helpers.recorded import Recorded

# Numbers of calls in CUPTI's domains of the runtime and of the driver.
CUDA_LAUNCH_KERNEL, CU_LAUNCH_KERNEL = 211, 307
CUDA_GRAPH_LAUNCH, CU_GRAPH_LAUNCH = 311, 514
CUDA_MEMCPY_ASYNC, CU_MEMCPY_ASYNC = 41, 306
CUDA_MEMSET_ASYNC, CU_MEMSET_ASYNC = 51, 216
CUDA_MALLOC, CU_MEM_ALLOC = 20, 243
HOST_TO_DEVICE, PEER_TO_PEER = 1, 10
ALLOCATION, RELEASE = 1, 2
PINNED, DEVICE = 2, 3

PREAMBLE = """
import os, signal, sys, threading, time
import nvspan
from helpers.fake_cupti import *
gpu = FakeGpu()
"""


@functools.cache
def fake_library() -> str:
    """The fake CUPTI, built once."""
    from helpers import compile as compiling

    flags = ["-shared", "-fPIC", "-fvisibility=hidden", f"-I{TESTS.parent / 'src'}"]
    if os.environ.get("NVSPAN_SANITIZED"):
        flags.append("-fsanitize=address,undefined")
    flags.append(str(SOURCES / "said.cpp"))
    return str(compiling.build(SOURCES / "fake.cpp", *flags, name="libfake_cupti.so"))


def environment(cuda: str | None = "kernels", **extra: str | None) -> dict[str, str | None]:
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")])),
        "FAKE_CUPTI": fake_library(),
        "NVSPAN_LIBCUPTI": fake_library(),
        "NVSPAN_RECORD_CUDA": cuda,
        **extra,
    }


def run_recorded(
    code: str, *, mode: str = "full", cuda: str | None = "kernels", check: bool = True,
    env: Mapping[str, str | None] | None = None, folder: Path | None = None,
) -> Recorded:  # fmt: skip
    """Runs a program, recorded, with `gpu` and `nvspan` in it."""
    from helpers.recorded import record_command

    return record_command(
        [sys.executable, "-c", PREAMBLE + code], mode=mode, check=check, folder=folder,
        env=environment(cuda, **(env or {})),
    )  # fmt: skip


class FakeGpu:
    """A GPU of which a program says what it does. Times are ticks of the recording."""

    def __init__(self) -> None:
        self.cupti = ctypes.CDLL(os.environ["FAKE_CUPTI"])
        self.cupti.fake_log.restype = ctypes.c_char_p
        self.cupti.fake_now.restype = ctypes.c_uint64
        self.cupti.fake_pending.restype = ctypes.c_size_t
        self.cupti.fake_callbacks.restype = ctypes.c_size_t
        self.cupti.fake_of_node.argtypes = [ctypes.c_uint64]
        self.cupti.fake_node.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
        self.cupti.fake_destroy_node.argtypes = [ctypes.c_uint64]

    def use(self) -> None:
        """The program begins to use CUDA."""
        from nvspan import launch

        library = launch.attached_tool() or launch.injection_library()
        ctypes.CDLL(library).InitializeInjection()

    def log(self) -> list[str]:
        """The calls of CUPTI so far, but those that enable callbacks."""
        return self.cupti.fake_log().decode().splitlines()

    def now(self) -> int:
        return self.cupti.fake_now()

    def call(self, runtime: int = CUDA_LAUNCH_KERNEL, driver: int = CU_LAUNCH_KERNEL,
             kernel: str | None = None, own_numbers: bool = False) -> int:  # fmt: skip
        name = None if kernel is None else kernel.encode()
        return self.cupti.fake_call(runtime, driver, name, own_numbers)

    def kernel(self, name: str | None, start: int, end: int, correlation: int, *, device: int = 0,
               context: int = 1, stream: int = 7) -> None:  # fmt: skip
        text = None if name is None else name.encode()
        times = ctypes.c_uint64(start), ctypes.c_uint64(end)
        self.cupti.fake_kernel(text, *times, correlation, device, context, stream)

    def launch(self, name: str, took: int = 1000, *, after: int = 500, stream: int = 7,
               device: int = 0) -> int:  # fmt: skip
        """A kernel, launched now by the runtime; returns when it begins."""
        correlation = self.call(kernel=name)
        start = self.now() + after
        self.kernel(name, start, start + took, correlation, stream=stream, device=device)
        return start

    def shape(self, grid: tuple[int, int, int], block: tuple[int, int, int], registers: int = 32,
              static_shared: int = 0, dynamic_shared: int = 0) -> None:  # fmt: skip
        """Of all kernels from now on."""
        three = ctypes.c_int32 * 3
        self.cupti.fake_shape(three(*grid), three(*block), registers, static_shared, dynamic_shared)

    def copy(self, size: int, took: int, direction: int = HOST_TO_DEVICE, stream: int = 7) -> None:
        correlation = self.call(CUDA_MEMCPY_ASYNC, CU_MEMCPY_ASYNC)
        start = self.now()
        times = ctypes.c_uint64(start), ctypes.c_uint64(start + took)
        self.cupti.fake_copy(direction, ctypes.c_uint64(size), *times, correlation, stream)

    def memory(self, operation: int, kind: int, address: int, size: int) -> None:
        """An allocation or a free, by the runtime."""
        self.cupti.fake_function(2, CUDA_MALLOC, b"cudaMalloc")
        self.cupti.fake_function(1, CU_MEM_ALLOC, b"cuMemAlloc_v2")
        number = self.call(CUDA_MALLOC, CU_MEM_ALLOC)
        numbers = (ctypes.c_uint64(value) for value in (address, size, self.now()))
        self.cupti.fake_memory(operation, kind, *numbers, number)

    def set(self, size: int, took: int, stream: int = 7) -> None:
        correlation = self.call(CUDA_MEMSET_ASYNC, CU_MEMSET_ASYNC)
        start = self.now()
        times = ctypes.c_uint64(start), ctypes.c_uint64(start + took)
        self.cupti.fake_set(ctypes.c_uint64(size), *times, correlation, stream)

    def graph(self, number: int, took: int, kernels: int = 0, stream: int = 7) -> None:
        """A graph is launched: its kernels are recorded, or the graph is, as CUPTI is told."""
        correlation = self.call(CUDA_GRAPH_LAUNCH, CU_GRAPH_LAUNCH)
        start = self.now()
        if self.cupti.fake_wants(51):
            times = ctypes.c_uint64(start), ctypes.c_uint64(start + took)
            self.cupti.fake_graph(number, *times, correlation, stream)
            return
        for i in range(kernels):
            self.kernel(f"node{i}", start + i * took, start + (i + 1) * took, correlation)

    @contextlib.contextmanager
    def capture(self) -> Iterator[None]:
        """This thread captures a graph."""
        self.cupti.fake_capture(1)
        yield
        self.cupti.fake_capture(0)

    def node(self, number: int, original: int = 0) -> None:
        """A node of a graph is made by this thread, or, executable, from one that was."""
        self.cupti.fake_node(number, original)

    def replay(self, nodes: list[tuple[int, str]], took: int = 1000, stream: int = 7) -> None:
        """An executable graph is launched: kernels of these nodes and names, in a row."""
        correlation = self.call(CUDA_GRAPH_LAUNCH, CU_GRAPH_LAUNCH)
        start = self.now()
        for i, (number, name) in enumerate(nodes):
            self.cupti.fake_of_node(number)
            self.kernel(name, start + i * took, start + (i + 1) * took, correlation, stream=stream)
        self.cupti.fake_of_node(0)

    def deliver(self, reversed: bool = False) -> None:
        self.cupti.fake_deliver(int(reversed))
