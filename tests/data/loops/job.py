# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training by gloo, with its collectives: ``torchrun job.py``.

The loader of rank 5 takes 60 ms for each batch, those of the others 5 ms; in step 40 the forward
pass of rank 2 takes 250 ms more.
"""

import time

import torch
import torch.distributed as dist

import nvspan
import nvspan.torch

STEPS = 64
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, i):
        time.sleep(0.06 if rank == 5 else 0.005)
        return i, torch.randn(16, 32)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)
        )

    def forward(self, i, batch):
        if (rank, i) == (2, 40):
            time.sleep(0.25)
        return self.layers(batch)


torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(Net())
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
loader = torch.utils.data.DataLoader(Data(), batch_size=None)
nvspan.torch.auto(model, optimizer, loader, distributed=True)
for i, batch in loader:
    optimizer.zero_grad()
    model(i, batch).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
