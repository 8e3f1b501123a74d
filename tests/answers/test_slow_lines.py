# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The lines that make slow steps and pauses slow: named where samples show it, and not else."""

from __future__ import annotations

import os
import random

import pytest

import nvspan
from helpers.sampled import READY, RUNNING, WAITING, SampleChunk, SampledFile
from nvspan.answers.findings import analyze

STEP, SLOW, LOOK = 20_000, 100_000, 1_000  # units of 1.024 us


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("model(x)\nloss.backward()\noptimizer.step()\ntorch.save(state, path)\n")
    os.utime(path, ns=(0, 0))
    return str(path)


class Program:
    """A main thread whose samples are 1.024 ms apart, or `look` units."""

    def __init__(self, source: str, look: int = LOOK) -> None:
        self.file = SampledFile()
        self.source, self.look = source, look
        main = self.file.frame(source, "main", 100, first_line=90)
        self.stacks = [self.file.stack(main, self.file.frame(source, "main", line, first_line=1))
                       for line in range(1, 60)]  # fmt: skip
        self.thread = self.file.thread()
        self.samples = SampleChunk(0, look * 1024 // 1000)
        self.names: list[tuple[int, int, str]] = []
        self.now = 0
        self._next = look // 2

    def spend(self, units: int, line: int, state: int = RUNNING) -> None:
        """Time on a line."""
        self.now += units
        while self._next < self.now:
            self.samples.sample(self._next, self.thread, self.stacks[line - 1], state)
            self._next += self.look

    def step(self) -> None:
        """A step of 20 ms, on three lines."""
        for line, units in ((1, 6_000), (2, 10_000), (3, 4_000)):
            self.spend(units, line)

    def named(self, name: str, begin: int) -> None:
        """A range from `begin` to now."""
        self.names.append((begin, self.now - 1, name))

    def evidence(self, path, kind: str) -> list[str]:
        """What of the finding of a kind is about lines."""
        self.file.ranges(self.names)
        self.file.samples(self.samples)
        analysis = analyze(nvspan.read(self.file.write(path)))
        found = [finding for finding in analysis.findings if finding.kind == kind]
        assert len(found) == 1, [finding.kind for finding in analysis.findings]
        return [text for text in found[0].evidence if text.startswith("line")]


def saving(source: str, extra, look: int = LOOK) -> Program:
    """100 steps, of which every tenth ends with `extra`."""
    program = Program(source, look)
    for number in range(100):
        begin = program.now
        program.step()
        if number % 10 == 9:
            extra(program)
        program.named("step", begin)
    return program


def test_the_line_of_every_tenth_step_is_named(tmp_path, source):
    program = saving(source, lambda run: run.spend(SLOW, 4))
    assert program.evidence(tmp_path / "a.nvspan", "period") == [
        "line  train.py:4  torch.save(state, path) adds 102 ms to every 10th step (33% of the run)"
    ]


def test_a_line_that_waits_in_slow_steps_does_so(tmp_path, source):
    program = saving(source, lambda run: run.spend(SLOW, 4, WAITING))
    assert program.evidence(tmp_path / "a.nvspan", "period") == [
        "line  train.py:4  torch.save(state, path) adds 102 ms to every 10th step (33% of the run)"
        ", waiting"
    ]


def test_a_line_that_is_slow_for_want_of_a_core_says_so(tmp_path, source):
    program = saving(source, lambda run: run.spend(SLOW, 4, READY))
    assert program.evidence(tmp_path / "a.nvspan", "period") == [
        "line  train.py:4  torch.save(state, path) adds 103 ms to every 10th step (33% of the run)"
        ", waiting for a core"
    ]


def test_slow_steps_of_many_lines_have_none(tmp_path, source):
    def extra(run):
        for line in range(4, 54):
            run.spend(SLOW // 50, line)

    assert saving(source, extra).evidence(tmp_path / "a.nvspan", "period") == []


def test_nothing_is_said_of_slow_steps_with_few_samples(tmp_path, source):
    program = saving(source, lambda run: run.spend(SLOW, 4), look=50_000)  # two of a slow step
    assert program.evidence(tmp_path / "a.nvspan", "period") == []


def test_nothing_is_said_of_slow_steps_that_were_not_sampled(tmp_path, source):
    def extra(run):
        run.now += SLOW  # the sampler had no core
        run._next = run.now

    program = saving(source, extra)
    program.samples.data.clear()
    assert program.evidence(tmp_path / "a.nvspan", "period") == []


def test_the_line_of_a_jump_a_warm_up_and_rare_steps(tmp_path, source):
    random.seed(3)
    rare = set(random.sample(range(60, 190), 4))
    program = Program(source)
    for number in range(200):
        begin = program.now
        program.step()
        program.spend(random.randrange(400), 3)
        if number in rare:
            program.spend(SLOW, 5, WAITING)
        program.named("step", begin)
    (line,) = program.evidence(tmp_path / "rare.nvspan", "rare")
    assert line.startswith("line  train.py:5 adds 102 ms to each slow step (9.")
    assert line.endswith("of the run), waiting")

    program = Program(source)
    for number in range(100):
        begin = program.now
        program.step()
        program.spend(random.randrange(400), 3)
        program.spend(5_000 if number >= 60 else 0, 6)
        program.spend(200_000 if number == 0 else 0, 7)
        program.named("step", begin)
    path = tmp_path / "jump.nvspan"
    (line,) = program.evidence(path, "jump")
    assert line == "line  train.py:6 adds 5.11 ms to each step from step 60 on (8.2% of the run)"


def test_a_trend_has_its_line(tmp_path, source):
    program = Program(source)
    for number in range(100):
        begin = program.now
        program.step()
        program.spend(200 * number, 6)
        program.named("step", begin)
    (line,) = program.evidence(tmp_path / "a.nvspan", "trend")
    assert line.startswith("line  train.py:6 adds 15.")
    assert line.endswith(" ms to a step of the last quarter")


def test_the_lines_between_steps(tmp_path, source):
    program = Program(source)
    for number in range(100):
        begin = program.now
        program.step()
        program.named("step", begin)
        program.spend(10_000, 8)
        program.spend(60_000 if number % 10 == 9 else 0, 4)
    path = tmp_path / "a.nvspan"
    program.file.ranges(program.names)
    program.file.samples(program.samples)
    findings = {finding.kind: finding for finding in analyze(nvspan.read(program.file.write(path)))
                .findings}  # fmt: skip
    between = findings["between"]
    assert between.evidence[-1] == "line  train.py:8  65% ±14% of the time between steps"
    assert between.next == f"nvspan stats --lines {path}"
    assert findings["period"].evidence[-1] == (
        "line  train.py:4  torch.save(state, path) adds 61.4 ms to every 10th pause "
        "(15% of the run)"
    )
