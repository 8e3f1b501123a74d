# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Device ranges in reports of Nsight Systems, which has them as start/end ranges of the thread that
submitted them, without their categories."""

from __future__ import annotations

import struct

import pytest

import nvspan
from helpers import nsys
from nvspan.nsight.nsys import compat

CASE = "2025.3.1-device"
DEVICE = 2  # the kind of a row
SUBMITTER, MAIN = 2710, 2677  # thread ids
BOTH, TRAIN = 0, 1  # numbers of domains
CATEGORY_PLACE = 8 * 4 + 36  # after the table of the one piece, in the payload


@pytest.fixture
def path(tmp_path):
    return nsys.unpacked(CASE, tmp_path)


def categorized(path, number: int) -> None:
    """Gives the device range of 'train' a category as nsys exports it: in its payload alone."""
    with nsys.edited(path) as connection:
        ((row, blob, tid),) = connection.execute(
            "select rowid, binaryData, globalTid from NVTX_EVENTS where eventType=60 and domainId=1"
        ).fetchall()
        changed = bytearray(blob)
        struct.pack_into("<I", changed, CATEGORY_PLACE, number)
        connection.execute(
            "update NVTX_EVENTS set binaryData=? where rowid=?", (bytes(changed), row)
        )
        connection.execute(
            "insert into NVTX_EVENTS(start, eventType, category, text, globalTid, domainId) "
            "values (0, 33, ?, 'backward', ?, 1)",
            (number, tid),
        )


def test_the_category_is_in_the_payload(path):
    categorized(path, 9)
    rows = [row for row in nvspan.read(path).ranges.rows() if row["kind"] == DEVICE]
    own = [row for row in rows if row["domain"] == "train"]
    assert [(row["name"], row["category"], row["category_name"]) for row in own] == [
        ("device range", 9, "backward")
    ]
    both = [row for row in rows if row["domain"] is None]
    assert [(row["name"], row["category"]) for row in both] == [("both", 0)]


def test_backward_and_forward_are_two_rows(path):
    categorized(path, 9)
    stats = nvspan.read(path).stats(domains=["train"])
    assert [(row.name, row.backward) for row in stats.rows] == [("device range", True)]


@pytest.fixture
def edited(path):
    """A device range around the launches of its submitter, and a start/end range of the name of
    another. The tables are those that `nsys stats` 2023.4 prints, with 2025's names."""
    with nsys.edited(path) as connection:
        (device,) = connection.execute(
            "select globalTid from NVTX_EVENTS where eventType=60 and domainId=0"
        ).fetchone()
        connection.execute(
            "update NVTX_EVENTS set start=3500000000, end=3599000000 "
            "where eventType=60 and domainId=0"
        )
        connection.execute(
            "insert into NVTX_EVENTS(start, end, eventType, rangeId, globalTid, textId, domainId) "
            "values (3600000000, 3600000500, 60, 77, ?, 33, 1)",
            (device - SUBMITTER + MAIN,),
        )
    return nvspan.read(path)


def test_a_name_is_in_one_row(edited):
    rows = compat.nvtx_sum(edited)
    shown = [(row["Style"], row["Range"], row["Instances"], row["Total Time (ns)"]) for row in rows]
    assert shown == [
        ("StartEnd", ":both", 1, 99000000),
        ("PushPop", ":both", 1, 22832812),
        ("StartEnd", "train:device range", 2, 12778897),
    ]


def test_device_ranges_hold_what_their_submitter_launched(edited):
    rows = compat.gpu_projection_sum(edited)
    shown = [(*tuple(row.values())[:5], row["Total GPU Ops"]) for row in rows]
    assert shown == [
        (":both", "StartEnd", 4440845, 99000000, 1, 34),
        (":both", "PushPop", 896, 22832812, 1, 1),
    ]
    trace = compat.gpu_projection_trace(edited)
    assert [(row["Style"], row["TID"], row["NumGPUOps"]) for row in trace] == [
        ("StartEnd", SUBMITTER, 34), ("PushPop", MAIN, 1),
    ]  # fmt: skip
    kernels = compat.kernel_sum(edited)
    keys = ("NVTX Range", "Style", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)")
    assert [tuple(row[key] for key in keys) for row in kernels] == [
        (None, None, MAIN, 0, 1, 896),
        (None, None, MAIN, 0, 1, 864),
        (":both", "PushPop", MAIN, 1, 1, 896),
        (":both", "StartEnd", SUBMITTER, 1, 2, 1298203),
        (":both", "StartEnd", SUBMITTER, 1, 32, 28864),
    ]


def test_other_tables_leave_nvspans_kernels_out(path):
    recording = nvspan.read(path)
    assert recording.projection().work == 3
    assert recording.kernels().count == 3
    names = [row["Name"] for row in compat.gpu_kernel_sum(recording)]
    assert [name for name in names if name.startswith("nvspan_")] == ["nvspan_ping", "nvspan_clock"]


def test_the_tables_of_cuda(tmp_path):
    """As nsys stats prints them."""
    recording = nvspan.read(nsys.unpacked("2025.3.2-nodes", tmp_path))
    memory = compat.gpu_memory_sum(recording)
    assert [tuple(row.values()) for row in memory] == [
        (40.9, 16512, 19, 869.1, 736.0, 704, 1792, 253.2, "[CUDA memset]"),
        (24.2, 9760, 8, 1220.0, 1216.0, 736, 1696, 327.4, "[CUDA memcpy Host-to-Device]"),
        (18.8, 7584, 9, 842.7, 832.0, 768, 1088, 94.7, "[CUDA memcpy Device-to-Device]"),
        (16.2, 6528, 4, 1632.0, 1568.0, 1472, 1920, 204.1, "[CUDA memcpy Device-to-Host]"),
    ]
    kernels = compat.gpu_kernel_sum(recording)
    assert (len({row["Name"] for row in kernels}), kernels[0]["Name"]) == (
        len(kernels), "nvspan_ping",
    )  # fmt: skip
    assert tuple(kernels[0].values())[:4] == (80.5, 1611326, 3, 537108.7)
    calls = compat.api_sum(recording)
    assert tuple(calls[0].values()) == (
        86.5, 63824163, 107, 596487.5, 8160.0, 4103, 13412891, 2012127.5, "cudaLaunchKernel",
    )  # fmt: skip


def test_calls_of_cuda_are_no_steps(tmp_path):
    for case in ("2025.3.2-nodes", "2025.3.2-whole"):
        recording = nvspan.read(nsys.unpacked(case, tmp_path))
        choice = recording.steps().choice
        assert choice.next_best is None or "CUDA API" not in choice.next_best.pattern
