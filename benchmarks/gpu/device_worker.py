# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One measurement of device ranges on a GPU, in a process of its own; prints JSON.

device_worker.py LIBTRUTH accuracy BACKEND eager|graph
device_worker.py LIBTRUTH cost
device_worker.py LIBTRUTH replays COUNT
device_worker.py LIBTRUTH drift SECONDS
device_worker.py LIBTRUTH overlap
"""

from __future__ import annotations

import ctypes
import json
import resource
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import torch

import nvspan

KINDS = ("small", "fill", "persist", "occ")
RANGES = 100
REPEATS = 5


class Truth:
    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        assert self.library.truth_init(RANGES) == 0
        self.stream = torch.cuda.Stream()
        self.handle = ctypes.c_void_p(self.stream.cuda_stream)

    def hold(self, ns: int) -> None:
        self.library.truth_hold(self.handle, ctypes.c_longlong(ns))

    def launch(self, kind: int, index: int) -> None:
        self.library.truth_launch(kind, index, self.handle)

    def reset(self) -> None:
        self.library.truth_reset()

    def read(self) -> list[int]:
        out = (ctypes.c_ulonglong * (2 * RANGES))()
        self.library.truth_read(out)
        return list(out)

    def calibrate(self) -> tuple[int, int, int]:
        """(time stamp counter, globaltimer, half the trip)"""
        values = [ctypes.c_ulonglong() for _ in range(3)]
        self.library.truth_calibrate(self.handle, *map(ctypes.byref, values))
        return tuple(value.value for value in values)  # type: ignore[return-value]

    def clock(self) -> tuple[int, int]:
        """(time stamp counter, monotonic ns)"""
        values = [ctypes.c_ulonglong() for _ in range(2)]
        self.library.truth_clock(*map(ctypes.byref, values))
        return values[0].value, values[1].value


@contextmanager
def torch_range(stream: Any) -> Any:
    handle = torch.cuda.nvtx._device_range_start("peer", stream.cuda_stream)
    try:
        yield
    finally:
        torch.cuda.nvtx._device_range_end(handle, stream.cuda_stream)


def accuracy(truth: Truth, backend: str, mode: str) -> dict[str, Any]:
    """What the kernels say of themselves; the ranges are in the recording, by message and payload.

    In graphs every kernel's times are those of the last replay: so is the one that is compared.
    """
    with torch.cuda.stream(truth.stream):
        for _ in range(3):  # side streams, modules, the first calibrations
            with nvspan.device_range("warm", backend=backend):
                truth.launch(0, 0)
            nvspan.device_flush(5)
        made: dict[str, Any] = {"clock": [truth.clock()], "truth": []}
        for number, kind in enumerate(KINDS):
            graph = None
            if mode == "graph":
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, stream=truth.stream):
                    for i in range(RANGES):
                        with nvspan.device_range(f"graph {kind}", backend=backend, payload=i):
                            truth.launch(number, i)
            for repeat in range(REPEATS):
                truth.reset()
                before = truth.calibrate()
                truth.hold(20_000_000)
                if graph is not None:
                    graph.replay()
                else:
                    for i in range(RANGES):
                        with nvspan.device_range(f"{kind} {repeat}", backend=backend, payload=i):
                            truth.launch(number, i)
                truth.stream.synchronize()
                after = truth.calibrate()
                assert nvspan.device_flush(20)
                made["truth"].append(
                    {"kind": kind, "repeat": repeat, "times": truth.read(),
                     "before": before, "after": after}
                )  # fmt: skip
        made["clock"].append(truth.clock())
    made["stats"] = nvspan.device_stats()
    return made


def methods(truth: Truth) -> dict[str, Callable[[], Any]]:
    range_ = nvspan.device_range
    return {
        "exact": lambda: range_("ours", backend="exact"),
        "exact, in stream": lambda: range_("ours", backend="exact", placement="stream"),
        "callback": lambda: range_("ours", backend="callback"),
        "callback, in stream": lambda: range_("ours", backend="callback", placement="stream"),
        "torch": lambda: torch_range(truth.stream),
    }


def gpu_time(truth: Truth, put: Callable[[], None]) -> float:
    """us that the stream takes for what `put` enqueues, the best of several."""
    best = float("inf")
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(REPEATS):
        torch.cuda.synchronize()
        truth.hold(20_000_000)
        begin.record()
        put()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) * 1e3)
    return best


def eager(truth: Truth, kind: int, method: Callable[[], Any] | None) -> Callable[[], None]:
    def put() -> None:
        for i in range(RANGES):
            if method is None:
                truth.launch(kind, i)
            else:
                with method():
                    truth.launch(kind, i)

    return put


def cost(truth: Truth) -> dict[str, Any]:
    made: dict[str, Any] = {"eager": {}, "graph": {}, "cpu": {}}
    with torch.cuda.stream(truth.stream):
        for method in methods(truth).values():
            with method():
                pass
        plain = [gpu_time(truth, eager(truth, kind, None)) for kind in range(4)]
        made["plain"] = [value / RANGES for value in plain]
        for name, method in methods(truth).items():
            made["eager"][name] = [
                (gpu_time(truth, eager(truth, kind, method)) - plain[kind]) / RANGES
                for kind in range(4)
            ]
            times = []
            for _ in range(9):
                torch.cuda.synchronize()
                nvspan.device_flush(5)
                truth.hold(20_000_000)
                began = time.perf_counter_ns()
                for _ in range(RANGES):
                    with method():
                        pass
                times.append((time.perf_counter_ns() - began) / RANGES / 1e3)
                torch.cuda.synchronize()
            made["cpu"][name] = sorted(times)[len(times) // 2]

        def captured(kind: int, method: Callable[[], Any] | None) -> float:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=truth.stream):
                eager(truth, kind, method)()
            return gpu_time(truth, graph.replay)

        plain = [captured(kind, None) for kind in range(4)]
        for name, method in methods(truth).items():
            if name == "torch":
                continue  # crashes at the second replay
            made["graph"][name] = [
                (captured(kind, method) - plain[kind]) / RANGES for kind in range(4)
            ]
    nvspan.device_flush(20)
    made["stats"] = nvspan.device_stats()
    return made


def replays(truth: Truth, count: int) -> dict[str, Any]:
    def memory() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() // 1024

    with torch.cuda.stream(truth.stream):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=truth.stream):
            for _ in range(20):
                with nvspan.device_range("part", backend="exact"):
                    truth.library.truth_hold(truth.handle, ctypes.c_longlong(1000))
        began = time.time()
        used = []
        for i in range(count):
            graph.replay()
            if i % (count // 10) == 0:
                used.append(memory())
        truth.stream.synchronize()
        nvspan.device_flush(60)
        used.append(memory())
    return {"seconds": time.time() - began, "rss_kb": used, "stats": nvspan.device_stats()}


def drift(truth: Truth, seconds: int) -> dict[str, Any]:
    made: dict[str, Any] = {"truth": []}
    with torch.cuda.stream(truth.stream):
        for second in range(seconds):
            began = time.time()
            truth.reset()
            calibration = truth.calibrate()
            truth.hold(2_000_000)
            for i in range(10):
                with nvspan.device_range(f"second {second}", backend="exact", payload=i):
                    truth.launch(0, i)
            truth.stream.synchronize()
            after = truth.calibrate()
            made["truth"].append(
                {"kind": "second", "repeat": second, "times": truth.read()[:20],
                 "before": calibration, "after": after}
            )  # fmt: skip
            time.sleep(max(0.0, 1 - (time.time() - began)))
    nvspan.device_flush(20)
    made["stats"] = nvspan.device_stats()
    return made


def overlap(truth: Truth) -> dict[str, Any]:
    """Two streams of kernels that leave room for each other, with and without ranges: ms."""
    other = torch.cuda.Stream()
    handle = ctypes.c_void_p(other.cuda_stream)
    result: dict[str, Any] = {}
    for name, method in {"none": None, **methods(truth)}.items():
        best = float("inf")
        for _ in range(REPEATS):
            torch.cuda.synchronize()
            nvspan.device_flush(5)
            began = time.perf_counter()
            for _i in range(RANGES):
                for stream, place in ((truth.stream, truth.handle), (other, handle)):
                    with torch.cuda.stream(stream):
                        if method is None or (name == "torch" and stream is other):
                            truth.library.truth_hold(place, ctypes.c_longlong(50_000))
                        else:
                            with method():
                                truth.library.truth_hold(place, ctypes.c_longlong(50_000))
            torch.cuda.synchronize()
            best = min(best, (time.perf_counter() - began) * 1e3)
        result[name] = best
    return result


def main() -> None:
    torch.cuda.init()
    truth = Truth(sys.argv[1])
    what, rest = sys.argv[2], sys.argv[3:]
    if what == "accuracy":
        result = accuracy(truth, *rest)
    elif what == "cost":
        result = cost(truth)
    elif what == "overlap":
        result = overlap(truth)
    else:
        result = {"replays": replays, "drift": drift}[what](truth, int(rest[0]))
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
