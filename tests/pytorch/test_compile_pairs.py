# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compile makes the same of a function with annotations as of its twin without: graphs,
operations, breaks, recompilations, outputs, gradients; with fullgraph and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.device import environment
from helpers.traced import run_plain, run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

OLD = torch.__version__.split(".")[:2] == ["2", "5"]
pytestmark = pytest.mark.skipif(OLD, reason="torch 2.5 compiles few generators, bare ones neither")
PROGRAM = Path(__file__).with_name("programs") / "pairs.py"


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "tool"])
def test_every_pair(run):
    assert json.loads(run(PROGRAM, timeout=600).stdout) == {"count": 161, "differing": {}}


def test_a_tool_that_comes_and_goes():
    found = json.loads(run_plain(PROGRAM, "switch", timeout=600).stdout)
    assert found == {"count": 37, "differing": {}}


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "tool"])
def test_device_ranges_where_there_is_a_driver(run):
    found = json.loads(run(PROGRAM, "cuda", env=environment(), timeout=600).stdout)
    assert found == {"count": 59, "differing": {}}
