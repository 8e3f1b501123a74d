# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of a training job on GPUs, whose steps are delayed at a place that is known.

    RANK=R WORLD_SIZE=N nvspan record -o FILE -- python train_cuda.py PLAN.json

It runs under `nvspan record`, as NCCL loads nvspan's plugin when a communicator is made. The plan:
folder, steps, graphs (whether a step is a CUDA graph), width and batch (of its layers), shared
(whether all ranks use one GPU) and one phase with place, rank and ms. Beside the recording goes
what the delay takes, measured before.
"""

import json
import os
import sys
from pathlib import Path

import torch
from torch import distributed

import nvspan

LAYERS = 4
WARM_UP = 12

plan = json.loads(Path(sys.argv[1]).read_text())
WIDTH, BATCH = plan["width"], plan["batch"]
(phase,) = plan["phases"]
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
cycles = 0


def measured_ms(count):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for _ in range(20):
        begin.record()
        torch.cuda._sleep(count)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[10]


def delay(place):
    if cycles and place == phase["place"]:
        torch.cuda._sleep(cycles)


class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        delay("forward")
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        delay("backward")
        return gradient


def main():
    global cycles
    own = 0 if plan["shared"] else rank
    torch.cuda.set_device(own)
    distributed.init_process_group(
        "nccl", init_method=f"file://{plan['folder']}/rendezvous", rank=rank, world_size=size,
        device_id=torch.device("cuda", own),
    )  # fmt: skip
    torch.manual_seed(0)
    options = {"device": "cuda", "dtype": torch.bfloat16}
    first, *others = [torch.nn.Linear(WIDTH, WIDTH, **options) for _ in range(LAYERS)]
    second = torch.nn.Sequential(*others)
    parameters = [*first.parameters(), *second.parameters()]
    batch = torch.randn(BATCH, WIDTH, **options)
    flat = torch.zeros(sum(each.numel() for each in parameters), **options)
    offset = 0
    for each in parameters:  # all gradients lie in one tensor, which is reduced at once
        each.grad = flat[offset : offset + each.numel()].view_as(each)
        offset += each.numel()
    optimizer = torch.optim.SGD(parameters, lr=1e-9, foreach=True)

    def work():
        with nvspan.annotate("forward", device=True):
            loss = second(Slow.apply(first(batch))).float().sum()
        with nvspan.annotate("backward", device=True):
            loss.backward()
        distributed.all_reduce(flat)
        with nvspan.annotate("optimizer.step", device=True):
            delay("optimizer")
            optimizer.step()
            flat.zero_()

    if rank == phase["rank"] and phase["ms"]:
        count = 1_000_000
        cycles = int(count * phase["ms"] / (measured_ms(count) - measured_ms(1)))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            work()
        stream.synchronize()
        run, graph = work, None
        if plan["graphs"]:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                work()
            run = graph.replay
        for number in range(plan["steps"]):
            with nvspan.annotate("step", payload=number):
                run()
                stream.synchronize()
    lasts = round(1e6 * (measured_ms(cycles) - measured_ms(1))) if cycles else 0
    told = {"delays": [lasts] * plan["steps"], "without_a_core": []}
    Path(plan["folder"], f"phase-1-{rank}.json").write_text(json.dumps(told))
    del run, graph  # NCCL waits for graphs that use a communicator before it ends it
    distributed.destroy_process_group()


main()
