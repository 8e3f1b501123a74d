# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""NCCL's collectives as device ranges, on as many GPUs as there are: every rank has each of them,
they end together, and begin as late as a rank is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.device import environment, only_real
from helpers.traced import clean_environment, needs_library

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = [needs_library, only_real]

PROGRAM = Path(__file__).parent / "programs" / "all_reduces.py"
PAIRS = 30
CLOSE = 15_000  # ns: two GPUs' clocks, each tied to the host's


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    count = min(torch.cuda.device_count(), 4)
    if count < 2:
        pytest.skip("needs two GPUs")
    folder = tmp_path_factory.mktemp("nccl")
    command = [sys.executable, "-m", "nvspan", "record", "--no-report", "-o",
               str(folder / "run-{rank}.nvspan"), "-m", "torch.distributed.run", "--standalone",
               "--nproc-per-node", str(count), str(PROGRAM), str(folder)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False,
                          env=clean_environment(environment()))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = []
    for rank in range(count):
        recording = nvspan.read(folder / f"run-{rank}.nvspan")
        assert list(recording.problems) == []
        rows = [r for r in recording.ranges.rows() if r["kind"] == 2 and r["domain"] == "NCCL"]
        found.append((recording, rows))
    late = json.loads((folder / f"late-{count - 1}.json").read_text())
    return found, {int(number): us * 1000 for number, us in late.items()}


def by_sequence(rows, name="AllReduce"):
    return {r["payload"]: r for r in rows if r["name"] == name}


def test_every_rank_has_every_collective(recordings):
    ranks, _ = recordings
    numbers = [sorted(by_sequence(rows)) for _, rows in ranks]
    assert all(of == numbers[0] for of in numbers)
    assert len(numbers[0]) == 2 * PAIRS
    for rank, (_, rows) in enumerate(ranks):
        assert {(r["stream"]) for r in rows} == {ranks[0][1][0]["stream"]}
        (category,) = {r["category_name"] for r in rows}
        assert category == f"communicator {rows[0]['stream']:016x}, rank {rank} of {len(ranks)}"
        assert {r["device"] for r in rows} == {rank}


def test_the_launcher_is_nccls_own_range(recordings):
    ranks, _ = recordings
    for recording, rows in ranks:
        every = list(recording.ranges.rows())
        launchers = {every[r["launcher"]]["name"] for r in rows if r["launcher"] is not None}
        assert launchers <= {"ncclAllReduce", "ncclGroupEnd", "ncclBroadcast"}, launchers
        assert sum(r["launcher"] is not None for r in rows) >= PAIRS


def test_collectives_end_together_and_begin_as_late_as_a_rank_is(recordings):
    ranks, late = recordings
    rows = [[row for _, row in sorted(by_sequence(rows).items())] for _, rows in ranks]
    assert [len(of) for of in rows] == [2 * PAIRS] * len(ranks)
    together = list(zip(*rows, strict=True))
    apart = [max(r["end"] for r in same) - min(r["end"] for r in same) for same in together]
    assert sorted(apart)[PAIRS] < CLOSE, apart
    behind = [same[-1]["start"] - max(r["start"] for r in same[:-1]) for same in together[1::2]]
    print({"late": late, "behind": behind, "apart": apart})
    assert sorted(late) == list(range(0, PAIRS, 5))
    for number, delay in late.items():
        if number:  # the first waits for modules to be loaded
            assert behind[number] == pytest.approx(delay, abs=2 * CLOSE), (behind, late)
    others = [abs(behind[number]) for number in range(PAIRS) if number not in late]
    assert sorted(others)[len(others) // 2] < CLOSE, others
