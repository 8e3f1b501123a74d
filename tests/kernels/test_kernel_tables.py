# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan kernels`` and `Recording.kernels`: which range and which module launched what."""

from __future__ import annotations

import csv
import io
import json

import pytest

import nvspan
from helpers import nsys
from helpers.reported import nvspan_done, run_nvspan
from helpers.written_kernels import AUTOGRAD, WrittenGpu


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Two steps of 100 us: a gemm in each of two modules, forward and backward, and a copy."""
    file = tmp_path_factory.mktemp("kernels") / "run.nvspan"
    with WrittenGpu(file) as gpu:
        for at in (0, 100):
            gpu.range("step", at, at + 90)
            gpu.range("forward", at, at + 40)
            for number, launched in enumerate((at + 2, at + 12)):
                gpu.module(f"layer.{number}", launched, launched + 8)
                gpu.work("gemm", launched + 10, launched + 15, launched=launched + 2)
                gpu.work("relu", launched + 15, launched + 16, launched=launched + 4)
            gpu.range("backward", at + 40, at + 80)
            for number, launched in enumerate((at + 60, at + 45)):
                gpu.module(f"layer.{number}", launched, launched + 8, backward=True)
                gpu.work("gemm", launched + 10, launched + 20, launched=launched + 2, tid=AUTOGRAD)
            gpu.work(
                "[CUDA memcpy Device-to-Host]", at + 82, at + 84, launched=at + 81, kind="copy"
            )
        gpu.work("stray", 200, 204, launched=199)
        gpu.work("nvspan_ping", 210, 20210, launched=205)
    return file


def essence(rows, *fields):
    return [tuple(row[field] for field in fields) for row in rows]


def test_by_name(path):
    found = nvspan.read(path).kernels()
    fields = ("name", "kind", "domain", "range", "ranges", "count", "total", "min", "max")
    assert essence(found.rows, *fields) == [
        ("gemm", "kernel", "torch", "layer.0", 4, 8, 60000, 5000, 10000),
        ("relu", "kernel", "torch", "layer.0", 2, 4, 4000, 1000, 1000),
        ("[CUDA memcpy Device-to-Host]", "copy", None, "step", 1, 2, 4000, 2000, 2000),
        ("stray", "kernel", None, None, 0, 1, 4000, 4000, 4000),
    ]
    assert (found.count, found.total, found.busy, found.span) == (15, 72000, 72000, 192000)
    assert (found.outside, found.unlaunched, found.devices, found.has_work) == (1, 0, 1, True)
    gemm = found.rows[0]
    assert gemm.mean == 7500
    assert gemm.p50 == pytest.approx(5000, rel=0.004)
    assert gemm.share == 60 / 72


def test_by_range(path):
    found = nvspan.read(path).kernels("range")
    assert essence(found.rows, "domain", "range", "backward", "name", "count", "total") == [
        ("torch", "layer.0", True, "gemm", 2, 20000),
        ("torch", "layer.1", True, "gemm", 2, 20000),
        ("torch", "layer.0", False, "gemm", 2, 10000),
        ("torch", "layer.1", False, "gemm", 2, 10000),
        (None, "step", False, "[CUDA memcpy Device-to-Host]", 2, 4000),
        (None, None, False, "stray", 1, 4000),
        ("torch", "layer.0", False, "relu", 2, 2000),
        ("torch", "layer.1", False, "relu", 2, 2000),
    ]


def test_by_module_forward_and_backward_apart(path):
    found = nvspan.read(path).kernels("module")
    assert essence(found.rows, "module", "backward", "name", "count", "total") == [
        ("layer.0", True, "gemm", 2, 20000),
        ("layer.1", True, "gemm", 2, 20000),
        ("layer.0", False, "gemm", 2, 10000),
        ("layer.1", False, "gemm", 2, 10000),
        (None, False, "[CUDA memcpy Device-to-Host]", 2, 4000),
        (None, False, "stray", 1, 4000),
        ("layer.0", False, "relu", 2, 2000),
        ("layer.1", False, "relu", 2, 2000),
    ]


def test_modules_have_the_times_of_their_kernels(path):
    rows = nvspan.read(path).modules().rows(fold=False)
    assert essence(rows, "path", "calls", "forward_gpu", "backward_gpu") == [
        ("layer.0", 2, 12000, 20000),
        ("layer.1", 2, 12000, 20000),
    ]


def test_parts(path):
    recording = nvspan.read(path)
    assert essence(recording.kernels(within=["forward"]).rows, "name", "count") == [
        ("gemm", 4), ("relu", 4),
    ]  # fmt: skip
    assert essence(recording.kernels(match=["*memcpy*"]).rows, "name", "count") == [
        ("[CUDA memcpy Device-to-Host]", 2)
    ]
    start = recording.processes[0].start
    assert recording.kernels(start=100_000, stop=190_000).count == 7
    assert start <= 0
    with pytest.raises(ValueError, match=r"^no range is called 'gone'$"):
        recording.kernels(within=["gone"])
    with pytest.raises(ValueError, match=r"^by must be name, range or module, not 'stream'$"):
        recording.kernels("stream")


def test_work_on_two_streams_at_once_is_busy_once(tmp_path):
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        gpu.range("step", 0, 10)
        gpu.work("b", 25, 45, launched=2, stream=8)
        gpu.work("a", 20, 40, launched=1)
        gpu.work("c", 20, 30, launched=3, device=1)
        gpu.work("late", 50, 60, launched=None)
    found = gpu.read().kernels()
    assert (found.total, found.busy, found.devices) == (60000, 45000, 2)
    assert (found.outside, found.unlaunched) == (0, 1)


def test_the_gpus_time_of_a_range_is_busy_span_and_waiting(tmp_path):
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        gpu.range("step", 0, 100)
        gpu.range("pauses", 1, 9)
        gpu.work("a", 20, 30, launched=2)
        gpu.work("b", 25, 40, launched=4, stream=8)  # both at once: 5 us
        gpu.work("[CUDA memcpy Device-to-Host]", 60, 70, launched=6, kind="copy")
        gpu.range("dense", 10, 19)
        gpu.work("c", 70, 80, launched=11)
        gpu.work("d", 80, 90, launched=13)
    rows = {row.name: row for row in gpu.read().projection().rows}
    assert {
        name: (row.sum, row.busy, row.total, row.waiting) for name, row in rows.items()
    } == {
        "step": (55_000, 50_000, 70_000, 20_000),
        "pauses": (35_000, 30_000, 50_000, 20_000),
        "dense": (20_000, 20_000, 20_000, 0),
    }  # fmt: skip
    heading, *lines = run_nvspan("stats", "--gpu", gpu.path).stdout.splitlines()
    columns = [word for word in ("sum", "busy", "waiting", "span") if word in heading.split()]
    assert columns == ["sum", "busy", "waiting", "span"]
    (pauses,) = [line for line in lines if line.endswith("pauses")]
    assert [part in pauses for part in ("35.0 us", "30.0 us", "50.0 us", "20.0 us")] == [True] * 4


def test_kernels_take_nothing_from_the_device_range_around_them(tmp_path):
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        gpu.range("forward", 0, 10)
        gpu.device_range("forward", 20, 60, launched=1)
        gpu.device_range("layer", 25, 45, launched=2)
        gpu.work("gemm", 30, 40, launched=3)
    rows = {row.name: row for row in gpu.read().stats().rows if row.kind == "device"}
    assert {name: (row.total, row.self) for name, row in rows.items()} == {
        "forward": (40_000, 20_000), "layer": (20_000, 20_000), "gemm": (10_000, 10_000),
    }  # fmt: skip


def test_backward_kernels_by_the_sequence_numbers_of_emit_nvtx(tmp_path):
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        gpu.module("layer.0", 0, 10)
        gpu.range("aten::mm, seq = 7", 2, 4)
        gpu.module("layer.1", 10, 20)
        gpu.range("aten::mm, seq = 8", 12, 14)
        gpu.range("MmBackward0, stashed seq = 8", 30, 35, tid=AUTOGRAD)
        gpu.range("MmBackward0, stashed seq = 7", 35, 40, tid=AUTOGRAD)
        gpu.range("MmBackward0, stashed seq = 9", 40, 45, tid=AUTOGRAD)
        for at in (31, 36, 41):
            gpu.work("gemm", at + 2, at + 3, launched=at, tid=AUTOGRAD)
    assert essence(gpu.read().kernels("module").rows, "module", "backward", "count") == [
        (None, False, 1), ("layer.0", True, 1), ("layer.1", True, 1),
    ]  # fmt: skip


def test_a_range_that_overlaps_without_nesting(tmp_path):
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        gpu.range("outer", 0, 100)
        gpu.range("span", 10, 60, kind="start_end")
        gpu.range("other", 20, 40, domain="lib", kind="start_end")
        for at in (5, 15, 30, 50, 70, 110):
            gpu.work("k", at + 200, at + 201, launched=at)
    rows = gpu.read().kernels("range").rows
    assert sorted((row.range or "", row.count) for row in rows) == [
        ("", 1), ("other", 1), ("outer", 2), ("span", 2),
    ]  # fmt: skip


def test_a_report_of_nsight_systems(tmp_path):
    recording = nvspan.read(nsys.unpacked("2025.3.2-nodes", tmp_path))
    found = recording.kernels("range")
    names = {row.name for row in found.rows}
    assert not any(name.startswith("nvspan_") for name in names)
    assert {row.kind for row in found.rows} == {"kernel", "copy", "set"}
    by_name = recording.kernels()
    assert sum(row.count for row in found.rows) == by_name.count == found.count
    reduce = next(row for row in by_name.rows if "reduce_kernel" in row.name)
    assert (reduce.count, reduce.total) == (10, 34176)
    shape = (reduce.shapes, reduce.grid, reduce.block, reduce.registers, reduce.shared)
    assert shape == (1, (1, 1, 1), (16, 8, 1), 54, 16)
    # 1,792 registers a warp: 9 warps in each quarter of an H200, 9 blocks of 4.
    assert (reduce.occupancy, reduce.limiter) == (36 / 64, "registers")
    assert [(gpu.name, gpu.capability, gpu.processors) for gpu in recording.gpus] == [
        ("NVIDIA H200", (9, 0), 132)
    ]
    copies = [row for row in by_name.rows if row.kind == "copy"]
    assert {(row.shapes, row.grid, row.registers) for row in copies} == {(1, None, None)}


def table(path, *words):
    return run_nvspan("kernels", path, *words).stdout


def test_the_table(path):
    heading, empty, *lines = table(path).splitlines()
    assert heading == "15 kernels, copies and sets; GPU busy 72.0 us, 38% of 192 us"
    assert empty == ""
    cells = [[cell.strip() for cell in line.split("  ") if cell] for line in lines]
    assert cells == [
        ["count", "total", "mean", "p50", "min", "max", "busy", "kernel", "range"],
        ["8", "60.0 us", "7.50 us", "5.01 us", "5.00 us", "10.0 us", "83%", "gemm",
         "torch:layer.0 (backward) +3"],
        ["4", "4.00 us", "1.00 us", "1.00 us", "1.00 us", "1.00 us", "5.6%", "relu",
         "torch:layer.0 +1"],
        ["2", "4.00 us", "2.00 us", "2.00 us", "2.00 us", "2.00 us", "5.6%",
         "[CUDA memcpy Device-to-Host]", "step"],
        ["1", "4.00 us", "4.00 us", "4.01 us", "4.00 us", "4.00 us", "5.6%", "stray",
         "(no range)"],
    ]  # fmt: skip
    shown = table(path, "--by", "module", "--top", "5").splitlines()
    assert [line.split()[12:] for line in shown[3:-1]] == [
        *([f"layer.{i}", "(backward)", "gemm"] for i in (0, 1)),
        *([f"layer.{i}", "gemm"] for i in (0, 1)),
        ["(no", "module)", "[CUDA", "memcpy", "Device-to-Host]"],
    ]
    assert shown[-1] == "... and 3 more; '--top 8' shows them"


def test_formats_have_one_truth(path):
    found = nvspan.read(path).kernels("range")
    document = json.loads(table(path, "--by", "range", "--format", "json"))
    assert document["rows"] == [row.as_dict() for row in found.rows]
    assert (document["count"], document["busy"]) == (found.count, found.busy)
    rows = list(csv.DictReader(io.StringIO(table(path, "--by", "range", "--format", "csv"))))
    assert [int(row["total"]) for row in rows] == [row.total for row in found.rows]
    assert list(rows[0]) == list(found.rows[0])


def test_where_there_is_nothing(path, tmp_path):
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        gpu.range("step", 0, 10)
        gpu.device_range("step", 2, 8, launched=1)
    done = nvspan_done("kernels", gpu.path)
    assert (done.returncode, done.stdout) == (0, "no kernels\n")
    assert done.stderr == (
        "nvspan: no kernels are in this recording: 'nvspan record --cuda kernels' takes them, and "
        "so does 'nvspan nsys'\n"
    )
    done = nvspan_done("kernels", path, "--within", "gone")
    assert (done.returncode, done.stderr) == (1, "nvspan kernels: no range is called 'gone'\n")
