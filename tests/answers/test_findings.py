# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Each finding of ``nvspan explain``: a recording that has it, and one that must not."""

from __future__ import annotations

import random

import pytest

from helpers.lanes import Program
from nvspan.answers.findings import analyze

PARTS = {"data": 240, "forward": 260, "backward": 280, "optimizer": 220}


def train(lane, factor=1.0, **parts):
    """A balanced step of 1 ms times `factor`; parts may be given other times, in us."""
    with lane.inside("step"):
        for name, us in {**PARTS, **parts}.items():
            lane.add(name, us * factor)


def loop(factors):
    program = Program()
    lane = program.lane()
    for factor in factors:
        train(lane, factor)
    return program, lane


def found(tmp_path, program):
    """Kind, sentence and evidence of each finding."""
    findings = analyze(program.read(tmp_path / "run.nvspan")).findings
    return [(finding.kind, finding.text, *finding.evidence) for finding in findings]


def even(count=40):
    return [1.0 + 0.01 * (number * 7 % 5 - 2) for number in range(count)]


def test_nothing_stands_out_in_even_steps(tmp_path):
    program, _ = loop(even())
    assert found(tmp_path, program) == []


def test_the_path_of_the_largest_parts(tmp_path):
    program = Program()
    lane = program.lane()
    for factor in even():
        with lane.inside("step"):
            lane.add("data", 100 * factor)
            with lane.inside("backward"):
                lane.add("attn", 600 * factor)
                lane.add("mlp", 200 * factor)
            lane.add("optimizer", 100 * factor)
    assert found(tmp_path, program) == [
        (
            "dominant",
            "'backward' > 'attn' takes 60% of the step (600 us per step)",
            "'backward' takes 80%",
        )
    ]


def test_advice_is_for_what_is_not_divided_yet(tmp_path):
    for parts, advice in (
        ([], "put ranges inside 'backward' to see which part it is"),
        (["a", "b", "c", "d"], f"nvspan stats --tree {tmp_path}/4.nvspan"),
    ):
        program = Program()
        lane = program.lane()
        for factor in even():
            with lane.inside("step"):
                lane.add("data", 200 * factor)
                with lane.inside("backward"):
                    for name in parts:
                        lane.add(name, 200 * factor)
                    lane.pause(0 if parts else 800)
        (finding,) = analyze(program.read(tmp_path / f"{len(parts)}.nvspan")).findings
        assert (finding.kind, finding.next) == ("dominant", advice)


def test_time_outside_any_phase(tmp_path):
    program = Program()
    lane = program.lane()
    for factor in even():
        with lane.inside("step"):
            lane.add("data", 300 * factor)
            lane.pause(300 * factor)
            lane.add("forward", 200 * factor)
            lane.add("backward", 200 * factor)
    assert found(tmp_path, program) == [
        (
            "unnamed",
            "30% of the step is outside any phase (300 us per step)",
            "most of it between 'data' and 'forward'",
        )
    ]


def test_one_of_the_numbered_siblings_takes_longer(tmp_path):
    program = Program()
    lane = program.lane()
    for factor in even():
        with lane.inside("step"):
            for number in range(6):
                lane.add(f"layer{number}", (300 if number == 3 else 100) * factor)
    assert found(tmp_path, program) == [
        ("odd", "'layer3' takes 3.0 times as long as the median of its 6 siblings",
         "38% of the step"),
    ]  # fmt: skip


MODE = random.Random(4).sample(range(64), 20)
SLOW = {
    "warm-up": (
        [30.0, *even(39)],
        [("warm-up", "the first step takes 30.0 ms, the others 1.00 ms",
          "no single range explains it")],
    ),
    "warm-up of two unlike steps": (
        [30.0, 2.0, *even(38)],
        [("warm-up", "the first 2 steps take 16.0 ms on average, the others 1.00 ms",
          "no single range explains it")],
    ),
    "jump": (
        [*even(20), *(1.5 * factor for factor in even(20))],
        [("jump", "steps become slower at step 20: 1.00 ms before, 1.50 ms after",
          "no single range explains it")],
    ),
    "period": (
        [2.0 if number % 8 == 5 else factor for number, factor in enumerate(even(64))],
        [("period", "every 8th step takes 2.00 ms, the others 1.00 ms",
          "no single range explains it")],
    ),
    "modes": (
        [1.5 if number in MODE else factor for number, factor in enumerate(even(64))],
        [("modes", "two modes: 31% of the steps take 1.50 ms, the others 1.00 ms",
          "no single range explains it")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SLOW)
def test_steps_that_differ(tmp_path, kind):
    factors, expected = SLOW[kind]
    program, _ = loop(factors)
    assert found(tmp_path, program) == expected


def test_the_range_that_grows(tmp_path):
    program = Program()
    lane = program.lane()
    for number, factor in enumerate(even(60)):
        train(lane, factor, forward=260 + 20 * number)
    largest, trend = found(tmp_path, program)
    assert largest[:2] == ("dominant", "'forward' takes 53% of the step (850 us per step)")
    assert trend == (
        "trend",
        "steps slow down by 78%: 1.15 ms in the first quarter, 2.04 ms in the last",
        "'forward' makes the difference: 1.30 ms, 400 us in the others",
    )


def test_rare_slow_steps_and_what_makes_them_slow(tmp_path):
    program = Program()
    lane = program.lane()
    for number, factor in enumerate(even(60)):
        with lane.inside("step"):
            for name, us in PARTS.items():
                lane.add(name, us * factor)
            if number in (7, 20, 51):
                lane.add("gc", 4000)
    assert found(tmp_path, program) == [
        (
            "rare",
            "3 of 60 steps take 5.0 times as long as the others: 5.00 ms, 1.00 ms",
            "steps 7, 20, 51",
            "they add 17% to the time of all steps",
            "'gc' makes the difference: 4.00 ms, hardly any in the others",
        )
    ]


def test_a_part_of_all_steps_that_makes_the_first_slow(tmp_path):
    program = Program()
    lane = program.lane()
    for factor in [40.0, *even(39)]:
        with lane.inside("step"):
            lane.add("matmul", 990 * factor)
            lane.pause(10)
    assert ("warm-up", "the first step takes 39.6 ms, the others 1.00 ms",
            "'matmul' makes the difference: 39.6 ms, 990 us in the others",
            ) in found(tmp_path, program)  # fmt: skip


def test_a_loader_between_steps(tmp_path):
    program = Program()
    lane = program.lane()
    for factor in even():
        lane.add("dataloader.next", 4000 * factor)
        train(lane, factor)
    analysis = analyze(program.read(tmp_path / "run.nvspan"))
    (finding,) = analysis.findings
    assert (finding.kind, finding.text, finding.evidence, finding.next) == (
        "between",
        "78% of the run is between steps (4.00 ms each time): data-bound",
        ["'dataloader.next' 78%"],
        "DataLoader(..., num_workers=4, pin_memory=True)",
    )


def test_a_thread_loads_what_the_steps_wait_for(tmp_path):
    program = Program()
    lane, loader = program.lane(), program.lane("loader")
    for factor in even():
        loader.add("dataloader.next", 3990 * factor)
        loader.pause(10 + 1000 * factor)
        lane.pause(10 + 3990 * factor)
        train(lane, factor)
    (finding,) = analyze(program.read(tmp_path / "run.nvspan")).findings
    assert (finding.kind, finding.text, finding.evidence, finding.next) == (
        "between",
        "78% of the run is between steps (4.00 ms each time): data-bound",
        ["outside any range 78%",
         "meanwhile thread 'loader' runs 'dataloader.next' (100% of the time)",
         "the next step starts when 'dataloader.next' ends"],
        "DataLoader(..., num_workers=4, pin_memory=True)",
    )  # fmt: skip


def test_a_thread_that_runs_beside_the_steps_is_not_waited_for(tmp_path):
    program = Program()
    lane, beside = program.lane(), program.lane("beside")
    for factor in even():
        lane.pause(4000 * factor)
        train(lane, factor)
    while beside.now < lane.now:
        beside.add("next_batch", 700)
        beside.pause(37)
    (finding,) = analyze(program.read(tmp_path / "run.nvspan")).findings
    assert (finding.kind, finding.text, finding.evidence, finding.next) == (
        "between",
        "78% of the run is between steps (4.00 ms each time)",
        ["outside any range 78%"],
        "put ranges around what runs between steps",
    )


def test_stages_of_the_run(tmp_path):
    program = Program()
    lane = program.lane()
    lane.add("load_model", 10_000)
    for number, factor in enumerate(even(60)):
        train(lane, factor)
        if number % 10 == 9 and number < 59:
            lane.add("validate", 3000)
    lane.add("save_checkpoint", 5000)
    assert found(tmp_path, program) == [
        ("stage", "evaluation 'validate' takes 17% of the run",
         "5 calls between steps, every 10 steps, 3.00 ms each"),
        ("stage", "11% of the run is before the first step (10.0 ms)", "'load_model' 10.0 ms"),
        ("stage", "5.6% of the run is after the last step (5.00 ms)",
         "'save_checkpoint' 5.00 ms"),
    ]  # fmt: skip


def test_a_wait_says_what_the_other_thread_did(tmp_path):
    program = Program()
    lane, loader = program.lane(), program.lane("loader")
    for factor in even():
        with lane.inside("step"):
            loader.now = lane.now
            loader.add("decode", 600 * factor)
            lane.add("queue.get", 600 * factor)
            lane.add("forward", 200 * factor)
            lane.add("backward", 200 * factor)
    assert found(tmp_path, program) == [
        (
            "wait",
            "'queue.get' waits 60% of the time",
            "40 calls, 600 us each",
            "meanwhile thread 'loader' runs 'decode' (100% of the wait)",
            "the wait ends when 'decode' ends",
        )
    ]


def test_a_join_of_tables_is_no_wait(tmp_path):
    program = Program()
    lane = program.lane()
    for factor in even():
        lane.add("load", 100 * factor)
        lane.add("join", 800 * factor)
        lane.add("sum", 100 * factor)
    assert found(tmp_path, program) == [
        ("dominant", "'join' takes 80% of the step (800 us per step)")
    ]


def test_a_wait_for_a_thread_without_ranges(tmp_path):
    program = Program()
    lane = program.lane()
    for factor in even():
        with lane.inside("step"):
            lane.add("queue.get", 600 * factor)
            lane.add("forward", 400 * factor)
    (finding,) = analyze(program.read(tmp_path / "run.nvspan")).findings
    assert (finding.kind, finding.evidence[1:], finding.next) == (
        "wait",
        ["no other thread has a range meanwhile"],
        "put ranges into the thread that it waits for",
    )


def test_slow_requests_and_what_makes_them_slow(tmp_path):
    program = Program()
    lanes = [program.lane(f"worker-{number}") for number in range(4)]
    for number in range(80):
        lane = lanes[number % 4]
        with lane.inside("request"):
            lane.add("parse", 300 + number % 7)
            lane.add("query", 4300 if number % 10 == 3 else 300)
            lane.add("render", 400)
    (finding,) = found(tmp_path, program)
    assert finding == (
        "slow",
        "8 of 80 requests take 5.00 ms, the others 1.00 ms",
        "'query' makes the difference: 4.30 ms, 300 us in the others",
    )


def test_a_part_of_requests_that_overlap_includes_the_time_of_others(tmp_path):
    """One thread: "render" runs for 1 ms while the other request is in its lookup."""
    program = Program()
    lane = program.lane("event loop")
    for number in range(40):
        at = 2000 * number
        lane.span(at, at + 3000, "request")
        lane.span(at + 1, at + 1990, "lookup")
        lane.span(at + 1995, at + 2990, "render")
    assert found(tmp_path, program) == [
        (
            "dominant",
            "'lookup' takes 66% of the request (1.99 ms per request)",
            "requests overlap: it includes the time in which another request runs",
        )
    ]


def test_requests_wait_for_what_others_do_with_a_lock(tmp_path):
    program = Program()
    lanes = [program.lane(f"worker-{number}") for number in range(3)]
    free = 0
    for number in range(60):
        lane = lanes[number % 3]
        with lane.inside("request"):
            lane.add("parse", 100 + number % 7)
            lane.add("table.lock", max(0, free - lane.now) / 1000 + 1)
            lane.add("update", 400)
            free = lane.now
            lane.add("reply", 100)
    assert found(tmp_path, program) == [
        (
            "wait",
            "'table.lock' waits 49% of the requests' time",
            "60 calls, 590 us each",
            "meanwhile other requests run 'update' (100% of the wait)",
            "the wait ends when 'update' ends",
        )
    ]


def test_rare_slow_steps_of_a_growing_series(tmp_path):
    """They are shorter than later ones: no "1.0 times as long as the others"."""
    program = Program()
    lane = program.lane()
    for number in range(120):
        train(lane, (1 + number / 40) * (2 if number in (5, 9, 12, 18, 25) else 1))
    (rare,) = [one for one in found(tmp_path, program) if one[0] == "rare"]
    assert rare == (
        "rare",
        "5 of 120 steps take 1.32 ms longer than comparable steps: 2.60 ms",
        "steps 5, 9, 12, 18, 25",
        "they add 2.2% to the time of all steps",
        "no single range explains it",
    )


def test_requests_that_are_alike(tmp_path):
    program = Program()
    lanes = [program.lane(f"worker-{number}") for number in range(4)]
    for number in range(80):
        lane = lanes[number % 4]
        with lane.inside("request"):
            for name in ("parse", "query", "render"):
                lane.add(name, 300 + number % 7)
    assert found(tmp_path, program) == []


def test_a_program_without_steps(tmp_path):
    program = Program()
    lane = program.lane(domain="nvtx.py")
    with lane.inside("app.py:1(main)"):
        with lane.inside("loader.py:20(load)"):
            for _ in range(10):
                lane.add("loader.py:8(clean)", 600)
                lane.add("loader.py:14(parse)", 250)
        lane.add("app.py:30(save)", 1500)
    assert found(tmp_path, program) == [
        (
            "self",
            "60% of the run is in clean(), loader.py:8",
            "6.00 ms of self time in 10 calls",
            "called in main(), app.py:1 > load(), loader.py:20",
        )
    ]


def test_a_run_without_steps_says_how_to_divide_its_largest_range(tmp_path):
    for name, advice in (
        ("parse", "put ranges inside 'parse', or record --profile, to see which part it is"),
        ("app.py:8(parse)", f"nvspan report {tmp_path}/run.nvspan"),
    ):
        program = Program()
        lane = program.lane(domain="nvtx.py" if "app" in name else "")
        lane.add(name, 600)
        lane.add("save", 400)
        (finding,) = analyze(program.read(tmp_path / "run.nvspan")).findings
        assert (finding.kind, finding.next) == ("self", advice)


def test_parts_that_cancel(tmp_path):
    program = Program()
    lane = program.lane()
    for number, factor in enumerate(even(80)):
        train(lane, factor, data=240 + 2 * number, backward=280 - 2 * number)
    (finding,) = found(tmp_path, program)
    assert finding[0] == "cancel"
    assert finding[1].startswith("'data' grows from 2")
    assert finding[2] == "the step takes as long as before"


def test_ranges_without_length(tmp_path):
    program = Program()
    lane = program.lane()
    for _ in range(20):
        with lane.inside("step"):
            lane.add("data", 0)
    assert found(tmp_path, program) == []


def test_tiny_ranges(tmp_path):
    for us, expected in ((0.4, ["overhead"]), (40.0, ["dominant"])):
        program = Program()
        lane = program.lane()
        for _ in range(10):
            with lane.inside("step"):
                for _ in range(300):
                    lane.add("cell", us)
                    lane.pause(us / 8)
        assert [finding[0] for finding in found(tmp_path, program)] == expected
        (tmp_path / "run.nvspan").unlink()
