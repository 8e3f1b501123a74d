# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The key itself: its recordings hold the times that it knows, and wrong answers are told."""

from __future__ import annotations

import numpy as np
import pytest
from answers.key.answer import Answer
from answers.key.families import FAMILIES
from answers.key.program import Program
from answers.key.truth import RECORDINGS, Truth, make, near, problems, says

import nvspan


def test_there_is_enough_of_each():
    truths = [build(Program(0)) for build in RECORDINGS.values()]
    assert len(truths) >= 200
    assert sum(truth.has_nothing_to_find for truth in truths) >= len(truths) / 3
    assert all(truth.step or truth.count is None for truth in truths)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.split(".")[-1])
def test_a_recording_holds_the_times_that_are_known(family, tmp_path):
    names = [name for name, build in RECORDINGS.items() if build.__module__ == family.__name__]
    for name in names[::5]:
        program, _ = make(name, 0, tmp_path / "key.nvspan")
        recording = nvspan.read(tmp_path / "key.nvspan")
        assert recording.problems == []
        table = recording.ranges
        start, end = (np.asarray(table[column]) for column in ("start", "end"))
        closed = np.asarray(table["end_reason"]) == 0
        assert sorted((end - start)[closed].tolist()) == sorted(program.durations(".*").tolist())
        again, _ = make(name, 0, tmp_path / "again.nvspan")
        assert again.durations(".*").tolist() == program.durations(".*").tolist()


def loop() -> tuple[Program, Truth]:
    program = Program(0)
    program.loop("step", 10, {"load": 8, "save": 2})
    shares = {"load": program.share("load", "step")}
    return program, Truth(
        "step", 10, (says("dominant", shares=shares),), may="rare", headline=shares
    )


RIGHT = Answer(
    "step", 10, "step", "10 steps of 10.0 ms: load 80%", [("dominant", "load takes 80%")]
)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, []),
        ({"findings": [("dominant", "84% of a step is in load"), ("rare", "")]}, []),
        ({"step": "load"}, ["the step is 'step', not 'load'"]),
        ({"count": 9}, ["10 steps, not 9"]),
        ({"unit": "request"}, ["a step is a step, not a request"]),
        (
            {"headline": "10 steps of 12.0 ms: load 80%"},
            ["no step of 10 ms in the headline: 10 steps of 12.0 ms: load 80%"],
        ),
        (
            {"headline": "1 step of 10.0 ms: load 80%"},
            ["not 10 steps in the headline: 1 step of 10.0 ms: load 80%"],
        ),
        (
            {"headline": "10 steps of 10.0 ms: load 70%"},
            ["no 'load' 80% in the headline: 10 steps of 10.0 ms: load 70%"],
        ),
        ({"findings": []}, ["not said: dominant "]),
        (
            {"findings": [("dominant", "load takes 120%")]},
            [
                "dominant lacks 'load' 80%, only [120.0]: load takes 120%",
                "above 100 %: load takes 120%",
            ],
        ),
        ({"findings": [*RIGHT.findings, ("jump", "a jump")]}, ["false, jump: a jump"]),
        (
            {"findings": [*RIGHT.findings, ("rare", "1 steps")]},
            ["1 steps: one of several: 1 steps"],
        ),
    ],
)
def test_a_wrong_answer_is_told(changes, wrong):
    assert problems(*loop(), Answer(**{**vars(RIGHT), **changes})) == wrong


def test_a_program_without_steps_has_none_in_its_headline():
    program = Program(0)
    program.thread().leaf("work", 5)
    answer = Answer(None, 0, "step", "1 step of 5 ms", [])
    assert problems(program, Truth(None), answer) == ["steps in the headline: 1 step of 5 ms"]


def test_percentages_are_those_next_to_a_name():
    assert near("Most: 'a' > 'b', 80% of the step, 'b' 41.5 % (self 3%)", "b") == [80.0, 80.0, 41.5]
    assert near("54% in clean(), loader.py:8", "clean()") == [54.0]
    assert near("none", "a") == []
