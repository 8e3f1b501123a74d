# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of a training job whose steps are delayed at a place that is known.

Arguments: a folder, the steps of a phase, and phases "PLACE:RANK:MILLISECONDS". The places are
input, forward, backward, optimizer and all, where the whole process runs at half speed; and
preempted, between what nvspan does before its range of a step's gradients and that range. Each
phase is recorded into a file of its own.
"""

import os
import signal
import subprocess
import sys
import time
import warnings

import torch
from torch.nn.parallel import DistributedDataParallel

import nvspan
import nvspan.torch
from nvspan.torch._loop import gradients

folder, steps, *phases = sys.argv[1:]
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
device = os.environ.get("DEVICE", "cpu")
place, ms = "", 0.0


def delay(at):
    if at == place:
        if device == "cuda":
            torch.cuda._sleep(int(ms * 1.7e6))
        else:
            time.sleep(ms / 1000)


def payload_and_delay(*args, of=gradients.payload_of, **fields):
    payload = of(*args, **fields)
    delay("preempted")
    return payload


gradients.payload_of = payload_and_delay


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
        self.first = torch.nn.Linear(64, 64)
        self.second = torch.nn.Linear(64, 1)

    def forward(self, x):
        return self.second(Slow.apply(self.first(x)))


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 2 * int(steps)

    def __getitem__(self, index):
        if index % 2 == 0:
            delay("input")
        return torch.full((64,), float(index))


def stops(pid, ms):
    """A process that stops this one for so long, lets it run for as long, and so on."""
    code = (
        "import os, signal, time\n"
        "while True:\n"
        f"    os.kill({pid}, signal.SIGSTOP); time.sleep({ms / 1000})\n"
        f"    os.kill({pid}, signal.SIGCONT); time.sleep({ms / 1000})\n"
    )
    return subprocess.Popen([sys.executable, "-S", "-c", code], stderr=subprocess.DEVNULL)


try:
    os.nice(-15)  # what else runs on the machine delays ranks too
except OSError:
    pass
warnings.simplefilter("ignore", nvspan.NvspanWarning)  # torch is imported before recordings begin
torch.set_num_threads(1)
if device == "cuda":
    torch.cuda.set_device(rank)
torch.distributed.init_process_group(
    "gloo" if device == "cpu" else "nccl", init_method=f"file://{folder}/rendezvous", rank=rank,
    world_size=size,
)  # fmt: skip
torch.manual_seed(0)
model = DistributedDataParallel(Model().to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
optimizer.register_step_pre_hook(lambda *_: delay("optimizer"))
loader = torch.utils.data.DataLoader(Data(), batch_size=2)
nvspan.torch.auto(model, optimizer, loader, distributed=True)
for number, phase in enumerate(["::0", *phases]):
    where, whom, length = phase.split(":")
    ms = float(length)
    stopper = None
    torch.distributed.barrier()
    with nvspan.record(f"{folder}/phase-{number}-{rank}.nvspan"):
        place = where if whom == str(rank) else ""
        if place == "all" and ms:
            stopper = stops(os.getpid(), ms)
        for batch in loader:
            model(batch.to(device)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        if stopper is not None:
            stopper.kill()
            stopper.wait()
            os.kill(os.getpid(), signal.SIGCONT)
        place = ""
torch.distributed.destroy_process_group()
# Threads of gloo outlive their group and the model. One that wants the GIL while the interpreter
# goes away is unwound by pthread_exit(), through torch's frames, which ends the process.
sys.stdout.flush()
os._exit(0)
