# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Operators under annotate_ops(): one case after the other, after a mark with its name."""

from __future__ import annotations

import threading

import torch

import nvspan
from nvspan.torch import annotate_ops

CASES = {}
X = torch.arange(8.0).reshape(2, 4)


def case(function):
    CASES[function.__name__] = function
    return function


def layer():
    torch.manual_seed(0)
    return torch.nn.Linear(4, 4)


@case
def forward_and_backward():
    model = layer()
    first = torch._C._autograd._get_sequence_nr()
    with annotate_ops(exclude="aten::detach"):  # of which other versions have others
        y = model(X).tanh()
        y.sum().backward()
    print(y.grad_fn._sequence_nr() - first, model.weight.grad.sum().item())


@case
def without_gradients():
    model = layer()
    with annotate_ops(), torch.no_grad():
        y = model(X)
    with annotate_ops(), torch.inference_mode():
        z = X + 1
    print(y.sum().item(), z.sum().item())


@case
def chosen():
    with annotate_ops(include=["aten::ad*", "*sum"], exclude="aten::sum"):
        (X + 1).mul(2).sum()
    with annotate_ops(exclude=["aten::*"]):
        X + 1


@case
def within_one_another():
    ops = annotate_ops()
    with ops, ops:
        X + 1
        with annotate_ops(include="aten::mul"):
            X * 2
            X - 1
    X + 1
    with ops:
        X + 1


@case
def shapes():
    with annotate_ops(shapes=True):
        torch.cat([X, torch.addmm(X, X.new_ones(2, 2), X)])


@case
def raising():
    try:
        with annotate_ops():
            torch.mm(X, X)
    except RuntimeError:
        print("raised")
    X + 1


@case
def another_thread():
    with annotate_ops():
        thread = threading.Thread(target=lambda: X + 1)
        thread.start()
        thread.join()


@case
def level():
    with annotate_ops(level=99):
        X + 1


@case
def compiled():
    function = torch.compile(lambda x: (x + 1).sin(), backend="eager", fullgraph=True)
    with annotate_ops():
        y = function(X)
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    if torch.__version__.startswith("2.5."):
        graphs = None  # it compiles nothing under a mode of dispatch
    print((y - function(X)).abs().max().item(), graphs)


if __name__ == "__main__":
    for name, run in CASES.items():
        nvspan.mark(f"case {name}")
        print(name)
        run()
