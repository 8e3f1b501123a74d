# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Work that CUPTI hands over in the wrong order, by more than the reader keeps in memory at once:
the figures are those of the definition."""

from __future__ import annotations

import pytest

from helpers.fake_cupti import run_recorded
from helpers.traced import needs_library

pytestmark = needs_library

COUNT = 300_000  # src/reader/projection/work_scan.cpp keeps 262,144


def covered(spans):
    total, until = 0, 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


@pytest.mark.parametrize("order", ["", "reversed=True"])
@pytest.mark.parametrize(
    ("launch", "cuda"),
    [
        (f'gpu.cupti.fake_launches(b"k", {COUNT}, 500)', "kernels"),
        (f'[gpu.cupti.fake_replay(b"k", 1000, 50) for _ in range({COUNT // 1000})]', "graphs"),
    ],
)
def test_every_piece_counts_once(launch, cuda, order):
    recording = run_recorded(f"""
gpu.use()
with nvspan.annotate("step"):
    {launch}
gpu.deliver({order})
gpu.launch("last")
gpu.deliver()
""", cuda=cuda).recording  # fmt: skip
    assert recording.problems == []
    names = recording.ranges.text("name")
    spans = [
        (start, end)
        for name, start, end in zip(
            names, recording.ranges["start"], recording.ranges["end"], strict=True
        )
        if name == "k"
    ]
    assert len(spans) == COUNT
    work = sum(end - start for start, end in spans)
    found = recording.kernels()
    (row,) = [row for row in found.rows if row.name == "k"]
    assert (found.count, row.count, row.total, row.range) == (COUNT + 1, COUNT, work, "step")
    (step,) = recording.projection().rows
    assert (step.ops, step.sum, step.busy) == (COUNT, work, covered(spans))
