# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording says of CUDA in its process, by a driver that maps what the real one maps."""

from __future__ import annotations

import shutil
import signal
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.device import fake_library, only_fake, only_real
from helpers.recorded import record_command
from helpers.traced import needs_library, run_plain
from helpers.written import written

pytestmark = needs_library
CORPUS = Path(__file__).parents[1] / "corpus"

PROGRAM = """
import ctypes, os, signal, sys, threading
import nvspan
cuda = None

def load():
    global cuda
    cuda = ctypes.CDLL(os.environ["CUDA_LIBRARY"])
    assert cuda.cuInit(0) == 0

def context():
    load()
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), 0) == 0

def release():
    assert cuda.cuDevicePrimaryCtxRelease_v2(0) == 0

def until_noted():
    (name,) = [name for name in os.listdir(".") if name.endswith(f"{os.getpid()}.nvspan")]
    number = 0
    while nvspan.read(name).processes[0].cuda != "context":
        nvspan.mark(f"event {(number := number + 1)}")
"""


@pytest.fixture
def driver(tmp_path):
    """The environment of a program whose libcuda is the fake one."""
    (tmp_path / "dev").mkdir()
    device = tmp_path / "dev" / "nvidia-uvm"
    device.write_bytes(b"\0")
    library = shutil.copy(fake_library(), tmp_path / "libcuda.so.1")
    return {
        "CUDA_LIBRARY": str(library), "FAKE_CUDA_UVM": str(device),
        "NVSPAN_LIBCUDA": str(tmp_path / "absent.so"),  # nvspan's own device ranges load none
    }  # fmt: skip


def recorded(code, env, tmp_path, mode="full", check=True):
    return record_command(
        [sys.executable, "-c", f"{PROGRAM}\nos.chdir({str(tmp_path)!r})\n{code}"],
        env=env, folder=tmp_path, mode=mode, check=check,
    )  # fmt: skip


def uses(done):
    return [process.cuda for process in done.recording.processes]


IN_ONE_RANGE = "with nvspan.annotate('main'): {}"


@only_fake
@pytest.mark.parametrize("mode", ["full", "ring=1", "stats", "armed"])
@pytest.mark.parametrize(
    ("calls", "use"),
    [("pass", "none"), ("load()", "mapped"), ("context()", "context")],
)
def test_what_was_there_at_the_end_is_noted(driver, tmp_path, calls, use, mode):
    done = recorded(IN_ONE_RANGE.format(calls), driver, tmp_path, mode)
    assert uses(done) == [use]
    assert done.recording.has_gpu() is (use == "context")
    assert done.recording.problems == []


@only_fake
def test_a_context_that_is_gone_was_there(driver, tmp_path):
    done = recorded(IN_ONE_RANGE.format("context(); until_noted(); release()"), driver, tmp_path)
    assert uses(done) == ["context"]


@only_fake
@pytest.mark.parametrize("mode", ["full", "ring=1"])
def test_a_killed_process_has_told(driver, tmp_path, mode):
    code = IN_ONE_RANGE.format("context(); until_noted(); os.kill(os.getpid(), signal.SIGKILL)")
    done = recorded(code, driver, tmp_path, mode, check=False)
    assert done.returncode == -signal.SIGKILL
    assert uses(done) == ["context"]
    assert [process.closed for process in done.recording.processes] == [False]


@only_fake
def test_a_forked_child_has_no_context(driver, tmp_path):
    code = """
with nvspan.annotate("main"):
    context()
    child = os.fork()
    if child == 0:
        with nvspan.annotate("child"):
            os._exit(0)
    os.waitpid(child, 0)
"""
    done = recorded(code, driver, tmp_path)
    by_use = {process.cuda: process for process in done.recording.processes}
    assert sorted(by_use) == ["context", "mapped"]
    assert by_use["mapped"].parent_pid == by_use["context"].pid


@only_fake
def test_the_program_itself_ends_the_recording(driver, tmp_path):
    code = f"""{PROGRAM}
os.chdir({str(tmp_path)!r})
with nvspan.record("own.nvspan"):
    nvspan.mark("a")
    context()
release()
print(nvspan.read("own.nvspan").processes[0].cuda)
"""
    done = run_plain(code, env=driver)
    assert done.stdout == "context\n"


def test_files_that_do_not_say(tmp_path):
    old = nvspan.read(sorted(CORPUS.glob("*.nvspan"))[0])
    assert old.processes[0].cuda is None
    plain = written(tmp_path / "a.nvspan", [(0, 10, "step")])
    assert plain.processes[0].cuda is None
    assert not plain.has_gpu()
    assert written(tmp_path / "b.nvspan", [(0, 10, "step")], device=[(2, 4, "step")]).has_gpu()
    assert written(tmp_path / "c.nvspan", [(0, 10, "gemm")], domain_name="kernel").has_gpu()


@only_real
@pytest.mark.parametrize(("calls", "use"), [("load()", "mapped"), ("context()", "context")])
def test_the_real_driver_maps_what_the_fake_one_does(tmp_path, calls, use):
    done = recorded(IN_ONE_RANGE.format(calls), {"CUDA_LIBRARY": "libcuda.so.1"}, tmp_path)
    assert uses(done) == [use]
