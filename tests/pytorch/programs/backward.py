# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Backward passes of annotated models: one case after the other, after a mark with its name.

Each case is a function that makes a model and one that trains it a step; the same is done with a
bare copy of the model, and gradients are compared to the bit, those of LEAF too. With the argument
"prehooks", torch lacks what else hooks its nodes; with "leak STEPS", see leak().
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
LEAF = X.clone().requires_grad_()


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


def piece():
    return nn.Sequential(lin(), nn.Tanh(), lin())


def pieces(run, n, **options):
    """What `case` takes: a model of so many pieces, with ranges of these alone."""
    return (lambda: Run(run, *(piece() for _ in range(n)))), {"include": "p.?", **options}


def chain(parts, x):
    for part in parts:
        x = part(x)
    return x


@dataclasses.dataclass
class Output:
    first: torch.Tensor
    rest: list
    nothing: object = None


def of_dataclass(parts, x):
    y = parts[0](x)
    return Output(parts[1](y), [parts[2](y), {"more": (y * 2,)}])


def of_dictionary(parts, x):
    return {"a": (x * 2, [x.sin()]), "n": 5}


def from_the_same(parts, x):
    y = parts[0](x)
    return parts[1](y) + parts[2](y)


def changed_in_place(parts, x):
    y = parts[0](x[0])
    y.add_(1)
    return parts[1](y)


def changed_view(parts, x):
    y = parts[0](x[0])[:1]
    y.mul_(2)
    return parts[1](y)


class Detaches(nn.Linear):
    def forward(self, x):
        return super().forward(x.detach())


class Doubles(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = lin()

    def forward(self, x):
        x.mul_(2)
        return self.l(x)


def residual(parts, x):
    y = parts[0](x)
    return parts[2](parts[1](y) + y)


def functions(parts, x):
    return parts[1](torch.tanh(parts[0](x))) + torch.sin(parts[2](x))


def checkpointed(reentrant):
    return lambda p, x: p[2](checkpoint(p[1], p[0](x), use_reentrant=reentrant))


def repeated():
    linear = lin()
    return nn.Sequential(linear, nn.Tanh(), linear)


BLOCKS = {"include": ["Transformer", "embed", "h.?", "h.?.mlp"], "forward": True}
FORWARD = {"forward": True, "backward": False}
# Models that are trained by backward(): how they are made, and options of annotate_module.
PASSES = {
    "transformer": (Transformer, {}),
    "transformer_checkpointed": (lambda: Transformer(False), BLOCKS),
    "transformer_checkpointed_reentrant": (lambda: Transformer(True), BLOCKS),
    "shared": (lambda: Run(lambda p, x: p[1](p[0](x)) + p[1](x), lin(), lin()), {}),
    "input_is_detached_within": (lambda: Run(from_the_same, lin(), lin(), Detaches(4, 4)), {}),
    "view_of_the_input_changes_within": (
        lambda: Run(lambda p, x: p[1](p[0](x)[:1]), lin(), Doubles()), {},
    ),
    "functions_between": (lambda: Run(functions, lin(), lin(), lin()), {}),
    "chain": pieces(chain, 3),
    "chain_and_forward": pieces(chain, 2, forward=True),
    "residual": pieces(residual, 3),
    "branches": pieces(from_the_same, 3),
    "in_place": pieces(changed_in_place, 2),
    "in_place_on_a_view": pieces(changed_view, 2),
    "checkpoint": pieces(checkpointed(False), 3),
    "checkpoint_reentrant": pieces(checkpointed(True), 3),
    "checkpoint_reentrant_forward": pieces(
        lambda p, x: checkpoint(p[0], LEAF, use_reentrant=True), 1, **FORWARD
    ),
    "checkpoint_with_early_stop_forward": pieces(
        lambda p, x: checkpoint(lambda z: chain(p, z), x, use_reentrant=False), 2, **FORWARD
    ),
    "identity": (lambda: nn.Sequential(lin(), nn.Identity()), {}),
    "shared_module": (repeated, {"include": "0"}),
}  # fmt: skip
CASES = {}


def case(make, options=None):
    def add(step):
        CASES[step.__name__] = (make, step, options or {})
        return step

    return add


def backward(model):
    model(X).sum().backward()


CASES.update((name, (make, backward, options)) for name, (make, options) in PASSES.items())


@case(lambda: nn.Sequential(nn.RNN(4, 4), Run(lambda p, x: p[0](x[0]), nn.GRU(4, 4, 2))))
def recurrent(model):
    model(X)[0].sum().backward()


@case(lambda: nn.LSTM(4, 4, num_layers=2), {"forward": True})
def recurrent_with_states(model):
    out, (h, c) = model(X)
    (out.sum() + h.sum() + c.sum()).backward()


@case(lambda: nn.Sequential(lin(), nn.ReLU(inplace=True), lin()))
def in_place_activation(model):
    model(X[0]).sum().backward()


@case(lambda: Run(of_dataclass, lin(), lin(), lin()))
def dataclass_output(model):
    out = model(X)
    (out.first + out.rest[0] + out.rest[1]["more"][0]).sum().backward()


@case(lambda: Run(of_dictionary))
def nested_outputs(model):
    out = model(LEAF)
    (out["a"][0] + out["a"][1][0]).sum().backward()


@case(*pieces(chain, 1))
def without_gradients(model):
    with torch.no_grad():
        model(X)
    with torch.inference_mode():
        model(X)


@case(lambda: nn.Sequential(lin(), lin(), lin()))
def gradient_of_what_is_between(model):
    y = model[0](X)
    (gradient,) = torch.autograd.grad(model[2](model[1](y)).sum(), y)
    model[0].weight.grad = gradient.sum((0, 1)).expand(4, 4).clone()


@case(*pieces(chain, 3))
def gradient_of_the_input(model):
    torch.autograd.grad(model(LEAF).sum(), LEAF)


@case(*pieces(chain, 3))
def gradient_of_the_last_weight(model):
    torch.autograd.grad(model(X).sum(), model.p[2][2].weight)


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


@case(*pieces(chain, 2))
def double_of_the_input(model):
    (gradient,) = torch.autograd.grad(model(LEAF).sum(), LEAF, create_graph=True)
    nvspan.mark("|")
    gradient.square().sum().backward()


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


@case(lambda: Run(chain, piece(), nn.Sequential(lin(), Boomer(), lin())), {"include": "p.?"})
def raises_and_another_pass(model):
    loss = model(X).sum()
    Boom.fails = True
    try:
        loss.backward()
    except ArithmeticError:
        nvspan.mark("raised")
    del loss
    gc.collect()
    model.p[0](X).sum().backward()


@case(lambda: nn.Sequential(lin(), nn.Tanh()))
def in_another_thread(model):
    loss = model(X).sum()
    thread = threading.Thread(target=loss.backward)
    thread.start()
    thread.join()


@case(lambda: nn.Sequential(lin(), nn.Tanh()))
def never_run(model):
    model(X)


def trained(model, step):
    """The gradients that a step leaves."""
    LEAF.grad = None
    step(model)
    return [each.grad for each in (LEAF, *model.parameters())]


def main():
    for name, (make, step, options) in CASES.items():
        torch.manual_seed(0)
        bare = make()
        model = copy.deepcopy(bare)
        nvspan.mark(f"case bare {name}")
        wanted = trained(bare, step)
        with annotate_module(model, **{"forward": False, "backward": True, **options}):
            nvspan.mark(f"case {name}")
            got = trained(model, step)
        for one, other in zip(wanted, got, strict=True):
            assert (one is None) == (other is None), name
            assert one is None or torch.equal(one, other), name


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
