# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The first line of every answer: each kind of recording has one."""

from __future__ import annotations

import random
import re

import nvspan
from helpers.lanes import Program
from helpers.recorded_loops import unpack_ranks
from helpers.reported import recording_of
from helpers.traced import needs_library
from helpers.written import written
from nvspan.answers.explain import explanation, render
from nvspan.answers.findings import analyze
from nvspan.writer import Session


def headline(recording):
    return analyze(recording).headline


def steps(lane, count, between=0.0):
    for number in range(count):
        with lane.inside("step"):
            factor = 1 + number * 7 % 5 / 100
            lane.add("data", 30 * factor)
            with lane.inside("backward"):
                lane.add("attn", 570 * factor)
                lane.add("mlp", 290 * factor)
            lane.add("forward", 110 * factor)
        lane.pause(between)


def test_steps_their_phases_and_the_time_between_them(tmp_path):
    program = Program()
    steps(program.lane(), 50, between=40)
    assert headline(program.read(tmp_path / "a.nvspan")) == (
        "50 steps of 1.02 ms: backward 86% (attn 57%), forward 11%, data 3.0%; steady; "
        "3.7% of the run is between steps"
    )


def test_steps_without_time_between_them_say_nothing_about_it(tmp_path):
    program = Program()
    steps(program.lane(), 50)
    assert headline(program.read(tmp_path / "a.nvspan")) == (
        "50 steps of 1.02 ms: backward 86% (attn 57%), forward 11%, data 3.0%; steady"
    )


def test_growth_stands_before_the_phases(tmp_path):
    program = Program()
    lane = program.lane()
    for number in range(60):
        with lane.inside("step"):
            lane.add("load", 100 + 10 * number)
            lane.add("update", 10)
    assert headline(program.read(tmp_path / "a.nvspan")) == (
        "60 steps of 400 us, growing from 180 us to 630 us: load 98%, update 2.5%"
    )


def test_the_mean_where_it_is_far_from_the_length_of_most_steps(tmp_path):
    """Phases add up to the mean: "save" takes 500 us per step, and the median is 200 us."""
    program = Program()
    lane = program.lane()
    for number in range(40):
        with lane.inside("step"):
            lane.add("load", 190)
            if number % 4 == 3:
                lane.add("save", 2000)
            lane.pause(10)
    assert headline(program.read(tmp_path / "a.nvspan")) == (
        "40 steps of 200 us (mean 700 us): save 71%, load 27%; every 4th is slow"
    )


def test_headline_and_finding_name_the_same_step_where_steps_jump(tmp_path):
    """ "rest" is noise, which alone would put the jump to step 28."""
    noise = random.Random(0)
    program = Program()
    lane = program.lane()
    for number in range(60):
        with lane.inside("step"):
            lane.add("load", 300 if number < 30 else 600)
            lane.add("rest", noise.uniform(200, 600))
    analysis = analyze(program.read(tmp_path / "a.nvspan"))
    jumps = [finding.text for finding in analysis.findings if finding.kind == "jump"]
    assert (analysis.headline, jumps) == (
        "60 steps of 863 us: load 51%, rest 49%; slower from step 30 on",
        ["steps become slower at step 30: 733 us before, 997 us after"],
    )


def test_requests(tmp_path):
    program = Program()
    for number in range(4):
        lane = program.lane(f"worker-{number}")
        for _ in range(20):
            with lane.inside("request"):
                lane.add("query", 600)
                lane.add("render", 400)
    assert headline(program.read(tmp_path / "a.nvspan")) == (
        "80 requests of 1.00 ms (p90 1.00 ms, p99 1.00 ms): query 60%, render 40%; "
        "4.0 at once, at most 4; 4,000 per second"
    )


def test_a_run_without_steps_by_self_time(tmp_path):
    program = Program()
    lane = program.lane()
    with lane.inside("main"):
        lane.add("read", 2000)
        with lane.inside("clean"):
            lane.add("parse", 1000)
            lane.pause(5000)
        lane.add("write", 2000)
    assert headline(program.read(tmp_path / "a.nvspan")) == (
        "10.0 ms and no steps, 5 ranges; self time: clean 50%, read 20%, write 20%"
    )


def test_marks_alone(tmp_path):
    with Session("marks", output=tmp_path / "a.nvspan") as session:  # noqa: SIM117
        with session.create_stream("main", domain="") as stream:
            for number in range(4):
                stream.write_mark(1000 + number, message="epoch" if number % 2 else "saved")
    analysis = analyze(nvspan.read(tmp_path / "a.nvspan"))
    assert analysis.headline == "no ranges, 4 marks: saved x2, epoch x2"
    assert analysis.findings == []


def test_an_empty_recording_says_what_to_type(tmp_path):
    with Session("empty", output=tmp_path / "a.nvspan"):
        pass
    shown = render(explanation(analyze(nvspan.read(tmp_path / "a.nvspan"))))
    assert shown == (
        "nothing recorded: no ranges, no marks\n"
        "next  nvspan record --profile script.py    record function calls as ranges"
    )


def test_device_ranges_alone(tmp_path):
    device = [(100 * number, 100 * number + 60, "kernel") for number in range(10)]
    recording = written(tmp_path / "a.nvspan", [], device=device)
    assert headline(recording) == "10 device ranges in 960 ns: torch:kernel 62%"


OPEN = """
import nvspan
nvspan.push_range("main")
nvspan.start_range("job")
"""
LOOP = """
import nvspan
for number in range(3):
    with nvspan.annotate("turn"):
        pass
"""


@needs_library
def test_ranges_that_are_open_and_totals_alone():
    assert re.fullmatch(
        r"no range ended; still open: main for [\d.]+ [mun]?s, job for [\d.]+ [mun]?s",
        headline(nvspan.read(recording_of(OPEN))),
    )
    analysis = analyze(nvspan.read(recording_of(LOOP, mode="stats")))
    assert analysis.headline.startswith("3 ranges in ")
    assert " (totals only: --mode stats): turn " in analysis.headline
    assert analysis.next.startswith("record with --mode ring=64")


def test_ranks_speak_of_the_first_one(tmp_path):
    assert headline(nvspan.read(*unpack_ranks(tmp_path))).startswith("8 ranks; rank 0: ")
