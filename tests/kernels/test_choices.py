# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `cuda=` takes besides kernels: all calls, allocations and frees; and the GPUs themselves."""

from __future__ import annotations

import pytest

import nvspan
from helpers.fake_cupti import run_recorded
from helpers.traced import needs_library
from nvspan._results.kernels import Gpu

pytestmark = needs_library

PROGRAM = """
gpu.use()
with nvspan.annotate("step"):
    gpu.memory(ALLOCATION, DEVICE, 0x7F00_0000_0000, 1 << 30)
    gpu.memory(ALLOCATION, PINNED, 0x1000, 77)
    gpu.launch("k")
    gpu.graph(5, 1000, kernels=2)
    gpu.memory(RELEASE, DEVICE, 0x7F00_0000_0000, 1 << 30)
gpu.deliver()
assert "misuse" not in " ".join(gpu.log()), gpu.log()
"""
LAUNCHES = ["cudaLaunchKernel", "cudaGraphLaunch"]
ALL = [
    *["cuMemAlloc", "cudaMalloc"] * 2, "cuLaunchKernel", "cudaLaunchKernel",
    "cuGraphLaunch", "cudaGraphLaunch", "cuMemAlloc", "cudaMalloc",
]  # fmt: skip
MEMORY = [
    ("[CUDA allocation Device]", 0x7F00_0000_0000, 1 << 30),
    ("[CUDA allocation Pinned]", 0x1000, 77),
    ("[CUDA free Device]", 0x7F00_0000_0000, 1 << 30),
]


@pytest.mark.parametrize(
    ("cuda", "calls", "memory", "work"),
    [
        ("kernels", LAUNCHES, [], ["k", "[CUDA graph 5]"]),
        ("auto", LAUNCHES, [], ["k", "[CUDA graph 5]"]),
        ("api", ALL, [], ["k", "[CUDA graph 5]"]),
        ("memory", LAUNCHES, MEMORY, ["k", "[CUDA graph 5]"]),
        ("graphs", LAUNCHES, [], ["k", "node0", "node1"]),
        ("memory,api", ALL, MEMORY, ["k", "[CUDA graph 5]"]),
        ("all", ALL, MEMORY, ["k", "node0", "node1"]),
    ],
)
def test_what_is_recorded(cuda, calls, memory, work):
    done = run_recorded(PROGRAM, cuda=cuda)
    recording = done.recording
    assert done.stderr == ""
    assert recording.problems == []
    assert len(recording.losses) == 0
    rows = sorted(recording.ranges.rows(), key=lambda row: row["end"])
    assert sorted(row["name"] for row in rows if row["domain"] == "CUDA API") == sorted(calls)
    used = [row for row in recording.marks.rows() if row["domain"] == "CUDA memory"]
    assert [(row["name"], row["payload.address"], row["payload.bytes"]) for row in used] == memory
    done_work = sorted(
        (row for row in rows if row["domain"] == "CUDA"), key=lambda row: row["start"]
    )
    assert [row["name"] for row in done_work] == work
    names = [row["name"] for row in recording.ranges.rows()]
    assert {names[row["launcher"]] for row in done_work} == {"step"}


def test_a_call_has_its_thread_and_the_number_of_its_work():
    done = run_recorded("""
gpu.use()
gpu.launch("k")
other = threading.Thread(target=lambda: gpu.memory(ALLOCATION, DEVICE, 1, 2))
other.start()
other.join()
gpu.deliver()
""", cuda="all")  # fmt: skip
    recording = done.recording
    threads = [row["tid"] for row in recording.threads.rows()]
    calls = [row for row in recording.ranges.rows() if row["domain"] == "CUDA API"]
    assert sorted((row["name"], row["payload"]) for row in calls) == [
        ("cuLaunchKernel", 1), ("cuMemAlloc", 2), ("cudaLaunchKernel", 1), ("cudaMalloc", 2),
    ]  # fmt: skip
    of_thread = {row["name"]: threads[row["thread"]] for row in calls}
    assert of_thread["cudaMalloc"] == of_thread["cuMemAlloc"] != of_thread["cudaLaunchKernel"]
    (memory,) = [row for row in recording.marks.rows() if row["domain"] == "CUDA memory"]
    assert memory["payload.correlation"] == 2
    inner, outer = (
        next(row for row in calls if row["name"] == name) for name in ("cuMemAlloc", "cudaMalloc")
    )
    assert outer["start"] <= inner["start"] <= inner["end"] <= outer["end"]


def test_gpus_are_described_in_each_recording(tmp_path):
    code = """
gpu.use()
gpu.launch("k")
gpu.cupti.fake_device(0, b"NVIDIA H100")
gpu.cupti.fake_device(0, b"NVIDIA H100")
gpu.deliver()
"""
    done = run_recorded(code)
    assert done.recording.gpus == [
        Gpu(process=0, device=0, name="NVIDIA H100", capability=(9, 0), processors=132, warp=32,
            warps=64, blocks=32, registers=65536, shared=233472)
    ]  # fmt: skip


@pytest.mark.parametrize("cuda", ["api", "memory", "all", "kernels,graphs"])
def test_a_choice_needs_a_mode_with_events(cuda):
    nvspan.record(cuda=cuda)
    with pytest.raises(ValueError, match=f"^cuda={cuda} needs the mode full or ring, not stats$"):
        nvspan.record(mode="stats", cuda=cuda)


@pytest.mark.parametrize("cuda", ["", "kernel", "kernels,", "off,kernels", "ALL"])
def test_an_unknown_choice_is_a_value_error(cuda):
    text = f"^cuda must be auto, kernels, api, memory, graphs, all or off, not {cuda!r}$"
    with pytest.raises(ValueError, match=text):
        nvspan.record(cuda=cuda)
