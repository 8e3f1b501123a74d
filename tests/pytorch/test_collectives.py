# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""auto(distributed=True): the ranges of each collective, on two real gloo processes."""

from __future__ import annotations

from pathlib import Path

import pytest

import nvspan
from helpers.gloo_jobs import run_job, run_ranks
from helpers.traced import needs_library
from nvspan.ranks.cause.analysis import ranks

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = [
    needs_library,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without distributed"),
]

PROGRAM = Path(__file__).with_name("programs") / "collectives.py"
# The ranges in their order, and the bytes that each says.
EXPECTED = [
    ("all_reduce", 16), ("all_gather", 16), ("all_gather_into_tensor", 16),
    ("reduce_scatter_tensor", 16), ("all_to_all_single", 16), ("broadcast", 16), ("reduce", 16),
    ("gather", 16), ("scatter", None), ("all_reduce", 16), ("all_reduce.wait", 16), ("send", 16),
    ("barrier", 0), ("ddp.gradients", 20), ("ddp.gradients", 20),
]  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collectives")
    said = run_ranks(PROGRAM, folder)
    return folder, said


def fields(path):
    recording = nvspan.read(path)
    table = recording.ranges
    rows = []
    for row, each in enumerate(table.rows()):
        if each["domain"] == "torch.distributed":
            rows.append((each["start"], each["name"], recording.payload_fields(row)))
    return [(name, found) for _, name, found in sorted(rows, key=lambda row: row[0])]


def test_each_collective_has_a_range_with_what_matches_it(done):
    folder, said = done
    assert said[0] == said[1]  # what torch raised, and the model
    sides = [fields(folder / f"run-{rank}.nvspan") for rank in range(2)]
    for rank, side in enumerate(sides):
        names = [name if name != "recv" else "send" for name, _ in side]
        assert names == [name for name, _ in EXPECTED]
        for (_, found), (_, size) in zip(side, EXPECTED, strict=True):
            assert found["size"] == 2
            assert found["rank"] == rank
            assert size is None or found["bytes"] == size
        rooted = ("broadcast", "reduce", "gather", "scatter")
        assert [found["root"] for name, found in side if name in rooted] == [1, 0, 0, 0]
        (talk,) = [found for name, found in side if name in ("send", "recv")]
        assert talk["peer"] == 1 - rank
    first, second = ([(found["group"], found["seq"]) for _, found in side] for side in sides)
    assert first == second
    assert len({group for group, _ in first}) == 2  # the job's, and that of new_group
    world = [number for group, number in first if group == first[0][0] and number < 1 << 40]
    assert len(world) == len(EXPECTED) - 2  # without a send, and what the other group does
    assert world == sorted(world)
    waits = dict(zip([name for name, _ in EXPECTED], first, strict=True))
    assert waits["all_reduce.wait"] == first[9]


def test_they_are_matched_and_nothing_contradicts(done):
    folder, _ = done
    counts = ranks(*(folder / f"run-{rank}.nvspan" for rank in range(2))).counts
    assert counts["collectives"] == len(EXPECTED) - 1  # a wait is its collective's
    assert counts["unmatched"] == counts["incomplete"] == 0


@pytest.mark.slow
def test_a_rank_that_loses_its_core_before_its_range_of_gradients_contradicts_nothing(tmp_path):
    (files,) = run_job(tmp_path / "job", ["preempted:1:5"], ranks=2, steps=6)
    found = ranks(*files)
    assert found.counts["collectives"] >= 6
    assert found.counts["incomplete"] == 0


def test_numbers_agree_where_a_tool_comes_to_one_rank_first(done):
    folder, _ = done
    first, second = (
        [(found["group"], found["seq"]) for _, found in fields(folder / f"late-{rank}.nvspan")]
        for rank in range(2)
    )
    assert (len(first), len(second)) == (7, 5)
    assert first[2:] == second


def test_compiled_code_has_none(done):
    folder, _ = done
    assert fields(folder / "compiled-0.nvspan") == []


def test_the_rank_whose_backward_is_delayed_is_named(tmp_path):
    (files,) = run_job(tmp_path / "job", ["backward:1:20"], ranks=2, steps=40)
    verdict = ranks(*files).verdict
    assert (verdict.kind, verdict.rank, verdict.range) == ("culprit", 1, "backward")
