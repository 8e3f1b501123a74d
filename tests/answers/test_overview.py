# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The table after a run."""

from __future__ import annotations

from helpers.lanes import Program
from nvspan.answers.findings import analyze
from nvspan.answers.overview import overview


def test_ranges_without_steps_by_self_time_but_for_what_rounds_to_nothing(tmp_path):
    program = Program()
    lane = program.lane()
    for name, us in (("parse", 7000), ("read", 2980), ("count", 11), ("print", 9)):
        lane.add(name, us)
    assert overview(analyze(program.read(tmp_path / "run.nvspan"))) == (
        "range  calls     self  share\n"
        "parse      1  7.00 ms    70%\n"
        "read       1  2.98 ms    30%\n"
        "count      1  11.0 us   0.1%"
    )
