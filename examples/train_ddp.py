# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Train with DistributedDataParallel, each rank with ranges and a file of its own.

    nvspan record -o 'ddp-{rank}.nvspan' -- torchrun --nproc-per-node 2 examples/train_ddp.py
    nvspan report ddp-0.nvspan ddp-1.nvspan

The model learns which quarter of a circle a point lies in. NCCL where there is a GPU for each
process, else gloo on the CPU.
"""

from __future__ import annotations

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import nvspan
import nvspan.torch

POINTS = 4096
BATCH = 64


def points() -> TensorDataset:
    """Points within a circle, and the quarter that each lies in: the same on every rank."""
    generator = torch.Generator().manual_seed(0)
    where = torch.randn(POINTS, 2, generator=generator)
    return TensorDataset(where, (where[:, 0] > 0).long() + 2 * (where[:, 1] > 0).long())


class Classifier(nn.Module):
    """A network of three layers."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.first = nn.Linear(2, width)
        self.second = nn.Linear(width, width)
        self.head = nn.Linear(width, 4)

    def forward(self, where: torch.Tensor) -> torch.Tensor:
        return self.head(self.second(self.first(where).tanh()).tanh())


def train(steps: int, device: torch.device) -> list[float]:
    """Train and return the loss of each step, as the mean over all ranks."""
    torch.manual_seed(0)
    model = Classifier()
    nvspan.torch.annotate_module(model, backward=True, exclude="Classifier")
    distributed = DistributedDataParallel(model.to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    data = points()
    loader = DataLoader(data, batch_size=BATCH, sampler=DistributedSampler(data, seed=1))
    nvspan.torch.auto(distributed, optimizer, loader)
    losses: list[float] = []
    for where, quarter in loader:
        optimizer.zero_grad()
        output = distributed(where.to(device))
        loss = nn.functional.cross_entropy(output, quarter.to(device))
        loss.backward()
        optimizer.step()
        with nvspan.annotate("mean of the losses", domain="torch"):
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            losses.append(mean.item() / dist.get_world_size())
        if len(losses) == steps:
            break
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30, help="(default: %(default)s)")
    arguments = parser.parse_args()
    local_rank = int(os.environ["LOCAL_RANK"])
    on_gpu = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
    device = torch.device("cuda", local_rank) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_gpu else "gloo")
    losses = train(arguments.steps, device)
    if dist.get_rank() == 0:
        print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
