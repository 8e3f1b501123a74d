# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Loops whose loader `auto` is not given, or whose loader is prepared afterwards."""

from __future__ import annotations

import sys

import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import nvspan
import nvspan.torch

CASES = {}
FEW = 3  # batches of an epoch


def case(function):
    CASES[function.__name__] = function
    return function


def parts():
    model = torch.nn.Linear(4, 1)
    loader = DataLoader(TensorDataset(torch.ones(2 * FEW, 4)), batch_size=2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1), loader


def train(model, optimizer, loader, backward=torch.Tensor.backward):
    for (x,) in loader:
        optimizer.zero_grad()
        backward(model(x).sum())
        optimizer.step()


@case
def bare():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        train(model, optimizer, loader)
        train(model, optimizer, loader)
    train(model, optimizer, loader)


@case
def bare_with_evaluation():
    model, optimizer, loader = parts()
    other = DataLoader(loader.dataset, batch_size=FEW)
    with nvspan.torch.auto(model, optimizer):
        for _ in range(2):
            train(model, optimizer, loader)
            model.eval()
            with torch.no_grad():
                for (x,) in other:
                    model(x)
            model.train()


@case
def bare_with_accumulation():
    model, optimizer, _ = parts()
    loader = DataLoader(TensorDataset(torch.ones(12, 4)), batch_size=2)
    with nvspan.torch.auto(model, optimizer):
        for number, (x,) in enumerate(loader):
            model(x).sum().backward()
            if number % 2:
                optimizer.step()
                optimizer.zero_grad()


class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.ones(FEW, 4))


@case
def bare_without_a_length():
    model, optimizer, _ = parts()
    with nvspan.torch.auto(model, optimizer):
        for x in DataLoader(Stream(), batch_size=1):
            model(x).sum().backward()
            optimizer.step()


@case
def another_loader_than_the_given():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer, loader):
        train(model, optimizer, DataLoader(loader.dataset, batch_size=2))
        train(model, optimizer, loader)


def accelerated(when):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    made = parts()
    auto = nvspan.torch.auto
    handle = auto(*made) if when == "before" else None
    model, optimizer, loader = accelerator.prepare(*made)
    if handle is None:
        handle = auto(model, optimizer, *([loader] if when == "with the loader" else []))
    with handle:
        train(model, optimizer, loader, accelerator.backward)


@case
def accelerate_before_prepare():
    accelerated("before")


@case
def accelerate_after_prepare():
    accelerated("after")


@case
def accelerate_with_the_prepared_loader():
    accelerated("with the loader")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nvspan.mark(f"case {name}")
        CASES[name]()
        nvspan.mark("end")
