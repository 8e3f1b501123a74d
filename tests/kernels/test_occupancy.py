# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The theoretical occupancy of kernels, and what limits it, against numbers derived by hand from
the limits that NVIDIA publishes for a multiprocessor of each compute capability."""

from __future__ import annotations

import csv
import io
import json

import pytest

from helpers.fake_cupti import run_recorded
from helpers.reported import run_nvspan
from helpers.traced import needs_library

pytestmark = needs_library

KB = 1024
# Of a multiprocessor: capability, warps, blocks, bytes of shared memory. All have 65,536 registers.
P100 = ((6, 0), 64, 32, 64 * KB)
V100 = ((7, 0), 64, 32, 96 * KB)
T4 = ((7, 5), 32, 16, 64 * KB)
A100 = ((8, 0), 64, 32, 164 * KB)
ADA = ((8, 9), 48, 24, 100 * KB)
H100 = ((9, 0), 64, 32, 228 * KB)
B200 = ((10, 0), 64, 32, 228 * KB)

# (threads of a block, registers, static, dynamic shared memory), warps of 64, limiter.
ON_H100 = [
    # Of 2, 24 and 1 warps a block.
    ((1024, 32, 0, 0), 64, "warps"),
    ((768, 24, 0, 0), 48, "warps"),
    ((32, 16, 0, 0), 32, "blocks"),
    # A warp has 32 * 255 registers, rounded up to 8,192: two fit into a quarter of 65,536.
    ((256, 255, 0, 0), 8, "registers"),
    ((256, 64, 0, 0), 32, "registers"),
    # 1,280 a warp: 12 in each quarter, 48 in all, 9 blocks of 5. Without quarters it were 10.
    ((160, 40, 0, 0), 45, "registers"),
    # 33 * 32 is rounded up to 1,280.
    ((160, 33, 0, 0), 45, "registers"),
    ((128, 72, 0, 0), 28, "registers"),
    # Each block has 1 KB that the driver takes: 101 KB twice, 17 KB 13 times.
    ((128, 32, 0, 100 * KB), 8, "shared memory"),
    ((64, 32, 16 * KB, 0), 26, "shared memory"),
    # 227 KB are the most that a block may ask for.
    ((1024, 64, 0, 227 * KB), 32, "registers and shared memory"),
    ((128, 128, 56 * KB, 0), 16, "registers and shared memory"),
    # 11,670 bytes are rounded up to 11,776: 19 blocks, not 20.
    ((64, 32, 10646, 0), 38, "shared memory"),
]  # fmt: skip
# Where the answer is another than of the H100.
ELSEWHERE = [
    (V100, (64, 32, 16 * KB, 0), 12, 64, "shared memory"),  # without the driver's 1 KB
    (T4, (1024, 32, 0, 0), 32, 32, "warps"),
    (T4, (64, 32, 0, 0), 32, 32, "warps"),
    (P100, (96, 88, 0, 0), 21, 64, "registers"),  # two halves of 11 warps, not four quarters of 5
    (V100, (96, 88, 0, 0), 18, 64, "registers"),
    (A100, (128, 32, 0, 100 * KB), 4, 64, "shared memory"),
    (ADA, (256, 32, 0, 0), 48, 48, "warps"),
    (ADA, (32, 16, 0, 0), 24, 48, "blocks"),
    (B200, (256, 255, 0, 0), 8, 64, "registers"),
]


def recorded(gpu, shapes, **given):
    """A recording with a kernel of each shape, called by its number."""
    (major, minor), warps, blocks, shared = gpu
    return run_recorded(f"""
gpu.use()
gpu.cupti.fake_limited_device(0, b"a GPU", {major}, {minor}, {warps}, {blocks}, {shared})
for i, (threads, registers, static, dynamic) in enumerate({shapes}):
    gpu.shape((1000, 1, 1), (threads, 1, 1), registers, static, dynamic)
    gpu.launch(str(i))
gpu.set(4096, 1000)
gpu.deliver()
""", **given)  # fmt: skip


def occupancies(recording, count):
    rows = {row.name: row for row in recording.kernels().rows}
    return [(rows[str(i)].occupancy, rows[str(i)].limiter) for i in range(count)]


def test_of_an_h100():
    recording = recorded(H100, [shape for shape, _, _ in ON_H100]).recording
    assert occupancies(recording, len(ON_H100)) == [
        (warps / 64, limiter) for _, warps, limiter in ON_H100
    ]
    (other,) = [row for row in recording.kernels().rows if row.kind == "set"]
    assert (other.occupancy, other.limiter) == (None, None)


@pytest.mark.parametrize(("gpu", "shape", "warps", "most", "limiter"), ELSEWHERE)
def test_of_other_capabilities(gpu, shape, warps, most, limiter):
    assert occupancies(recorded(gpu, [shape]).recording, 1) == [(warps / most, limiter)]


@pytest.mark.parametrize("gpu", [((13, 0), *H100[1:]), ((3, 5), *H100[1:]), ((9, 0), 0, 0, 0)])
def test_what_is_not_known_is_unknown(gpu, tmp_path):
    done = recorded(gpu, [(256, 64, 0, 0)], folder=tmp_path)
    assert occupancies(done.recording, 1) == [(None, "unknown")]
    table = run_nvspan("kernels", done.files[0]).stdout.splitlines()
    assert "unknown" in next(line for line in table if " 256 " in line)


def test_more_than_a_block_may_have_is_unknown():
    """It ran, so that the limits are not those."""
    assert occupancies(recorded(H100, [(1024, 128, 0, 0)]).recording, 1) == [(None, "unknown")]


def test_without_limits_nothing_is_said(tmp_path):
    done = run_recorded("""
gpu.use()
gpu.shape((1000, 1, 1), (256, 1, 1), 64)
gpu.launch("k")
gpu.deliver()
""", folder=tmp_path)  # fmt: skip
    (row,) = done.recording.kernels().rows
    assert (row.occupancy, row.limiter) == (None, None)
    assert "occupancy" not in run_nvspan("kernels", done.files[0]).stdout


def test_where_gpus_differ_it_is_not_known_on_which_it_was():
    done = run_recorded("""
gpu.use()
gpu.cupti.fake_device(0, b"NVIDIA H100")
gpu.cupti.fake_limited_device(1, b"NVIDIA L4", 8, 9, 48, 24, 102400)
gpu.shape((1000, 1, 1), (256, 1, 1), 64)
gpu.launch("k")
gpu.deliver()
""")
    (row,) = done.recording.kernels().rows
    assert (row.occupancy, row.limiter) == (None, None)


def test_table_csv_and_json_have_it(tmp_path):
    (path,) = recorded(H100, [(160, 40, 0, 0)], folder=tmp_path).files
    heading, row = (line for line in run_nvspan("kernels", path).stdout.splitlines()
                    if "occupancy" in line or " 160 " in line)  # fmt: skip
    assert "occupancy" in heading
    assert "70% registers" in row
    document = json.loads(run_nvspan("kernels", path, "--format", "json").stdout)
    (row,) = [row for row in document["rows"] if row["kind"] == "kernel"]
    assert (row["occupancy"], row["limiter"]) == (45 / 64, "registers")
    rows = csv.DictReader(io.StringIO(run_nvspan("kernels", path, "--format", "csv").stdout))
    (row,) = [row for row in rows if row["kind"] == "kernel"]
    assert (row["occupancy"], row["limiter"]) == (str(45 / 64), "registers")
