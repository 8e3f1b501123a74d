# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Released packages that annotate themselves: what a tool sees of them with nvspan in place.

Each test runs the package's own code. .ci/peers.sh installs them; elsewhere a test of a package
that is not installed skips.
"""

from __future__ import annotations

import importlib.util
import os
import sys

import pytest

from helpers.events import lines, plain
from helpers.traced import needs_library, run_command

pytestmark = needs_library
INSTALLED_BY_CI = bool(os.environ.get("NVSPAN_PEERS"))


def needs(package):
    spec = importlib.util.find_spec(package)  # a folder of these tests has no origin
    missing = not INSTALLED_BY_CI and (spec is None or spec.origin is None)
    return pytest.mark.skipif(missing, reason=f"{package} is not installed")


def run(code, *options, env=None):
    """Runs code under ``nvspan`` with these options and a tool; everything that the tool saw."""
    command = [sys.executable, "-W", "ignore", "-m", "nvspan", *options, "-c", code]
    return run_command(command, env=env)


def connected(done):
    """The shared objects that called NVTX."""
    return [os.path.basename(event["object"]).split(".")[0] for event in done.of_kind("init")]


# ---- dask-cuda: `from nvtx import annotate`, as a decorator of module-level functions

DASK_CUDA = """
import numpy
from dask_cuda.device_host_file import device_to_host, host_to_device
held = device_to_host(numpy.arange(4))
print(host_to_device(held).tolist(), device_to_host.__name__, device_to_host.__module__)
try: host_to_device(None)
except AttributeError as error: print(error)
"""


@needs("dask_cuda")
def test_dask_cuda_spills():
    done = run(DASK_CUDA, "--as-nvtx")
    assert lines(done.events) == [
        "push [dask_cuda] 'SPILL_D2H' color=00FF0000 depth=0",
        "pop [dask_cuda] 'SPILL_D2H' depth=0",
        "push [dask_cuda] 'SPILL_H2D' color=00008000 depth=0",
        "pop [dask_cuda] 'SPILL_H2D' depth=0",
        "push [dask_cuda] 'SPILL_H2D' color=00008000 depth=0",
        "pop [dask_cuda] 'SPILL_H2D' depth=0",
    ]
    assert connected(done) == ["_core"]
    assert done.stdout.splitlines() == [
        "[0, 1, 2, 3] device_to_host dask_cuda.device_host_file",
        "'NoneType' object has no attribute 'header'",
    ]


# ---- nsight-python: start_range and end_range around a measured region

NSIGHT = """
import threading
import nsight
with nsight.annotate("region"):
    pass
@nsight.annotate("function")
def function(value): return value
print(function(3))
try:
    with nsight.annotate("outer"):
        with nsight.annotate("nested"): pass
except ValueError as error: print(str(error).split(".")[0])
"""


@needs("nsight")
def test_nsight_python_annotates_regions():
    # Without the variable, importing it attaches Nsight Compute where that is installed.
    done = run(NSIGHT, "--as-nvtx", env={"NSPY_NCU_INIT_AT_IMPORT": "0"})
    assert lines(done.events) == [
        line
        for number, name in enumerate(("region", "function", "outer"), 1)
        for line in (
            f"start #{number} [nsight-python] '{name}' color=000000FF",
            f"end #{number} [nsight-python] '{name}'",
        )
    ]
    assert connected(done) == ["_core"]
    assert done.stdout == "3\nNested annotations are not supported\n"


# ---- warp: start_range and end_range of a timer, imported at each use

WARP = """
import warp
warp.config.quiet = True
with warp.ScopedTimer("outer", use_nvtx=True, print=False):
    with warp.ScopedTimer("inner", use_nvtx=True, color="red", print=False): pass
    with warp.ScopedTimer("timed only", print=False): pass
with warp.ScopedTimer("off", use_nvtx=True, active=False, print=False): pass
with warp.ScopedTimer("number", use_nvtx=True, color=0xFF102030, print=False): pass
try:
    with warp.ScopedTimer("raises", use_nvtx=True, print=False): raise KeyError("k")
except KeyError as error: print(error)
"""


@needs("warp")
def test_warp_times_scopes():
    done = run(WARP, "--as-nvtx")
    assert lines(done.events) == [
        "start #1 [] 'outer' color=007400FF",
        "start #2 [] 'inner' color=00FF0000",
        "end #2 [] 'inner'",
        "end #1 [] 'outer'",
        "start #3 [] 'number' color=FF102030",
        "end #3 [] 'number'",
        "start #4 [] 'raises' color=007400FF",
        "end #4 [] 'raises'",
    ]
    assert connected(done)[:1] == ["_core"]
    assert done.stdout.endswith("'k'\n")


# ---- cupy: calls NVTX from its own extension module, which nothing takes the place of

CUPY = """
import nvspan
from cupy.cuda import nvtx
from cupyx.profiler import time_range
nvtx.Mark("mark", 1); nvtx.MarkC("colored mark", 0xFF112233)
nvtx.RangePush("push"); nvtx.RangePushC("colored push", 0xFF445566)
nvtx.RangePop(); nvtx.RangePop()
started = nvtx.RangeStart("start", 0xFF010203); nvtx.RangeEnd(started)
with nvspan.annotate("ours"), time_range("with", color_id=2):
    with nvspan.annotate("inside"): pass
@time_range(argb_color=0xFF0000AA)
def decorated(): return 7
print(decorated())
"""


@needs("cupy")
def test_cupy_is_seen_beside_nvspan():
    done = run(CUPY, "--as-nvtx")
    assert lines(done.events) == [
        "mark [] ascii:'mark' color=FF007FFF",
        "mark [] ascii:'colored mark' color=FF112233",
        "push [] ascii:'push' depth=0",
        "push [] ascii:'colored push' color=FF445566 depth=1",
        "pop [] ascii:'colored push' depth=1",
        "pop [] ascii:'push' depth=0",
        "start #1 [] ascii:'start' color=FF010203",
        "end #1 [] ascii:'start'",
        "push [] 'ours' color=000000FF depth=0",
        "push [] ascii:'with' color=FF7F00FF depth=1",
        "push [] 'inside' color=000000FF depth=2",
        "pop [] 'inside' depth=2",
        "pop [] ascii:'with' depth=1",
        "pop [] 'ours' depth=0",
        "push [] ascii:'decorated' color=FF0000AA depth=0",
        "pop [] ascii:'decorated' depth=0",
    ]
    assert sorted(connected(done)) == ["_core", "nvtx"]
    assert done.stdout == "7\n"


# ---- DeepSpeed: the nvtx package's domains where it is there, else torch.cuda.nvtx

DEEPSPEED = """
import torch
from deepspeed.runtime.zero.partition_parameters import ZeroParamStatus, free_param
from deepspeed.utils import instrument_w_nvtx
from deepspeed.accelerator import get_accelerator
parameter = torch.nn.Parameter(torch.ones(3))
parameter.ds_active_sub_modules = set()
free_param(parameter)
print(parameter.shape, parameter.ds_status is ZeroParamStatus.NOT_AVAILABLE)
class Engine:
    @instrument_w_nvtx
    def step(self, value):
        get_accelerator().range_push("inside"); get_accelerator().range_pop()
        return value
print(Engine().step(5))
"""
WITHOUT_NVTX = """
import sys
sys.modules["nvtx"] = None
import torch
from nvspan.torch import nvtx as ours
before = torch.cuda.nvtx.range_push
ours.patch()
"""
# The accelerator of GPUs, which is the one that annotates, and needs none to do so.
CUDA = {"DS_ACCELERATOR": "cuda"}


@needs("deepspeed")
def test_deepspeed_annotates_in_its_domain():
    done = run("from nvspan.torch import nvtx\nnvtx.patch()" + DEEPSPEED, "--as-nvtx", env=CUDA)
    assert plain(done.events) == [
        "push [DeepSpeed] 'free_param' depth=0",
        "pop [DeepSpeed] 'free_param' depth=0",
        "push [DeepSpeed] 'Engine.step' depth=0",
        "push [] 'inside' depth=0",
        "pop [] 'inside' depth=0",
        "pop [DeepSpeed] 'Engine.step' depth=0",
    ]
    assert done.stdout.splitlines()[-2:] == ["torch.Size([0]) True", "5"]


@needs("deepspeed")
def test_deepspeed_without_nvtx_annotates_by_torch():
    done = run(WITHOUT_NVTX + DEEPSPEED, env=CUDA)
    assert plain(done.events) == [
        "push [] 'free_param' depth=0",
        "pop [] 'free_param' depth=0",
        "push [] 'Engine.step' depth=0",
        "push [] 'inside' depth=1",
        "pop [] 'inside' depth=1",
        "pop [] 'Engine.step' depth=0",
    ]
    assert done.stdout.splitlines()[-2:] == ["torch.Size([0]) True", "5"]


# ---- Lightning: torch's emit_nvtx, inside libtorch, which a build without CUDA does not have

LIGHTNING = """
import torch
from lightning.pytorch.profilers import PyTorchProfiler
profiler = PyTorchProfiler(emit_nvtx=True)
profiler.setup("fit")
try: profiler.start("run_training_epoch")
except Exception as error: print(type(error).__name__, error)
profiler._parent_profiler = profiler.profiler = None
"""


@needs("lightning")
def test_lightning_annotates_with_cuda_alone():
    patched = "from nvspan.torch import nvtx\nnvtx.patch()" + LIGHTNING
    ends = [run(LIGHTNING), run(patched, "--as-nvtx")]
    message = "AssertionError Torch not compiled with CUDA enabled\n"
    assert [done.stdout for done in ends] == [message, message]
    assert [plain(done.events) for done in ends] == [[], []]
