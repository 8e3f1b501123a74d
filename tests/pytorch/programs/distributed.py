# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Two processes train with DDP or FSDP2, bare and annotated: the same to the bit."""

from __future__ import annotations

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

from nvspan.torch import annotate_module

try:
    from torch.distributed.fsdp import fully_shard
except ImportError:  # torch 2.5
    from torch.distributed._composable.fsdp import fully_shard


def sharded(model):
    mesh = init_device_mesh("cpu", (2,))
    fully_shard(model[0], mesh=mesh)
    fully_shard(model[2], mesh=mesh)
    return fully_shard(model, mesh=mesh)


def train(rank, kind, annotated):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    distributed = DistributedDataParallel(model) if kind == "ddp" else sharded(model)
    if annotated:
        annotate_module(distributed, backward=True)
    optimizer = torch.optim.SGD(distributed.parameters(), lr=0.1)
    torch.manual_seed(rank)
    for _ in range(2):
        optimizer.zero_grad()
        distributed(torch.randn(3, 4)).square().mean().backward()
        optimizer.step()
    parameters = [each.detach() for each in model.parameters()]
    return [each.clone() if kind == "ddp" else each.full_tensor() for each in parameters]


def work(rank, kind, file):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    bare, annotated = train(rank, kind, False), train(rank, kind, True)
    assert all(torch.equal(a, b) for a, b in zip(bare, annotated, strict=True))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    mp.spawn(work, tuple(sys.argv[1:]), nprocs=2)
    print("same")
