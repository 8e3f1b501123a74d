# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compile makes the same of a function with annotations as of its twin without: graphs,
operations, breaks, recompilations, outputs, gradients; with fullgraph and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.device import environment
from helpers.length import length
from helpers.traced import run_plain, run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

OLD = torch.__version__.split(".")[:2] == ["2", "5"]
pytestmark = pytest.mark.skipif(OLD, reason="torch 2.5 compiles few generators, bare ones neither")
PROGRAM = Path(__file__).with_name("programs") / "pairs.py"


def found(run, *words, **options):
    done = run(PROGRAM, *words, *length([], ["short"]), timeout=600, **options)
    report = json.loads(done.stdout)
    return report["count"], report["differing"]


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "tool"])
def test_every_pair(run):
    assert found(run) == (length(161, 23), {})


def test_a_tool_that_comes_and_goes():
    assert found(run_plain, "switch") == (length(37, 6), {})


@pytest.mark.parametrize(
    "run", [pytest.param(run_plain, marks=pytest.mark.slow), run_traced], ids=["no tool", "tool"]
)
def test_device_ranges_where_there_is_a_driver(run):
    assert found(run, "cuda", env=environment()) == (length(59, 9), {})
