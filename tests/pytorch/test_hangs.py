# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Real gloo jobs whose rank 1 sleeps in its loader: `nvspan where` names it in each form of
torch.distributed, with a step of the program within that of `auto`."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.jobs import settled, started_job
from helpers.live import essential
from helpers.traced import needs_library

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = [
    needs_library,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without distributed"),
]

PROGRAM = Path(__file__).parents[1] / "programs" / "sleepy_loader.py"


@pytest.mark.parametrize(
    ("form", "outer", "wait"),
    [
        ("ddp", " > torch:backward", "ddp.gradients"),
        ("fsdp", "", "all_gather_into_tensor"),
        ("plain", "", "all_reduce"),
        ("async", "", "all_reduce.wait"),
    ],
)
def test_the_rank_that_sleeps_in_its_loader_is_named(tmp_path, form, outer, wait):
    with started_job(tmp_path, PROGRAM, form):
        look = settled(tmp_path)
    assert (look.verdict.kind, look.verdict.ranks) == ("held back", [1])
    assert look.verdict.text == (
        "rank 1 blocks the job: torch:step > torch:dataloader.next; ranks 0, 2 and 3 wait in "
        f"torch.distributed:{wait}"
    )
    table = [line.split("  ") for line in essential(str(look), {}).splitlines()[2:5]]
    assert [(row[0], row[-1]) for row in table] == [
        ("ranks", "range"),
        ("1", "torch:step > torch:dataloader.next"),
        ("0,2,3", f"torch:step > step{outer} > torch.distributed:{wait}"),
    ]
