# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of auto.py: optimizers, the backward pass, other tools of torch, transfers, losses."""

from __future__ import annotations

import copy
import pickle
from collections import namedtuple
from dataclasses import dataclass

import torch
from auto_cases import BACKWARD, X, auto, case, parts, show, train
from torch import nn
from torch.utils.checkpoint import checkpoint

import nvspan
import nvspan.torch
from nvspan.torch import annotate_module

# ---- optimizers ---------------------------------------------------------------------------------


@case
def optimizer_with_a_closure():
    model, optimizer, _ = parts(1, lambda p, lr: torch.optim.LBFGS(p, lr, max_iter=1))
    auto(model, optimizer)

    def closure():
        optimizer.zero_grad()
        loss = model(X).square().mean()
        loss.backward()
        return loss

    print(optimizer.step(closure).item())
    show(model)


@case
def schedulers_before_and_after():
    model, optimizer, loader = parts(2)
    schedulers = [torch.optim.lr_scheduler.StepLR(optimizer, 1)]
    handle = auto(model, optimizer, loader)
    handle.remove()
    print(sorted(vars(optimizer).keys() & {"step", "zero_grad", "__getstate__"}))
    model, optimizer, loader = parts(2)
    handle = auto(model, optimizer, loader)
    schedulers.append(torch.optim.lr_scheduler.StepLR(optimizer, 1))
    for (x,) in loader:
        model(x).mean().backward()
        optimizer.step()
        schedulers[1].step()
    print(schedulers[1].get_last_lr())
    handle.remove()
    optimizer.step()
    with auto(model, optimizer):
        optimizer.step()
    show(model)


@case
def scaled_gradients():
    model, optimizer, loader = parts(2)
    auto(model, optimizer, loader)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    for (x,) in loader:
        scaler.scale(model(x).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
    show(model)


# ---- backward -----------------------------------------------------------------------------------


@case
def one_range_for_a_backward_pass():
    model, _, _ = parts()
    auto(model)
    x = X.clone().requires_grad_()
    checkpoint(model, x, use_reentrant=True).sum().backward()
    torch.autograd.backward([model(x).sum(), x.sum()])
    (gradient,) = torch.autograd.grad(model(x).sum(), x)
    print(gradient.sum().item())


class Raising(torch.autograd.Function):
    """Whose backward pass raises."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("backward")


@case
def backward_that_raises():
    model, _, _ = parts()
    with auto(model):
        try:
            Raising.apply(model(X)).sum().backward()
        except ValueError as error:
            print(error)
    nvspan.mark("out")


@case
def two_autos():
    first, second = parts()[0], parts()[0]
    one, other = auto(first), auto(second, domain="second")
    (first(X) + second(X)).sum().backward()
    other.remove()
    (first(X) + second(X)).sum().backward()
    one.remove()
    (first(X) + second(X)).sum().backward()
    print(torch.autograd.backward is BACKWARD)


# ---- with others --------------------------------------------------------------------------------


@case
def modules_annotated_before_and_after():
    for auto_first in (True, False):
        model, _, _ = parts()
        made = {}
        for name in ("auto", "modules") if auto_first else ("modules", "auto"):
            made[name] = (
                auto(model) if name == "auto" else annotate_module(model, depth=0, backward=True)
            )
        model(X).sum().backward()
        model(X.requires_grad_(False))
        made["auto" if auto_first else "modules"].remove()
        nvspan.mark("one")
        model(X)
        made["modules" if auto_first else "auto"].remove()
        nvspan.mark("none")
        model(X)
        print(sorted(vars(model).keys() & {"forward", "__getstate__"}))


@case
def copies_have_no_ranges():
    model, optimizer, loader = parts(1)
    auto(model, optimizer, loader)
    annotate_module(model, depth=0)
    for made in (
        copy.deepcopy((model, optimizer, loader)),
        pickle.loads(pickle.dumps((model, optimizer, loader))),
    ):
        train(*made)
        show(made[0])
    train(copy.copy(model), copy.copy(optimizer), copy.copy(loader))
    print(list(model.state_dict()), list(optimizer.state_dict()))


class Linear(nn.Module):
    """torch compiles no Sequential in place."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)


@case
def compiled_before_and_after():
    model, optimizer, loader = parts(1)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    auto(compiled, optimizer, loader)
    train(compiled, optimizer, loader)
    nvspan.mark("after")
    model, optimizer, loader = parts(1)
    auto(model, optimizer, loader)
    train(torch.compile(model, backend="eager", fullgraph=True), optimizer, loader)
    nvspan.mark("in place")
    model, optimizer, loader = parts(1)
    model, optimizer.param_groups[0]["params"] = Linear(), []
    model.compile(backend="eager", fullgraph=True)
    auto(model, optimizer, loader)
    train(model, optimizer, loader)
    show(model)


@case
def compiled_step():
    model, optimizer, _ = parts(1)
    auto(model, optimizer)

    def step(x):
        optimizer.zero_grad()
        model(x.to("cpu")).mean().backward()
        optimizer.step()

    torch.compile(step, backend="eager")(X)
    show(model)


@case
def steps_within_compiled_code():
    criterion = nvspan.torch.loss(nn.functional.mse_loss)

    def function(x, number):
        with nvspan.step(number), nvspan.torch.loss():
            return criterion(x, x + 1)

    run = torch.compile(
        lambda x: [function(x, number) for number in range(3)], backend="eager", fullgraph=True
    )
    print(sum(run(X)).item())


# ---- to the device, the loss --------------------------------------------------------------------

Pair = namedtuple("Pair", "x y")


@dataclass
class Batch:
    """With a tensor and a word."""

    x: torch.Tensor
    word: str


@case
def transfers():
    model, _, loader = parts(1)
    handle = auto(model, None, loader)
    for (x,) in loader:
        x.to("meta")
        x.to(torch.device("meta"), torch.float16)
        x.to(device="meta")
        x.to(torch.empty(1, device="meta"))
        x.to(torch.float64)
        x.to("cpu")
        x.to("meta").to("meta")
        model(x)
    handle.remove()
    print("to" in vars(torch.Tensor), "cuda" in vars(torch.Tensor))
    X.to("meta")


@case
def transfers_by_hand():
    handle = auto(parts()[0], None, [X])
    packed = nn.utils.rnn.pack_padded_sequence(torch.ones(2, 1), torch.tensor([2]))
    for x in handle.dataloader:
        batch = [x, {"a": (x, 1)}, Pair(x, None), Batch(x, "w"), packed, "text"]
        moved = nvspan.torch.to_device(batch, "meta")
        print(
            moved[0].device, moved[1]["a"][0].device, moved[2].x.device, moved[3].x.device,
            moved[4].data.device, moved[1]["a"][1], moved[2].y, moved[3].word, moved[5],
            [type(each).__name__ for each in moved], batch[3].x.device,
        )  # fmt: skip
        x.to("meta")
    nvspan.torch.to_device(X, "cpu")


def window_of(count):
    model, optimizer, loader = parts(4)
    auto(*(model, optimizer, loader)[:count])
    window = nvspan.torch.profile_window(1, 2, verbose=False)
    seen = []
    for (x,) in loader:
        model(x).sum().backward()
        seen.append(window.open)
        optimizer.step()
    print(seen, window.done)
    window.remove()


@case
def window_with_a_loader():
    window_of(3)


@case
def window_without_a_loader():
    window_of(2)


@case
def losses():
    criterion = nn.MSELoss()
    assert nvspan.torch.loss(nvspan.torch.loss(criterion)) is criterion
    print(criterion(X, X + 1).item(), type(copy.deepcopy(criterion).forward.__func__).__name__)
    copy.deepcopy(criterion)(X, X)
    function = nvspan.torch.loss(nn.functional.mse_loss)
    print(function(X, target=X + 2).item(), function.__name__)
    with nvspan.torch.loss(domain="mine"):
        pass
