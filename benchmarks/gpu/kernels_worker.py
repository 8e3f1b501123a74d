# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of bench_kernels.py.

kernels_worker.py list             a fixed list of work: eager, two streams, a graph, .item()
kernels_worker.py steps BATCH      reads how many steps to train, says how many ns they took
kernels_worker.py profiled BATCH   the same under torch.profiler
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import sys
import time

import torch
from torch import nn

import nvspan

WIDTH, LAYERS, HEADS, LENGTH, WORDS = 768, 12, 12, 1024, 50304


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        parts = self.qkv(self.first(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


class Model(nn.Module):
    """As large as GPT-2."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.last = nn.LayerNorm(WIDTH)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens) + self.places.weight
        return self.last(self.blocks(x)) @ self.words.weight.T


class Training:
    def __init__(self, batch: int) -> None:
        torch.manual_seed(0)
        self.model = Model().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.tokens = torch.randint(WORDS, (batch, LENGTH + 1), device="cuda")

    def step(self) -> None:
        with nvspan.annotate("step"):
            with torch.autocast("cuda", torch.bfloat16):
                scores = self.model(self.tokens[:, :-1])
                wanted = self.tokens[:, 1:].reshape(-1)
                loss = nn.functional.cross_entropy(scores.view(-1, WORDS), wanted)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)

    def steps(self, count: int) -> int:
        """How many ns they take."""
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        for _ in range(count):
            self.step()
        torch.cuda.synchronize()
        return time.perf_counter_ns() - begin


def begin_cupti(library: str) -> None:
    """CUPTI alone, of `library`, which cupti_alone.cpp makes."""
    (found,) = glob.glob(
        f"{os.path.dirname(torch.__path__[0])}/nvidia/**/libcupti.so.1?", recursive=True
    )
    result = ctypes.CDLL(library).cupti_alone(found.encode())
    if result:
        raise RuntimeError(f"CUPTI: {result}")


def serve(batch: int, profiled: bool) -> None:
    if os.environ.get("CUPTI_ALONE"):
        begin_cupti(os.environ["CUPTI_ALONE"])
    training = Training(batch)
    training.steps(5)
    print("ready", flush=True)
    for line in sys.stdin:
        with torch.profiler.profile() if profiled else contextlib.nullcontext():
            training.steps(1)
            took = training.steps(int(line))
        print(took, flush=True)


def work() -> None:
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    x = torch.randn(512, 512, device="cuda")
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    other, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    for _ in range(20):
        with nvspan.annotate("step"):
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            other.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(other):
                y = (x @ x).relu()
            torch.cuda.current_stream().wait_stream(other)
            loss.item()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y = x
        for _ in range(10):
            y = (y @ x).sigmoid()
    for _ in range(20):
        with nvspan.annotate("replay"):
            graph.replay()
    torch.cuda.synchronize()


if __name__ == "__main__":
    if sys.argv[1] == "list":
        work()
    else:
        serve(int(sys.argv[2]), sys.argv[1] == "profiled")
