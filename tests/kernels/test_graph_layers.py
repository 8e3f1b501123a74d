# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Work of replayed graphs in the ranges that were open when a graph captured it."""

from __future__ import annotations

import pytest

from helpers.fake_cupti import run_recorded
from helpers.traced import needs_library

pytestmark = needs_library

# Two layers of a model are captured, nodes 11 to 13, and cloned into an executable graph, 21 to 23.
CAPTURE = """
gpu.use()
with nvspan.annotate("warm-up"):
    with gpu.capture(), nvspan.annotate("model"):
        with nvspan.annotate("attention"):
            gpu.node(11); gpu.node(12)
        with nvspan.annotate("mlp"):
            gpu.node(13)
for number in 11, 12, 13:
    gpu.node(number + 10, number)
KERNELS = [(21, "query"), (22, "softmax"), (23, "gelu")]
"""
REPLAYS = """
for i in range(5):
    with nvspan.annotate("step"):
        gpu.replay(KERNELS)
gpu.deliver()
assert "misuse" not in " ".join(gpu.log()), gpu.log()
"""


def kernels(recording, by="range", **options):
    found = recording.kernels(by=by, **options)
    return {(row.name, row.range, row.module): row.count for row in found.rows}


def test_kernels_of_replays_have_the_range_of_their_capture():
    recording = run_recorded(CAPTURE + REPLAYS, cuda="graphs").recording
    assert kernels(recording) == {
        ("query", "attention", None): 5,
        ("softmax", "attention", None): 5,
        ("gelu", "mlp", None): 5,
    }
    assert recording.problems == []
    assert recording.stats().lost == 0
    assert recording.kernels().outside == 0


def test_within_knows_the_ranges_of_the_capture_and_of_the_replay():
    recording = run_recorded(CAPTURE + REPLAYS, cuda="graphs").recording
    assert recording.kernels(within=["mlp"]).count == 5
    assert recording.kernels(within=["model"]).count == 15
    assert recording.kernels(within=["step"]).count == 15
    assert recording.kernels(within=["warm-up"]).count == 0


def test_each_replay_is_a_call_of_the_layers():
    projection = run_recorded(CAPTURE + REPLAYS, cuda="graphs").recording.projection()
    rows = {row.name: (row.calls, row.ops, row.launches, row.levels) for row in projection.rows}
    assert rows == {
        "step": (5, 15, 5, 0), "model": (5, 15, 5, 5), "attention": (5, 10, 5, 10),
        "mlp": (5, 5, 5, 10),
    }  # fmt: skip
    times = {row.name: row for row in projection.rows}
    # Three kernels that follow each other.
    assert times["attention"].busy == pytest.approx(times["step"].busy * 2 / 3, abs=20)
    assert times["mlp"].exclusive == pytest.approx(times["step"].busy / 3, abs=20)
    assert times["step"].exclusive == times["model"].exclusive == 0
    assert times["model"].children == 10
    assert times["attention"].range_time == 0  # a replay takes no time of the layer's thread
    assert (projection.work, projection.outside, projection.unlaunched) == (15, 0, 0)


def test_nodes_of_no_capture_that_was_seen_are_of_the_launch_alone():
    code = "gpu.use()\nKERNELS = [(21, 'query')]\n" + REPLAYS
    recording = run_recorded(code, cuda="graphs").recording
    assert kernels(recording) == {("query", "step", None): 5}
    assert [row.name for row in recording.projection().rows] == ["step"]


def test_a_node_that_its_own_call_made_is_of_the_ranges_that_ended_before_the_launch():
    recording = run_recorded(
        """
gpu.use()
with nvspan.annotate("program"):
    with nvspan.annotate("build"):
        gpu.node(11)
    gpu.node(21, 11)
    gpu.replay([(21, "query")])
gpu.deliver()
""",
        cuda="graphs",
    ).recording
    assert kernels(recording) == {("query", "build", None): 1}
    rows = {row.name: (row.calls, row.ops) for row in recording.projection().rows}
    assert rows == {"program": (1, 1), "build": (1, 1)}


def test_autograd_launches_into_a_capture_from_a_thread_of_its_own():
    recording = run_recorded(
        """
gpu.use()
def backward():
    with nvspan.annotate("layer backward"):
        gpu.node(12)
with gpu.capture(), nvspan.annotate("loss"):
    thread = threading.Thread(target=backward); thread.start(); thread.join()
gpu.node(22, 12)
with nvspan.annotate("step"):
    gpu.replay([(22, "gemm")])
gpu.deliver()
""",
        cuda="graphs",
    ).recording
    assert kernels(recording) == {("gemm", "layer backward", None): 1}


def test_a_destroyed_graph_keeps_the_layers_of_what_it_did():
    destroyed = REPLAYS.replace(
        "gpu.deliver()", "for n in range(21, 24): gpu.cupti.fake_destroy_node(n)\ngpu.deliver()"
    )
    recording = run_recorded(CAPTURE + destroyed, cuda="graphs").recording
    assert kernels(recording)[("gelu", "mlp", None)] == 5


def test_copies_of_a_graph_keep_their_bytes():
    recording = run_recorded(
        CAPTURE
        + """
gpu.cupti.fake_of_node(23)
gpu.copy(4096, 1000)
gpu.deliver()
""",
        cuda="graphs",
    ).recording
    assert kernels(recording) == {("[CUDA memcpy Host-to-Device]", "mlp", None): 1}
    (copy,) = [row for row in recording.ranges.rows() if row["domain"] == "CUDA"]
    assert copy["payload"] == 4096
    assert recording.stats().lost == 0


def test_graphs_that_are_recorded_as_a_whole_have_no_layers():
    recording = run_recorded(
        CAPTURE
        + """
with nvspan.annotate("step"):
    gpu.graph(1, 1000)
gpu.deliver()
"""
    ).recording
    assert kernels(recording) == {("[CUDA graph 1]", "step", None): 1}


# Modules as annotate_module() has them. The capture lies before the first step.
MODULES = """
def module(name, **more):
    return nvspan.annotate(name, domain="torch", category="forward Linear", **more)
gpu.use()
with gpu.capture():
    with module("model"):
        with module("a"):
            gpu.node(11)
        with module("b"):
            gpu.node(12); gpu.node(13)
for number in 11, 12, 13:
    gpu.node(number + 10, number)
begin, wall = gpu.now(), time.perf_counter()
time.sleep(0.02)
ms = int((gpu.now() - begin) / (time.perf_counter() - wall) / 1000)
for i in range(12):
    with nvspan.annotate("step"):
        gpu.replay([(21, "one"), (22, "two"), (23, "three")], took=ms)
        time.sleep(0.004)
gpu.deliver()
"""


def test_modules_of_a_captured_model_have_the_time_of_its_replays():
    recording = run_recorded(MODULES, cuda="graphs").recording
    assert kernels(recording, by="module") == {
        ("one", None, "a"): 12, ("two", None, "b"): 12, ("three", None, "b"): 12,
    }  # fmt: skip
    found = recording.modules()
    times = {row["path"]: row["forward_gpu"] / found.steps / 1e6 for row in found.rows(fold=False)}
    assert times == {
        "model": pytest.approx(3, rel=0.02), "a": pytest.approx(1, rel=0.02),
        "b": pytest.approx(2, rel=0.02),
    }  # fmt: skip
