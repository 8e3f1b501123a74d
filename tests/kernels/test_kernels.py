# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels, copies, sets and graphs in a recording, with the calls that launched them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from helpers.fake_cupti import run_recorded
from helpers.traced import needs_library
from nvspan._results.kernels import LaunchShape

pytestmark = needs_library

CALLS, WORK = "CUDA API", "CUDA"


def rows(recording, domain):
    """The rows of a domain, by start."""
    found = [row for row in recording.ranges.rows() if row["domain"] == domain]
    return sorted(found, key=lambda row: row["start"])


def essence(recording):
    """What was launched, by which call of which range, on which stream."""
    ranges = list(recording.ranges.rows())
    calls = {row["payload"]: row for row in ranges if row["domain"] == CALLS}
    shown = []
    for row in rows(recording, WORK):
        (launcher,) = [ranges[i]["name"] for i in [row["launcher"]] if i is not None] or [None]
        shown.append((row["name"], row["category_name"], row["device"], row["stream"], launcher))
    return shown, sorted((row["name"], row["payload"]) for row in calls.values())


def test_a_kernel_is_of_the_range_that_launched_it():
    done = run_recorded("""
gpu.use()
with nvspan.annotate("step"):
    with nvspan.annotate("forward"):
        gpu.launch("_Z4gemmPfi", 1000)
    gpu.launch("_Z4gemmPfi", 2000, stream=13)
gpu.launch("outside", 3000, device=1)
gpu.deliver()
assert "misuse" not in " ".join(gpu.log()), gpu.log()
""")
    assert done.stderr == ""
    assert essence(done.recording) == (
        [
            ("gemm(float*, int)", "kernel", 0, 7, "forward"),
            ("gemm(float*, int)", "kernel", 0, 13, "step"),
            ("outside", "kernel", 1, 7, None),
        ],
        [("cudaLaunchKernel", 1), ("cudaLaunchKernel", 2), ("cudaLaunchKernel", 3)],
    )
    assert done.recording.problems == []
    assert len(done.recording.losses) == 0
    first, second, third = (row["duration"] for row in rows(done.recording, WORK))
    assert second == pytest.approx(2 * first, abs=2)
    assert third == pytest.approx(3 * first, abs=3)
    projection = done.recording.projection()
    assert [(row.name, row.ops, row.launches) for row in projection.rows] == [
        ("step", 2, 2), ("forward", 1, 1),
    ]  # fmt: skip
    assert (projection.work, projection.outside, projection.unlaunched) == (3, 1, 0)
    assert not projection.of_device_ranges
    assert done.recording.has_gpu()


def test_copies_sets_and_graphs():
    done = run_recorded("""
gpu.use()
with nvspan.annotate("step"):
    gpu.copy(4096, 1000)
    gpu.copy(77, 1000, PEER_TO_PEER)
    gpu.set(1 << 40, 1000)
    gpu.graph(5, 1000, kernels=3)
gpu.deliver()
""")
    shown, calls = essence(done.recording)
    assert shown == [
        ("[CUDA memcpy Host-to-Device]", "copy", 0, 7, "step"),
        ("[CUDA memcpy Peer-to-Peer]", "copy", 0, 7, "step"),
        ("[CUDA memset]", "set", 0, 7, "step"),
        ("[CUDA graph 5]", "graph", 0, 7, "step"),
    ]
    assert [row["payload"] for row in rows(done.recording, WORK)] == [4096, 77, 1 << 40, 0]
    assert [name for name, _ in calls] == [
        "cudaGraphLaunch", "cudaMemcpyAsync", "cudaMemcpyAsync", "cudaMemsetAsync",
    ]  # fmt: skip


def test_kernels_have_the_shape_of_their_launch():
    done = run_recorded("""
gpu.use()
gpu.shape((16, 4, 1), (256, 1, 1), 40, 1024, 1 << 17)
gpu.launch("gemm")
gpu.launch("gemm")
gpu.launch("adam")
gpu.shape((2**31 - 1, 65535, 65535), (8, 8, 16), 255)
gpu.launch("gemm")
gpu.set(4096, 1000)
gpu.deliver()
""")
    shapes = done.recording.launch_shapes
    shown = [
        None if row["launch_shape"] is None else shapes[row["launch_shape"]]
        for row in rows(done.recording, WORK)
    ]
    first = LaunchShape(
        grid=(16, 4, 1), block=(256, 1, 1), registers=40, static_shared=1024,
        dynamic_shared=1 << 17,
    )  # fmt: skip
    second = LaunchShape(
        grid=(2**31 - 1, 65535, 65535), block=(8, 8, 16), registers=255, static_shared=0,
        dynamic_shared=0,
    )  # fmt: skip
    assert shown == [first, first, first, second, None]
    assert shapes == [first, first, second]  # of gemm, adam and gemm
    assert [row.calls for row in done.recording.stats().rows if row.domain == WORK] == [3, 1, 1]


def test_beyond_so_many_shapes_kernels_have_none():
    done = run_recorded("""
gpu.use()
for i in range(1, 66001):
    gpu.shape((i, 1, 1), (32, 1, 1))
    gpu.kernel("k", gpu.now(), gpu.now() + 10, i)
    if i % 10000 == 0:
        gpu.deliver()
""")
    shapes = done.recording.launch_shapes
    assert len({shape.grid[0] for shape in shapes}) == len(shapes) == 65536
    assert done.recording.ranges.nulls("launch_shape") == 66000 - 65536
    (row,) = done.recording.stats().rows
    assert (row.name, row.calls) == ("k", 66000)


def test_kernels_of_graphs_one_by_one():
    done = run_recorded("""
gpu.use()
gpu.graph(5, 1000, kernels=3)
gpu.deliver()
""", cuda="graphs")  # fmt: skip
    shown, calls = essence(done.recording)
    assert [name for name, *_ in shown] == ["node0", "node1", "node2"]
    assert calls == [("cudaGraphLaunch", 1)]
    assert done.recording.projection().unlaunched == 0


def test_a_call_of_the_driver_has_its_own_row_where_it_has_its_own_number():
    done = run_recorded("""
gpu.use()
with nvspan.annotate("step"):
    number = gpu.call(own_numbers=True)
    gpu.kernel("k", gpu.now(), gpu.now() + 10, number)
    number = gpu.call(runtime=0)
    gpu.kernel("k", gpu.now(), gpu.now() + 10, number)
gpu.deliver()
""")
    shown, calls = essence(done.recording)
    assert calls == [("cuLaunchKernel", 2), ("cuLaunchKernel", 3), ("cudaLaunchKernel", 1)]
    assert [launcher for *_, launcher in shown] == ["step", "step"]


def test_nvspans_own_kernels_are_not_the_programs():
    done = run_recorded("""
gpu.use()
gpu.launch("nvspan_ping")
gpu.launch("nvspan_stamp")
gpu.launch("ping")
gpu.deliver()
""")
    shown, calls = essence(done.recording)
    assert [name for name, *_ in shown] == ["ping"]
    assert calls == [("cudaLaunchKernel", 3)]


def test_work_may_come_in_any_order():
    done = run_recorded("""
gpu.use()
gpu.cupti.fake_fill(7)  # records in a buffer
for i in range(100):
    with nvspan.annotate(f"step {i}"):
        gpu.launch(f"kernel {i}", 100 + i)
gpu.deliver(reversed=True)
""")
    shown, _ = essence(done.recording)
    assert shown == [(f"kernel {i}", "kernel", 0, 7, f"step {i}") for i in range(100)]
    assert done.recording.problems == []


def test_names_are_copied_before_their_module_goes():
    done = run_recorded("""
gpu.use()
gpu.launch("_Z5firstv")
gpu.deliver()
gpu.cupti.fake_unload()
gpu.launch("_Z6secondv")
gpu.deliver()
""")
    assert [row["name"] for row in rows(done.recording, WORK)] == ["first()", "second()"]


def test_launches_of_other_threads():
    done = run_recorded("""
gpu.use()
def run(name):
    with nvspan.annotate(name):
        for _ in range(50):
            gpu.launch(name)
threads = [threading.Thread(target=run, args=(f"thread {i}",)) for i in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
gpu.deliver()
""")
    shown, calls = essence(done.recording)
    assert sorted(shown) == sorted(
        (f"thread {i}", "kernel", 0, 7, f"thread {i}") for i in range(4) for _ in range(50)
    )
    assert len(calls) == 200


def test_a_long_kernel_keeps_its_length():
    done = run_recorded("""
gpu.use()
start = gpu.now() - (1 << 35)
gpu.kernel("short", start, start + (1 << 24), 1)
gpu.kernel("long", start, start + (1 << 34), 1)
gpu.deliver()
""")
    length = {row["name"]: row["duration"] for row in rows(done.recording, WORK)}
    assert length["long"] / length["short"] == pytest.approx(1024, rel=1e-6)


def size_of(done):
    (file,) = done.files
    return Path(file).stat().st_size


def entry_bytes(done):
    """What the entries of all chunks of events take: ChunkHeader of src/record/file/format.hpp."""
    content = Path(done.files[0]).read_bytes()
    at, found = 4096, 0
    while at + 96 <= len(content):
        kind, size, used = struct.unpack_from("<8xI44xI28xI", content, at)
        found += max(0, (used & ~7) - 96) if kind == 1 else 0
        at += size
    return found


def test_a_kernel_and_its_launch_take_40_bytes(tmp_path):
    done = run_recorded("""
gpu.use()
with nvspan.annotate("step"):
    for i in range(20000):
        gpu.launch("kernel")
gpu.deliver()
""", folder=tmp_path)  # fmt: skip
    assert done.recording.projection().work == 20000
    assert 40 <= entry_bytes(done) / 20000 < 40.1


def test_a_ring_keeps_the_newest_kernels(tmp_path):
    done = run_recorded("""
gpu.use()
for i in range(60000):
    gpu.launch(f"kernel {i // 20000}")
    if i % 1000 == 999:
        gpu.deliver()
""", mode="ring=1", folder=tmp_path)  # fmt: skip
    names = [row["name"] for row in rows(done.recording, WORK)]
    assert names[-1] == "kernel 2"
    assert 1000 < len(names) < 60000
    assert size_of(done) < 1_500_000
