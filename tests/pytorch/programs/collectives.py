# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every collective of torch.distributed on two gloo processes, shown by auto(distributed=True)."""

import contextlib
import os
import sys
import warnings

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import nvspan
import nvspan.torch

folder = sys.argv[1]
rank, size = int(os.environ["RANK"]), 2
warnings.simplefilter("ignore")
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=size)
before = {name: getattr(dist, name) for name in ("all_reduce", "send", "barrier")}
wait = dist.Work.wait
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
handle = nvspan.torch.auto(model, optimizer, distributed=True)
one, many = torch.ones(4), [torch.zeros(4) for _ in range(size)]


def everything():
    pair = dist.new_group([0, 1])
    dist.all_reduce(one)
    dist.all_gather(many, one, group=pair)
    dist.all_gather_into_tensor(torch.zeros(8), one)
    dist.reduce_scatter_tensor(torch.zeros(2), one)
    dist.all_to_all_single(torch.zeros(4), one)
    dist.broadcast(one, src=1)
    dist.reduce(one, 0)
    dist.gather(one, many if rank == 0 else None, dst=0)
    dist.scatter(torch.zeros(4), many if rank == 0 else None, src=0)
    work = dist.all_reduce(one, async_op=True)
    work.wait()
    if rank == 0:
        dist.send(one, 1)
    else:
        dist.recv(one, 0)
    dist.barrier()
    for _ in range(2):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()


def reduce_and_add(x):
    dist.all_reduce(x)
    return x + 1


try:
    dist.all_reduce("no tensor")
except Exception as error:
    refused = type(error).__name__
dist.barrier()
with nvspan.record(f"{folder}/run-{rank}.nvspan"):
    everything()
everything()  # with no tool
with contextlib.ExitStack() as recorders:
    for number in range(3):
        if number == rank:  # a tool comes to one rank before it comes to the other
            recorders.enter_context(nvspan.record(f"{folder}/late-{rank}.nvspan"))
        dist.all_reduce(one)
        dist.all_reduce(one, group=dist.group.WORLD)
    dist.barrier()
with nvspan.record(f"{folder}/compiled-{rank}.nvspan"):
    compiled = torch.compile(reduce_and_add, backend="eager")
    compiled(torch.ones(2))
handle.remove()
assert {name: getattr(dist, name) for name in before} == before
assert dist.Work.wait is wait
dist.all_reduce(one)
print(refused, [round(each.sum().item(), 3) for each in model.parameters()])
dist.destroy_process_group()
