# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Training loops under auto(): one case after the other, after a mark with its name."""

from __future__ import annotations

import copy
import logging
import pickle
import sys
from collections import namedtuple
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import nvspan
import nvspan.torch
from nvspan.torch import annotate_module

BACKWARD = torch.autograd.backward
CASES = {}
handles = []


def case(function):
    CASES[function.__name__] = function
    return function


def auto(*args, **options):
    handles.append(nvspan.torch.auto(*args, **options))
    return handles[-1]


def parts(batches=2, optimizer=torch.optim.SGD, **options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    loader = DataLoader(TensorDataset(torch.randn(2 * batches, 4)), batch_size=2, **options)
    return model, optimizer(model.parameters(), lr=0.1), loader


def show(model):
    print(sum(each.sum().item() for each in model.parameters()))


def train(model, optimizer, loader):
    """The order of most programs."""
    for (x,) in loader:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


X = torch.ones(2, 4)

# ---- with a loader ------------------------------------------------------------------------------


@case
def two_epochs():
    model, optimizer, loader = parts()
    handle = auto(model, optimizer, loader)
    assert handle.dataloader is loader
    for _ in range(2):
        train(model, optimizer, loader)
    print(handle.step)
    show(model)


@case
def removed():
    model, optimizer, loader = parts(1)
    with auto(model, optimizer, loader):
        pass
    train(model, optimizer, loader)
    show(model)


@case
def removed_within():
    model, optimizer, loader = parts(2)
    handle = auto(model, optimizer, loader)
    for (x,) in loader:
        model(x)
        handle.remove()
        handle.remove()
    show(model)


@case
def left_by_break():
    model, optimizer, loader = parts()
    handle = auto(model, optimizer, loader)
    for _, (x,) in enumerate(loader):
        model(x)
        break
    nvspan.mark("out")
    handle.step = 10
    for (x,) in loader:
        model(x)
        break


@case
def left_by_an_exception():
    model, optimizer, loader = parts()
    auto(model, optimizer, loader)

    def loop():
        for (x,) in loader:
            model(x.flatten())

    try:
        loop()
    except RuntimeError:
        print("raised")
    nvspan.mark("out")


class Broken(Dataset):
    """Its second item raises."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        if index == 1:
            raise KeyError("item")
        return X[0]


@case
def data_set_that_raises():
    model, optimizer, _ = parts()
    loader = DataLoader(Broken())
    auto(model, optimizer, loader)
    iterator = iter(loader)
    seen = []
    while True:
        try:
            seen.append(tuple(next(iterator).shape))
        except KeyError as error:
            seen.append(error.args)
        except StopIteration:
            break
    print(seen)


class Stream(IterableDataset):
    """Has no length."""

    def __iter__(self):
        return iter([X[0], X[1]])


@case
def stream_without_a_length():
    model, optimizer, _ = parts()
    loader = DataLoader(Stream())
    handle = auto(model, optimizer, loader)
    for _ in range(2):
        for x in loader:
            model(x)
    print(handle.step)


@case
def workers_that_persist():
    model, optimizer, loader = parts(2, num_workers=1, persistent_workers=True)
    auto(model, optimizer, loader)
    for _ in range(2):
        for (x,) in loader:
            model(x)
    show(model)


@case
def two_iterators():
    model, optimizer, loader = parts(2)
    auto(model, optimizer, loader)
    for _, _ in zip(loader, loader, strict=False):
        pass


class Ahead(DataLoader):
    """Has the next batch before it gives one out."""

    def __iter__(self):
        kept = None
        for batch in super().__iter__():
            if kept is not None:
                yield kept
            kept = batch
        yield kept


@case
def loader_that_fetches_ahead():
    model, optimizer, loader = parts(2)
    loader = Ahead(loader.dataset, batch_size=2)
    auto(model, optimizer, loader)
    train(model, optimizer, loader)
    show(model)


@case
def list_of_batches():
    model, optimizer, _ = parts()
    batches = [(X,), (X + 1,)]
    handle = auto(model, optimizer, batches)
    print(len(handle.dataloader), handle.dataloader[0] is batches[0], handle.dataloader.count(0))
    print(pickle.loads(pickle.dumps(handle.dataloader))[1], bool(handle.dataloader))
    train(model, optimizer, handle.dataloader)
    handle.remove()
    train(model, optimizer, handle.dataloader)
    show(model)


@case
def generator_of_batches():
    model, optimizer, _ = parts()
    handle = auto(model, optimizer, ((X + i,) for i in range(2)))
    train(model, optimizer, handle.dataloader)
    show(model)


@case
def names_of_ones_own():
    model, optimizer, loader = parts(1)
    auto(model, optimizer, loader, step="iteration", domain="mine")
    train(model, optimizer, loader)


@case
def no_steps():
    model, optimizer, loader = parts(1)
    auto(model, optimizer, loader, step=None)
    train(model, optimizer, loader)


@case
def device_ranges_without_a_device():
    model, optimizer, loader = parts(1)
    auto(model, optimizer, loader, device=True)
    train(model, optimizer, loader)
    show(model)


# ---- without a loader ---------------------------------------------------------------------------


@case
def steps_from_zero_grad():
    model, optimizer, loader = parts()
    auto(model, optimizer)
    train(model, optimizer, loader)


@case
def steps_from_forward():
    model, optimizer, loader = parts()
    auto(model, optimizer)
    for (x,) in loader:
        model(x).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        model(X)
    model.eval()
    model(X)


@case
def steps_of_several_passes():
    model, optimizer, loader = parts(4)
    auto(model, optimizer)
    for i, (x,) in enumerate(loader):
        model(x).mean().backward()
        if i % 2:
            optimizer.step()


@case
def steps_that_are_given_up():
    model, optimizer, loader = parts()
    auto(model, optimizer)
    for i, (x,) in enumerate(loader):
        optimizer.zero_grad()
        loss = model(x).mean()
        if i == 0:
            continue
        loss.backward()
        optimizer.step()


@case
def two_optimizers():
    model, _, _ = parts()
    optimizers = [torch.optim.SGD(each.parameters()) for each in (model[0], model[2])]
    auto(model, optimizers)
    for _ in range(2):
        for each in optimizers:
            each.zero_grad()
            model(X).mean().backward()
            each.step()


@case
def model_alone():
    model, _, _ = parts()
    handle = auto(model)
    model(X).mean().backward()
    handle.remove()
    model(X).mean().backward()


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


if __name__ == "__main__":
    logging.getLogger("torch._dynamo").setLevel(logging.ERROR)
    for name in sys.argv[1:] or CASES:
        nvspan.mark(f"case {name}")
        print(name)
        CASES[name]()
        nvspan.mark("end")
        while handles:
            handles.pop().remove()
        assert torch.autograd.backward is BACKWARD
        assert not vars(torch.Tensor).keys() & {"to", "cuda"}
