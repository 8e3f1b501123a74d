# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Filters under a real Nsight Compute on a real GPU: ncu profiles the kernels that they name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.device import PREAMBLE, environment, only_real
from helpers.filtered_kernels import INVALID, KERNELS, NEVER_HIT, STACKS
from helpers.ncu import find, raw_rows, refuses
from helpers.traced import clean_environment, needs_library
from nvspan.nsight import RangeFilter

pytestmark = [needs_library, only_real]

PROGRAM = (
    PREAMBLE
    + f"""
def kernel(number):
    cuda.launch(0, grid=number)

def nested(number, *names, domain="app"):
    for name in names:
        nvspan.push_range(name, domain=domain)
    kernel(number)
    for name in names:
        nvspan.pop_range(domain=domain)

for number, (domain, kind, names) in {STACKS!r}.items():
    if kind == "push_pop":
        nested(number, *names, domain=domain)
        continue
    opened = [nvspan.start_range(name, domain=domain) for name in names]
    kernel(number)
    for each in opened:
        nvspan.end_range(each)
cuda.synchronize()
"""
)


def profiled(*options):
    """The numbers of the kernels that ncu profiled: kernel 3 has three blocks."""
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
    return {int(row["Grid Size"].strip("(").split(",")[0]) for row in raw_rows(done.stdout)}


@pytest.mark.parametrize("text", KERNELS)
def test_what_a_filter_profiles(text):
    assert profiled("--nvtx-include", text) == KERNELS[text]
    written = str(RangeFilter.parse(text))
    assert written == text or profiled("--nvtx-include", written) == KERNELS[text]


@pytest.mark.parametrize("text", NEVER_HIT)
def test_what_profiles_nothing(text):
    assert profiled("--nvtx-include", text) == set()


@pytest.mark.parametrize("text", INVALID)
def test_what_ncu_refuses(text):
    assert refuses(find(), text)


def test_several_filters():
    both = [*RangeFilter("forward", domain="app").arguments(), *RangeFilter("step").arguments()]
    assert profiled(*both) == {2, 3, 6}
    without = RangeFilter("forward", domain="app").arguments(exclude=True)
    assert profiled(*RangeFilter("step", domain="app").arguments(), *without) == {1, 4, 9, 10}
