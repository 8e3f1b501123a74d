# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan explain``: each finding is provoked, and not raised where there is none."""

from __future__ import annotations

import json
import os
import random

import pytest

import nvspan
from helpers.compile import build
from helpers.recorded_loops import unpack
from helpers.reported import nvspan_done
from helpers.traced import needs_library, nvspan_command
from helpers.tree import ROOT
from helpers.written import Call, written
from nvspan.answers import explain, findings

US = 1000


def steps(durations: list[int], phases: bool = True) -> list[Call]:
    """Steps of so many us, 80% of them in a phase, one after the other."""
    calls, at = [], 0
    for length in durations:
        calls.append((at, at + length * US, "step"))
        if phases:
            calls.append((at, at + length * US * 4 // 5, "forward"))
        at += (length + 1) * US
    return calls


def kinds(found: list[findings.Finding]) -> list[str]:
    return [finding.kind for finding in found]


def found_in(tmp_path, durations, **options):
    return findings.find(written(tmp_path / "a.nvspan", steps(durations, **options)))


EVEN = [100, 101, 99, 100, 100, 102, 98, 100, 101, 99] * 5


def test_even_steps_have_nothing_to_say_but_what_is_not_recorded(tmp_path):
    found = found_in(tmp_path, EVEN)
    assert kinds(found) == ["phase", "bound-unknown"]
    assert found[1].certainty == findings.UNKNOWN
    assert "device=True" in found[1].advice


def test_the_phase_that_takes_most_of_the_step(tmp_path):
    found = found_in(tmp_path, EVEN)[0]
    assert (found.text, found.certainty) == ("'forward' takes 80% of the typical step", "measured")
    assert found.evidence == ["80.0 us of 100 us"]
    calls = [(i * 100, i * 100 + 90, "step") for i in range(10)]
    calls += [(start, start + 40, "load") for start, _, _ in calls]
    calls += [(start + 40, start + 80, "train") for start, _, _ in calls[:10]]
    found = findings.find(written(tmp_path / "a.nvspan", calls))
    assert kinds(found) == ["bound-unknown"]  # two halves


def test_phases_of_a_program_of_its_own_that_calls_one_of_them_as_auto_does(tmp_path):
    calls = [(i * 100, i * 100 + 90, "step") for i in range(10)]
    for name, begin, end in (("load", 0, 60), ("forward", 60, 80)):
        calls += [(start + begin, start + end, name) for start, _, _ in calls[:10]]
    found = written(tmp_path / "a.nvspan", calls, domain_name="app").steps()
    assert found.phases == ["load", "forward", "other"]
    assert kinds(findings.find(nvspan.read(tmp_path / "a.nvspan"))) == ["phase", "bound-unknown"]


@pytest.mark.parametrize(
    ("name", "kind", "certainty"),
    [
        ("data", "bound-data", "measured"), ("item", "bound-cpu", "likely"),
        ("launch", "bound-launch", "likely"), ("gpu", "bound-gpu", "measured"),
        ("graph", "bound-cpu", "likely"),
    ],
)  # fmt: skip
def test_what_a_real_loop_waits_for(tmp_path, name, kind, certainty):
    found = findings.find(nvspan.read(unpack(name, tmp_path / f"{name}.nvspan")))
    bound = [finding for finding in found if finding.kind.startswith("bound-")]
    assert [(finding.kind, finding.certainty) for finding in bound] == [(kind, certainty)]
    assert bound[0].evidence
    assert bound[0].advice
    assert 0.2 < bound[0].cost <= 1
    costs = [one.cost or 0 for one in found if one.certainty != findings.UNKNOWN]
    assert costs == sorted(costs, reverse=True)
    if name == "data":
        odd = next(finding for finding in found if finding.kind == "outliers")
        assert odd.text == "1 step took 40.2 ms more than the typical one"
        assert odd.evidence[1:] == ["of it 40.0 ms in 'data wait'", "step 13"]


def test_warm_up(tmp_path):
    found = found_in(tmp_path, [5000, 900, *EVEN])
    assert kinds(found) == ["phase", "warm-up", "bound-unknown"]
    assert found[1].text == "the first 2 steps took 5.70 ms more than as many typical ones"
    assert found[1].evidence == [
        "that is 52% of the time of all 52 steps", "of it 4.56 ms in 'forward', 1.14 ms in "
        "'other'",
    ]  # fmt: skip
    assert kinds(found_in(tmp_path, [140, *EVEN * 2])) == [
        "phase",
        "bound-unknown",
    ]  # too little to tell


def test_outliers_and_their_period(tmp_path):
    every = [400 if i % 7 == 3 else length for i, length in enumerate(EVEN)]
    found = found_in(tmp_path, every)
    assert kinds(found) == ["phase", "outliers", "bound-unknown"]
    assert found[1].evidence[2:] == ["steps 3, 10, 17, 24, 31, 38, 45", "they come every 7 steps"]
    now_and_then = [400 if i in (3, 10, 18) else length for i, length in enumerate(EVEN)]
    found = found_in(tmp_path, now_and_then)
    assert found[1].evidence[2:] == ["steps 3, 10, 18"]
    shorter = [10 if i == 20 else length for i, length in enumerate(EVEN)]
    assert kinds(found_in(tmp_path, shorter)) == ["phase", "bound-unknown"]


def test_findings_come_by_their_cost(tmp_path):
    found = found_in(tmp_path, [40_000, *EVEN])
    assert kinds(found) == ["warm-up", "phase", "bound-unknown"]
    assert [round(one.cost or 0, 3) for one in found] == [round(39_900 / 45_000, 3), 0.8, 0]
    assert found[2].cost is None


def test_a_trend(tmp_path):
    found = found_in(tmp_path, [100 + i // 2 for i in range(60)])
    assert kinds(found) == ["phase", "trend", "bound-unknown"]
    assert found[1].text == "steps become slower in the course of the recording"
    assert found[1].evidence[1] == "'forward' takes 16.0 us more"
    found = found_in(tmp_path, [130 - i // 2 for i in range(60)])
    assert found[1].text == "steps become faster in the course of the recording"
    rng = random.Random(1)
    noise = [100 + rng.randint(0, 24) for _ in range(60)]
    assert kinds(found_in(tmp_path, noise)) == ["phase", "bound-unknown"]


def test_time_in_no_phase(tmp_path):
    calls = [(i * 100, i * 100 + 90, "step") for i in range(10)]
    calls += [(start, start + 40, "forward") for start, _, _ in calls]
    found = findings.find(written(tmp_path / "a.nvspan", calls))
    assert kinds(found) == ["other", "bound-unknown"]
    assert found[0].text == "56% of the typical step is in no phase"


def block(at: int, number: int, long: bool) -> list[Call]:
    length = 30 if long else 10
    return [(at, at + length + 2, f"h.{number}"), (at + 1, at + 1 + length, f"h.{number}.a")]


def test_a_large_module_and_a_block_unlike_the_others(tmp_path):
    calls: list[Call] = [(0, 180, "step"), (0, 175, "forward"), (0, 170, "Net")]
    for number in range(6):
        calls += block(1 + 12 * number + (20 if number > 3 else 0), number, number == 3)
    calls.append((110, 160, "head"))
    found = findings.find(written(tmp_path / "a.nvspan", calls))
    assert kinds(found) == ["phase", "module", "block", "bound-unknown"]
    assert found[1].text == "'head' takes 28% of the step"
    assert found[1].evidence == ["forward 50 ns a step"]
    assert found[2].text == "'h.3' takes 2.7 times as long as its like"
    even: list[Call] = [(0, 180, "step"), (0, 175, "forward"), (0, 170, "Net")]
    for number in range(6):
        even += block(1 + 12 * number, number, False)
    assert kinds(findings.find(written(tmp_path / "a.nvspan", even))) == ["phase", "bound-unknown"]


def test_no_steps(tmp_path):
    found = findings.find(written(tmp_path / "a.nvspan", [(0, 10, "load")]))
    assert kinds(found) == ["no-steps"]
    assert found[0].text.startswith("cannot tell where steps spend their time: no range repeats")
    with pytest.raises(ValueError, match="no range is called 'nothing'"):
        findings.find(nvspan.read(tmp_path / "a.nvspan"), "nothing")


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
    found = findings.find(nvspan.read(path))
    (cost,) = [finding for finding in found if finding.kind == "overhead"]
    assert cost.text in {
        f"the recording itself is a part of what '{name}' takes" for name in ("all", "tiny")
    }
    # What came from elsewhere was not slowed down.
    tiny = [(20 * i, 20 * i + 10, "tiny") for i in range(1000)]
    assert "overhead" not in kinds(findings.find(written(tmp_path / "a.nvspan", tiny)))


@needs_library
def test_events_that_are_missing(tmp_path):
    (tmp_path / "ring.py").write_text(RING)
    words = ("--mode", "ring=1", "-o", "run.nvspan", "ring.py")
    nvspan_command("record", *words, cwd=tmp_path, check=True)
    found = findings.find(nvspan.read(tmp_path / "run.nvspan"))
    assert found[0].kind == "losses"
    assert "missing from the recording" in found[0].text
    assert found[0].evidence


def run(*words):
    return nvspan_done("explain", *words)


def test_formats_have_one_truth(tmp_path):
    path = tmp_path / "a.nvspan"
    found = found_in(tmp_path, [5000, 900, *EVEN])
    assert run(path).stdout == explain.render(found) + "\n"
    assert run(path).stdout.splitlines()[:2] == [
        "1. 'forward' takes 80% of the typical step (measured)",
        "   - 80.0 us of 100 us",
    ]
    document = json.loads(run(path, "--json").stdout)
    assert [entry["kind"] for entry in document] == kinds(found)
    assert document == json.loads(run(path, "--format", "json").stdout)
    assert run(path, "--format", "csv").stdout.startswith(
        "kind,text,certainty,evidence,advice,cost\n"
    )
    assert "2. **The first 2 steps" in run(path, "--format", "markdown").stdout
    assert run(path, "--step", "nothing").returncode == 1


def test_nothing_stands_out():
    assert explain.render([]) == "nothing stands out"
