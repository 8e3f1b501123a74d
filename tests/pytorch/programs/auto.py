# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Training loops under auto(): one case after the other, after a mark with its name."""

from __future__ import annotations

import logging
import pickle
import sys

import torch
from auto_cases import BACKWARD, CASES, X, auto, case, handles, parts, show, train
from torch.utils.data import DataLoader, Dataset, IterableDataset

import nvspan
import nvspan.torch

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


if __name__ == "__main__":
    import auto_calls  # noqa: F401  # the other cases

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
