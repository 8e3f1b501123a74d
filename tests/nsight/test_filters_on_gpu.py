# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Filters under a real Nsight Compute on a real GPU: ncu profiles the kernels that they name, and
`evaluate` has said so before."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

import pytest

from helpers.device import PREAMBLE, environment, only_real
from helpers.ncu import find
from helpers.recorded import record_command
from helpers.traced import clean_environment, needs_library
from nvspan.nsight import RangeFilter

pytestmark = [needs_library, only_real]
UNIT = 100_000  # ns: kernel 3 takes three of them

PROGRAM = (
    PREAMBLE
    + f"""
def kernel(number):
    cuda.launch(0, number * {UNIT})

def nested(number, *names, domain="app"):
    for name in names:
        nvspan.push_range(name, domain=domain)
    kernel(number)
    for name in names:
        nvspan.pop_range(domain=domain)

nested(1, "step")
nested(2, "step", "forward")
nested(3, "step", "forward", "layer[0]")
nested(4, "step", "layer[0]")
nested(5, "layer[0]")
nested(6, "step", domain=None)
load = nvspan.start_range("load", domain="app")
kernel(7)
copy = nvspan.start_range("copy", domain="app")
kernel(8)
nvspan.end_range(copy)
nvspan.end_range(load)
nested(9, "step", "a.b")
nested(10, "step", "axb")
nested(11, "x@y")
nested(12, "back\\\\slash")
kernel(13)
cuda.synchronize()
"""
)

KERNELS = {
    "app@step/": {1, 2, 3, 4, 9, 10},
    "app@forward/": {2, 3},
    "app@step/forward": {2, 3},
    r"app@step/layer\[0\]": {4},
    r"app@step/*/layer\[0\]": {3, 4},
    r"app@step/+/layer\[0\]": {3},
    r"app@[layer\[0\]": {5},
    r"app@layer\[0\]]": {3, 4, 5},
    "app@forward]": {2},
    "app@[step]": {1},
    "app@a.b/": {9},
    "step/": {6},
    "app@load": {7, 8},
    "app@load,copy": {8},
    r"app@x\@y/": {11},
    r"app@back\\slash/": {12},
    "regex:app@(forward|a.b)/": {2, 3, 9, 10},
    "regex:a.*@step/for.*": {2, 3},
    "regex:app@for/": set(),
    r"regex:app@l.*[0-9]\]/": {3, 4, 5},
    r"regex:app@loa[a-d/]": {7, 8},
    "app@absent/": set(),
}


def profiled(*options):
    """The numbers of the kernels that ncu profiled."""
    metric = "gpu__time_duration.sum"
    command = [find(), "--nvtx", *options, "--csv", "--page", "raw", "--print-units", "base",
               "--clock-control", "none", "--metrics", metric,
               sys.executable, "-c", PROGRAM]  # fmt: skip
    done = subprocess.run(
        command, env=clean_environment(environment()), capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    if '"ID"' not in done.stdout:
        assert "No kernels were profiled" in done.stdout + done.stderr
        return set()
    rows = list(csv.DictReader(io.StringIO(done.stdout[done.stdout.find('"ID"') :])))[1:]
    return {round(float(row[metric].replace(",", "")) / UNIT) for row in rows}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return record_command(
        [sys.executable, "-c", PROGRAM], folder=tmp_path_factory.mktemp("gpu"), env=environment()
    ).recording


@pytest.mark.parametrize("text", KERNELS)
def test_a_filter_hits_what_was_said(text, recording):
    filter = RangeFilter.parse(text)
    assert profiled(*filter.arguments()) == KERNELS[text]
    assert bool(filter.evaluate(recording)) == bool(KERNELS[text])


def test_several_filters():
    both = [*RangeFilter("forward", domain="app").arguments(), *RangeFilter("step").arguments()]
    assert profiled(*both) == {2, 3, 6}
    without = RangeFilter("forward", domain="app").arguments(exclude=True)
    assert profiled(*RangeFilter("step", domain="app").arguments(), *without) == {1, 4, 9, 10}
