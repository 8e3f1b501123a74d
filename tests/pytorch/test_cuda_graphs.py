# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Device ranges in the graphs that torch captures: each replay has its own."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from helpers.device import only_real
from helpers.recorded import record_command
from helpers.traced import needs_library

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = [
    needs_library,
    only_real,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch has no CUDA GPU here"),
]

START = """
import torch
import nvspan

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 64)

    def forward(self, x):
        with nvspan.annotate("cpu"), nvspan.device_range("gpu"):
            return self.layer(x).relu()

model = Model().cuda()
x = torch.randn(8, 64, device="cuda")
"""
END = """
torch.cuda.synchronize()
assert nvspan.device_flush(10)
assert not any(nvspan.info()["device"]["lost"].values()), nvspan.info()["device"]
"""


def shown(code):
    done = record_command([sys.executable, "-c", START + code + END])
    return Counter(each["name"] for each in done.recording.ranges.rows())


def test_graph():
    assert shown("""
with torch.no_grad():
    model(x)  # cuBLAS makes what it needs
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x)
for _ in range(5):
    graph.replay()
""") == {"cpu": 2, "gpu": 6}


def test_make_graphed_callables():
    assert shown("""
graphed = torch.cuda.make_graphed_callables(model, (x,), num_warmup_iters=3)
for _ in range(5):
    graphed(x).sum().backward()
""") == {"cpu": 4, "gpu": 8}


def test_reduce_overhead():
    assert shown("""
compiled = torch.compile(model, mode="reduce-overhead", fullgraph=True)
with torch.no_grad():
    for _ in range(5):
        with nvspan.annotate("call"), nvspan.device_range("replay"):
            compiled(x)
""") == {"call": 5, "replay": 5}
