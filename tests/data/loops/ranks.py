# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training by gloo whose slow rank is known: ``torchrun ranks.py``.

The loader of rank 5 takes 150 ms for each batch, those of the others 5 ms. The gradients are
averaged in each step, so all ranks take as long for one: the others wait in the backward pass.
"""

import time

import torch
import torch.distributed as dist

import nvspan
import nvspan.torch

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        time.sleep(0.15 if rank == 5 else 0.005)
        return torch.randn(16, 32)


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
loader = torch.utils.data.DataLoader(Data(), batch_size=None)
nvspan.torch.auto(model, optimizer, loader)
for batch in loader:
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
