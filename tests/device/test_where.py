# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`nvspan where` tells three hangs of the GPU apart: never launched, not begun, not ended."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager

import pytest

import nvspan
from helpers.device import PREAMBLE, REAL, environment, only_fake
from helpers.live import running, wait_until
from helpers.nccl_plugin import NCCL
from helpers.traced import needs_library
from nvspan.live.top.matrix import process_lines
from nvspan.live.top.sampling import Sampler

pytestmark = needs_library

# ns that a kernel takes here. None is endless, so that a GPU comes free again; the fake driver ends
# them when a program asks for it.
LONG = 3_000_000_000 if REAL else 100_000_000_000


@contextmanager
def on_device(folder, code, mode="armed"):
    changed = {name: value for name, value in environment().items() if value is not None}
    with running(folder, [sys.executable, "-c", PREAMBLE + code], mode, extra=changed) as run:
        yield run


def states(run):
    (process,) = nvspan.where(run.file, samples=1).processes
    return [(d["domain"], d["name"], d["state"]) for d in process.devices]


def device_lines(run):
    text = str(nvspan.where(run.file, samples=1))
    return [re.sub(r"0x[0-9a-f]+|\d+ ms|\d+\.\d s", "N", line.strip())
            for line in text.splitlines() if line.startswith("  GPU ")]  # fmt: skip


def test_a_range_whose_program_never_launched(tmp_path):
    code = """
import time
stream = cuda.stream()
with nvspan.device_range("step", stream=stream):
    print("ready", flush=True); time.sleep(600)
"""
    with on_device(tmp_path, code) as run:
        assert states(run) == [(None, "step", "opened")]
        assert device_lines(run) == ["GPU 0, stream N: step: never launched, N ago"]


def test_a_range_that_was_launched_behind_other_work(tmp_path):
    code = f"""
import time
stream = cuda.stream()
cuda.launch(stream, {LONG})
with nvspan.device_range("behind", stream=stream, domain="own"):
    cuda.launch(stream)
print("ready", flush=True)
input()
cuda.end_kernels()
cuda.synchronize(stream); nvspan.device_flush(); print("ready", flush=True); time.sleep(600)
"""
    with on_device(tmp_path, code) as run:
        assert states(run) == [("own", "behind", "launched")]
        assert device_lines(run) == ["GPU 0, stream N: own:behind: launched, not started, N ago"]
        run.say()
        run.wait_for()
        wait_until(lambda: states(run) == [], "the range has ended")


@pytest.mark.parametrize("mode", ["armed", "full"])
def test_a_range_whose_kernel_does_not_end(tmp_path, mode):
    code = f"""
import time
stream = cuda.stream()
with nvspan.device_range("endless", stream=stream):
    cuda.launch(stream, {LONG})
print("ready", flush=True)
input()
cuda.end_kernels()
cuda.synchronize(stream); nvspan.device_flush(); print("ready", flush=True); time.sleep(600)
"""
    with on_device(tmp_path, code, mode) as run:
        wait_until(lambda: states(run) == [(None, "endless", "begun")], "the poller has seen it", 2)
        assert device_lines(run) == ["GPU 0, stream N: endless: started, not ended, N ago"]
        run.say()
        run.wait_for()
        wait_until(lambda: states(run) == [], "the range has ended")


def test_the_last_state_of_a_killed_process(tmp_path):
    code = f"""
import time
stream = cuda.stream()
with nvspan.device_range("endless", stream=stream):
    cuda.launch(stream, {LONG})
print("ready", flush=True); time.sleep(600)
"""
    with on_device(tmp_path, code) as run:
        wait_until(lambda: states(run) == [(None, "endless", "begun")], "the poller has seen it", 2)
        run.end()
        assert states(run) == [(None, "endless", "begun")]


def test_ranges_that_end_leave_nothing(tmp_path):
    code = """
import time
stream = cuda.stream()
for _ in range(1000):
    with nvspan.device_range("short", stream=stream): cuda.launch(stream, 1000)
cuda.synchronize(stream); nvspan.device_flush()
print("ready", flush=True); time.sleep(600)
"""
    with on_device(tmp_path, code) as run:
        wait_until(lambda: states(run) == [], "all have ended")


@only_fake
def test_operations_of_nccl_have_their_communicator(tmp_path):
    code = """
nccl = Nccl(5, id=0xfeed)
waits = nccl.collective(b"AllReduce", 1, 1)
works = nccl.collective(b"ReduceScatter", 2, 2)
ends = nccl.collective(b"Broadcast", 3, 1)
for call in (waits, works, ends): nccl.stop(call)
nccl.channel(works, 0, now())
nccl.channel_stop(nccl.channel(ends, 0, now()), now())
print("ready", flush=True); time.sleep(600)
"""
    with on_device(tmp_path, NCCL + code) as run:
        assert states(run) == [
            ("NCCL", "AllReduce", "launched"), ("NCCL", "ReduceScatter", "begun"),
        ]  # fmt: skip
        assert device_lines(run) == [
            "GPU 0, communicator 000000000000feed: NCCL:AllReduce: launched, not started, N ago",
            "GPU 0, communicator 000000000000feed: NCCL:ReduceScatter: started, not ended, N ago",
        ]
        window = Sampler([run.file]).window()
        assert process_lines(window, window.activities[0])[2].startswith(
            "GPU 0, communicator 000000000000feed: NCCL:AllReduce: launched, not started, "
        )
        (process,) = nvspan.where(run.file).processes
        assert {(d["communicator"], d["stream"]) for d in process.devices} == {(0xFEED, None)}
