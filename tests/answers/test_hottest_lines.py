# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The hottest line of each phase, and of programs without ranges; none from too few samples."""

from __future__ import annotations

import os

import pytest

import nvspan
from helpers.sampled import RUNNING, WAITING, SampleChunk, SampledFile
from nvspan.answers import explain
from nvspan.answers.findings import analyze
from nvspan.answers.overview import overview


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("def load():\n    return [json.loads(line) for line in file]\n\n"
                    "def save():\n    time.sleep(0.05)\n", encoding="utf-8")  # fmt: skip
    os.utime(path, ns=(0, 0))
    return str(path)


def program(path, source, ranges=True, steps=60, torn=0):
    """Steps of 10,000 units: a load of 8,000, a save of 1,000, a rest of 1,000."""
    file = SampledFile()
    main = file.frame(source, "main", 1, first_line=1)
    inner = file.frame(source, "load.<locals>.<listcomp>", 2, (12, 28), first_line=2)
    loads = file.stack(main, file.frame(source, "load", 2, (11, 47), first_line=1), inner)
    rest = file.stack(main, file.frame(source, "load", 2, (11, 47), first_line=1))
    save = file.stack(main, file.frame(source, "save", 5, (4, 20), first_line=4))
    thread = file.thread()
    samples = SampleChunk(0, 1024)
    names = []
    for step in range(steps):
        at = step * 10_000
        names += [
            (at, at + 9990, "step"),
            (at + 1, at + 8000, "load"),
            (at + 8001, at + 9000, "save"),
        ]
        for look in range(500, 10_000, 1000):
            stack = rest if look < 1000 else loads if look < 8000 else save
            samples.sample(at + look, thread, stack, WAITING if stack == save else RUNNING)
    if ranges:
        file.ranges(names)
    samples.note(2, 600, 600, torn, 0, 0, 0, 0)
    file.samples(samples)
    return nvspan.read(file.write(path))


def test_phases_have_their_hottest_line(tmp_path, source):
    path = tmp_path / "a.nvspan"
    analysis = analyze(program(path, source))
    assert overview(analysis).splitlines() == [
        "phase                per step  share  hottest line                  of phase",
        "load                  8.19 ms    80%  train.py:2  json.loads(line)   81% ±4%",
        "save                  1.02 ms    10%  train.py:5  time.sleep(0.05)  100% ±5%  waiting",
        "(outside any phase)   1.02 ms   9.9%",
    ]
    (finding,) = analysis.findings
    assert finding.evidence == ["line  train.py:2  json.loads(line)  81% ±4% of 'load'"]
    assert finding.next == f"nvspan stats --lines load {path}"


def test_what_the_sampler_missed_is_said_last(tmp_path, source):
    path = tmp_path / "a.nvspan"
    findings = analyze(program(path, source, torn=30)).findings
    assert [(finding.kind, finding.text) for finding in findings[1:]] == [
        ("samples", "4.8% of the stacks changed too fast to be read")
    ]


def test_a_few_that_the_sampler_missed_are_chance(tmp_path, source):
    findings = analyze(program(tmp_path / "a.nvspan", source, torn=9)).findings  # 1.5%
    assert [finding.kind for finding in findings[1:]] == []


def test_nothing_is_said_from_few_samples(tmp_path, source):
    analysis = analyze(program(tmp_path / "a.nvspan", source, steps=2))
    assert "hottest line" not in overview(analysis)


def test_a_phase_whose_time_is_in_many_lines_has_no_hottest_one(tmp_path, source):
    file = SampledFile()
    stacks = [file.stack(file.frame(source, "f", line, first_line=1)) for line in range(1, 41)]
    thread = file.thread()
    samples = SampleChunk(0, 1024)
    for look in range(500, 600_000, 1000):
        samples.sample(look, thread, stacks[look // 1000 * 7 % 40])
    file.ranges((at, at + 9990, "step") for at in range(0, 600_000, 10_000))
    file.ranges((at + 1, at + 9989, "load") for at in range(0, 600_000, 10_000))
    file.samples(samples)
    analysis = analyze(nvspan.read(file.write(tmp_path / "a.nvspan")))
    assert "hottest line" not in overview(analysis)
    assert [finding.evidence for finding in analysis.findings] == [[]]


def test_a_program_without_ranges_has_its_functions(tmp_path, source):
    analysis = analyze(program(tmp_path / "a.nvspan", source, ranges=False))
    assert explain.render(explain.explanation(analysis)).splitlines() == [
        "614 ms: 80% on a core, 20% waiting (no ranges: functions by self time)",
        f"next  nvspan stats --lines {tmp_path}/a.nvspan",
    ]
    called = "main()  train.py:1"
    assert overview(analysis).splitlines() == [
        "function    self  share  hottest line                   of run           called from",
        "load()    492 ms    80%  train.py:2  json.loads(line)  65% ±4%" + 11 * " " + called,
        "save()    123 ms    20%  train.py:5  time.sleep(0.05)  20% ±4%  waiting  " + called,
    ]
    assert overview(analysis, 80).splitlines()[-1] == "(in 80 columns: without called from)"


@pytest.mark.parametrize(
    ("one", "other", "named"),
    [
        (9, 1, "fetch()  train.py:11"),
        (7, 3, "fetch(), test()"),
        (3, 7, "test(), fetch()"),
        (4, 3, ""),
    ],
)
def test_a_caller_is_named_that_has_four_fifths(tmp_path, source, one, other, named):
    """load(), which calls itself, is called by fetch() in `one` of ten samples, by test() in
    `other` ones, else by last(): where two have four fifths, both are named."""
    file = SampledFile()
    top = file.frame(source, "<module>", 90)
    load = [file.frame(source, "load", line, first_line=1) for line in (2, 1)]
    fetch, test, last = (
        file.frame(source, name, line, first_line=9)
        for name, line in (("fetch", 11), ("test", 13), ("last", 15))
    )
    thread, samples = file.thread(), SampleChunk(0, 1024)
    for look in range(1, 500):
        part = look % 10
        caller = fetch if part < one else test if part < one + other else last
        samples.sample(look * 1000, thread, file.stack(top, caller, *load))
    for look in range(500, 600):
        samples.sample(look * 1000, thread, file.stack(top, fetch))
    file.samples(samples)
    shown = overview(analyze(nvspan.read(file.write(tmp_path / "a.nvspan")))).splitlines()
    assert shown[0].split()[-2:] == ["called", "from"]
    cells = {line.split()[0]: line for line in shown[1:]}
    assert cells["load()"].partition("def load():  ")[2].partition("%  ")[2].strip() == named
    assert cells["fetch()"].endswith("  train.py:90")  # of the module


def test_ranges_without_steps_have_the_lines_of_their_own_time(tmp_path, source):
    file = SampledFile()
    run = file.stack(file.frame(source, "run", 2, (12, 28), first_line=1))
    inner = file.stack(file.frame(source, "save", 5, (4, 20), first_line=4))
    thread = file.thread()
    samples = SampleChunk(0, 1024)
    for at in range(1000, 100_000, 1000):
        samples.sample(at, thread, inner if 50_000 < at < 80_000 else run)
    file.ranges([(0, 99_900, "outer"), (50_500, 79_500, "inner")])
    file.samples(samples)
    analysis = analyze(nvspan.read(file.write(tmp_path / "a.nvspan")))
    assert overview(analysis).splitlines() == [
        "range  calls     self  share  hottest line                  of range",
        "outer      1  72.6 ms    71%  train.py:2  json.loads(line)  100% ±4%",
        "inner      1  29.7 ms    29%  train.py:5  time.sleep(0.05)  100% ±9%",
    ]
    assert analysis.findings[0].evidence[-1] == (
        "line  train.py:2  json.loads(line)  100% ±4% of 'outer'"
    )
