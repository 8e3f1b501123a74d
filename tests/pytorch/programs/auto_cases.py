# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the cases of auto.py share: the list of them, and a small model with its loader."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import nvspan.torch

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
