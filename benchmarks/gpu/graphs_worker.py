# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A CUDA graph of layers, each of a kernel that no other has: the program of bench_graphs.py.

graphs_worker.py REPLAYS [EVERY]   says what a replay took, and its launch, in us
"""

from __future__ import annotations

import sys
import time

import torch

import nvspan
import nvspan.torch

OPS = [
    "sin",
    "cos",
    "tanh",
    "erf",
    "exp",
    "sqrt",
    "abs",
    "neg",
    "ceil",
    "floor",
    "sigmoid",
    "asinh",
]
KERNELS = 12  # of each layer


def main() -> None:
    replays, every = int(sys.argv[1]), int(sys.argv[2])
    x, out = torch.rand(1 << 16, device="cuda"), torch.empty(1 << 16, device="cuda")

    def layers(prefix: str) -> None:
        for name in OPS:
            with nvspan.annotate(prefix + name):
                for _ in range(KERNELS):
                    getattr(torch, name)(x, out=out)

    layers("eager ")  # what each layer's kernel is called
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    if every:
        nvspan.torch.sample_graph(graph, every=every)
    with torch.cuda.graph(graph):
        layers("layer ")
    for _ in range(2):
        graph.replay()
    torch.cuda.synchronize()
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    launches, blocks = [], []
    for _ in range(8):
        first.record()
        for _ in range(replays // 8):
            before = time.perf_counter()
            graph.replay()
            launches.append(time.perf_counter() - before)
        last.record()
        torch.cuda.synchronize()
        blocks.append(first.elapsed_time(last) / (replays // 8))
    print(f"{1e3 * min(blocks):.1f} {1e6 * sorted(launches)[len(launches) // 2]:.1f}")


if __name__ == "__main__":
    main()
