# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which rank of a job the others wait for: named, or "no verdict", and never a wrong one."""

from __future__ import annotations

import os
import random

import pytest

import nvspan
from helpers.jobs import TROUBLES, job, settled
from helpers.live import essential
from helpers.traced import needs_library

pytestmark = needs_library
DRAWN = int(os.environ.get("NVSPAN_TEST_TROUBLES", "6"))


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_rank_in_trouble_is_named(tmp_path, trouble):
    with job(tmp_path, 4, 2, 5, trouble):
        look = settled(tmp_path)
    halted = {"stop": "stopped", "kill": "killed"}.get(trouble)
    inner = {"loader": " > data:next batch", "slow": " > tile"}.get(trouble, "")
    ((process,), others) = (look.verdict.processes, [p for p in look.processes if p.rank != 2])
    assert process.rank == 2
    path = "step > model:forward"
    if halted:
        verb = "was" if trouble == "kill" else "is"
        assert look.verdict.text == f"rank 2 {verb} {halted}, in {path}"
    else:
        moves = ", still moving" if trouble == "slow" else ""
        assert look.verdict.text in (
            f"rank 2 blocks the job: {path}{end}{moves}; "
            "ranks 0, 1 and 3 wait in torch.distributed:all_reduce" for end in {inner, ""}
        )  # fmt: skip
    assert {p.path for p in others} == {((None, "step"), ("torch.distributed", "all_reduce"))}


def test_the_whole_text_of_a_job(tmp_path):
    with job(tmp_path, 3, 1, 2, "sleep") as pids:
        text = essential(str(settled(tmp_path)), {pid: f"P{i}" for i, pid in enumerate(pids)})
    assert (
        text
        == """\
rank 1 blocks the job: step > model:forward; ranks 0 and 2 wait in torch.distributed:all_reduce

ranks  state  for  range
1  sleeping  TIME  step > model:forward
0,2  sleeping  TIME  step > torch.distributed:all_reduce
lines  off; start the program with NVSPAN_RECORD_LINES=armed to see where Python is
next  nvspan attach P1  record what it does from now on"""
    )


@pytest.mark.parametrize("seed", range(DRAWN))
def test_no_wrong_rank_is_ever_named(tmp_path, seed):
    chance = random.Random(seed)
    rank, step, trouble = chance.randrange(8), chance.randrange(1, 40), chance.choice(TROUBLES)
    with job(tmp_path, 8, rank, step, trouble, mode=chance.choice(("armed", "full", "ring=1"))):
        for _ in range(3):
            assert nvspan.where(tmp_path, interval=0.02).verdict.ranks in ([], [rank])
        assert settled(tmp_path).verdict.ranks == [rank]


@pytest.mark.skipif(not os.environ.get("NVSPAN_SLOW"), reason="takes a minute; set NVSPAN_SLOW=1")
@pytest.mark.parametrize("seed", range(DRAWN))
def test_no_wrong_rank_of_gloo_is_named(tmp_path, seed):
    pytest.importorskip("torch.distributed", reason="needs torch with torch.distributed")
    chance = random.Random(1000 + seed)
    rank, trouble = chance.randrange(8), chance.choice(TROUBLES)
    killed = trouble == "kill"  # errors of gloo end the others as well
    with job(tmp_path, 8, rank, chance.randrange(1, 20), trouble, "gloo"):
        found = settled(tmp_path, 3 if killed else 30).verdict.ranks
    assert found in ([[rank], []] if killed else [[rank]])


def test_ranks_that_all_wait_are_not_told_apart(tmp_path):
    with job(tmp_path, 3, 0, 1, "loader"):
        settled(tmp_path)
        look = nvspan.where(tmp_path, waits=["data:"])
        assert look.verdict.text == (
            "no verdict: the processes wait in different collectives: data:next batch and "
            "torch.distributed:all_reduce"
        )
        look = nvspan.where(tmp_path, samples=1)
        assert (
            look.verdict.text == "no verdict: one sample does not show what moves; take 2 or more"
        )
