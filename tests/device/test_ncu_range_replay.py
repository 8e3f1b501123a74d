# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Range replay of a real Nsight Compute, on a real GPU: nvspan makes no call within a range that
ncu refuses, from the program's thread or its own. A refused call ends the program with status 9
and leaves the range without a result."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from helpers.device import PREAMBLE, environment, only_real
from helpers.ncu import find, raw_rows
from helpers.traced import clean_environment, needs_library

pytestmark = [needs_library, only_real]

TORCH = """
import torch, nvspan
a = torch.randn(512, 512, device="cuda")
s = torch.cuda.Stream()
def work():
    return (a @ a).relu_()
def step():
    for _ in range(3):
        work()
for _ in range(3):
    work()
    with torch.cuda.stream(s):
        work()
torch.cuda.synchronize()
"""

TIME = "gpu__time_duration.sum"  # ns
INSTRUCTIONS = "smsp__inst_executed.sum"


def replay(code: str, *include: str, metric: str = TIME) -> list[tuple[str, float]]:
    """Runs a program under range replay: each profiled range, and the metric of it."""
    filters = [word for name in include for word in ("--nvtx-include", name)]
    command = [find(), "--nvtx", *filters, "--replay-mode", "range", "--csv", "--page", "raw",
               "--print-units", "base", "--metrics", metric,
               sys.executable, "-c", code]  # fmt: skip
    done = subprocess.run(
        command, env=clean_environment(environment()), capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = raw_rows(done.stdout)
    values = [float(row[metric].replace(",", "")) for row in rows]
    names = [",".join(value for key, value in row.items() if "Range" in key) for row in rows]
    return list(zip(names, values, strict=True))


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("stream", ["0", "s"])
def test_a_range_that_waits_is_profiled(stream, device):
    found = replay(
        PREAMBLE
        + f"""
s = cuda.stream()
import sys, types
cupy = types.ModuleType("cupy")
cupy.cuda = types.SimpleNamespace(
    get_current_stream=lambda: types.SimpleNamespace(ptr={stream}, device_id=0))
sys.modules["cupy"] = cupy
cuda.launch({stream}, 1_000_000)
cuda.synchronize()
for i in range(2):
    with nvspan.annotate("work", domain="app", device={device}, sync=True):
        cuda.launch({stream}, 2_000_000)
        cuda.launch({stream}, 1_000_000)
assert nvspan.tool() == "ncu", nvspan.tool()
""",
        "app@work/",
    )
    assert ["work" in name for name, _ in found] == [True, True]
    # Both kernels and what waits for them; other programs on the GPU make it longer, not shorter.
    assert all(time > 2.9e6 for _, time in found), found


@pytest.mark.parametrize("placement", ["side", "stream"])
def test_timed_ranges_are_read_within_a_replayed_range(placement):
    found = replay(
        PREAMBLE
        + f"""
s = cuda.stream()
cuda.launch(s, 1_000_000)
with nvspan.device_range("before", stream=s, timing=True, placement={placement!r}) as before:
    cuda.launch(s, 20_000_000)
with nvspan.annotate("work"):
    with nvspan.device_range("inner", stream=s, timing=True, placement={placement!r}) as inner:
        cuda.launch(s, 2_000_000)
    before.done()
    cuda.synchronize(s)
    assert nvspan.device_flush(30)
    assert inner.elapsed() > 1.9, inner.elapsed()
assert before.elapsed() > 19.9, before.elapsed()
""",
        "work/",
    )
    assert ["work" in name for name, _ in found] == [True]


def test_a_range_that_waits_within_another():
    found = replay(
        PREAMBLE
        + """
cuda.launch(0, 1_000_000)
with nvspan.annotate("step", sync=True):
    for name in ("first", "second"):
        with nvspan.annotate(name, device=True, sync=True):
            cuda.launch(0, 2_000_000)
""",
        "step/",
    )
    assert ["step" in name for name, _ in found] == [True]
    assert 3.9e6 < found[0][1] < 5e6, found


needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="needs torch")


@needs_torch
@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("side", [False, True])
def test_torch_streams(side, device):
    code = (
        TORCH
        + f"""
import contextlib
for i in range(2):
    with torch.cuda.stream(s) if {side} else contextlib.nullcontext():
        with nvspan.annotate("step", domain="app", device={device}, sync=True):
            step()
"""
    )
    by_hand = (
        TORCH
        + f"""
import contextlib
for i in range(2):
    with torch.cuda.stream(s) if {side} else contextlib.nullcontext():
        with nvspan.annotate("step", domain="app"):
            step()
            torch.cuda.synchronize()
"""
    )
    found = replay(code, "app@step/", metric=INSTRUCTIONS)
    expected = replay(by_hand, "app@step/", metric=INSTRUCTIONS)
    assert ["step" in name for name, _ in found] == [True, True]
    assert [count for _, count in found] == pytest.approx(
        [count for _, count in expected], rel=0.01
    )
