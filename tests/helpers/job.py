# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of the ranks of a job that never ran, with times that are known."""

from __future__ import annotations

import os
import random
from array import array
from pathlib import Path

from nvspan import _reader

PHASES = ("dataloader.next", "forward", "backward", "optimizer.step")
BOOT = "12345678-1234-1234-1234-123456789abc"
UNIX_OFFSET = 1_700_000_000_000_000_000
RANGES_OF_A_STEP = len(PHASES) + 1


def write_rank(
    path: Path, rank: int, steps: int = 10, slow: float = 1.0, seed: int | None = None
) -> Path:
    """Steps with four phases within, each `slow` times as long as a random one of the seed."""
    numbers = random.Random(rank if seed is None else seed)
    begins, ends, names = [], [], []
    now = 1_000_000_000
    for _ in range(steps):
        begin = now
        for phase in PHASES:
            took = int((50_000 + numbers.randrange(1_000)) * slow)
            begins.append(now)
            ends.append(now + took)
            names.append(phase)
            now += took
        begins.append(begin)
        ends.append(now + 100)
        names.append("step")
        now += 1_000
    order = sorted(range(len(begins)), key=lambda at: (begins[at], -ends[at]))
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(1000 + rank, host=f"node{rank // 8}", boot_id=BOOT, rank=rank,
                                 local_rank=rank % 8, world_size=64,
                                 unix_offset=UNIX_OFFSET)  # fmt: skip
        thread = writer.thread(process, 1)
        domain = writer.domain(process, "torch")
        writer.ranges(thread, domain, array("q", [begins[at] for at in order]),
                      array("q", [ends[at] for at in order]),
                      name=writer.strings([names[at] for at in order]))  # fmt: skip
    return path


def write_job(folder: Path, ranks: int, slow: dict[int, float] | None = None) -> list[Path]:
    """A file of each rank; those in `slow` are slower, by so much."""
    return [write_rank(folder / f"rank{rank:04}.nvspan", rank, slow=(slow or {}).get(rank, 1.0))
            for rank in range(ranks)]  # fmt: skip
