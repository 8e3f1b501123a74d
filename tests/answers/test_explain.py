# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan explain`` as a command, on real loops with a GPU, and what it says of the recorder."""

from __future__ import annotations

import json
import os

import pytest

import nvspan
from helpers.compile import build
from helpers.lanes import Program
from helpers.recorded_loops import unpack
from helpers.reported import nvspan_done
from helpers.traced import needs_library, nvspan_command
from helpers.tree import ROOT
from helpers.written import written
from nvspan.answers.findings import analyze
from nvspan.answers.words import paths_text


@pytest.mark.parametrize(
    ("name", "kind", "certainty", "text"),
    [
        (
            "data",
            "bound-data",
            "measured",
            "the GPU waits 20.2 ms per step for data (82% of the step)",
        ),
        ("launch", "bound-launch", "likely", None),
        ("gpu", "bound-gpu", "measured", None),
        ("graph", "bound-cpu", "likely", None),
    ],
)
def test_what_a_real_loop_waits_for(tmp_path, name, kind, certainty, text):
    analysis = analyze(nvspan.read(unpack(name, tmp_path / f"{name}.nvspan")))
    (bound,) = [finding for finding in analysis.findings if finding.kind.startswith("bound-")]
    assert (bound.kind, bound.certainty) == (kind, certainty)
    if name == "data":
        assert bound.text == "the GPU waits 20.2 ms per step for data (82% of the step)"
    assert bound.evidence
    assert bound.next
    assert 0.2 < bound.cost <= 1
    assert "; GPU busy " in analysis.headline
    costs = [finding.cost or 0 for finding in analysis.findings]
    assert costs == sorted(costs, reverse=True)


def test_device_ranges_do_not_say_what_limits_a_step_that_they_cover(tmp_path):
    """The truth is four .item() in each step."""
    analysis = analyze(nvspan.read(unpack("item", tmp_path / "item.nvspan")))
    (bound,) = [finding for finding in analysis.findings if finding.kind.startswith("bound-")]
    assert (bound.kind, bound.certainty) == ("bound-unknown", "cannot tell")
    assert bound.text.startswith(
        "cannot tell what limits the step: the GPU has no work for at least 29% of the step"
    )
    assert bound.next == "'nvspan record --cuda kernels' or 'nvspan nsys' records the GPU"
    assert "; GPU busy at most " in analysis.headline


def test_the_gpu_is_not_spoken_of_where_there_is_none(tmp_path):
    program = Program()
    lane = program.lane()
    for _ in range(20):
        with lane.inside("step"):
            lane.add("forward", 60)
            lane.add("backward", 40)
    program.read(tmp_path / "a.nvspan")
    assert "GPU" not in run(tmp_path / "a.nvspan").stdout


def test_a_step_that_is_not_there(tmp_path):
    recording = written(tmp_path / "a.nvspan", [(0, 10, "load")])
    with pytest.raises(ValueError, match="no range is called 'nothing'"):
        analyze(recording, "nothing")
    assert run(tmp_path / "a.nvspan", "--step", "nothing").returncode == 1


RING = """
import nvspan
for number in range(100_000):
    with nvspan.annotate("turn"):
        pass
"""


@pytest.mark.skipif(
    bool(os.environ.get("NVSPAN_SANITIZED")),
    reason="under a sanitizer the program itself takes most of the time",
)
@pytest.mark.timing
@needs_library
def test_the_recorders_own_cost(tmp_path):
    program = build(ROOT / "tests" / "programs" / "tiny_ranges.cpp")
    for number in range(60):  # until it had its core throughout: what else ran is no cost of ours
        path = tmp_path / f"run-{number}.nvspan"
        done = nvspan_command("record", "-o", path, "--", program, cwd=tmp_path, check=True)
        if done.stdout.splitlines()[0] == "0":
            break
    (cost,) = [one for one in analyze(nvspan.read(path)).findings if one.kind == "overhead"]
    assert cost.certainty == "measured"
    assert cost.text.startswith("recording 20,000 tiny ranges 'tiny' takes at least ")


@needs_library
def test_events_that_are_missing(tmp_path):
    (tmp_path / "ring.py").write_text(RING)
    words = ("--mode", "ring=1", "-o", "run.nvspan", "ring.py")
    nvspan_command("record", *words, cwd=tmp_path, check=True)
    found = analyze(nvspan.read(tmp_path / "run.nvspan")).findings
    assert found[0].kind == "losses"
    assert "missing from the recording" in found[0].text
    assert found[0].evidence


def run(*words):
    return nvspan_done("explain", *words)


def test_formats_have_one_truth(tmp_path):
    program = Program()
    lane = program.lane()
    for number in range(40):
        with lane.inside("step"):
            lane.add("forward", 800 + number * 7 % 5)
            lane.add("backward", 200)
            if number in (7, 20, 31):
                lane.add("save", 3000)
    path = tmp_path / "a.nvspan"
    program.read(path)
    lines = run(path).stdout.splitlines()
    assert lines == [
        "40 steps of 1.00 ms: forward 80%, backward 20%; steady but for rare slow ones",
        "step  step (a usual name of a step)",
        "1. dominant  'forward' takes 80% of the step (802 us per step)",
        "   next      put ranges inside 'forward' to see which part it is",
        "2. rare      3 of 40 steps take 4.0 times as long as the others: 4.00 ms, 1.00 ms",
        "             steps 7, 20, 31",
        "             they add 18% to the time of all steps",
        "             'save' makes the difference: 3.00 ms, hardly any in the others",
        f"   next      nvspan steps {path}",
    ]
    document = json.loads(run(path, "--json").stdout)
    assert list(document) == ["headline", "findings", "step", "checked", "nothing", "next"]
    assert document["headline"] == lines[0]
    assert [entry["kind"] for entry in document["findings"]] == ["dominant", "rare"]
    assert list(document["findings"][0]) == [
        "kind", "text", "certainty", "evidence", "next", "cost",
    ]  # fmt: skip
    assert document == json.loads(run(path, "--format", "json").stdout)
    table = run(path, "--format", "csv").stdout.splitlines()
    assert table[0] == "kind,text,certainty,evidence,next,cost"
    assert table[2].startswith("rare,")
    assert "2. **3 of 40 steps take " in run(path, "--format", "markdown").stdout


def test_nothing_stands_out_says_what_was_looked_for(tmp_path):
    program = Program()
    lane = program.lane()
    for number in range(40):
        with lane.inside("step"):
            for name in ("data", "forward", "backward"):
                lane.add(name, 300 + number * 7 % 5)
    path = tmp_path / "a.nvspan"
    program.read(path)
    assert run(path).stdout.splitlines()[2:] == [
        "Nothing stands out. Checked: waits, time between steps, warm-up, jumps, trends, periods, "
        "two modes, rare slow steps, recording cost.",
        f"next  nvspan diff OLD.nvspan {path}    compare with an earlier run",
    ]


def test_the_next_command_names_the_files_that_fit_into_its_line():
    names = ["job.nvspan", "job-1.nvspan", "my job-2.nvspan"]
    assert paths_text(names) == "job.nvspan job-1.nvspan 'my job-2.nvspan'"
    long = [f"{'x' * 60}-{number}.nvspan" for number in range(3)]
    assert paths_text(long[:2]) == " ".join(long[:2])
    assert [paths_text(long), paths_text([])] == ["FILES", "FILES"]
