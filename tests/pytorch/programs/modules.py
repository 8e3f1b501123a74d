# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Models with ranges on their modules: one case after the other, after a mark with its name."""

from __future__ import annotations

import contextlib
import copy
import gc
import io
import pickle
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import nvspan
from nvspan.torch import annotate_module


def pieces(n, activation=nn.Tanh):
    torch.manual_seed(0)
    made = [nn.Sequential(nn.Linear(4, 4), activation(), nn.Linear(4, 4)) for _ in range(n)]
    return nn.ModuleList(made)


class Named(nn.Module):
    """A model of three parts; what it does with them is the case's."""

    def __init__(self, run, n=3, activation=nn.Tanh):
        super().__init__()
        self.L = pieces(n, activation)
        self.run = run

    def forward(self, x):
        return self.run(self.L, x)


def annotated(run, n=3, activation=nn.Tanh, **options):
    model = Named(run, n, activation)
    options = {"include": ["L.?"], "backward": True, "forward": False, **options}
    annotate_module(model, **options)
    return model


def chain(parts, x):
    for part in parts:
        x = part(x)
    return x


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


torch.manual_seed(1)
X = torch.randn(2, 4)


def leaf():
    return X.clone().requires_grad_()


# ---- forward ------------------------------------------------------------------------------------


@case
def forward_nested():
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4)))
    with annotate_module(model):
        model(X)
    model(X)


@case
def forward_depth():
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 4)))
    for depth in (0, 1):
        with annotate_module(model, depth=depth):
            model(X)


@case
def forward_include_and_exclude():
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 4)))
    with annotate_module(model, include=nn.Linear, exclude="0"):
        model(X)
    with annotate_module(model, include=["1.*", "Seq*"], exclude=[nn.ReLU, "nothing"]):
        model(X)


@case
def forward_shared_module():
    linear = nn.Linear(4, 4)
    model = nn.Sequential(linear, nn.ReLU(), linear)
    with annotate_module(model):
        model(X)


@case
def forward_exception():
    model = annotated(lambda parts, x: parts[0](x[:, :3]), forward=True, backward=False)
    with contextlib.suppress(RuntimeError):
        model(X)
    nvspan.mark("after")


@case
def forward_arguments_and_outputs():
    class Odd(nn.Module):
        def forward(self, first, *rest, scale=2, **more):
            return {"a": (first * scale, [rest[0]]), "b": more["more"]}

    model = Odd()
    with annotate_module(model, backward=True):
        out = model(leaf(), X, more=X)
    assert out["a"][1][0] is X
    assert out["b"] is X


@case
def forward_with_super():
    class Base(nn.Module):
        def forward(self, x):
            return x + 1

    class Derived(Base):
        def forward(self, x):
            return super().forward(x) * 2

    model = Derived()
    for backward in (False, True):
        with annotate_module(model, backward=backward):
            assert torch.equal(model(X), (X + 1) * 2)


@case
def forward_of_an_instance():
    model = nn.Linear(4, 4)
    model.forward = lambda x: x + 1
    own = model.forward
    with annotate_module(model, backward=True):
        assert torch.equal(model(X), X + 1)
    assert model.forward is own


@case
def forward_that_is_decorated():
    class Decorated(nn.Module):
        @nvspan.annotate("mine", domain="torch")
        def forward(self, x):
            return x

    model = Decorated()
    for backward in (False, True):
        with annotate_module(model, backward=backward):
            model(X)


@case
def forward_checkpoint_reentrant():
    def run(parts, x):
        return checkpoint(parts[0], x, use_reentrant=True)

    model = annotated(run, 1, forward=True, backward=False)
    model(leaf()).sum().backward()


@case
def forward_checkpoint_with_early_stop():
    def run(parts, x):
        return checkpoint(lambda z: chain(parts, z), x, use_reentrant=False)

    model = annotated(run, 2, forward=True, backward=False)
    model(leaf()).sum().backward()
    nvspan.mark("after")


@case
def forward_of_a_compiled_model():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    compiled = torch.compile(model, backend="eager")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with annotate_module(compiled):
            assert torch.equal(compiled(X), model(X))
    assert ["is compiled" in str(each.message) for each in caught] == [True]
    model.compile(backend="eager")
    with annotate_module(model):
        model(X)
    model(X)


@case
def forward_compiled_afterwards():
    from torch._dynamo.testing import CompileCounter

    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    expected = model(X)
    for backward in (False, True):
        torch._dynamo.reset()
        with annotate_module(model, backward=backward):
            backend = CompileCounter()
            compiled = torch.compile(model, backend=backend, fullgraph=True)
            for _ in range(2):
                assert torch.equal(compiled(X), expected)
            assert (backend.frame_count, backend.op_count) == (1, 3), backend


# ---- copies -------------------------------------------------------------------------------------


@case
def copies_have_no_ranges():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    plain_keys = [sorted(vars(each)) for each in model.modules()]
    plain_state = model.state_dict()
    plain_pickle = pickle.dumps(model)
    handle = annotate_module(model, backward=True)
    assert list(model.state_dict()) == list(plain_state)
    assert pickle.dumps(model) == plain_pickle
    saved = io.BytesIO()
    torch.save(model, saved)
    saved.seek(0)
    replica = model._replicate_for_data_parallel()
    for made in (
        copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)),
        torch.load(saved, weights_only=False),
    ):  # fmt: skip
        if made is not None:
            assert not {"forward", "__getstate__"} & set(vars(made))
    deep = copy.deepcopy(model)
    assert [sorted(vars(each)) for each in deep.modules()] == plain_keys
    assert torch.equal(deep(X), replica(X)) is True
    handle.remove()
    handle.remove()
    assert [sorted(vars(each)) for each in model.modules()] == plain_keys


# ---- backward -----------------------------------------------------------------------------------


@case
def backward_chain():
    annotated(chain)(X).sum().backward()


@case
def backward_and_forward():
    annotated(chain, 2, forward=True)(X).sum().backward()


@case
def backward_residual():
    def run(parts, x):
        y = parts[0](x)
        return parts[2](parts[1](y) + y)

    annotated(run)(X).sum().backward()


@case
def backward_branches():
    def run(parts, x):
        y = parts[0](x)
        return parts[1](y) + parts[2](y)

    annotated(run)(X).sum().backward()


@case
def backward_in_place():
    def run(parts, x):
        y = parts[0](x)
        y.add_(1)
        return parts[1](y)

    annotated(run, 2)(X).sum().backward()


@case
def backward_in_place_activation():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))
    annotate_module(model, forward=False, backward=True)
    model(X).sum().backward()


@case
def backward_in_place_on_a_view():
    def run(parts, x):
        y = parts[0](x)[:1]
        y.mul_(2)
        return parts[1](y)

    annotated(run, 2)(X).sum().backward()


@case
def backward_twice():
    y = annotated(chain, 1)(X).sum()
    y.backward(retain_graph=True)
    y.backward()


@case
def backward_grad_of_the_input():
    z = leaf()
    torch.autograd.grad(annotated(chain)(z).sum(), z)


@case
def backward_grad_of_the_last_weight():
    model = annotated(chain)
    torch.autograd.grad(model(X).sum(), model.L[2][2].weight)


@case
def backward_double():
    model = annotated(chain, 2)
    z = leaf()
    (gradient,) = torch.autograd.grad(model(z).sum(), z, create_graph=True)
    nvspan.mark("|")
    gradient.square().sum().backward()


class Boom(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise ArithmeticError("boom")


@case
def backward_exception():
    def run(parts, x):
        return parts[2](Boom.apply(parts[1](parts[0](x))))

    def run_inside(parts, x):
        return parts[1](parts[0](x))

    model = annotated(run_inside, 2)
    model.L[1].insert(1, Boomer())
    loss = model(X).sum()
    try:
        loss.backward()
    except ArithmeticError:
        nvspan.mark("raised")
    del loss
    gc.collect()
    annotated(chain, 1)(X).sum().backward()


class Boomer(nn.Module):
    def forward(self, x):
        return Boom.apply(x)


@case
def backward_checkpoint_reentrant():
    def run(parts, x):
        return parts[2](checkpoint(parts[1], parts[0](x), use_reentrant=True))

    annotated(run)(leaf()).sum().backward()


@case
def backward_checkpoint_not_reentrant():
    def run(parts, x):
        return parts[2](checkpoint(parts[1], parts[0](x), use_reentrant=False))

    annotated(run)(leaf()).sum().backward()


@case
def backward_nested_modules():
    model = Named(chain, 2)
    annotate_module(model, forward=False, backward=True, depth=1)
    annotate_module(model.L[0], forward=False, backward=True)
    model(X).sum().backward()


@case
def backward_of_the_identity():
    model = nn.Sequential(nn.Linear(4, 4), nn.Identity())
    annotate_module(model, forward=False, backward=True)
    model(X).sum().backward()


@case
def backward_without_grad():
    model = annotated(chain, 1)
    with torch.no_grad():
        model(X)
    with torch.inference_mode():
        model(X)


@case
def backward_shared_module():
    linear = nn.Linear(4, 4)
    model = nn.Sequential(linear, nn.Tanh(), linear)
    annotate_module(model, forward=False, backward=True, include="0")
    model(X).sum().backward()


@case
def backward_recurrent():
    model = nn.LSTM(4, 4, num_layers=2)
    annotate_module(model, forward=True, backward=True)
    out, (h, c) = model(X)
    (out.sum() + h.sum() + c.sum()).backward()


@case
def backward_nested_outputs():
    class Odd(nn.Module):
        def forward(self, x):
            return {"a": (x * 2, [x.sin()]), "n": 5}

    model = Odd()
    annotate_module(model, forward=False, backward=True)
    out = model(leaf())
    (out["a"][0] + out["a"][1][0]).sum().backward()


def main():
    for name, run in CASES.items():
        nvspan.mark(f"case {name}")
        run()
        gc.collect()


if __name__ == "__main__":
    main()
