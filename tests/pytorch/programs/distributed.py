# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Two processes train with DDP or FSDP2, bare and annotated: the same to the bit.

distributed.py ddp|fsdp RENDEZVOUS cpu|cuda: by gloo, or with a GPU for each by NCCL, which wants
annotations with device=True.
"""

from __future__ import annotations

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

import nvspan
from nvspan.torch import annotate_module

try:
    from torch.distributed.fsdp import fully_shard
except ImportError:  # torch 2.5
    from torch.distributed._composable.fsdp import fully_shard


def sharded(model, where):
    mesh = init_device_mesh(where, (2,))
    fully_shard(model[0], mesh=mesh)
    fully_shard(model[2], mesh=mesh)
    return fully_shard(model, mesh=mesh)


def train(rank, kind, where, annotated):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    model.to(where)
    distributed = DistributedDataParallel(model) if kind == "ddp" else sharded(model, where)
    if annotated:
        annotate_module(distributed, backward=True, device=where == "cuda")
    optimizer = torch.optim.SGD(distributed.parameters(), lr=0.1)
    torch.manual_seed(rank)
    for _ in range(2):
        optimizer.zero_grad()
        distributed(torch.randn(3, 4).to(where)).square().mean().backward()
        optimizer.step()
    parameters = [each.detach() for each in model.parameters()]
    return [each.clone() if kind == "ddp" else each.full_tensor() for each in parameters]


def work(rank, kind, file, where):
    torch.set_num_threads(1)
    if where == "cuda":
        torch.cuda.set_device(rank)
    backend = "nccl" if where == "cuda" else "gloo"
    dist.init_process_group(backend, init_method=f"file://{file}", rank=rank, world_size=2)
    bare, annotated = (train(rank, kind, where, each) for each in (False, True))
    assert all(torch.equal(a, b) for a, b in zip(bare, annotated, strict=True))
    assert nvspan.device_flush(30)
    assert not any(nvspan.info()["device"]["lost"].values()), nvspan.info()["device"]
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    mp.spawn(work, tuple(sys.argv[1:]), nprocs=2)
    print("same")
