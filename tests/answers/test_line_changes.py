# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan diff`` names the line that takes longer in a slower range, where runs agree."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import nvspan
from helpers.reported import run_nvspan
from helpers.sampled import RUNNING, SampleChunk, SampledFile
from nvspan.answers.compare import compare, compare_all

STEPS = 30
LOAD, NORM, HEAD = "/p/model.py:load:11", "/p/model.py:norm:74", "/p/model.py:norm:75"
OLD = {LOAD: 4000, NORM: 4000, HEAD: 1000}


def write(
    path: Path, seed: int, times: Mapping[str, float], *, drift: float = 0.004, first: int = 1,
    looks: bool = True,
) -> Path:  # fmt: skip
    """30 steps whose range "forward" holds the lines, each so long, but for the drift of the run.

    Sampled every 100 units.
    """
    dice = random.Random(seed)
    file = SampledFile()
    thread, samples, named = file.thread(), SampleChunk(0, 102), []
    factor, at, look = 1 + dice.uniform(-drift, drift), 0, 50
    for _ in range(STEPS):
        begin = at
        at += 1000
        for place, time in times.items():
            name, function, line = place.rsplit(":", 2)
            frame = file.frame(name, function, int(line), first_line=first)
            end = at + round(time * factor * (1 + dice.uniform(-0.01, 0.01)))
            stack = file.stack(file.frame("/p/train.py", "main", 3), frame)
            while looks and look < end:
                samples.sample(look, thread, stack, RUNNING)
                look += 100
            at = end
        named += [(begin, at + 10, "step"), (begin + 1000, at, "forward")]
        at += 20
    file.ranges(named)
    if looks:
        file.samples(samples)
    return file.write(path)


def runs(folder: Path, name: str, sides: Sequence[Mapping[str, float]], **given) -> list[Path]:
    return [
        write(folder / f"{name}-{i}.nvspan", 100 * len(name) + i, times, **given)
        for i, times in enumerate(sides)
    ]


def told(before, after):
    """What is said of which rows."""
    tables = compare_all([nvspan.read(path) for path in before],
                         [nvspan.read(path) for path in after])  # fmt: skip
    return {
        (row["kind"], row["name"]): row["line"] for rows in tables for row in rows if row["line"]
    }


@pytest.fixture
def old(tmp_path):
    return runs(tmp_path, "old", [OLD] * 3)


def test_the_line_that_takes_longer_is_named_in_the_innermost_slower_range(tmp_path, old):
    new = runs(tmp_path, "newer", [{**OLD, NORM: 9000}] * 3)
    found = told(old, new)
    assert set(found) == {("step_cpu", "forward"), ("push_pop", "forward")}
    for line in found.values():
        assert (line.file, line.function, line.line, line.text) == (
            "model.py", "norm", 74, "model.py:74",
        )  # fmt: skip
        assert line.added == pytest.approx(5000 * 1024, rel=0.05)
        assert 0 < line.margin < line.added


def test_the_table_has_it_as_evidence(tmp_path, old):
    new = runs(tmp_path, "newer", [{**OLD, NORM: 9000}] * 3)
    done = run_nvspan("diff", "--repeats", "--fail", *old, "--", *new, check=1)
    cells = [line.split() for line in done.stdout.splitlines() if "forward" in line]
    added = [row[-2:] for row in cells]
    assert [row[-4:-2] for row in cells] == [["forward", "model.py:74"]] * 2
    assert all(unit == "ms" and number.startswith("+5.") for number, unit in added)
    heads = [line.split()[-2:] for line in done.stdout.splitlines() if "verdict" in line]
    assert heads == [["step", "line"], ["range", "line"]]
    rows = json.loads(run_nvspan("diff", "--repeats", "--format", "json", *old, "--", *new).stdout)
    (forward,) = [row for row in rows if (row["kind"], row["name"]) == ("push_pop", "forward")]
    assert (forward["line"], forward["line_function"]) == ("model.py:74", "norm")
    assert forward["line_added"] == pytest.approx(5000 * 1024, rel=0.05)
    table = run_nvspan("diff", "--repeats", "--format", "csv", *old, "--", *new).stdout
    assert [row["line"] for row in csv.DictReader(io.StringIO(table)) if row["line"]] == [
        "model.py:74",
    ] * 2


def test_it_is_never_part_of_the_decision(tmp_path, old):
    """Without samples the same rows fail the gate."""
    new = runs(tmp_path, "newer", [{**OLD, NORM: 9000}] * 3)
    silent = runs(tmp_path, "silent", [{**OLD, NORM: 9000}] * 3, looks=False)
    assert told(old, silent) == {}
    verdicts = []
    for after in (new, silent):
        done = run_nvspan("diff", "--repeats", "--fail", "--format", "json", *old, "--", *after,
                          check=1)  # fmt: skip
        rows = json.loads(done.stdout)
        verdicts.append({(row["kind"], row["name"]): row["verdict"] for row in rows})
    assert verdicts[0] == verdicts[1]


def test_of_one_run_a_side_nothing_is_named(tmp_path, old):
    new = runs(tmp_path, "newer", [{**OLD, NORM: 9000}])
    assert told(old[:1], new) == {}
    assert told(old, new) == {}


def test_what_does_not_hold_over_the_runs_is_not_named(tmp_path, old):
    """In each run another line takes the time that the range gained."""
    new = runs(tmp_path, "newer", [{**OLD, line: OLD[line] + 5000} for line in OLD])
    rows = compare([nvspan.read(path) for path in old], [nvspan.read(path) for path in new])
    assert {row["name"]: row["verdict"] for row in rows}["forward"] == "slower"
    assert told(old, new) == {}


def test_what_many_lines_gained_is_not_of_one(tmp_path):
    """Each of eight functions takes a fifth longer, which is an eighth of what the range gained."""
    lines = {f"/p/model.py:layer{i}:{10 * i}": 1000 for i in range(1, 9)}
    before = runs(tmp_path, "old", [lines] * 3)
    after = runs(tmp_path, "newer", [dict.fromkeys(lines, 1300)] * 3)
    assert told(before, after) == {}


def test_code_that_moved_is_not_named(tmp_path, old):
    """load() gives its work to parse(), and the range takes longer by less than that."""
    moved = {LOAD: 500, "/p/model.py:parse:30": 5000, NORM: 4000, HEAD: 1000}
    assert told(old, runs(tmp_path, "newer", [moved] * 3)) == {}


def test_of_a_function_whose_lines_moved_the_function_is_named(tmp_path, old):
    """A line more in norm(): what was its line 74 is its line 76, and takes longer."""
    new = {LOAD: 4000, "/p/model.py:norm:76": 9000, HEAD: 1000}
    found = told(old, runs(tmp_path, "newer", [new] * 3))
    assert {line.text for line in found.values()} == {"norm()  model.py:1"}
    assert [line.line for line in found.values()] == [1, 1]


def test_a_function_that_moved_in_its_file_has_the_same_lines(tmp_path, old):
    new = {LOAD.replace(":11", ":21"): 4000, NORM.replace("74", "84"): 9000,
           HEAD.replace("75", "85"): 1000}  # fmt: skip
    found = told(old, runs(tmp_path, "newer", [new] * 3, first=11))
    assert {line.text for line in found.values()} == {"model.py:84"}


def test_ranges_that_are_not_slower_have_none(tmp_path, old):
    """One line takes longer, another one as much less."""
    swapped = {**OLD, LOAD: 2000, NORM: 6000}
    assert told(old, runs(tmp_path, "newer", [swapped] * 3)) == {}
    assert told(old, runs(tmp_path, "same", [OLD] * 3)) == {}
