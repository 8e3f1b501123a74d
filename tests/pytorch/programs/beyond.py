# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Annotations where Dynamo does more than trace one frame: breaks, escapes, operators of operators,
export."""

from __future__ import annotations

import json
import sys

import torch
from torch._dynamo.testing import CompileCounter
from torch._dynamo.utils import counters

import nvspan

kept = nvspan.annotate("kept")
results = {}


def bare(x):
    return (x * 2).sin()


def fresh(function, **options):
    torch._dynamo.reset()
    counters.clear()
    backend = CompileCounter()
    return backend, torch.compile(function, backend=backend, **options)


def broken(x):
    with nvspan.annotate("x"):
        y = x * 2
        torch._dynamo.graph_break()
        return y.sin()


def broken_kept(x):
    with kept:
        y = x * 2
        torch._dynamo.graph_break()
        return y.sin()


def printing(x):
    with kept:
        y = x * 2
        print("printed", file=sys.stderr)
        y = y.sin()
    return y


x = torch.randn(3, 4)
for name, function in {
    "a break in the body": broken,
    "a break in the body of a kept object": broken_kept,
    "print in the body": printing,
}.items():
    backend, compiled = fresh(function)
    equal = torch.equal(compiled(x), bare(x)) and torch.equal(compiled(x), bare(x))
    results[name] = [backend.frame_count, backend.op_count, equal]


def leaving(x):
    made = nvspan.annotate("made", payload=3)
    return x * 2, made


def leaving_kept(x):
    return x * 2, kept


for name, function in {
    "an object that leaves the frame": leaving,
    "a kept object that leaves the frame": leaving_kept,
}.items():
    backend, compiled = fresh(function, fullgraph=True)
    value, made = compiled(x)
    arguments = made.init_args
    equal = torch.equal(value, x * 2)
    results[name] = [type(made).__name__, arguments[0], arguments[4], equal]


def conditional(x):
    def yes(x):
        with nvspan.annotate("yes"):
            return x.sin()

    def no(x):
        with kept:
            return x.cos()

    return torch.cond(x.sum() > 0, yes, no, (x,))


_, compiled = fresh(conditional, fullgraph=True)
positive = x.abs()
results["cond"] = [
    torch.equal(compiled(positive), positive.sin())
    and torch.equal(compiled(-positive), (-positive).cos())
]


def mapped(x):
    def one(row):
        with nvspan.annotate("row"):
            return (row * 2).sin()

    return torch.vmap(one)(x)


_, compiled = fresh(mapped, fullgraph=True)
results["vmap"] = [torch.equal(compiled(x), bare(x))]


def differentiated(x):
    def total(z):
        with kept:
            return (z * z).sum()

    return torch.func.grad(total)(x)


_, compiled = fresh(differentiated, fullgraph=True)
results["func.grad"] = [torch.equal(compiled(x), 2 * x)]


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with nvspan.annotate("forward"):
            return x * 2

    @staticmethod
    def backward(ctx, grad):
        with kept:
            return grad * 2


backend, compiled = fresh(lambda x: Double.apply(x).sin(), fullgraph=True)
leaf = x.clone().requires_grad_()
value = compiled(leaf)
(wanted,) = torch.autograd.grad(bare(leaf).sum(), leaf)
(got,) = torch.autograd.grad(value.sum(), leaf)
results["autograd.Function"] = [
    backend.frame_count, sum(counters["graph_break"].values()), torch.equal(value, bare(x)),
    torch.equal(got, wanted),
]  # fmt: skip


class Layer(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.range = nvspan.annotate(name)

    def forward(self, x):
        with self.range:
            return self.linear(x).relu()


layers = torch.nn.Sequential(*[Layer(f"layer {i}") for i in range(4)])
backend, compiled = fresh(layers, fullgraph=True)
compiled(x)
results["kept objects of modules"] = [
    backend.frame_count, backend.op_count, sum(counters["recompiles"].values()),
    torch.equal(compiled(x), layers(x)),
]  # fmt: skip


class Plain(torch.nn.Module):
    def forward(self, x):
        return bare(x)


class Annotated(torch.nn.Module):
    @nvspan.annotate("forward")
    def forward(self, x):
        with kept, nvspan.annotate("x"):
            nvspan.mark("m")
            return bare(x)


for strict, name in ((True, "export"), (False, "export, not strict")):
    torch._dynamo.reset()
    wanted = torch.export.export(Plain(), (x,), strict=strict)
    got = torch.export.export(Annotated(), (x,), strict=strict)
    results[name] = [
        str(got.graph) == str(wanted.graph), torch.equal(got.module()(x), wanted.module()(x)),
    ]  # fmt: skip

json.dump(results, sys.stdout)
