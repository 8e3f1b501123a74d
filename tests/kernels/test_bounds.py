# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Rings and bundles with kernels: how large they become, and what is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

import nvspan
from helpers.fake_cupti import run_recorded
from helpers.traced import needs_library

pytestmark = needs_library


def work(recording):
    return [row for row in recording.ranges.rows() if row["domain"] == "CUDA"]


def test_a_ring_of_all_kinds_stays_small(tmp_path):
    """Each round has new names, shapes and memory, and a record that CUPTI drops."""
    done = run_recorded("""
gpu.use()
for i in range(20000):
    gpu.shape((i + 1, 1, 1), (32, 1, 1))
    gpu.launch(f"kernel {i % 1000}")
    gpu.memory(ALLOCATION, DEVICE, i, i)
    if i % 100 == 99:
        gpu.cupti.fake_drop(1)
        gpu.deliver()
""", mode="ring=1", cuda="all", env={"NVSPAN_RECORD_NAMES": "0.2"}, folder=tmp_path)  # fmt: skip
    (file,) = done.files
    assert Path(file).stat().st_size < 2_000_000
    recording = done.recording
    assert recording.problems == []
    kernels = work(recording)
    assert len(kernels) > 1000
    # The first names and shapes are kept, those past the budget are not.
    assert 0 < len(recording.launch_shapes) < 5000
    assert kernels[-1]["launch_shape"] is None
    assert [(row["reason"], row["count"]) for row in recording.losses.rows()
            if row["reason"] == "dropped by CUPTI"] == [("dropped by CUPTI", 200)]  # fmt: skip


def test_a_program_that_profiles_itself_all_the_time_has_so_many_gaps(tmp_path):
    """The last of them does not end."""
    done = run_recorded("""
import ctypes
from nvspan import launch
library = ctypes.CDLL(launch.attached_tool())
gpu.use()
for i in range(5000):
    library.nvspan_inject_release_gpu()
    library.nvspan_inject_take_gpu(1)
gpu.launch("k")
gpu.deliver()
""")
    gaps = done.recording.gpu_gaps
    assert len(gaps) == 2049
    assert gaps[-2].end <= gaps[-1].start
    assert gaps[-1].end == done.recording.processes[0].end
    assert len(work(done.recording)) == 1


@pytest.mark.parametrize("mode", ["full", "ring=1"])
def test_a_bundle_has_the_kernels_of_its_time(tmp_path, mode):
    done = run_recorded(f"""
from nvspan import _reader
gpu.use()
gpu.shape((7, 1, 1), (32, 1, 1))
gpu.cupti.fake_device(0, b"NVIDIA H100")
for i in range(200):
    with nvspan.annotate("step"):
        gpu.launch("k")
while gpu.cupti.fake_pending():  # it is handed over once a second
    time.sleep(0.05)
time.sleep(0.2)
watcher = _reader.Watcher(
    os.fsencode({str(tmp_path)!r}), 0, 0, [], [], 3600.0, 0.001, 10, b"", False
)
bundle, problem = watcher.trigger_now("asked", "why")
print(os.fsdecode(bundle), os.fsdecode(problem))
gpu.launch("later")
""", mode=mode, folder=tmp_path)  # fmt: skip
    folder, problem = done.stdout.split(" ", 1)
    assert problem == "\n"
    copy = nvspan.read(*map(str, Path(folder).glob("*.nvspan")))
    kernels = work(copy)
    assert [row["name"] for row in kernels] == ["k"] * 200
    assert {copy.launch_shapes[row["launch_shape"]].grid for row in kernels} == {(7, 1, 1)}
    assert [gpu.name for gpu in copy.gpus] == ["NVIDIA H100"]
    assert copy.projection().rows[0].ops == 200
    assert copy.gpu_gaps == []
