# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of all-reduces on every rank; the last rank is late for the second of each fifth pair.

    torchrun --nproc-per-node N all_reduces.py FOLDER

Each rank writes FOLDER/late-RANK.json: the measured delays in us, by the number of the pair.
"""

import json
import os
import sys
import time
from pathlib import Path

import torch
from torch import distributed

COUNT, EVERY = 30, 5

rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(rank)
distributed.init_process_group("nccl")
tensor = torch.ones(1 << 20, device="cuda")
begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
begin.record()
torch.cuda._sleep(1000)
end.record()
late = {}
for number in range(COUNT):
    # The first lets go of all ranks at once. The GPUs sleep until all of it is in their streams, so
    # that the CPU makes nobody late.
    torch.cuda._sleep(4_000_000)
    distributed.all_reduce(tensor)
    is_late = rank == ranks - 1 and number % EVERY == 0
    if is_late:
        begin.record()
        torch.cuda._sleep(2_000_000)  # cycles: about a millisecond
        end.record()
    distributed.all_reduce(tensor)
    torch.cuda.synchronize()
    if is_late:
        late[number] = begin.elapsed_time(end) * 1000
    time.sleep(0.02)
Path(sys.argv[1], f"late-{rank}.json").write_text(json.dumps(late))
distributed.destroy_process_group()
