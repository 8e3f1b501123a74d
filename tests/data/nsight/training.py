# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A tiny training loop with every kind of NVTX event, for a report of Nsight Systems."""

import sys
import threading

import torch

import nvspan

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
dev = torch.device("cuda")
train = nvspan.get_domain("train")
nvspan.name_thread("main thread")
nvspan.name_category(7, "io", domain="train")

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64)).to(
    dev
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
side = torch.cuda.Stream()
nvspan.name_stream(side, "side stream")
host = torch.randn(32, 64).pin_memory()


def step(i):
    with nvspan.annotate("step", domain="train", color="green", payload=i):
        with nvspan.annotate("copy in", domain="io", color="blue", category="copies", payload=0.5):
            x = host.to(dev, non_blocking=True)
        with nvspan.annotate(
            "forward", domain="train", color=0x80FF8000, payload={"step": i, "lr": 0.5}
        ):
            with nvspan.annotate("first layer"):
                y = model[0](x)
            with nvspan.annotate("rest", domain="train", device=True):
                y = model[2](model[1](y))
            loss = y.square().mean()
        with nvspan.annotate("backward", domain="train"):
            loss.backward()
        side.wait_stream(torch.cuda.current_stream())
        with nvspan.annotate("side work", domain="train"), torch.cuda.stream(side):
            z = x.zero_() + 1
            with nvspan.device_range("side device range", color="red"):
                z = z @ z.t()
        with nvspan.annotate("optimizer", domain="train"):
            optimizer.step()
            optimizer.zero_grad()
        nvspan.mark("step done", domain="train", color="yellow", payload=-i)
        with nvspan.annotate("no kernels"):
            pass
        with nvspan.annotate("copy out", payload=2**63 + i):
            loss.item()


torch.cuda.nvtx.range_push("plain ascii")
for i in range(STEPS):
    step(i)
torch.cuda.nvtx.range_pop()

# A range that another thread ends, one that its own thread ends, one that nobody ends.
handle = nvspan.start_range("across threads", domain="train", color="purple", payload=3)
own = nvspan.start_range("own start/end")
torch.ones(1000, device=dev) * 2


def worker():
    nvspan.name_thread("worker")
    with nvspan.annotate("in worker", domain="train"):
        torch.ones(1000, device=dev) * 3
    nvspan.end_range(handle)


thread = threading.Thread(target=worker)
thread.start()
thread.join()
nvspan.end_range(own)
nvspan.start_range("never ended")
nvspan.push_range("never popped")

x = host.to(dev)
with torch.autograd.profiler.emit_nvtx(record_shapes=False):
    for i in range(2):
        with nvspan.annotate("emit", payload=i):
            with nvspan.annotate("emit forward"):
                loss = model(x).square().mean()
            with nvspan.annotate("emit backward"):
                loss.backward()
        torch.cuda.synchronize()

# A graph: warm, captured, replayed.
static = x.clone()
warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm), torch.no_grad():
    model(static)
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.no_grad(), torch.cuda.graph(graph):
    with nvspan.annotate("captured layer"):
        out = model(static)
    with nvspan.device_range("captured device range"):
        out = out * 2
for i in range(3):
    with nvspan.annotate("replay", domain="train", payload=i):
        static.copy_(x)
        graph.replay()
with nvspan.annotate("eager beside graph", domain="train"):
    out.sum().item()
torch.cuda.synchronize()
nvspan.device_flush()
