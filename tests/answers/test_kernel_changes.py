# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan diff`` names the kernel that takes longer in a slower range, where runs agree."""

from __future__ import annotations

import csv
import io
import json
import random

import pytest

import nvspan
from helpers.reported import run_nvspan
from helpers.written_kernels import WrittenGpu
from nvspan.answers.compare import compare, compare_all

STEPS = 30
OLD = {"gemm": 4000, "relu": 1000, "adam": 2000}  # us in a step


def write(path, seed, kernels, *, drift=0.004, recorded=True, launched_in="forward"):
    """Steps in which "forward" launches the kernels and waits for them, but for the drift of the
    run; those of `launched_in` "after" are launched behind it."""
    dice = random.Random(seed)
    factor, at = 1 + dice.uniform(-drift, drift), 0.0
    with WrittenGpu(path) as gpu:
        for _ in range(STEPS):
            begin = at
            forward = sum(kernels.values()) * factor * (1 + dice.uniform(-0.01, 0.01))
            end = begin + 100 + forward
            gpu.range("step", begin, end + 100)
            gpu.range("forward", begin + 50, end)
            start = begin + 60.0
            for i, (name, time) in enumerate(kernels.items()):
                took = time * factor
                launched = begin + 51 + i if launched_in == "forward" else end + 10 + i
                if recorded:
                    gpu.work(name, start, start + took, launched=launched)
                start += took
            at = end + 200
    return path


def runs(folder, name, kernels, count=3, **given):
    sides = kernels if isinstance(kernels, list) else [kernels] * count
    return [
        write(folder / f"{name}-{i}.nvspan", 100 * len(name) + i, of_run, **given)
        for i, of_run in enumerate(sides)
    ]


def told(before, after):
    """What is said of which rows."""
    tables = compare_all([nvspan.read(path) for path in before],
                         [nvspan.read(path) for path in after])  # fmt: skip
    return {
        (row["kind"], row["name"]): row["kernel"]
        for rows in tables for row in rows if row["kernel"]
    }  # fmt: skip


@pytest.fixture
def old(tmp_path):
    return runs(tmp_path, "old", OLD)


def test_the_kernel_that_takes_longer_is_named_in_the_innermost_slower_range(tmp_path, old):
    found = told(old, runs(tmp_path, "newer", {**OLD, "gemm": 9000}))
    assert set(found) == {("step_cpu", "forward"), ("push_pop", "forward")}
    for kernel in found.values():
        assert kernel.name == "gemm"
        assert kernel.added == pytest.approx(5_000_000, rel=0.05)
        assert 0 < kernel.margin < kernel.added
        assert kernel.cell().startswith(("gemm  +5.0", "gemm  +4.9"))


def test_the_table_has_it_as_evidence(tmp_path, old):
    new = runs(tmp_path, "newer", {**OLD, "gemm": 9000})
    done = run_nvspan("diff", "--repeats", "--fail", *old, "--", *new, check=1)
    cells = [line.split() for line in done.stdout.splitlines() if " gemm " in line]
    assert [row[-4:-2] for row in cells] == [["forward", "gemm"]] * 2
    heads = [line.split()[-2:] for line in done.stdout.splitlines() if "verdict" in line]
    assert heads == [["step", "kernel"], ["range", "kernel"]]
    rows = json.loads(run_nvspan("diff", "--repeats", "--format", "json", *old, "--", *new).stdout)
    (forward,) = [row for row in rows if (row["kind"], row["name"]) == ("push_pop", "forward")]
    assert forward["kernel"] == "gemm"
    assert forward["kernel_added"] == pytest.approx(5_000_000, rel=0.05)
    table = run_nvspan("diff", "--repeats", "--format", "csv", *old, "--", *new).stdout
    rows = csv.DictReader(io.StringIO(table))
    assert [row["kernel"] for row in rows if row["kernel"]] == ["gemm"] * 2


def test_it_is_never_part_of_the_decision(tmp_path, old):
    """Without kernels the same rows fail the gate."""
    kernels = {**OLD, "gemm": 9000}
    silent = runs(tmp_path, "silent", kernels, recorded=False)
    assert told(old, silent) == {}
    verdicts = []
    for after in (runs(tmp_path, "newer", kernels), silent):
        done = run_nvspan("diff", "--repeats", "--fail", "--format", "json", *old, "--", *after,
                          check=1)  # fmt: skip
        rows = json.loads(done.stdout)
        verdicts.append({row["name"]: row["verdict"] for row in rows if row["kind"] == "push_pop"})
    assert verdicts[0] == verdicts[1] == {"step": "slower", "forward": "slower"}


def test_a_slower_kernel_fails_no_gate(tmp_path):
    """No range takes longer: nothing is slower, and no kernel is named."""
    before = runs(tmp_path, "old", OLD, launched_in="after")
    faster = {**OLD, "gemm": 5000, "relu": 0.0}
    after = runs(tmp_path, "newer", faster, launched_in="after")
    done = run_nvspan("diff", "--repeats", "--fail", "--format", "json", *before, "--", *after)
    rows = json.loads(done.stdout)
    assert [row["kernel"] for row in rows] == [None] * len(rows)
    assert "slower" not in {row["verdict"] for row in rows}


def test_of_one_run_a_side_nothing_is_named(tmp_path, old):
    new = runs(tmp_path, "newer", {**OLD, "gemm": 9000}, count=1)
    assert told(old[:1], new) == {}
    assert told(old, new) == {}


def test_what_does_not_hold_over_the_runs_is_not_named(tmp_path, old):
    """In each run another kernel takes the time that the range gained."""
    new = runs(tmp_path, "newer", [{**OLD, name: OLD[name] + 5000} for name in OLD])
    rows = compare([nvspan.read(path) for path in old], [nvspan.read(path) for path in new])
    assert {row["name"]: row["verdict"] for row in rows}["forward"] == "slower"
    assert told(old, new) == {}


def test_a_kernel_that_others_took_the_place_of_is_not_named(tmp_path, old):
    """relu's and adam's work is fused into gemm, and the range takes longer by less than that."""
    fused = {"gemm": 8500, "relu": 10, "adam": 10}
    assert told(old, runs(tmp_path, "newer", fused)) == {}


def test_kernels_launched_elsewhere_are_not_the_ranges(tmp_path):
    """The range is slower, and so is a kernel that is launched behind it."""
    before = runs(tmp_path, "old", OLD, launched_in="after")
    after = runs(tmp_path, "newer", {**OLD, "gemm": 9000}, launched_in="after")
    assert ("push_pop", "forward") not in told(before, after)
    assert ("step_cpu", "forward") not in told(before, after)
