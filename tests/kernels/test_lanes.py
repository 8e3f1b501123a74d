# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that the recorder took, in the timeline of the page and in Perfetto: a lane for each
stream, and an arrow from the range that launched each."""

from __future__ import annotations

from helpers import perfetto_trace
from helpers.fake_cupti import run_recorded
from helpers.packages import needs
from helpers.page_data import tracks_of
from helpers.reported import run_nvspan
from helpers.traced import needs_library
from helpers.written_kernels import AUTOGRAD, WrittenGpu
from nvspan.report.page import data
from nvspan.report.summary import Summary

pytestmark = needs_library

PROGRAM = """
gpu.use()
with nvspan.annotate("step"):
    with nvspan.annotate("forward"):
        gpu.launch("gemm", 1000)
    gpu.launch("relu", 1000, stream=13)
gpu.launch("outside", 1000, device=1)
start = gpu.now()
gpu.kernel("unlaunched", start, start + 1000, 99)
gpu.deliver()
"""


def lanes(recording):
    """Of each stream: the kernels, and from which thread an arrow leads to each."""
    timeline = data.timeline(recording, Summary(recording))
    return {
        track["label"]: [(b.name, b.launcher is not None) for level in levels[:-1] for b in level]
        for track, levels in tracks_of(timeline)
        if track["kind"] == "device"
    }


def test_the_page_has_a_lane_for_each_stream():
    recording = run_recorded(PROGRAM).recording
    assert lanes(recording) == {
        "GPU 0 · stream 7": [("CUDA:gemm", True), ("CUDA:unlaunched", False)],
        "GPU 0 · stream 13": [("CUDA:relu", True)],
        "GPU 1 · stream 7": [("CUDA:outside", True)],
    }


def test_the_arrow_begins_at_the_launch_on_the_launching_thread(tmp_path):
    with WrittenGpu(tmp_path / "run.nvspan") as gpu:
        gpu.range("step", 0, 100)
        gpu.work("gemm", 50, 60, launched=10)
        gpu.range("MmBackward0", 20, 40, tid=AUTOGRAD)
        gpu.work("gemm_bwd", 70, 80, launched=25, tid=AUTOGRAD)
    timeline = data.timeline(gpu.read(), Summary(gpu.read()))
    labels = [track["label"] for track in timeline["tracks"] if track["kind"] != "device"]
    ((_, levels),) = [
        (track, levels) for track, levels in tracks_of(timeline) if track["kind"] == "device"
    ]
    assert [(b.name, b.launched, labels.index(b.launcher)) for b in levels[0]] == [
        ("CUDA:gemm", 10_000, 0), ("CUDA:gemm_bwd", 25_000, 1),
    ]  # fmt: skip


@needs("perfetto")
def test_perfetto_has_lanes_and_arrows(tmp_path):
    done = run_recorded(PROGRAM, folder=tmp_path)
    trace_file = tmp_path / "run.pftrace"
    run_nvspan("export", *done.files, "-o", trace_file)
    trace = perfetto_trace.read(trace_file)
    leaves = {flow: of.name for of in trace.slices for flow in of.leaves}
    kernels = {
        of.name: (of.track[-1], [leaves.get(flow) for flow in of.arrives])
        for of in trace.slices
        if of.name in ("gemm", "relu", "outside", "unlaunched")
    }
    assert kernels == {
        "gemm": ("GPU 0 · stream 7", ["forward"]),
        "relu": ("GPU 0 · stream 13", ["step"]),
        "outside": ("GPU 1 · stream 7", []),
        "unlaunched": ("GPU 0 · stream 7", []),
    }
