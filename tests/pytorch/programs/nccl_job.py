# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of a job that all-reduces each step on its GPU; one rank meets a trouble for a while.

    RANK=R WORLD_SIZE=N python nccl_job.py FOLDER RANK STEP TROUBLE SECONDS

The trouble: "late" (it sleeps), "never" (its thread waits for another), "endless" (a kernel that
ends when a flag is set), or "none". That rank prints "ready" when it is in it. With fewer GPUs than
ranks, all share the first one, and NCCL takes them for ranks of different hosts.
"""

import os
import sys
import threading
import time

rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
folder, troubled, at, trouble, lasts = sys.argv[1:]
STEPS = 40

import torch  # noqa: E402

shared = torch.cuda.device_count() < ranks
if shared:
    os.environ.update(NCCL_HOSTID=f"host{rank}", NCCL_SOCKET_IFNAME="lo", NCCL_IB_DISABLE="1")
device = torch.device("cuda", 0 if shared else rank)
torch.cuda.set_device(device)

from torch import distributed  # noqa: E402

import nvspan  # noqa: E402

ENDLESS = """
extern "C" __global__ void endless(const volatile int* flag) {
  while (*flag == 0) __nanosleep(1000);
}
"""
flag = torch.zeros(1, dtype=torch.int32).pin_memory()
endless = torch.cuda._compile_kernel(ENDLESS, "endless")


def suffer() -> None:
    print("ready", flush=True)
    if trouble == "late":
        time.sleep(float(lasts))
    elif trouble == "never":
        threading.Event().wait(float(lasts))
    elif trouble == "endless":
        threading.Timer(float(lasts), lambda: flag.fill_(1)).start()
        endless(args=[flag], grid=(1, 1, 1), block=(1, 1, 1))


distributed.init_process_group(
    "nccl", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks, device_id=device
)
gradient = torch.ones(1 << 16, device=device)
weight = torch.randn(512, 512, device=device)
for step in range(STEPS):
    with nvspan.annotate("step", payload=step):
        with nvspan.annotate("forward", domain="model", device=True):
            weight @ weight
            if step == int(at) and rank == int(troubled):
                suffer()
        distributed.all_reduce(gradient)
        with nvspan.annotate("optimizer", domain="model", device=True):
            gradient.mul_(1 / ranks)
        torch.cuda.synchronize()
assert gradient.mean().item() == 1
distributed.destroy_process_group()
