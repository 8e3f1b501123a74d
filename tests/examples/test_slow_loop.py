# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""examples/slow_loop.py is what the first page of the documentation says of it."""

from __future__ import annotations

import importlib.util
import re

import nvspan
from helpers.recorded_loops import unpack
from helpers.tree import ROOT
from nvspan.answers.findings import analyze

EXAMPLE = ROOT / "examples" / "slow_loop.py"
PAGE = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def recording(name, folder):
    return nvspan.read(unpack(name, folder / f"{name}.nvspan"))


def test_the_fix_that_the_page_shows_is_that_of_the_program():
    source = EXAMPLE.read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```diff\n(.*?)^```", PAGE, re.M | re.S)
    for sign, name in (("-", "batches"), ("+", "fixed_batches")):
        lines = [line[1:] for line in shown.splitlines() if line[0] in (" ", sign)]
        assert "\n".join(lines).replace(" batches(", f" {name}(") in source


def test_the_fix_changes_no_result(tmp_path):
    spec = importlib.util.spec_from_file_location("slow_loop", EXAMPLE)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    program.STEPS = 30
    program.write_messages(tmp_path / "messages")
    right = [program.train(tmp_path / "messages", fixed) for fixed in (False, True)]
    assert right[0] == right[1] > 0.5


def test_the_figures_of_the_page_and_its_pictures(tmp_path):
    slow, fixed = recording("slow", tmp_path), recording("fixed", tmp_path)
    found = analyze(slow).findings
    assert [finding.kind for finding in found] == ["dominant", "trend"]
    before, after = ({row.name: row.mean for row in each.stats().rows}
                     for each in (slow, fixed))  # fmt: skip
    less = {name: round(100 * (1 - after[name] / before[name])) for name in before}
    assert (less["load"], less["step"]) == (97, 92)
    assert less["forward"] <= 5
    assert less["update"] <= 5
    assert round(before["step"] / after["step"]) == 13
