# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What NCCL's profiler plugin costs: the time of an all-reduce, one after the other, on every GPU.

    torchrun --standalone --nproc-per-node 2 benchmarks/gpu/bench_nccl.py
    NCCL_PROFILER_PLUGIN=none nvspan record --no-report -m torch.distributed.run --standalone \
        --nproc-per-node 2 benchmarks/gpu/bench_nccl.py
    nvspan record --no-report -m torch.distributed.run --standalone --nproc-per-node 2 \
        benchmarks/gpu/bench_nccl.py

Rank 0 prints the best of 15 rounds of 100, for three sizes.
"""

from __future__ import annotations

import os
import time

import torch
from torch import distributed

ROUNDS, EACH = 15, 100


def main() -> None:
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl")
    for size in (1 << 12, 1 << 22, 1 << 24):
        tensor = torch.ones(size // 4, device="cuda")
        best = float("inf")
        for _ in range(ROUNDS):
            start = time.perf_counter()
            for _ in range(EACH):
                distributed.all_reduce(tensor)
            torch.cuda.synchronize()
            best = min(best, (time.perf_counter() - start) / EACH)
        if rank == 0:
            print(f"{size:>10} bytes {best * 1e6:7.2f} us", flush=True)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
