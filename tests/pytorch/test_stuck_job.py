# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A job of torch.distributed without any range, one rank of which is stuck in its own code."""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack

import pytest

import nvspan
from helpers.live import running, wait_until
from helpers.traced import needs_library

pytest.importorskip("torch")
pytest.importorskip("nvspan._lines")
pytestmark = needs_library

PROGRAM = """
import os, time
import torch
import torch.distributed as dist
import nvspan

def load(rank):
    if rank == 1:
        time.sleep(600)

def train(rank):
    load(rank)
    dist.all_reduce(torch.ones(1))

rank = int(os.environ["RANK"])
dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=3)
dist.barrier()
print("ready", flush=True)
train(rank)
"""


def test_the_rank_that_is_not_in_the_collective_blocks_the_job(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    extra = {
        "NVSPAN_RECORD_LINES": "100",
        "STORE": f"file://{tmp_path}/store",
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, str(program)]
    with ExitStack() as stack:
        runs = [
            stack.enter_context(
                running(tmp_path, command, "full", rank=rank, extra=extra, until=False)
            )
            for rank in range(3)
        ]
        for run in runs:
            run.wait_for()
        files = [str(run.file) for run in runs]

        def places():
            of = [process.stack for process in nvspan.where(*files, samples=1).processes]
            return [None if one is None else (one.line.place, one.time > 5e8) for one in of]

        waits, sleeps = ("program.py:13", True), ("program.py:9", True)
        wait_until(lambda: places() == [waits, sleeps, waits], "the ranks")
        verdict = nvspan.where(*files).verdict
        assert (
            verdict.kind,
            verdict.ranks,
            re.sub(r"\d+(\.\d)? (ms|s)\b", "TIME", verdict.text),
        ) == (
            "held back",
            [1],
            "rank 1 blocks the job: load(), program.py:9, for TIME; ranks 0 and 2 wait in "
            "torch.distributed:all_reduce",
        )
