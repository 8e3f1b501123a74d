# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""torch's profilers have CUPTI while they look at CUDA, and the recorder before and after.

torch is played by a module that makes the calls of torch.autograd.profiler.
"""

from __future__ import annotations

from helpers.fake_cupti import run_recorded
from helpers.traced import needs_library

pytestmark = needs_library

PROFILER = """
import enum, types
class Activity(enum.Enum):
    CPU = 0
    CUDA = 1
torch = types.ModuleType("torch")
torch.autograd = types.ModuleType("torch.autograd")
profiler = torch.autograd.profiler = types.ModuleType("torch.autograd.profiler")
subscriber = ctypes.c_void_p()
answers = []
def _prepare_profiler(config, activities):
    if Activity.CUDA in activities:
        answers.append(gpu.cupti.cuptiSubscribe(ctypes.byref(subscriber), None, None))
def _enable_profiler(config, activities):
    pass
def _disable_profiler():
    if subscriber:
        answers.append(gpu.cupti.cuptiUnsubscribe(subscriber))
    return "result"
for function in (_prepare_profiler, _enable_profiler, _disable_profiler):
    setattr(profiler, function.__name__, function)

def profile(activities):
    profiler._prepare_profiler(None, activities)
    profiler._enable_profiler(None, activities)
    gpu.launch("profiled")
    assert profiler._disable_profiler() == "result"

for module in (torch, torch.autograd, profiler):
    sys.modules[module.__name__] = module
"""
RUN = """
import wave  # any import: nvspan notices that torch is there
gpu.use()
gpu.launch("before")
profile({activities})
gpu.launch("after")
gpu.deliver()
print(answers)
"""


def names(done):
    rows = [row for row in done.recording.ranges.rows() if row["domain"] == "CUDA"]
    return [row["name"] for row in sorted(rows, key=lambda row: row["start"])]


def run(activities):
    code = "import ctypes\n" + PROFILER + RUN.replace("{activities}", activities)
    return run_recorded(code, env={"CUDA_INJECTION64_PATH": "libnvspan_inject.so"})


def test_cupti_is_lent_to_a_profiler_of_cuda():
    done = run("{Activity.CPU, Activity.CUDA}")
    assert done.stdout == "[0, 0]\n"
    assert names(done) == ["before", "after"]
    assert done.stderr == ""


def test_a_profiler_of_the_cpu_takes_nothing_away():
    done = run("{Activity.CPU}")
    assert done.stdout == "[]\n"
    assert names(done) == ["before", "profiled", "after"]
