# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that the others wait for in an operation of NCCL: `nvspan where` names no other."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import nvspan
from helpers.device import environment, only_real
from helpers.lines import expect_line
from helpers.traced import clean_environment, needs_library

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = [needs_library, only_real]

PROGRAM = Path(__file__).parent / "programs" / "nccl_job.py"
RANKS, LASTS = 4, 12.0


@contextmanager
def job(folder, troubled, step, trouble, mode):
    """A job's processes, once the troubled rank has met its trouble."""
    processes = []
    try:
        for rank in range(RANKS):
            command = [
                sys.executable, "-m", "nvspan", "record", "--mode", mode, "--no-report", "-o",
                str(folder / f"run-{rank}.nvspan"), "--", sys.executable, str(PROGRAM),
                str(folder), str(troubled), str(step), trouble, str(LASTS),
            ]  # fmt: skip
            own = {"RANK": str(rank), "WORLD_SIZE": str(RANKS), "LOCAL_RANK": str(rank)}
            processes.append(subprocess.Popen(
                command, env=clean_environment({**environment(), **own}), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            ))  # fmt: skip
        expect_line(processes[troubled])
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@pytest.mark.parametrize("mode", ["armed", "full"])
@pytest.mark.parametrize("trouble", ["late", "never", "endless"])
def test_the_late_rank_is_named_and_no_other(tmp_path, trouble, mode):
    troubled = {"late": 1, "never": 2, "endless": 3}[trouble]
    with job(tmp_path, troubled, 20, trouble, mode) as processes:
        until, named = time.monotonic() + LASTS - 4, None
        while named is None and time.monotonic() < until:
            look = nvspan.where(tmp_path, interval=0.3)
            assert look.verdict.ranks in ([], [troubled]), str(look)
            named = look.verdict if look.verdict.ranks else None
        assert named is not None, str(look)
        others = ",".join(str(rank) for rank in range(RANKS) if rank != troubled)
        others = {"0,2,3": "0, 2 and 3", "0,1,3": "0, 1 and 3", "0,1,2": "0-2"}[others]
        end = f"; the GPUs of ranks {others} wait in it"
        assert named.text.endswith(end), named.text
        if trouble == "endless":
            middle = (" launched NCCL:AllReduce ", ", and its GPU has not started it, after "
                      "model:forward, which has not ended")  # fmt: skip
        else:
            middle = (" never launched NCCL:AllReduce ", ", and is in step > model:forward")
        assert all(part in named.text for part in middle), named.text
        for process in processes:
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, out + err


TRIALS = int(os.environ.get("NVSPAN_TEST_TROUBLES", "0"))


@pytest.mark.skipif(not TRIALS, reason="takes 20 s each; set NVSPAN_TEST_TROUBLES to a number")
@pytest.mark.parametrize("seed", range(TRIALS))
def test_no_wrong_rank_is_named(tmp_path, seed):
    import random

    chance = random.Random(seed)
    troubled, step = chance.randrange(RANKS), chance.randrange(2, 38)
    with job(tmp_path, troubled, step, chance.choice(("late", "never", "endless")), "armed"):
        found = [nvspan.where(tmp_path, interval=0.3).verdict.ranks for _ in range(10)]
    assert all(ranks in ([], [troubled]) for ranks in found), found
    assert found[-1] == [troubled]
