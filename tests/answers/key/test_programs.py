# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What nvspan says of real programs, against what these measured of themselves.

NVSPAN_SLOW=1 runs them, for a minute. Machines are not steady: that steps vary, and that stacks
could not be read, may be said of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from answers.key.answer import answer
from answers.key.program import Program
from answers.key.truth import Truth, problems, says

from helpers.length import SLOW
from helpers.packages import needs
from helpers.traced import python

pytestmark = pytest.mark.skipif(not SLOW, reason="takes a minute; set NVSPAN_SLOW=1")

FOLDER = Path(__file__).with_name("programs")
VARIES = "warm-up jump trend levels period sawtooth modes rare slow cancel "
PLACES = "dominant unnamed stage "


class Measured:
    """What a program wrote: for each phase calls, seconds, start of the first, end of the last."""

    def __init__(self, path: Path) -> None:
        self.phases = json.loads(path.read_text())

    def seconds(self, pattern: str) -> float:
        return sum(row[1] for name, row in self.phases.items() if re.fullmatch(pattern, name))

    def shares(self, whole: str, *names: str) -> dict[str, float]:
        """The percentages that phases take of others."""
        return {name: 100 * self.phases[name][1] / self.seconds(whole) for name in names}

    def loop_shares(self, step: str, name: str) -> dict[str, float]:
        """The percentage of a loop that a phase between its steps takes."""
        _, _, first, last = self.phases[step]
        return {name: 100 * self.phases[name][1] / (last - first)}


def torch_plain(measured: Measured) -> Truth:
    shares = measured.shares("step", "forward", "backward")
    return Truth("step", 60, may=VARIES + PLACES, headline=shares)


def torch_auto(measured: Measured) -> Truth:
    (share,) = measured.shares("loop", "fetch").values()
    finding = says("dominant", "data-bound", shares={"dataloader.next": share})
    return Truth("step", None, (finding,), may=VARIES + PLACES)


def torch_auto_without_loader(measured: Measured) -> Truth:
    """In a range or in none, in the step or between two: the fetch is most of the loop."""
    shares = {"": 100 * measured.seconds("fetch") / measured.seconds("loop")}
    finding = says("dominant|between|unnamed", shares=shares)
    return Truth("step", None, (finding,), may=VARIES + PLACES + "between")


def torch_auto_before_prepare(measured: Measured) -> Truth:
    return torch_auto_without_loader(measured)


def torch_auto_after_prepare(measured: Measured) -> Truth:
    return torch_auto_without_loader(measured)


def torch_accelerate(measured: Measured) -> Truth:
    finding = says(
        "between", "data-bound", shares=measured.loop_shares("train_step", "dataloader.next")
    )
    return Truth("train_step", 50, (finding,), may=VARIES + PLACES)


def torch_lightning(measured: Measured) -> Truth:
    shares = measured.shares("training_step", "augment")
    finding = says("dominant", shares=shares)
    return Truth("training_step", 60, (finding,), may=VARIES + PLACES + "between")


def asyncio_requests(measured: Measured) -> Truth:
    shares = measured.shares("request", "db.query")
    finding = says("dominant", shares=shares)
    return Truth("request", 80, (finding,), may=VARIES + PLACES, unit="request", headline=shares)


def process_pool(measured: Measured) -> Truth:
    finding = says("wait", shares=measured.shares("image", "pool.map"))
    return Truth("image", 25, (finding,), may=VARIES + PLACES)


def word_count(measured: Measured) -> Truth:
    shares = measured.shares("main", "tokenize")
    return Truth(
        None, None, (says("self|dominant", shares=shares),), may="self dominant", headline=shares
    )


def parser(measured: Measured) -> Truth:
    shares = measured.shares("main", "tokenize")
    return Truth(None, None, (says("self", shares=shares),), may="self dominant", headline=shares)


def data_frame(measured: Measured) -> Truth:
    shares = measured.shares(r"file \d+", "load", "group")
    return Truth("file", 24, may=VARIES + PLACES, headline=shares)


def cross_validation(measured: Measured) -> Truth:
    shares = measured.shares(r"fold \d+", "fit")
    return Truth("fold", 8, (says("dominant", shares=shares),), may=VARIES + PLACES)


def web_server(measured: Measured) -> Truth:
    shares = measured.shares("handle_request", "query")
    return Truth(
        "handle_request",
        160,
        (says("dominant", shares=shares),),
        may=VARIES + PLACES + "between",
        unit="request",
        headline=shares,
    )


def thread_pool(measured: Measured) -> Truth:
    finding = says("wait", "resize", shares=measured.shares("step", "future.result"))
    return Truth("step", 40, (finding,), may=VARIES + PLACES)


def producer_consumer(measured: Measured) -> Truth:
    finding = says("wait", "producer", "decode", shares=measured.shares("step", "queue.get"))
    return Truth("step", 50, (finding,), may=VARIES + PLACES)


def recursion(measured: Measured) -> Truth:
    finding = says("dominant", "visit", shares=measured.shares(r"step \d+", "walk"))
    return Truth("step", 12, (finding,), may=VARIES + PLACES)


def growing_loop(measured: Measured) -> Truth:
    shares = measured.shares("iteration", "sort all")
    findings = (says("trend", "slow", "sort all"), says("dominant", shares=shares))
    return Truth("iteration", 80, findings, may=VARIES + PLACES)


def evaluation(measured: Measured) -> Truth:
    finding = says(
        "stage", "Evaluation", shares=measured.loop_shares("train_step", "evaluate"), figures=(10,)
    )
    return Truth("train_step", 45, (finding,), may=VARIES + PLACES)


def profiled(measured: Measured) -> Truth:
    (share,) = measured.shares("run", "clean").values()
    finding = says("self", "profiled.py:", shares={"clean()": share})
    return Truth(
        None, None, (finding,), may="dominant unnamed overhead imports", headline={"clean()": share}
    )


# program -> what is true of it, and the modules that it needs besides NumPy
PROGRAMS: dict[Callable[[Measured], Truth], tuple[str, ...]] = {
    torch_plain: ("torch",),
    torch_auto: ("torch",),
    torch_auto_without_loader: ("torch",),
    torch_auto_before_prepare: ("torch", "accelerate"),
    torch_auto_after_prepare: ("torch", "accelerate"),
    torch_accelerate: ("torch", "accelerate"),
    torch_lightning: ("torch", "lightning"),
    asyncio_requests: (),
    process_pool: (),
    word_count: (),
    parser: (),
    data_frame: (),
    cross_validation: (),
    web_server: (),
    thread_pool: (),
    producer_consumer: (),
    recursion: (),
    growing_loop: (),
    evaluation: (),
    profiled: (),
}


@pytest.mark.parametrize(
    "truth",
    [pytest.param(truth, marks=needs(*modules)) for truth, modules in PROGRAMS.items()],
    ids=lambda truth: truth.__name__,
)
def test_a_program_measures_what_is_said_of_it(truth, tmp_path):
    name = truth.__name__
    options = ["--profile"] if name == "profiled" else []
    path, written = tmp_path / f"{name}.nvspan", tmp_path / "truth.json"
    done = python(
        "-m",
        "nvspan",
        "record",
        *options,
        "-o",
        path,
        FOLDER / f"{name}.py",
        env={"KEY_TRUTH": str(written)},
        cwd=tmp_path,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    said = answer(path)
    assert said.headline in done.stderr
    known = truth(Measured(written))
    known = replace(known, may=f"{known.may} samples")
    assert problems(Program(0), known, said) == [], "\n".join(said.sentences())
