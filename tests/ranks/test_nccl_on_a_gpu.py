# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Who holds a job back whose ranks reduce by NCCL on a GPU: recordings of tests/data/nccl."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

import nvspan
from nvspan.ranks.cause.analysis import ranks

DATA = Path(__file__).parents[1] / "data" / "nccl"
US = 1000


def files_of(name, folder):
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return sorted(folder.glob("*/*.nvspan"))


@pytest.mark.parametrize(
    ("name", "rank", "place", "delay"),
    [("forward", 1, "forward", 1022 * US), ("optimizer", 3, "optimizer.step", 243 * US)],
)
def test_the_delayed_rank_and_its_range_are_named(tmp_path, name, rank, place, delay):
    found = ranks(*files_of(name, tmp_path))
    assert (found.verdict.rank, found.verdict.range) == (rank, place)
    assert all(each.gpu for each in found.ranks)
    assert found.verdict.delay.ns.value == pytest.approx(delay, abs=70 * US)


def test_nobody_is_named_where_nothing_is_delayed(tmp_path):
    assert ranks(*files_of("nothing", tmp_path)).verdict.kind == "none"


def test_the_size_of_a_collective_is_that_of_its_call(tmp_path):
    """NCCL's payload of the CPU's range has it, and the GPU's range has none."""
    files = files_of("forward", tmp_path)
    calls = [row for row in nvspan.read(files[0]).ranges.rows() if row["name"] == "ncclAllReduce"]
    size = sum(call["payload.Message size [bytes]"] for call in calls)
    (row,) = ranks(*files).collectives
    assert (row["name"], row["count"], row["ranks"]) == ("allreduce", len(calls), 4)
    assert (len(calls), row["bytes"]) == (76, size)
