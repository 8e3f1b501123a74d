# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs without steps: scripts, recursion, profiles of functions, marks alone, nothing."""

from __future__ import annotations

from answers.key.program import MS, Program, Range
from answers.key.truth import Truth, recording, says

WHERE = "self dominant"


@recording
def script_with_one_long_part(program: Program) -> Truth:
    thread = program.thread()
    with thread.range("main"):
        thread.leaf("import pandas", 400)
        with thread.range("load"):
            for _ in range(4):
                thread.leaf("read_csv", 120)
        thread.run({"clean": 1600, "fit": 300, "report": 100})
    shares = {"clean": program.share("clean")}
    finding = says("self|dominant", shares=shares)
    return Truth(None, None, (finding,), may=WHERE, headline=shares)


@recording
def script_beside_a_service_thread(program: Program) -> Truth:
    thread, logger = program.thread(), program.thread("logger", noise=0.2)
    with thread.range("main"):
        thread.run({"download": 300, "extract": 700, "index": 200})
    while logger.now < 1150 * MS:
        logger.leaf("flush", 3)
        logger.spend(30)
    shares = {"extract": program.share("extract")}
    return Truth(None, None, (says("self|dominant", shares=shares),), may=WHERE)


@recording
def script_of_equal_parts(program: Program) -> Truth:
    thread = program.thread(noise=0.1)
    for name in ("read", "parse", "sort", "group", "plot"):
        thread.leaf(name, 20)
    return Truth(None, None, may="self")


@recording
def session_of_tests(program: Program) -> Truth:
    thread = program.thread(noise=0.2)
    with thread.range("session"):
        for name in ("login", "logout", "search", "upload", "delete", "share", "rename"):
            with thread.range(f"test_{name}"):
                thread.run({"setup": 2, "call": 30 if name == "upload" else 6})
    return Truth(None, None, may="dominant self unnamed")


@recording
def recursive_parser(program: Program) -> Truth:
    thread = program.thread()

    def parse(depth: int) -> None:
        with thread.range("parse_expr"):
            thread.leaf("next_token", 0.05)
            for _ in range(2 if depth else 0):
                parse(depth - 1)

    with thread.range("main"):
        thread.leaf("read_source", 5)
        with thread.range("parse_module"):
            parse(7)
        thread.leaf("emit_code", 4)
    shares = {"parse_expr": program.share("parse_module")}
    return Truth(None, None, (says("dominant|self", "parse_module", shares=shares),), may=WHERE)


@recording
def directory_walk(program: Program) -> Truth:
    thread = program.thread()

    def walk(depth: int) -> None:
        with thread.range("walk"):
            thread.leaf("listdir", 0.3)
            for _ in range(10):
                thread.leaf("stat", 0.12)
            for _ in range(3 if depth else 0):
                walk(depth - 1)

    walk(4)
    return Truth(None, None, (says("self", shares={"stat": program.share("stat")}),), may=WHERE)


@recording
def profile_of_functions(program: Program) -> Truth:
    thread = program.thread(domain="nvtx.py")
    with thread.range("app.py:90(main)"):
        for _ in range(50):
            with thread.range("loader.py:30(load)"):
                thread.run({"loader.py:8(clean)": 6, "loader.py:14(decode)": 2})
            thread.leaf("model.py:5(fit)", 3)
    shares = {"clean()": program.share(".*clean.")}
    finding = says("self", "loader.py:8", shares=shares)
    return Truth(None, None, (finding,), may=WHERE, headline=shares)


@recording
def profile_of_a_recursive_function(program: Program) -> Truth:
    thread = program.thread(domain="nvtx.py")

    def fib(number: int) -> None:
        with thread.range("fib.py:1(fib)"):
            thread.now += 3000
            if number > 1:
                fib(number - 1)
                fib(number - 2)

    with thread.range("fib.py:9(main)"):
        fib(12)
    return Truth(None, None, (says("self", "fib()", "fib.py:1"),), may="dominant overhead")


@recording
def profile_of_wrappers(program: Program) -> Truth:
    """Three wrappers at 100 % are not the answer."""
    thread = program.thread(domain="nvtx.py")
    with (
        thread.range("run.py:1(<module>)"),
        thread.range("cli.py:40(main)"),
        thread.range("cli.py:12(dispatch)"),
    ):
        for _ in range(20):
            with thread.range("pipeline.py:7(process)"):
                thread.run(
                    {"text.py:3(tokenize)": 7, "text.py:20(stem)": 2, "text.py:31(count)": 1.5}
                )
    shares = {"tokenize()": program.share(".*tokenize.")}
    finding = says("self", "text.py:3", shares=shares)
    return Truth(None, None, (finding,), may=WHERE, headline=shares)


@recording
def profile_of_a_data_frame(program: Program) -> Truth:
    thread = program.thread(domain="nvtx.py")
    with thread.range("report.py:1(<module>)"):
        thread.leaf("report.py:3(read)", 80)
        for _ in range(12):
            with thread.range("report.py:12(aggregate)"):
                thread.run({"frame.py:2001(groupby)": 20, "frame.py:410(sum)": 2})
        thread.leaf("report.py:30(write)", 30)
    shares = {"groupby()": program.share(".*groupby.")}
    finding = says("self", "frame.py:2001", shares=shares)
    return Truth(None, None, (finding,), may=WHERE)


@recording
def profile_of_equal_functions(program: Program) -> Truth:
    thread = program.thread(domain="nvtx.py")
    for number, name in enumerate("abcdefgh"):
        for _ in range(10):
            thread.leaf(f"tools.py:{97 + number}({name}{name})", 2)
    return Truth(None, None, may="self unnamed")


@recording
def profile_of_a_loop(program: Program) -> Truth:
    """A function that is called again and again is no step."""
    thread = program.thread(domain="nvtx.py")
    with thread.range("train.py:50(main)"):
        for _ in range(40):
            with thread.range("train.py:20(step)"):
                thread.run(
                    {
                        "model.py:9(forward)": 3,
                        "model.py:30(backward)": 3.2,
                        "data.py:4(batch)": 2.6,
                    }
                )
    return Truth(None, None, may="self dominant")


@recording
def one_range(program: Program) -> Truth:
    program.thread().leaf("work", 5)
    return Truth(None, None, may="self dominant")


@recording
def two_ranges(program: Program) -> Truth:
    program.thread().run({"load": 20, "compute": 24})
    return Truth(None, None, may="self dominant")


@recording
def no_range(program: Program) -> Truth:
    program.thread()
    return Truth(None)


@recording
def marks_alone(program: Program) -> Truth:
    thread = program.thread()
    for name in ("start", "loaded", "trained", "saved"):
        thread.mark(name)
        thread.spend(20)
    return Truth(None)


@recording
def marks_of_a_loop(program: Program) -> Truth:
    thread = program.thread()
    for number in range(40):
        thread.mark(f"step {number}")
        thread.spend(10)
    return Truth(None)


@recording
def open_at_the_end(program: Program) -> Truth:
    """A killed program: its last ranges have no end, and the steps before them count."""
    thread = program.loop("step", 40, noise=0.03)
    thread.ranges.append(Range("step", thread.now, None))
    thread.ranges.append(Range("forward", thread.now + 1_000, None))
    thread.now += 2_000
    thread.mark("last sign")
    return Truth("step", 40)


@recording
def open_from_the_beginning(program: Program) -> Truth:
    thread = program.thread(noise=0.03)
    thread.ranges.append(Range("main", thread.now, None))
    thread.now += 1_000
    thread.loop("iteration {}", 60)
    thread.mark("last sign")
    return Truth("iteration", 60)


@recording
def nothing_but_open_ranges(program: Program) -> Truth:
    thread = program.thread()
    thread.ranges += [Range("main", 1_000, None), Range("load", 2_000, None)]
    thread.now += 50 * MS
    thread.mark("last sign")
    return Truth(None)
