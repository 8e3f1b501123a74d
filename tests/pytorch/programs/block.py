# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A transformer's block with 20 annotations against the same block without any."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys

import torch
from torch._dynamo.testing import CompileCounter
from torch._dynamo.utils import counters
from torch.nn import functional

import nvspan

kept = nvspan.annotate("kept")
lib = nvspan.get_domain("lib")


class Nothing:
    """The same calls, which do nothing."""

    def annotate(self, *args, **kwargs):
        return contextlib.nullcontext()

    def push_range(self, *args, **kwargs):
        pass

    mark = pop_range = push_range


def make_block(api, keep):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(16) for _ in range(2)])
            self.qkv = torch.nn.Linear(16, 48)
            self.out = torch.nn.Linear(16, 16)
            self.up = torch.nn.Linear(16, 32)
            self.down = torch.nn.Linear(32, 16)

        def forward(self, x):
            with api.annotate("block", payload=x.shape[0] if api is nvspan else 0):
                with api.annotate("attention"):
                    x = x + self.attention(x)
                with api.annotate("mlp", color="red"):
                    x = x + self.mlp(x)
            return x

        def attention(self, x):
            with api.annotate("norm"):
                x = self.norms[0](x)
            with api.annotate("qkv"):
                q, k, v = self.qkv(x).chunk(3, -1)
            for i in range(4):
                with api.annotate(f"head {i}"):
                    api.mark("head", payload=i)
            with api.annotate("attend"), keep:
                x = functional.scaled_dot_product_attention(q, k, v)
            api.push_range("out")
            x = self.out(x)
            api.pop_range()
            return x

        def mlp(self, x):
            with api.annotate("norm", domain="lib"), keep:
                x = self.norms[1](x)
            with api.annotate("up"):
                x = self.up(x)
            with api.annotate("gelu"):
                x = functional.gelu(x)
            with api.annotate("down"), keep:
                return self.down(x)

    torch.manual_seed(0)
    return Block()


def digest(tensors):
    return hashlib.sha256(b"".join(t.detach().numpy().tobytes() for t in tensors)).hexdigest()


def run(block, backend):
    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(block, backend=backend, fullgraph=True)
    torch.manual_seed(1)
    values = []
    for _ in range(3):
        x = torch.randn(2, 5, 16, requires_grad=True)
        y = compiled(x)
        grads = torch.autograd.grad(y.square().sum(), [x, *block.parameters()])
        values += [y, *grads]
    return values


def summary(block):
    backend = CompileCounter()
    values = run(block, backend)
    return {
        "graphs": backend.frame_count, "ops": backend.op_count, "values": digest(values),
        "recompiles": sum(counters["recompiles"].values()),
        "breaks": sum(counters["graph_break"].values()),
    }  # fmt: skip


bare, annotated = make_block(Nothing(), contextlib.nullcontext()), make_block(nvspan, kept)
report = {"bare": summary(bare), "annotated": summary(annotated)}
for name in sys.argv[1:]:
    report[name] = digest(run(bare, name)) == digest(run(annotated, name))
json.dump(report, sys.stdout)
