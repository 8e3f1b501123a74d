# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives of several ranks as NCCL's plugin shows them: which of one rank is which of the
others, also in the replays of a CUDA graph, where NCCL repeats its number."""

from __future__ import annotations

import time

import pytest

import nvspan
from helpers.device import only_fake, run_device
from helpers.nccl_plugin import NCCL
from helpers.traced import needs_library
from nvspan.ranks.cause.analysis import ranks

pytestmark = [needs_library, only_fake]

MS = 1_000_000
RANKS, EAGER, REPLAYS = 3, 10, 20

# Each rank calls both functions EAGER times, then replays a graph of both, and calls once more.
# Rank 2 comes 1 ms after the others to what it gathers, 2 ms to what it reduces.
PROGRAM = (
    NCCL
    + f"""
import sys
path, rank, base = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) + EPOCH
with nvspan.record(path):
    nccl = Nccl(5, ranks={RANKS}, rank=rank)
    at = 0
    def both(called, gathers, reduces):
        global at
        for name, number, late in ((b"AllGather", gathers, 1), (b"AllReduce", reduces, 2)):
            if called:
                with nvspan.annotate("nccl" + name.decode(), domain="NCCL",
                                     payload={{"bytes": 512 * late, "size": 3}}):
                    call = nccl.collective(name, number, 1)
            else:
                call = nccl.collective(name, number, 1)
            nccl.stop(call)
            begin = base + at + late * {MS} * (rank == 2)
            at += 10 * {MS}
            nccl.channel_stop(nccl.channel(call, 0, begin), base + at - {MS})
    for number in range({EAGER}):
        both(True, number, number)
    for _ in range({REPLAYS}):
        both(False, {EAGER}, {EAGER})
    both(True, {EAGER}, {EAGER})
    assert nvspan.device_flush(30)
    nccl.finalize()
"""
)


# A thread that loses its core while it compares the clocks makes the delays inexact.
@pytest.mark.timing
def test_collectives_of_each_function_and_of_replays(tmp_path):
    files, base = [tmp_path / f"run-{rank}.nvspan" for rank in range(RANKS)], time.monotonic_ns()
    for rank, file in enumerate(files):
        run_device(PROGRAM, file, rank, base, traced=False)
    every = EAGER + REPLAYS + 1
    for file in files:
        rows = [row for row in nvspan.read(file).ranges.rows() if row["kind"] == 2]
        for name in ("AllGather", "AllReduce"):
            own = sorted((r["start"], r["payload"]) for r in rows if r["name"] == name)
            assert [number for _, number in own] == list(range(every))
    found = ranks(*files)
    assert found.counts["collectives"] == 2 * every
    assert [
        {key: row[key] for key in ("name", "count", "ranks", "bytes", "last", "was_last")}
        for row in sorted(found.collectives, key=lambda row: row["name"])
    ] == [
        {"name": name, "count": every, "ranks": RANKS, "bytes": (EAGER + 1) * size, "last": 2,
         "was_last": every}
        for name, size in (("allgather", 512), ("allreduce", 1024))
    ]  # fmt: skip
    (gather, reduce) = sorted(found.collectives, key=lambda row: row["name"])
    assert abs(gather["late"] / every - MS) < MS // 10
    assert abs(reduce["late"] / every - 2 * MS) < MS // 10
