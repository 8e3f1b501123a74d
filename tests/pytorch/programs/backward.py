# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Backward passes of annotated models: one case after the other, after a mark with its name.

Each case is a function that makes a model and one that trains it a step; the same is done with a
bare copy of the model, and gradients are compared to the bit. With the argument "prehooks", torch
lacks what else hooks its nodes; with "leak STEPS", see leak().
"""

from __future__ import annotations

import copy
import dataclasses
import gc
import sys
import threading
import weakref

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge
from torch.utils.checkpoint import checkpoint

import nvspan
from nvspan.torch import annotate_module

torch.manual_seed(1)
X = torch.randn(2, 3, 4)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(4, 4) for _ in range(3))
        self.out = nn.Linear(4, 4)

    def forward(self, x):
        scores = torch.softmax(self.q(x) @ self.k(x).transpose(-1, -2), -1)
        return self.out(scores @ self.v(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln, self.attn = nn.LayerNorm(4), Attention()
        self.mlp = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 4))

    def forward(self, x):
        x = x + self.attn(self.ln(x))
        return x + self.mlp(x)


class Transformer(nn.Module):
    def __init__(self, reentrant=None):
        super().__init__()
        self.embed = nn.Linear(4, 4)
        self.h = nn.ModuleList(Block() for _ in range(2))
        self.reentrant = reentrant

    def forward(self, x):
        x = self.embed(x)
        for block in self.h:
            if self.reentrant is None:
                x = block(x)
            else:
                x = checkpoint(block, x, use_reentrant=self.reentrant)
        return x


class Run(nn.Module):
    """`parts` in the way of the function that it is given."""

    def __init__(self, run, *parts):
        super().__init__()
        self.p = nn.ModuleList(parts)
        self.run = run

    def forward(self, x):
        return self.run(self.p, x)


def lin():
    return nn.Linear(4, 4)


@dataclasses.dataclass
class Output:
    first: torch.Tensor
    rest: list
    nothing: object = None


CASES = {}


def case(make, **options):
    def add(step):
        CASES[step.__name__] = (make, step, options)
        return step

    return add


def backward(model):
    model(X).sum().backward()


@case(Transformer)
def transformer(model):
    backward(model)


@case(lambda: Transformer(False), include=["Transformer", "embed", "h.?", "h.?.mlp"], forward=True)
def transformer_checkpointed(model):
    backward(model)


@case(lambda: Transformer(True), include=["Transformer", "embed", "h.?", "h.?.mlp"], forward=True)
def transformer_checkpointed_reentrant(model):
    backward(model)


@case(lambda: Run(lambda p, x: p[1](p[0](x)) + p[1](x), lin(), lin()))
def shared(model):
    backward(model)


@case(lambda: nn.Sequential(nn.RNN(4, 4), Run(lambda p, x: p[0](x[0]), nn.GRU(4, 4, 2))))
def recurrent(model):
    model(X)[0].sum().backward()


class Detaches(nn.Linear):
    def forward(self, x):
        return super().forward(x.detach())


@case(
    lambda: Run(lambda p, x: (lambda y: p[1](y) + p[2](y))(p[0](x)), lin(), lin(), Detaches(4, 4))
)
def input_is_detached_within(model):
    backward(model)


class Doubles(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = lin()

    def forward(self, x):
        x.mul_(2)
        return self.l(x)


@case(lambda: Run(lambda p, x: p[1](p[0](x)[:1]), lin(), Doubles()))
def view_of_the_input_changes_within(model):
    backward(model)


@case(lambda: Run(lambda p, x: p[1](torch.tanh(p[0](x))) + torch.sin(p[2](x)), lin(), lin(), lin()))
def functions_between(model):
    backward(model)


def spread(parts, x):
    y = parts[0](x)
    return Output(parts[1](y), [parts[2](y), {"more": (y * 2,)}])


@case(lambda: Run(spread, lin(), lin(), lin()))
def dataclass_output(model):
    out = model(X)
    (out.first + out.rest[0] + out.rest[1]["more"][0]).sum().backward()


@case(lambda: nn.Sequential(lin(), lin(), lin()))
def gradient_of_what_is_between(model):
    y = model[0](X)
    (gradient,) = torch.autograd.grad(model[2](model[1](y)).sum(), y)
    model[0].weight.grad = gradient.sum((0, 1)).expand(4, 4).clone()


@case(lambda: nn.Sequential(lin(), lin()))
def inputs_of_backward(model):
    model(X).sum().backward(inputs=[model[1].weight])


def between(model):
    y = model[0](X)
    return y, model[1](y).sum()


@case(lambda: nn.Sequential(lin(), lin()))
def output_among_inputs_of_backward(model):
    y, loss = between(model)
    loss.backward(inputs=[y], retain_graph=True)
    nvspan.mark("grad")
    torch.autograd.grad(loss, y, retain_graph=True)
    nvspan.mark("all")
    loss.backward()


@case(lambda: nn.Sequential(lin(), lin()))
def gradient_of_what_is_between_and_then_all(model):
    y, loss = between(model)
    for _ in range(2):
        torch.autograd.grad(loss, y, retain_graph=True)
        nvspan.mark("|")
    loss.backward()


@case(lambda: nn.Sequential(lin(), lin()))
def gradient_of_an_edge(model):
    y, loss = between(model)
    torch.autograd.grad(loss, get_gradient_edge(y), retain_graph=True)
    nvspan.mark("backward")
    loss.backward(inputs=[get_gradient_edge(model[0].weight)])


@case(lambda: nn.Sequential(lin(), lin()))
def gradients_of_parameters(model):
    gradients = torch.autograd.grad(between(model)[1], list(model.parameters()))
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        parameter.grad = gradient


class Unbinds(nn.Linear):
    def forward(self, x):
        return super().forward(x).unbind(0)


@case(lambda: nn.Sequential(lin(), Unbinds(4, 4)))
def gradient_of_one_of_two_outputs(model):
    y = model[0](X)
    one, other = model[1](y)
    loss = (one * other).sum()
    torch.autograd.grad(loss, one, retain_graph=True)
    nvspan.mark("and input")
    torch.autograd.grad(loss, [other, y], retain_graph=True)
    nvspan.mark("all")
    loss.backward()


@case(lambda: nn.Sequential(lin(), Unbinds(4, 4)))
def first_output_unused(model):
    model(X)[1].sum().backward()


class Doubling(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


@case(lambda: nn.Sequential(Run(lambda p, x: Doubling.apply(p[0](x)), lin()), lin()))
def function_in_python(model):
    y, loss = between(model)
    torch.autograd.grad(loss, y, retain_graph=True)
    nvspan.mark("inputs")
    loss.backward(inputs=[y], retain_graph=True)
    nvspan.mark("all")
    loss.backward()


@case(lambda: nn.Sequential(lin(), nn.Tanh()))
def anomalies_detected(model):
    with torch.autograd.set_detect_anomaly(True):
        backward(model)


@case(lambda: nn.Sequential(lin(), nn.Tanh()))
def retained(model):
    loss = model(X).sum()
    loss.backward(retain_graph=True)
    nvspan.mark("|")
    loss.backward()


@case(lambda: nn.Sequential(lin(), nn.Tanh()))
def double(model):
    (gradient,) = torch.autograd.grad(model(X).sum(), model[0].weight, create_graph=True)
    nvspan.mark("|")
    gradient.square().sum().backward()


class Boom(torch.autograd.Function):
    fails = True

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        if Boom.fails:
            raise ArithmeticError("boom")
        return gradient


class Boomer(nn.Module):
    def forward(self, x):
        return Boom.apply(x)


@case(lambda: nn.Sequential(lin(), nn.Sequential(lin(), Boomer(), lin())))
def raises(model):
    loss = model(X).sum()
    Boom.fails = True
    try:
        loss.backward(retain_graph=True)
    except ArithmeticError:
        nvspan.mark("raised")
    Boom.fails = False
    model.zero_grad()
    loss.backward()


@case(lambda: nn.Sequential(lin(), nn.Tanh()))
def in_another_thread(model):
    loss = model(X).sum()
    thread = threading.Thread(target=loss.backward)
    thread.start()
    thread.join()


@case(lambda: nn.Sequential(lin(), nn.Tanh()))
def never_run(model):
    model(X)


def main():
    for name, (make, step, options) in CASES.items():
        torch.manual_seed(0)
        bare = make()
        model = copy.deepcopy(bare)
        options = {"forward": False, "backward": True, **options}
        nvspan.mark(f"bare {name}")
        step(bare)
        handle = annotate_module(model, **options)
        nvspan.mark(f"case {name}")
        step(model)
        for one, other in zip(bare.parameters(), model.parameters(), strict=True):
            assert (one.grad is None) == (other.grad is None), name
            assert one.grad is None or torch.equal(one.grad, other.grad), name
        handle.remove()


def leak(steps):
    """Steps of all kinds leave no node, no tensor and no object behind."""
    model = nn.Sequential(lin(), Boomer(), nn.Sequential(nn.LayerNorm(4), lin()))
    annotate_module(model, backward=True)
    count = 0
    for step in range(steps):
        Boom.fails = step % 3 == 0
        out = model(X)
        seen = weakref.ref(out)
        try:
            out.sum().backward(retain_graph=step % 2 == 0)
        except ArithmeticError:
            pass
        del out
        assert seen() is None, step
        if step in (100, steps - 1):
            gc.collect()
            grown, count = len(gc.get_objects()) - count, len(gc.get_objects())
    assert grown < 100, grown


if __name__ == "__main__":
    if sys.argv[1:] == ["prehooks"]:
        del torch._C._will_engine_execute_node
    leak(int(sys.argv[2])) if sys.argv[1:2] == ["leak"] else main()
