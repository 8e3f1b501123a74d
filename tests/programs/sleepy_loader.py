# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A training job of gloo processes whose rank 1 falls asleep in its loader: sleepy_loader.py FORM.

FORM is how the ranks meet in each step: ddp, fsdp, plain or async. The job prints its process ids,
and "ready" when rank 1 is about to sleep. It ends with its standard input.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
import time

import torch
import torch.distributed as dist

import nvspan
import nvspan.torch

RANKS, SLEEPER, STEP = 4, 1, 4


class Samples(torch.utils.data.Dataset):
    def __init__(self, rank: int) -> None:
        self._rank = rank

    def __len__(self) -> int:
        return 1000

    def __getitem__(self, index: int) -> torch.Tensor:
        if self._rank == SLEEPER and index == STEP:
            print("ready", flush=True)
            time.sleep(600)
        return torch.ones(8)


def meet(form: str, model: torch.nn.Module) -> None:
    """What a loop does itself with its gradients."""
    for parameter in model.parameters():
        if form == "plain":
            dist.all_reduce(parameter.grad)
        else:
            dist.all_reduce(parameter.grad, async_op=True).wait()


def work(rank: int, form: str, port: int) -> None:
    os.environ["RANK"] = str(rank)
    torch.set_num_threads(1)
    store = dist.TCPStore("127.0.0.1", port, RANKS, rank == 0)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=RANKS)
    model: torch.nn.Module = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
    if form == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
    elif form == "fsdp":
        from torch.distributed.fsdp import fully_shard

        fully_shard(model, mesh=dist.device_mesh.init_device_mesh("cpu", (RANKS,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(Samples(rank))
    nvspan.torch.auto(model, optimizer, loader, distributed=True)
    for batch in loader:
        with nvspan.annotate("step"):  # within auto's own
            model(batch).sum().backward()
            if form in ("plain", "async"):
                meet(form, model)
            optimizer.step()
            optimizer.zero_grad()


def main() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")
    workers = [
        context.Process(target=work, args=(rank, sys.argv[1], port)) for rank in range(RANKS)
    ]
    for worker in workers:
        worker.start()
    print(*[worker.pid for worker in workers], flush=True)
    sys.stdin.read()
    for worker in workers:
        worker.kill()


if __name__ == "__main__":
    main()
