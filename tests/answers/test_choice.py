# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan steps`` says what a step is, why, and how to choose another."""

from __future__ import annotations

import json
import os
from array import array
from pathlib import Path

from helpers.reported import nvspan_done
from nvspan import _reader

MS = 1_000_000


def written(path: Path, ranges: list[tuple[float, float, str]], kind: str = "push_pop") -> Path:
    """Start and end, ms, and name of each."""
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        thread = writer.thread(writer.process(77), 77, "main")
        domain = writer.domain(0, None)
        for start, end, text in sorted(ranges):
            name = writer.strings([text])
            begins, ends = array("q", [round(start * MS)]), array("q", [round(end * MS)])
            writer.ranges(thread, domain, begins, ends, name=name, kind=kind)
    return path


def run(*words):
    return nvspan_done("steps", *words).stdout


def test_what_was_chosen_and_how_to_choose_another(tmp_path):
    ranges: list[tuple[float, float, str]] = []
    for epoch in range(3):
        ranges.append((100 * epoch, 100 * epoch + 95, f"epoch {epoch}"))
        for batch in range(9):
            at = 100 * epoch + 10 * batch
            ranges += [(at, at + 9, "batch"), (at + 1, at + 4, "load"), (at + 4, at + 8, "train")]
    path = written(tmp_path / "run.nvspan", ranges)
    lines = run(path).splitlines()
    assert lines[:4] == [
        "27 steps of batch; the typical one takes 9.00 ms (p50 9.00 ms, p99 9.00 ms), the mean "
        "of 27",
        "",
        "a step is 'batch': a usual name of a step",
        "next best: 'epoch', 3 times (--step 'epoch *')",
    ]
    assert "GPU" not in "".join(lines)
    assert run(path, "--step", "epoch *").startswith("3 steps of epoch *; ")
    assert json.loads(run(path, "--format", "json"))["choice"] == {
        "label": "batch",
        "pattern": "batch",
        "why": "a usual name of a step",
        "count": 27,
        "unit": "step",
        "overlapping": False,
        "evaluation": 0,
        "members": [],
        "next_best": {"label": "epoch", "count": 3, "pattern": "epoch *"},
    }


def test_requests_have_latencies(tmp_path):
    ranges = [(5 * i, 5 * i + 10, "request") for i in range(40)]
    path = written(tmp_path / "run.nvspan", ranges, "start_end")
    assert run(path).splitlines()[0] == (
        "40 requests of request; latency p50 10.0 ms, p90 10.0 ms, p99 10.0 ms; up to 2 at "
        "once, 2.0 on average; 195 a second"
    )
