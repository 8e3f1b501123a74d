# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan steps``: what loops on a GPU wait for whose answer is known, and its formats."""

from __future__ import annotations

import csv
import io
import json
import lzma
import os
import shutil
from array import array

import pytest

import nvspan
from helpers.reported import nvspan_done
from helpers.tree import ROOT
from helpers.written_loops import GAP, MS
from nvspan import _reader
from nvspan.answers import steps
from nvspan.answers.bottleneck import find_bottleneck

DATA = ROOT / "tests" / "data" / "loops"


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    for packed in DATA.glob("*.nvspan.xz"):
        with lzma.open(packed) as source, open(folder / packed.stem, "wb") as target:
            shutil.copyfileobj(source, target)
    return folder


def run(*words):
    return nvspan_done("steps", *words)


@pytest.mark.parametrize(
    ("name", "bound", "said"),
    [
        ("data", "data", "bound by data loading: the GPU has no work for at least 87% of the step, "
         "82% while the CPU is in 'data wait'; work starts 9.65 us after its launch"),
        ("item", None, "cannot tell what limits the step: the GPU has no work for at least 29% of "
         "the step, 23% while the CPU is outside any phase, and may be idle within its ranges "
         "('nvspan record --cuda kernels' tells)"),
        ("launch", "launch", "launch-bound: the GPU keeps up with the launches, its work ends "
         "642 ns after the CPU has launched it (its ranges cover 93% of the step)"),
        ("gpu", "gpu", "GPU-bound: its work ends 1.70 s after the CPU has launched it; what a step "
         "launches takes it at most 172 ms, and the launching 1.76 ms"),
        ("graph", "cpu", "bound by time outside any phase: the GPU has no work for at least 90% of "
         "the step, 90% while the CPU is outside any phase"),
    ],
)  # fmt: skip
def test_what_a_loop_waits_for(loops, name, bound, said):
    found = nvspan.read(loops / f"{name}.nvspan").steps()
    limit = find_bottleneck(found).fields()
    assert (limit["bound"], limit["text"]) == (bound, said)
    assert len(found) == 20
    for row in found.rows():
        assert sum(row["cpu"].values()) == row["duration"]
        assert sum(row["idle"].values()) <= row["duration"]
        assert row["busy"] <= sum(row["gpu"].values())
    typical = found.typical
    assert sum(typical["cpu"].values()) == pytest.approx(typical["duration"])


def test_graph_replays_belong_to_the_phases_that_their_ranges_are_called_after(loops):
    found = nvspan.read(loops / "graph.nvspan").steps()
    assert found.by_run_time == 60
    assert found.phases == ["forward", "backward", "optimizer", "other"]
    assert all(row["gpu"][phase] > 0 for row in found.rows() for phase in found.phases[:3])


def test_the_same_loop_by_torchs_profiler():
    """It saw CUDA's calls: the waiting for the GPU is among them."""
    found = nvspan.read(DATA / "item.json.gz").steps()
    assert found.step == "user_annotation:ProfilerStep"
    assert [row["wait_calls"] for row in found.rows()] == [13] * 6
    limit = find_bottleneck(found).fields()
    assert limit["bound"] == "synchronising"
    assert limit["text"].startswith(
        "bound by synchronization: the GPU has no work for 94% of the step"
    )
    assert not found.of_device_ranges


def test_the_step_that_differs_and_in_what(loops):
    ended = run(loops / "data.nvspan")
    assert ended.returncode == 0
    assert ended.stderr == "nvspan: the typical step leaves out 1 warm-up step and 1 outlier\n"
    assert ended.stdout.splitlines()[-1] == (
        "13    outlier  64.9 ms      +40.2 ms  data wait +40.0 ms"
    )


def test_formats_have_one_truth(loops):
    path = loops / "data.nvspan"
    document = json.loads(run(path, "--format", "json").stdout)
    found = nvspan.read(path).steps()
    assert document["steps"] == found.rows()
    assert document["typical"] == found.typical.as_dict()
    assert document["limit"]["bound"] == "data"
    rows = list(csv.DictReader(io.StringIO(run(path, "--format", "csv").stdout)))
    assert [int(row["cpu.forward"]) for row in rows] == list(found["cpu.forward"])
    assert [int(row["idle.data wait"]) for row in rows] == list(found["idle.data wait"])
    shown = run(path, "--format", "markdown").stdout
    assert "| data wait | 20.2 ms | 82% | 0 ns | 20.2 ms |" in shown
    each = run(path, "--each", "--top", "3").stdout
    assert "... and 17 more" in each
    assert each.count("typical") == 3  # the heading, and steps 1 and 2


def test_options_that_are_wrong(loops):
    path = loops / "data.nvspan"
    ended = run(path, "--step", "stepp")
    assert (ended.returncode, ended.stderr) == (
        1, "nvspan steps: no range is called 'stepp'; the nearest is 'step'\n",
    )  # fmt: skip
    assert run(path, "--phases", ",").returncode == 2
    assert run(path, "--phases", "forward,nothing").returncode == 1


def test_given_phases(loops):
    found = nvspan.read(loops / "data.nvspan").steps(phases=["torch:forward", "backward"])
    usual = nvspan.read(loops / "data.nvspan").steps()
    assert found.phases == ["torch:forward", "backward", "other"]
    assert list(found["cpu.torch:forward"]) == list(usual["cpu.forward"])


def test_a_program_of_its_own_phases(tmp_path):
    path, now = tmp_path / "run.nvspan", 0
    with _reader.ExternalWriter(os.fsencode(path)) as out:
        thread = out.thread(out.process(77), 1)
        torch, own = out.domain(0, "torch"), out.domain(0, None)

        def write(domain, name, begin, end, payload=None):
            name = out.strings([name])
            out.ranges(
                thread, domain, array("q", [begin]), array("q", [end]), name=name, payload=payload
            )

        for number in range(8):
            begin = now
            for name, ms in (("load", 400 if number == 5 else 4), ("train", 8)):
                write(own, name, now, now + ms * MS)
                now += ms * MS
            write(torch, "step", begin, now, array("q", [number]))
            now += GAP
    found = nvspan.read(path).steps()
    assert (found.step, found.phases) == ("torch:step", ["load", "train", "other"])
    assert [row["number"] for row in found.rows()] == list(range(8))
    slow = found.rows()[5]
    assert slow["state"] == "outlier"
    assert steps.difference(found, slow)[0][0] == "load"
    assert find_bottleneck(found).bound is None


def test_a_recording_of_statistics_says_that_it_has_no_events():
    ended = run(ROOT / "tests" / "corpus" / "stats.nvspan")
    assert ended.returncode == 1
    assert ended.stderr == (
        f"nvspan steps: {ROOT / 'tests' / 'corpus' / 'stats.nvspan'} has no steps: --mode stats "
        "keeps totals, not events; record with --mode ring=64 instead\n"
    )
