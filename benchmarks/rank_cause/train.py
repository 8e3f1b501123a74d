# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of a training job on CPUs, whose steps are delayed at a place that is known.

    RANK=R WORLD_SIZE=N python train.py PLAN.json

The plan: folder, steps, cores (one for each rank, or null), by ("sleep" or "spin") and phases, each
with place, rank, ms and burners. The places are input, forward, backward and optimizer, and core,
where so many processes spin on the rank's core. Each phase is recorded into a file of its own, and
beside it goes what the delays of its steps really took, and how long the thread waited for a core.
"""

import contextlib
import itertools
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import torch
from torch.nn.parallel import DistributedDataParallel

import nvspan
import nvspan.torch

WIDTH, BATCH = 256, 192  # a step of some 5 to 10 ms on one core
BURNER = "import sys; sys.stdout.write('.'); sys.stdout.flush()\nwhile True: pass"

plan = json.loads(Path(sys.argv[1]).read_text())
folder, steps = plan["folder"], plan["steps"]
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
NO_DELAY = {"place": "", "rank": -1, "ms": 0.0, "burners": 0}
phase = NO_DELAY
lasted = []  # ns of each step's delay
waited = []  # ns of each step in which the thread had no core


def delay(place):
    if rank != phase["rank"] or place != phase["place"] or not phase["ms"]:
        return
    begin = time.perf_counter_ns()
    if plan["by"] == "spin":
        while time.perf_counter_ns() - begin < phase["ms"] * 1e6:
            pass
    else:
        time.sleep(phase["ms"] / 1000)
    lasted[-1] += time.perf_counter_ns() - begin


def time_without_a_core():
    """ns that threads of this process were ready to run, and others had the core."""
    waits = 0
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError, IndexError):  # it has ended
            waits += int(Path("/proc/self/task", thread, "schedstat").read_text().split()[1])
    return waits


class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        delay("forward")
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        delay("backward")
        return gradient


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())
        self.second = torch.nn.Sequential(
            torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1)
        )

    def forward(self, x):
        return self.second(Slow.apply(self.first(x)))


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return BATCH * steps

    def __getitems__(self, places):
        lasted.append(0)
        waited.append(time_without_a_core())
        delay("input")
        return [torch.full((WIDTH,), float(place % 7)) for place in places]


@contextlib.contextmanager
def burners(count):
    """So many processes that never sleep, on this one's core."""
    core = min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    if count:
        os.sched_setaffinity(0, {core})
    running = [
        subprocess.Popen([sys.executable, "-S", "-c", BURNER], stdout=subprocess.PIPE)
        for _ in range(count)
    ]
    try:
        for process in running:
            process.stdout.read(1)
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
            process.stdout.close()
        os.sched_setaffinity(0, before)


def main():
    global phase
    if plan["cores"]:
        os.sched_setaffinity(0, {plan["cores"][rank]})
    with contextlib.suppress(OSError):
        os.nice(-15)  # what else runs on the machine delays ranks too
    warnings.simplefilter("ignore", nvspan.NvspanWarning)  # torch is imported before recordings
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=size
    )
    torch.manual_seed(0)
    model = DistributedDataParallel(Model())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    optimizer.register_step_pre_hook(lambda *_: delay("optimizer"))
    loader = torch.utils.data.DataLoader(Data(), batch_size=BATCH)
    nvspan.torch.auto(model, optimizer, loader, distributed=True)
    for number, phase in enumerate([NO_DELAY, *plan["phases"]]):
        slows = phase["burners"] if phase["place"] == "core" and phase["rank"] == rank else 0
        with burners(slows):
            torch.distributed.barrier()
            lasted.clear()
            waited.clear()
            with nvspan.record(f"{folder}/phase-{number}-{rank}.nvspan"):
                for batch in loader:
                    model(batch).sum().backward()
                    optimizer.step()
                    optimizer.zero_grad()
            waited.append(time_without_a_core())
            torch.distributed.barrier()
        without = [b - a for a, b in itertools.pairwise(waited)]
        told = {"delays": lasted, "without_a_core": without}
        Path(folder, f"phase-{number}-{rank}.json").write_text(json.dumps(told))
    torch.distributed.destroy_process_group()


main()
