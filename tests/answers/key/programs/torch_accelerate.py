# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A loop of Accelerate: a prepared loader between the steps."""

import torch
from accelerate import Accelerator
from measured import phase, work
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


class Texts(Dataset):
    def __len__(self):
        return 50 * 4

    def __getitem__(self, index):
        work(12)
        return torch.full((64,), float(index))


accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(64, 8)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(Texts(), batch_size=4))
next(iter(loader))  # the first fetch is slower
batches = iter(loader)
inputs = next(batches)  # two batches, as the loader reads ahead, and not between steps
for _ in range(50):
    with phase("train_step"):
        with phase("forward"):
            loss = model(inputs).square().mean()
        with phase("accelerator.backward"):
            accelerator.backward(loss)
        with phase("optimizer.step"):
            optimizer.step()
            optimizer.zero_grad()
    with phase("dataloader.next"):
        inputs = next(batches, None)
