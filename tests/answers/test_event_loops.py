# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Requests of an event loop that one of them holds: what ``explain`` and ``steps`` say."""

from __future__ import annotations

import pytest

from helpers.lanes import Program
from nvspan.answers.findings import analyze
from nvspan.answers.steps import notes


def requests_of_an_event_loop(longest):
    """Of four requests one renders for `longest` us in every second round; queries take 4 ms."""
    program = Program()
    lane = program.lane("event loop")
    for number in range(40):
        at, hold = 40_000 * number, longest if number % 2 else 20
        for client in range(4):
            render = at + 4000 + (hold + 30 * client if client else 0)
            end = render + (20 if client else hold)
            lane.span(at + 10 * client, end + 2, "request")
            lane.span(at + 10 * client + 1, render, "query")
            lane.span(render + 1, end, "render")
    return program


def test_a_range_that_holds_the_event_loop(tmp_path):
    recording = requests_of_an_event_loop(20_000).read(tmp_path / "run.nvspan")
    blocking, slow = (
        (finding.kind, finding.text, *finding.evidence) for finding in analyze(recording).findings
    )
    assert slow == (
        "slow",
        "80 of 160 requests take 24.0 ms, the others 4.07 ms",
        "'query' makes the difference: 19.0 ms, 4.04 ms in the others",
        "it waits for the event loop, which 'render' holds",
    )
    assert blocking == (
        "blocking",
        "'render' holds the event loop 25% of the time, and 3.0 other requests wait for it",
        "20 calls, the longest 20.0 ms; nothing else of thread 'event loop' starts or ends "
        "meanwhile",
        "'query' takes 24.0 ms where another request holds the loop, 4.04 ms elsewhere",
    )


def test_steps_tell_held_time_from_that_of_the_range_that_awaits(tmp_path):
    steps = requests_of_an_event_loop(20_000).read(tmp_path / "run.nvspan").steps()
    assert steps.phases == ["query", "render", "held up", "other"]
    slowest = [max(steps.rows(), key=lambda row: row["cpu"][phase]) for phase in steps.phases[:3]]
    assert [{phase: round(ns / 1e6, 1) for phase, ns in row["cpu"].items()} for row in slowest] == [
        {"query": 4.1, "render": 0.0, "held up": 0.0, "other": 0.0},
        {"query": 4.0, "render": 20.0, "held up": 0.0, "other": 0.0},
        {"query": 4.0, "render": 0.0, "held up": 20.0, "other": 0.0},
    ]
    typical = steps.typical
    assert typical.cpu["held up"] == pytest.approx(20e6 * 60 / 160, rel=1e-3)
    assert sum(typical.cpu.values()) == pytest.approx(typical.duration)
    assert notes(steps)[-1] == "held up: another request holds the event loop, mostly in 'render'"


def test_steps_of_a_loop_that_nothing_holds_have_no_such_phase(tmp_path):
    steps = requests_of_an_event_loop(20).read(tmp_path / "run.nvspan").steps()
    assert steps.phases == ["query", "render", "other"]
