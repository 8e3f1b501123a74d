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

import nvspan
from nvspan.torch import annotate_module

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


torch.manual_seed(1)
X = torch.randn(2, 4)


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
def forward_of_two_models_of_a_class():
    actor, critic, other = (nn.Sequential(nn.Linear(4, 4)) for _ in range(3))
    with annotate_module(actor, depth=0) as first:
        with annotate_module(critic, depth=0), annotate_module(other, depth=0, name="other"):
            for model in (actor, critic, other):
                model(X)
        first.remove()
        with annotate_module(critic, depth=0):
            critic(X)


@case
def forward_exception():
    model = nn.Sequential(nn.Linear(4, 4))
    with annotate_module(model, include="0"), contextlib.suppress(RuntimeError):
        model(X[:, :3])
    nvspan.mark("after")


@case
def forward_arguments_and_outputs():
    class Odd(nn.Module):
        def forward(self, first, *rest, scale=2, **more):
            return {"a": (first * scale, [rest[0]]), "b": more["more"]}

    model = Odd()
    with annotate_module(model, backward=True):
        out = model(X.clone().requires_grad_(), X, more=X)
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


@case
def annotated_twice():
    class Outer(nn.Sequential):
        pass

    model = Outer(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)))
    annotate_module(model, forward=False, backward=True, depth=0)
    annotate_module(model[0], forward=False, backward=True)
    model(X).sum().backward()


def main():
    for name, run in CASES.items():
        nvspan.mark(f"case {name}")
        run()
        gc.collect()


if __name__ == "__main__":
    main()
