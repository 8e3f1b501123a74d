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
keeps = False  # as kineto does from its first profile on
answers = []
def _prepare_profiler(config, activities):
    if Activity.CUDA in activities and not subscriber:
        answers.append(gpu.cupti.cuptiSubscribe(ctypes.byref(subscriber), None, None))
def _enable_profiler(config, activities):
    pass
def give_back():
    answers.append(gpu.cupti.cuptiUnsubscribe(subscriber))
    subscriber.value = None
def _disable_profiler():
    if subscriber and not keeps:
        give_back()
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


INJECTED = {"CUDA_INJECTION64_PATH": "libnvspan_inject.so"}


def names(done):
    rows = [row for row in done.recording.ranges.rows() if row["domain"] == "CUDA"]
    return [row["name"] for row in sorted(rows, key=lambda row: row["start"])]


def run(activities):
    code = "import ctypes\n" + PROFILER + RUN.replace("{activities}", activities)
    return run_recorded(code, env=INJECTED)


def test_cupti_is_lent_to_a_profiler_of_cuda():
    done = run("{Activity.CPU, Activity.CUDA}")
    assert done.stdout == "[0, 0]\n"
    assert names(done) == ["before", "after"]
    assert done.stderr == ""
    (gap,) = done.recording.gpu_gaps
    assert gap.reason == "a profiler of the program had CUPTI"
    before, after = (row for row in done.recording.ranges.rows() if row["domain"] == "CUDA")
    assert before["start"] < gap.start < gap.end < after["start"]


def test_a_profiler_that_keeps_cupti_is_said_and_asked_again():
    code = """
gpu.use()
gpu.launch("before")
keeps = True
profile({Activity.CUDA})
gpu.launch("without")
keeps = False
profile({Activity.CUDA})
gpu.launch("after")
gpu.deliver()
print(answers)
"""
    done = run_recorded("import ctypes\n" + PROFILER + "import wave" + code, env=INJECTED)
    assert done.stdout == "[0, 0]\n"
    assert names(done) == ["before", "after"]
    assert done.stderr == (
        "nvspan: kernels are not recorded: another tool uses CUPTI in this process, since it has "
        "profiled the program\n"
    )
    lent, refused = done.recording.gpu_gaps
    assert (lent.reason, refused.reason) == (
        "a profiler of the program had CUPTI", "CUPTI could not be used",
    )  # fmt: skip
    assert lent.end == refused.start < refused.end < done.recording.processes[0].end


def test_a_profiler_that_lets_go_later_is_waited_for():
    """As kineto with TEARDOWN_CUPTI=1: it finalizes CUPTI some time after the profile."""
    code = """
import wave
gpu.use()
gpu.launch("before")
gpu.deliver()
keeps = True
profile({Activity.CUDA})
time.sleep(1.5)
gpu.cupti.fake_begin_afresh()
assert gpu.now() == 0  # CUPTI has no clock of ours
end = time.monotonic() + 30
while gpu.now() == 0 and time.monotonic() < end:
    time.sleep(0.05)
gpu.launch("after")
gpu.deliver()
"""
    env = {**INJECTED, "TEARDOWN_CUPTI": "1"}
    done = run_recorded("import ctypes\n" + PROFILER + code, env=env)
    assert names(done) == ["before", "after"]
    assert len(done.recording.losses) == 0
    assert done.stderr == ""
    assert [gap.reason for gap in done.recording.gpu_gaps] == [
        "a profiler of the program had CUPTI"
    ]


# A kineto that does not subscribe: it uses the activity calls alone.
WITHOUT_SUBSCRIBER = """
taken = []
held = []
pointer, size = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)
@ctypes.CFUNCTYPE(None, pointer, size, size)
def requested(buffer, bytes, records):
    held.append(ctypes.create_string_buffer(65536))
    buffer[0], bytes[0], records[0] = ctypes.addressof(held[-1]), 65536, 0
@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t,
                  ctypes.c_size_t)
def completed(context, stream, buffer, bytes, valid):
    taken.append(valid)
def _enable_profiler(config, activities):
    gpu.cupti.cuptiActivityRegisterCallbacks(requested, completed)
    gpu.cupti.cuptiActivityEnable(10)
def _disable_profiler():
    gpu.cupti.cuptiActivityFlushAll(1)
    gpu.cupti.cuptiActivityDisable(10)
    return "result"
profiler._prepare_profiler = lambda config, activities: None
profiler._enable_profiler, profiler._disable_profiler = _enable_profiler, _disable_profiler
gpu.cupti.fake_version(130300)
"""


def test_a_profiler_that_does_not_subscribe_has_the_records_of_its_time():
    code = RUN.replace("{activities}", "{Activity.CUDA}").replace("print(answers)", "")
    done = run_recorded(
        "import ctypes\n" + PROFILER + WITHOUT_SUBSCRIBER + code
        + "print(taken != [], [line for line in gpu.log() if 'misuse' in line])",
        env=INJECTED,
    )  # fmt: skip
    assert done.stdout == "True []\n"
    assert names(done) == ["before", "after"]
    assert [gap.reason for gap in done.recording.gpu_gaps] == [
        "a profiler of the program had CUPTI"
    ]


def test_a_profile_before_cuda_is_used_has_cupti():
    code = """
import wave
profiler._prepare_profiler(None, {Activity.CUDA})
gpu.use()  # kineto is the first that uses CUDA
profiler._enable_profiler(None, {Activity.CUDA})
gpu.launch("profiled")
profiler._disable_profiler()
gpu.launch("after")
gpu.deliver()
print(answers)
"""
    done = run_recorded("import ctypes\n" + PROFILER + code, env=INJECTED)
    assert done.stdout == "[0, 0]\n"
    assert names(done) == ["after"]
    assert [gap.reason for gap in done.recording.gpu_gaps] == [
        "a profiler of the program had CUPTI"
    ]


def test_a_gap_of_a_killed_process_lasts_to_its_end():
    code = """
import wave
gpu.use()
gpu.launch("before")
gpu.deliver()
profiler._prepare_profiler(None, {Activity.CUDA})
nvspan.mark("profiling")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = run_recorded("import ctypes\n" + PROFILER + code, env=INJECTED, check=False)
    assert names(done) == ["before"]
    (gap,) = done.recording.gpu_gaps
    (mark,) = done.recording.marks.rows()
    assert gap.start < mark["time"] <= gap.end == done.recording.processes[0].end


def test_a_profiler_of_the_cpu_takes_nothing_away():
    done = run("{Activity.CPU}")
    assert done.stdout == "[]\n"
    assert names(done) == ["before", "profiled", "after"]
    assert done.recording.gpu_gaps == []
