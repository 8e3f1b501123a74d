# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of kernels with given times, launched from ranges with given times. Times are us."""

from __future__ import annotations

import os
from array import array
from pathlib import Path

import nvspan
from nvspan import _reader

MAIN, AUTOGRAD = 1, 2
KINDS = ("kernel", "copy", "set", "graph")


def _ns(us: float) -> array[int]:
    return array("q", [round(1000 * us)])


class WrittenGpu:
    """A process with two threads and a GPU; the recording is what ends the `with`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = _reader.ExternalWriter(os.fsencode(path))
        self._process = self._writer.process(77)
        self._threads = {tid: self._writer.thread(self._process, tid) for tid in (MAIN, AUTOGRAD)}
        self._domains: dict[str | None, int] = {}
        self._calls = 0

    def __enter__(self) -> WrittenGpu:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.__exit__(None, None, None)

    def read(self) -> nvspan.Recording:
        return nvspan.read(self.path)

    def _domain(self, name: str | None) -> int:
        if name not in self._domains:
            number = self._domains[name] = self._writer.domain(self._process, name)
            if name == "torch":
                self._writer.category(number, 1, "forward")
                self._writer.category(number, 2, "backward")
            if name == "CUDA":
                for category, kind in enumerate(KINDS, 1):
                    self._writer.category(number, category, kind)
        return self._domains[name]

    def range(self, name: str, start: float, end: float, *, domain: str | None = None,
              tid: int = MAIN, category: int | None = None, kind: str = "push_pop",
              payload: int | None = None) -> None:  # fmt: skip
        self._writer.ranges(
            self._threads[tid], self._domain(domain), _ns(start), _ns(end),
            name=self._writer.strings([name]), kind=kind, category=category,
            payload=None if payload is None else array("Q", [payload]),
        )  # fmt: skip

    def module(self, name: str, start: float, end: float, *, backward: bool = False) -> None:
        """A module's forward pass on the main thread, or its backward pass on autograd's."""
        if backward:
            self.range(name, start, end, domain="torch", tid=AUTOGRAD, category=2,
                       kind="start_end")  # fmt: skip
        else:
            self.range(name, start, end, domain="torch", category=1)

    def call(self, name: str, start: float, end: float, *, tid: int = MAIN) -> int:
        """A call of CUDA; returns its number."""
        self._calls += 1
        self.range(name, start, end, domain="CUDA API", tid=tid, kind="start_end",
                   payload=self._calls)  # fmt: skip
        return self._calls

    def work(self, name: str, start: float, end: float, *, launched: float | None,
             tid: int = MAIN, kind: str = "kernel", stream: int = 7, device: int = 0,
             calls: bool = True) -> None:  # fmt: skip
        """A kernel or the like, and its launch, which takes 1 us; None: it is not known."""
        known = {}
        if launched is not None:
            number = 0
            if calls:
                number = self.call("cudaLaunchKernel", launched, launched + 1, tid=tid)
            known = {"launched": _ns(launched), "tid": tid, "correlation": number}
        self._writer.device_ranges(
            self._process, self._domain("CUDA"), _ns(start), _ns(end), device=device,
            stream=stream, name=self._writer.strings([name]), category=1 + KINDS.index(kind),
            **known,
        )  # fmt: skip

    def device_range(self, name: str, start: float, end: float, *, launched: float | None,
                     domain: str | None = None) -> None:  # fmt: skip
        known = {} if launched is None else {"launched": _ns(launched), "tid": MAIN}
        self._writer.device_ranges(
            self._process, self._domain(domain), _ns(start), _ns(end), device=0, stream=7,
            name=self._writer.strings([name]), **known,
        )  # fmt: skip
