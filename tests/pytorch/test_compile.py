# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compile makes of annotated code what it makes of the same code without annotations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.traced import run_plain, run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

PROGRAMS = Path(__file__).with_name("programs")
OLD = torch.__version__.split(".")[:2] == ["2", "5"]  # docs/pytorch.md says what fails there


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "tool"])
def test_every_construct_compiles_into_one_graph(run):
    found = json.loads(run(PROGRAMS / "pairs.py", "constructs").stdout)
    assert found["count"] == 43
    assert found["bare"] == [1, 2, 0, 0]
    names = {name.partition(",")[0] for name in found["differing"]}
    assert names == ({"with_raise"} if OLD else set()), found["differing"]


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "tool"])
def test_what_goes_beyond_one_graph(run):
    assert json.loads(run(PROGRAMS / "beyond.py").stdout) == {
        "a break in the body": [2, 2, True],
        "a break in the body of a kept object": [2, 2, True],
        "print in the body": [2, 2, True],
        "an object that leaves the frame": ["annotate", "made", 3, True],
        "a kept object that leaves the frame": ["annotate", "kept", None, True],
        "cond": [True],
        "vmap": [True],
        "func.grad": [True],
        "autograd.Function": [1, 0, True, True],
        "kept objects of modules": [1, 8, 0, True],
        "export": [True, True],
        "export, not strict": [True, True],
    }


@pytest.mark.parametrize(
    ("run", "backends"),
    [
        pytest.param(run_plain, "eager inductor", marks=pytest.mark.slow),
        (run_traced, "eager aot_eager"),
    ],
    ids=["no tool", "tool"],
)
def test_a_block_of_a_transformer(run, backends):
    """Twenty annotations: the graphs, operations, outputs and gradients of the bare block."""
    report = json.loads(run(PROGRAMS / "block.py", *backends.split()).stdout)
    bare = report.pop("bare")
    assert bare["graphs"] == 1
    assert report == {"annotated": bare, **dict.fromkeys(backends.split(), True)}


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "tool"])
def test_what_breaks_a_graph_is_right(run):
    report = json.loads(run(PROGRAMS / "limits.py", *["uses_module"] * OLD).stdout)
    assert len(report) == 12 - OLD
    assert [name for name, (equal, _) in report.items() if not equal] == []
    names = ("text_of_a_shape", "shape_as_payload", "lazy_text_of_a_shape")
    assert [report[name][1] for name in names] == [4, 2, 2]
