# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ranges took since the last look, as numbers by name."""

from __future__ import annotations

import os

import pytest

from helpers.live import running
from helpers.traced import needs_library, python
from helpers.written import written
from nvspan.watch import Scalars


def test_every_number_of_a_recording(tmp_path):
    written(
        tmp_path / "a.nvspan",
        [(0, 1_000_000, "step"), (2_000_000, 5_000_000, "step")],
        backward=[(0, 20_000, "a:b")],
        device=[(100, 7_000_100, "step")],
        domain_name="train",
    )
    scalars = Scalars(tmp_path / "a.nvspan", prefix="p/")
    assert scalars.read() == {
        "p/train/step/mean_ms": 2.0,
        "p/train/step/p99_ms": pytest.approx(3.0, rel=0.004),
        "p/train/step/calls": 2.0,
        "p/train/step/gpu/mean_ms": 7.0,
        "p/train/step/gpu/p99_ms": pytest.approx(7.0, rel=0.004),
        "p/train/step/gpu/calls": 1.0,
        "p/train/a_b _backward_/mean_ms": 0.02,
        "p/train/a_b _backward_/p99_ms": pytest.approx(0.02, rel=0.004),
        "p/train/a_b _backward_/calls": 1.0,
    }
    assert (scalars.read(), scalars.problems) == ({}, [])


def test_several_recordings_are_together(tmp_path):
    for number in range(3):
        written(tmp_path / f"{number}.nvspan", [(0, 1_000_000 * (number + 1), "r")])
    found = Scalars(tmp_path).read()
    assert (found["nvspan/torch/r/calls"], found["nvspan/torch/r/mean_ms"]) == (3, 2.0)


@needs_library
@pytest.mark.parametrize("mode", ["stats", "full"])
def test_only_what_is_new(tmp_path, mode):
    program = """
import nvspan
for part in range(1, 4):
    for _ in range(part * 5):
        with nvspan.annotate("step"):
            pass
    print("ready", flush=True)
    input()
"""
    with running(tmp_path, program, mode, until=False) as run:
        scalars = Scalars(run.file, match=["step"])
        for part in range(1, 4):
            run.wait_for()
            found = scalars.read()
            assert found.keys() == {
                f"nvspan/step/{name}" for name in ("mean_ms", "p99_ms", "calls")
            }
            assert found["nvspan/step/calls"] == part * 5
            run.say()


@needs_library
def test_two_kinds_of_range_with_one_name(tmp_path):
    program = """
import nvspan
for part in range(2):
    for _ in range(5):
        with nvspan.annotate("step"):
            pass
    for _ in range(3):
        nvspan.end_range(nvspan.start_range("step"))
    print("ready", flush=True)
    input()
"""
    with running(tmp_path, program, "stats", until=False) as run:
        scalars = Scalars(run.file, match=["step"])
        for _ in range(2):
            run.wait_for()
            assert scalars.read()["nvspan/step/calls"] == 8
            run.say()


@needs_library
@pytest.mark.parametrize("mode", ["stats", "full", "ring"])
def test_another_recording_takes_the_path(tmp_path, mode):
    scalars = Scalars(tmp_path / "run.nvspan")
    for calls in (10, 3):
        program = f"""
import nvspan
with nvspan.record({str(tmp_path / "other.nvspan")!r}, mode={mode!r}):
    for _ in range({calls}):
        with nvspan.annotate("step"):
            pass
"""
        python("-c", program, check=True)
        os.replace(tmp_path / "other.nvspan", tmp_path / "run.nvspan")
        assert scalars.read()["nvspan/step/calls"] == calls


def test_without_a_recording(tmp_path):
    scalars = Scalars(str(tmp_path / "none.nvspan"))
    assert scalars.read() == {}
    assert scalars.problems == [f"{tmp_path}/none.nvspan: there is no such file"]
