# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""All-reduces of 4 MB on every rank; the last rank's stream is late before each fifth.

    torchrun --nproc-per-node N all_reduces.py FOLDER

Each rank writes FOLDER/late-RANK.json: the measured delays in us, by the number of the all-reduce.
"""

import json
import os
import sys
import time
from pathlib import Path

import torch
from torch import distributed

COUNT, EVERY, WARM_UP = 30, 5, 5

rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(rank)
distributed.init_process_group("nccl")
cpu = distributed.new_group(backend="gloo")
tensor = torch.ones(1 << 20, device="cuda")
for _ in range(WARM_UP):
    distributed.all_reduce(tensor)
torch.cuda.synchronize()
late = {}
for number in range(COUNT):
    distributed.barrier(cpu)
    if rank == ranks - 1 and number % EVERY == 0:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        torch.cuda._sleep(2_000_000)  # cycles: about a millisecond
        end.record()
        distributed.all_reduce(tensor)
        torch.cuda.synchronize()
        late[number] = begin.elapsed_time(end) * 1000
    else:
        distributed.all_reduce(tensor)
        torch.cuda.synchronize()
    time.sleep(0.05)  # longer than a calibration of the clocks
Path(sys.argv[1], f"late-{rank}.json").write_text(json.dumps(late))
distributed.destroy_process_group()
