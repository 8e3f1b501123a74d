# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Training loops whose answer is known: ``python loop.py data|item|launch|gpu|graph [TRACE]``."""

import sys
import time

import torch

import nvspan
import nvspan.torch

kind = sys.argv[1]
trace = sys.argv[2] if len(sys.argv) > 2 else None
torch.manual_seed(0)
width = {"data": 512, "item": 256, "launch": 64, "gpu": 8192, "graph": 512}[kind]
layers = []
for _ in range({"launch": 40, "gpu": 3}.get(kind, 6)):
    layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), 1e-3, foreach=kind != "launch")
batch = torch.randn({"gpu": 8192, "launch": 8}.get(kind, 256), width)
if kind == "gpu":
    batch = batch.cuda()


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, i):
        if kind == "data":
            time.sleep(0.02 if i != 13 else 0.06)
        return batch


def replay():
    static = batch.cuda()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(static).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with nvspan.device_range("forward", domain="torch"):
            loss = model(static).square().mean()
        with nvspan.device_range("backward", domain="torch"):
            loss.backward()
        with nvspan.device_range("optimizer.step", domain="torch"):
            optimizer.step()
    for number in range(20):
        with nvspan.step(number):
            static.copy_(batch, non_blocking=True)
            graph.replay()
            torch.cuda.synchronize()
            time.sleep(0.002)
    nvspan.device_flush()


def train():
    loader = torch.utils.data.DataLoader(Data(), batch_size=None)
    nvspan.torch.auto(model, optimizer, loader, device=True)
    prof = None
    if trace:
        from torch.profiler import profile, schedule

        prof = profile(schedule=schedule(wait=8, warmup=2, active=6))
        prof.__enter__()
    for data in loader:
        optimizer.zero_grad()
        loss = model(data.cuda(non_blocking=True)).square().mean()
        if kind == "item":
            for parameter in model.parameters():
                parameter.norm().item()
            loss.item()
        loss.backward()
        optimizer.step()
        if prof:
            prof.step()
    torch.cuda.synchronize()
    if prof:
        prof.__exit__(None, None, None)
        prof.export_chrome_trace(trace)


if kind == "graph":
    replay()
else:
    train()
