# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A loop of Accelerate under auto(), before prepare(); its loader does most of the work."""

import torch
from accelerate import Accelerator
from measured import phase, work
from torch.utils.data import DataLoader, Dataset

import nvspan.torch

torch.set_num_threads(1)


class Images(Dataset):
    def __len__(self):
        return 40 * 8

    def __getitem__(self, index):
        work(10)
        return torch.full((64,), float(index))


model = torch.nn.Linear(64, 8)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
loader = DataLoader(Images(), batch_size=8)
accelerator = Accelerator(cpu=True)
nvspan.torch.auto(model, optimizer, loader)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
batches = iter(loader)
with phase("loop", is_annotated=False):
    for _ in range(40):
        with phase("fetch", is_annotated=False):
            inputs = next(batches)
        accelerator.backward(model(inputs).square().mean())
        optimizer.step()
        optimizer.zero_grad()
