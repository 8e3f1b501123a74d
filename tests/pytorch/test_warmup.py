# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan.torch.warmup: how often it calls the model, and that it leaves it as it was."""

from __future__ import annotations

import pytest

from helpers.traced import needs_library, run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

from nvspan.torch import ProfileableModel, warmup  # noqa: E402


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5)
        )
        self.calls = []

    def forward(self, x, scale=1.0):
        self.calls.append((tuple(x.shape), scale))
        return {"out": [self.layers(x) * scale, x.detach()], "none": None}


def test_it_calls_the_model():
    model = Counting()
    warmup(model, torch.ones(3, 4), steps=4, scale=2.0)
    assert model.calls == [((3, 4), 2.0)] * 4


@pytest.mark.parametrize("backward", [False, True])
def test_what_it_changes_is_put_back(backward):
    model, x = Counting(), torch.ones(3, 4, requires_grad=True)
    model(x)["out"][0].sum().backward()
    weight = model.layers[0].weight
    state = {name: value.clone() for name, value in model.state_dict().items()}
    gradients, kept = (weight.grad.clone(), x.grad.clone()), (weight.grad, x.grad)
    seed = torch.get_rng_state()
    warmup(model, x, backward=backward)
    assert len(model.calls) == 4
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())
    assert (weight.grad is kept[0], x.grad is kept[1]) == (True, True)
    assert torch.equal(weight.grad, gradients[0])
    assert torch.equal(x.grad, gradients[1])
    assert torch.equal(torch.get_rng_state(), seed)


def test_an_error_of_the_model_comes_through():
    model = Counting()
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        warmup(model, torch.ones(3, 5))
    warmup(lambda x: x, torch.ones(1), backward=True)


@needs_library
def test_nothing_is_emitted_meanwhile():
    traced = run_traced(
        "import torch, nvspan.torch\n"
        "model = torch.nn.Sequential(torch.nn.Linear(2, 2))\n"
        "nvspan.torch.annotate_module(model)\n"
        "nvspan.torch.warmup(model, torch.ones(1, 2))\n"
        "model(torch.ones(1, 2))\n".replace("\\\n", "\n")
    )
    pushed = [event["message"] for event in traced.events if event["kind"] == "push"]
    assert pushed == ["Sequential", "0"]


def test_the_protocol():
    class Marked(Counting):
        def forward_with_nvtx(self, x):
            return self(x)

    assert isinstance(Marked(), ProfileableModel)
    assert not isinstance(Counting(), ProfileableModel)


@pytest.mark.parametrize(
    ("steps", "error", "words"),
    [(0, ValueError, "steps must be 1 or more, not 0"), (1.5, TypeError, "steps must be an int")],
)
def test_what_makes_no_sense(steps, error, words):
    with pytest.raises(error, match=words):
        warmup(lambda: None, steps=steps)
