# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Steps whose kernels and pauses have known lengths: the programs of bench_busy.py.

busy_worker.py PROGRAM   says for how many ms the GPU was busy in a step
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import torch

import nvspan

STEPS = 60


class Spin:
    """A kernel that takes a number of ms, by the clock of events."""

    def __init__(self) -> None:
        self.first, self.last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        few, many = 20_000_000, 60_000_000
        for _ in range(30):
            self.measured(few)  # the clock of the GPU goes up
        self.per_ms = (many - few) / (self.measured(many) - self.measured(few))

    def measured(self, cycles: int) -> float:
        """The median of some, in ms."""
        found = []
        for _ in range(9):
            self.first.record()
            torch.cuda._sleep(cycles)
            self.last.record()
            torch.cuda.synchronize()
            found.append(self.first.elapsed_time(self.last))
        return sorted(found)[4]

    def __call__(self, ms: float) -> None:
        torch.cuda._sleep(int(self.per_ms * ms))


def pause(ms: float) -> None:
    end = time.perf_counter() + ms / 1e3
    while time.perf_counter() < end:
        pass


def program(name: str, spin: Spin) -> tuple[Callable[[], None], float]:
    """The step, and how long its kernels take."""
    x = torch.zeros(64, device="cuda")
    model = torch.nn.Linear(512, 512).cuda()
    batch = torch.randn(64, 512, device="cuda")
    graph = torch.cuda.CUDAGraph()
    if name == "graph":
        with torch.cuda.graph(graph):
            for _ in range(5):
                spin(0.4)
    if name == "compiled":
        model.compile()
        model(batch)

    def tiny() -> None:
        with nvspan.annotate("forward"):
            for _ in range(40):
                spin(0.02)
                pause(0.1)

    def item() -> None:
        with nvspan.annotate("forward"):
            for _ in range(4):
                spin(0.25)
                x.sum().item()
                pause(3)

    def loader() -> None:
        with nvspan.annotate("data"):
            pause(12)
        with nvspan.annotate("forward"):
            spin(4)
            torch.cuda.synchronize()

    def bound() -> None:
        with nvspan.annotate("forward"):
            for _ in range(4):
                spin(2.5)
        with nvspan.annotate("wait"):
            torch.cuda.synchronize()

    def replayed() -> None:
        with nvspan.annotate("prepare"):
            pause(6)
        with nvspan.annotate("replay"):
            graph.replay()
            torch.cuda.synchronize()

    def compiled() -> None:
        with nvspan.annotate("forward"):
            model(batch)
            spin(3)
        with nvspan.annotate("wait"):
            torch.cuda.synchronize()

    return {
        "tiny": (tiny, 0.8), "item": (item, 1.0), "loader": (loader, 4.0), "gpu": (bound, 10.0),
        "graph": (replayed, 2.0), "compiled": (compiled, 3.0),
    }[name]  # fmt: skip


def main() -> None:
    spin = Spin()
    step, busy = program(sys.argv[1], spin)
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    for _ in range(STEPS):
        with nvspan.annotate("step"):
            step()
    torch.cuda.synchronize()
    print(busy * spin.measured(int(4 * spin.per_ms)) / 4)


if __name__ == "__main__":
    main()
