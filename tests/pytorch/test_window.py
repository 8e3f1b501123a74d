# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""profile_window: a range around the steps to capture, which nsys waits for."""

from __future__ import annotations

import os

import pytest

import nvspan.torch
from helpers.device import only_real
from helpers.loops import by_case, in_short
from helpers.nsys import profile
from helpers.traced import run_plain, run_traced

PROGRAM = """
import sys, types
import nvspan, nvspan.torch

def steps(*numbers):
    for number in numbers:
        with nvspan.step(number):
            pass

def window(*args, **options):
    return nvspan.torch.profile_window(*args, verbose=False, **options)

def case(name):
    nvspan.mark("case " + name)

case("a few"); made = window(1, 2); steps(0, 1, 2, 3, 1); print(made.done, made.open)
case("one"); window(2, 2); steps(1, 2, 3)
case("numbers that repeat"); window(1, 2); steps(1, 1, 1, 2, 2, 3)
case("numbers that jump"); window(1, 3); steps(0, 2, 5)
case("beyond"); made = window(1, 3); steps(0, 9); print(made.done); made.remove()
case("removed"); made = window(1, 3); steps(1); made.remove(); made.remove(); steps(2)
case("a block")
with window(1, 3, name="other", domain="mine") as made:
    steps(1); print(made.open)
case("ranks"); window(0, 0, ranks=3); window(0, 0, ranks=[2]); window(0, 0, ranks=[1, 3], name="r")
steps(0)
case("two"); window(1, 1); window(3, 3); steps(1, 2, 3)

# CUDA in use, without a device: what torch would be asked for.
calls = []
runtime = types.SimpleNamespace(
    cudaProfilerStart=lambda: calls.append("on"), cudaProfilerStop=lambda: calls.append("off"))
cuda = types.SimpleNamespace(is_initialized=lambda: calls != [], cudart=lambda: runtime)
sys.modules["torch"] = types.SimpleNamespace(cuda=cuda)
case("CUDA"); window(1, 1); steps(1); print(calls)
calls.append("initialised"); window(1, 1); steps(1); window(1, 1, cuda_profiler=False); steps(1)
print(calls)
case("at exit"); window(1, 3); steps(1)
"""
EXPECTED = {
    "a few": "step:0 <profile step:1 step:2 >profile step:3 step:1",
    "one": "step:1 <profile step:2 >profile step:3",
    "numbers that repeat": "<profile step:1 step:1 step:1 step:2 >profile step:2 step:3",
    "numbers that jump": "step:0 <profile step:2 >profile step:5",
    "beyond": "step:0 step:9",
    "removed": "<profile step:1 >profile step:2",
    "a block": "<other@mine step:1 >other@mine",
    "ranks": "<profile <r step:0 >profile >r",
    "two": "<profile step:1 >profile step:2 <profile step:3 >profile",
    "CUDA": "<profile step:1 >profile <profile step:1 >profile <profile step:1 >profile",
    "at exit": "<profile step:1 >profile",
}
STDOUT = "True False\nFalse\nTrue\n[]\n['initialised', 'on', 'off']\n"


def test_ranges():
    traced = run_traced(PROGRAM, env={"RANK": "3"})
    assert by_case(traced.events, in_short) == EXPECTED
    plain = run_plain(PROGRAM, env={"RANK": "3"})
    assert plain.stdout == traced.stdout == STDOUT
    assert plain.stderr == traced.stderr == ""


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        (
            {},
            "nsys profile --capture-range=nvtx --nvtx-capture=profile@torch "
            "--capture-range-end=stop PYTHON -c CODE a b",
        ),
        (
            {"TORCHELASTIC_RUN_ID": "1", "LOCAL_WORLD_SIZE": "2", "RANK": "0"},
            "torchrun --nproc-per-node 2 --no-python nsys profile --capture-range=nvtx "
            "--nvtx-capture=profile@torch --capture-range-end=stop "
            "'--output=report.%q{RANK}' PYTHON -c CODE a b",
        ),
    ],
    ids=["alone", "torchrun"],
)
def test_the_command_line_is_printed_once(variables, line):
    code = "import nvspan.torch as t;t.profile_window(1,2);t.profile_window(1,2)"
    said = run_plain(code, "a", "b", env={"RANK": None, **variables}).stderr.splitlines()
    assert said[0] == "nvspan: not under nsys; to capture steps 1 to 2:"
    shown = said[1].strip().replace(f"'{code}'", "CODE")
    words = [
        "PYTHON" if os.path.basename(each).startswith("python") else each for each in shown.split()
    ]
    assert (words, len(said)) == (line.split(), 2)


def test_what_is_no_window():
    with pytest.raises(ValueError, match="cannot end with step 1 and start with step 2"):
        nvspan.torch.profile_window(2, 1)
    for given in [("1", 2), (1, 2.0), (True, 2)]:
        with pytest.raises(TypeError, match="a step's number must be an int, not"):
            nvspan.torch.profile_window(*given)


@pytest.mark.nsys
def test_nsys_captures_the_window_alone(tmp_path):
    code = """
import nvspan, nvspan.torch
nvspan.torch.profile_window(2, 3)
for n in range(6):
    with nvspan.step(n), nvspan.annotate("within"):
        nvspan.mark("mark", domain="lib", payload=n)
print("done")
"""
    report = profile(
        code, tmp_path,
        "--capture-range=nvtx", "--nvtx-capture=profile@torch", "--capture-range-end=stop",
    )  # fmt: skip
    assert report.stdout == "done\n"
    shown = [each.split(" t0")[0] for each in report.lines if not each.startswith("domain")]
    assert [each.replace(" color=000000FF", "") for each in shown] == [
        "span [torch] 'profile' ended_by=t0",
        "range [torch] 'step' payload=int64:2 depth=0",
        "range [] 'within' depth=0",
        "mark [lib] 'mark' payload=int64:2",
        "range [torch] 'step' payload=int64:3 depth=0",
        "range [] 'within' depth=0",
        "mark [lib] 'mark' payload=int64:3",
    ]


@only_real
@pytest.mark.nsys
def test_nsys_captures_between_the_calls_of_cudas_profiler(tmp_path):
    code = """
import torch, nvspan, nvspan.torch
if not torch.cuda.is_available():
    raise SystemExit("no CUDA")
x = torch.ones(4, device="cuda")
nvspan.torch.profile_window(2, 3, verbose=False)
for n in range(6):
    with nvspan.step(n):
        x += 1
torch.cuda.synchronize()
print(x[0].item())
"""
    report = profile(
        code, tmp_path, "--capture-range=cudaProfilerApi", "--capture-range-end=stop",
        trace="cuda,nvtx",
    )  # fmt: skip
    if "no CUDA" in report.stdout:
        pytest.skip("torch is built without CUDA, or finds no GPU")
    assert report.stdout == "7.0\n"
    shown = [each.split(" t0")[0] for each in report.lines if not each.startswith("domain")]
    assert [each.replace(" color=000000FF", "") for each in shown] == [
        "range [torch] 'step' payload=int64:2 depth=0",
        "range [torch] 'step' payload=int64:3 depth=0",
    ]
