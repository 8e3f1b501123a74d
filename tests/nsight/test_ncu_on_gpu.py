# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ncu`` on a real GPU: the kernels of the ranges that it names, those of a command written
by hand, and each pitfall explained. Kernels are told apart by their grids."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from helpers import ncu as real
from helpers import ranks
from helpers.device import environment, only_real
from helpers.traced import clean_environment, needs_library
from helpers.tree import ROOT
from nvspan.nsight import read_ncu

pytestmark = [needs_library, only_real]

KERNELS = ROOT / "tests" / "data" / "nsight" / "kernels.py"
TIME = "gpu__time_duration.sum"
INSTRUCTIONS = "smsp__inst_executed.sum"
QUICK = ("--metrics", f"time,{INSTRUCTIONS}", "--clock-control", "none")
needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="needs torch")


def finished(tmp_path, command, variables=None):
    env = clean_environment(environment(variables))
    return subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=150, check=False
    )


def run(tmp_path, *words):
    command = [sys.executable, "-m", "nvspan", "ncu", *words]
    return finished(tmp_path, command, {"NVSPAN_NCU": os.environ.get("NVSPAN_NCU")})


def profiled(tmp_path, *words, program=(str(KERNELS), "sync")):
    """The results of `nvspan ncu`, by their grids or ranges."""
    done = run(tmp_path, *QUICK, "-o", "out", "--force", *words, *program)
    assert done.returncode == 0, done.stdout + done.stderr
    return read_ncu([str(tmp_path / "out.ncu-rep")], ncu=real.find()).results


def grids(results):
    return [result.grid[0] for result in results]


def by_hand(tmp_path, *words, program=(str(KERNELS), "sync")):
    """The results of a command that an expert writes."""
    command = [real.find(), "-f", "-o", "hand", "--metrics", f"{TIME},{INSTRUCTIONS}",
               "--clock-control", "none", "--nvtx", *words, sys.executable, *program]  # fmt: skip
    done = finished(tmp_path, command)
    assert done.returncode == 0, done.stdout + done.stderr
    return read_ncu([str(tmp_path / "hand.ncu-rep")], ncu=real.find()).results


# The first range makes the CUDA context.
COLD = """
import nvspan
from helpers.gpu import Cuda
for number in range(3):
    with nvspan.annotate("work", domain="app"):
        if not number:
            cuda = Cuda()
        cuda.launch(0, grid=5)
        cuda.synchronize()
"""
CASES = {
    "a plain name": (["layers.1"], [11, 12] * 3),
    "two names": (["layers.0; load"], [1, 2, 60] * 3),
    "nested": (["forward > layers.2"], [21, 22] * 3),
    "excluded": (["forward", "--exclude", "layers.1"], [1, 2, 21, 22] * 3),
    "calls": (["layers.1", "--calls", "1:3"], [11, 12] * 2),
    "every second": (["step", "--every", "2"], [1, 2, 11, 12, 21, 22, 50, 60] * 2),
    "launches": (["step", "--launch-skip", "3", "--launch-count", "2"], [12, 21]),
    "another kernel": (["layers.1", "--kernel", "^spin$"], [11, 12] * 3),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_kernels_of_a_range(name, tmp_path):
    words, expected = CASES[name]
    assert grids(profiled(tmp_path, *words)) == expected


def test_the_same_as_a_command_by_hand(tmp_path):
    found = profiled(tmp_path, "layers.0", "layers.2")
    expected = by_hand(
        tmp_path, "--nvtx-include", "torch@layers.0/", "--nvtx-include", "torch@layers.2/"
    )
    assert [(r.name, r.grid, r.ranges) for r in found] == [
        (r.name, r.grid, r.ranges) for r in expected
    ]
    assert {frozenset(r.metrics) for r in found} == {frozenset(r.metrics) for r in expected}


def test_many_calls_are_chosen_by_their_numbers(tmp_path):
    (tmp_path / "many.py").write_text(
        "import sys, nvspan\nfrom helpers.gpu import Cuda\ncuda = Cuda()\n"
        "for number in range(25):\n"
        "    with nvspan.annotate('call', domain='app'): cuda.launch(0, grid=number + 1)\n"
        "cuda.synchronize()\n"
    )
    assert grids(profiled(tmp_path, "call", "--every", "10", program=("many.py",))) == [1, 11, 21]


@pytest.mark.parametrize("replay", ["range", "app-range"])
def test_ranges_as_one(tmp_path, replay):
    found = profiled(tmp_path, "layers.0", "layers.1", "layers.2", "--replay", replay)
    assert [(r.kind, r.ranges[-1].name) for r in found] == [
        ("range", f"layers.{n}") for _ in range(3) for n in range(3)
    ]


def test_the_program_runs_again_for_each_pass(tmp_path):
    (tmp_path / "counted.py").write_text(
        "import runpy, sys\n"
        "with open('runs', 'a') as runs: print('run', file=runs)\n"
        f"sys.argv = [{str(KERNELS)!r}, 'sync']\n"
        f"runpy.run_path({str(KERNELS)!r}, run_name='__main__')\n"
    )
    metrics = f"{INSTRUCTIONS},MemoryWorkloadAnalysis"
    words = ("--replay", "application", "--metrics", metrics, "layers.1")
    found = profiled(tmp_path, *words, program=("counted.py",))
    expected = by_hand(tmp_path, "--nvtx-include", "torch@layers.1/")
    assert grids(found) == grids(expected) == [11, 12] * 3
    # The kernels spin for a time: how often differs from run to run.
    assert [r.metrics[INSTRUCTIONS] for r in found] == pytest.approx(
        [r.metrics[INSTRUCTIONS] for r in expected], rel=0.05
    )
    assert (
        len((tmp_path / "runs").read_text().split()) >= 3
    )  # the recording, and at least two passes


def test_a_table_and_a_report_for_each_region(tmp_path):
    done = run(tmp_path, *QUICK, "--per-region", "-o", "reports", "layers.0", "load", str(KERNELS),
               "sync")  # fmt: skip
    lines = [line.split() for line in done.stderr.splitlines()]
    assert [line[:2] for line in lines if line[:1] == ["torch:layers.0"]] == [
        ["torch:layers.0", "6"]
    ]
    assert [line[:3] for line in lines if line[:1] == ["io:load"]] == [
        ["io:load", "(start/end)", "3"]
    ]
    names = sorted(path.name.rsplit("-", 2)[0] for path in (tmp_path / "reports").iterdir())
    assert names == ["0-layers.0", "1-load"]


PITFALLS = {
    "typo": (["app@stpe/", "K", "sync"], "there is no range 'stpe'; the nearest are 'step'",
             "nvspan ncu step"),
    "no slash": (["app@step", "K", "sync"], "'step' is a push/pop range", "nvspan ncu step"),
    "slash on a span": (["io@load/", "K", "sync"], "'load' is a start/end", "nvspan ncu load"),
    "wrong domain": (["step/", "K", "sync"], "'step' is in the domain 'app'", "nvspan ncu step"),
    "no kernel": (["captured", "K", "graph"], "its thread launched no kernel", None),
    "kernel's name": (["step", "--kernel", "gemm", "K", "sync"], "there are spin", None),
    "skipped": (["step", "--launch-skip", "99", "K", "sync"], "--launch-skip left out", None),
    "capture": (["captured", "--replay", "range", "K", "graph"], "a CUDA graph is captured in it",
                "--replay app-range"),
    "cold": (["work", "--replay", "range", "cold.py"], "cannot repeat", "--calls 1:"),
    "capture, unchecked": (["captured", "--replay", "range", "--no-check", "K", "graph"],
                           "a CUDA graph is captured in it", "--replay app-range"),
    "cold, unchecked": (["work", "--replay", "range", "--no-check", "cold.py"], "cannot repeat",
                        "--calls 1:"),
    "nested": (["outer", "inner", "--replay", "range", "K", "nested"],
               "'inner' runs within 'outer'", "--per-region"),
    "no CUDA": (["idle", "idle.py"], "no process of the program used CUDA", None),
    "metric": (["step", "--metrics", "gpu__time_duratio.sum", "K", "sync"],
               "measured no 'gpu__time_duratio.sum'", None),
}  # fmt: skip


@pytest.mark.parametrize("name", PITFALLS)
def test_pitfalls_are_explained(name, tmp_path):
    words, expected, command = PITFALLS[name]
    (tmp_path / "cold.py").write_text(COLD)
    (tmp_path / "idle.py").write_text("import nvspan\nwith nvspan.annotate('idle'): pass\n")
    own = ["--clock-control", "none"] if "--metrics" in words else QUICK
    done = run(tmp_path, *own, *(str(KERNELS) if word == "K" else word for word in words))
    assert expected in done.stderr, done.stdout + done.stderr
    assert command is None or command in done.stderr, done.stderr


def test_the_command_that_is_offered_for_a_cold_context_works(tmp_path):
    (tmp_path / "cold.py").write_text(COLD)
    found = profiled(tmp_path, "work", "--replay", "range", "--calls", "1:", program=("cold.py",))
    assert [r.ranges[-1].name for r in found] == ["work", "work"]


def test_a_forked_child(tmp_path):
    (tmp_path / "fork.py").write_text(
        "import os, sys, nvspan\nfrom helpers.gpu import Cuda\n"
        "if (pid := os.fork()) == 0:\n"
        "    cuda = Cuda()\n"
        "    with nvspan.annotate('child', domain='app'):\n"
        "        cuda.launch(0, grid=7)\n"
        "        cuda.synchronize()\n"
        "    os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
    )
    assert grids(profiled(tmp_path, "app@child/", program=("fork.py",))) == [7]


def test_ranks(tmp_path):
    (tmp_path / "train.py").write_text(
        "import ctypes, os, nvspan\nfrom helpers.gpu import Cuda\n"
        "rank, count = int(os.environ['SLURM_PROCID']), ctypes.c_int()\n"
        "cuda = Cuda()\n"
        "cuda.call('cuDeviceGetCount', ctypes.byref(count))\n"
        "cuda.use(rank % count.value)\n"
        "with nvspan.annotate('step', domain='app'): cuda.launch(0, grid=10 + rank)\n"
        "if rank == 0:\n"
        "    with nvspan.annotate('save', domain='app'): cuda.launch(0, grid=5)\n"
        "cuda.synchronize()\n"
    )
    launcher = ranks.make_launcher(tmp_path, "srun")
    done = run(tmp_path, *QUICK, "app@step/", "app@save/", "-o", "of {rank}", "--", launcher, "-n",
               "2", sys.executable, "train.py")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    of = [read_ncu([str(tmp_path / f"of {rank}.ncu-rep")], ncu=real.find()).results
          for rank in (0, 1)]  # fmt: skip
    assert [grids(results) for results in of] == [[10, 5], [11]]
    assert "rank 1: 'app@save/' did not run on this rank in the recording, but on 0" in done.stderr
    assert "rank 0:" not in done.stderr


@needs_torch
def test_range_replay_of_three_layers(tmp_path):
    (tmp_path / "model.py").write_text(
        "import torch, nvspan.nsight, nvspan.torch\n"
        "layers = [torch.nn.Linear(256, 256).cuda() for _ in range(3)]\n"
        "x = torch.randn(64, 256, device='cuda')\n"
        "for layer in layers: nvspan.torch.warmup(layer, x)\n"
        "for number, layer in enumerate(layers):\n"
        "    with nvspan.nsight.profile_region(f'layers.{number}'): x = layer(x)\n"
    )
    (tmp_path / "hand.py").write_text(
        "import torch\nfrom torch.cuda import nvtx\n"
        "layers = [torch.nn.Linear(256, 256).cuda() for _ in range(3)]\n"
        "x = torch.randn(64, 256, device='cuda')\n"
        "for layer in layers: layer(x)\n"
        "torch.cuda.synchronize()\n"
        "for number, layer in enumerate(layers):\n"
        "    nvtx.range_push(f'layers.{number}')\n"
        "    x = layer(x)\n"
        "    torch.cuda.synchronize()\n"
        "    nvtx.range_pop()\n"
    )
    found = profiled(tmp_path, "layers.*", "--replay", "range", program=("model.py",))
    include = [w for n in range(3) for w in ("--nvtx-include", f"layers.{n}/")]
    expected = by_hand(tmp_path, *include, "--replay-mode", "range", program=("hand.py",))
    assert [r.ranges[-1].name for r in found] == ["layers.0", "layers.1", "layers.2"]
    assert [r.ranges[-1].name for r in expected] == ["layers.0", "layers.1", "layers.2"]
    assert [r.metrics[INSTRUCTIONS] for r in found] == pytest.approx(
        [r.metrics[INSTRUCTIONS] for r in expected], rel=0.01
    )


@needs_torch
def test_the_backward_pass(tmp_path):
    (tmp_path / "model.py").write_text(
        "import torch, nvspan\n"
        "w = torch.randn(64, 64, device='cuda', requires_grad=True)\n"
        "x = torch.randn(64, 64, device='cuda')\n"
        "for _ in range(2):\n"
        "    loss = (x @ w).sum()\n"
        "    with nvspan.span('backward', domain='app'): loss.backward()\n"
        "torch.cuda.synchronize()\n"
    )
    found = profiled(tmp_path, "backward", program=("model.py",))
    assert len(found) >= 2
    assert {(r.ranges[-1].name, r.ranges[-1].kind) for r in found} == {("backward", "start_end")}
