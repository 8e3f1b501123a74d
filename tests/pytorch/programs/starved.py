# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of a gloo job of two, recorded into FOLDER/run-RANK.nvspan. All have one core.

Arguments: the folder. Beside the two runs a process that never sleeps.
"""

import os
import subprocess
import sys
import time
import warnings

import torch
from torch.nn.parallel import DistributedDataParallel

import nvspan
import nvspan.torch

STEPS, WORK = 30, 0.004
folder, rank = sys.argv[1], int(os.environ["RANK"])
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
warnings.simplefilter("ignore", nvspan.NvspanWarning)  # torch is imported before the recording
torch.set_num_threads(1)
torch.distributed.init_process_group(
    "gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2
)
model = DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
nvspan.torch.auto(model, optimizer, distributed=True)
burner = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) if rank else None
try:
    torch.distributed.barrier()
    with nvspan.record(f"{folder}/run-{rank}.nvspan"):
        for _ in range(STEPS):
            with nvspan.annotate("work"):
                begin = time.thread_time()
                while time.thread_time() - begin < WORK:
                    pass
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    torch.distributed.barrier()
finally:
    if burner is not None:
        burner.kill()
        burner.wait()
torch.distributed.destroy_process_group()
