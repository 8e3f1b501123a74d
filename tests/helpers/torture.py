# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A program that tortures the sampler, and whether its samples tell what never was."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import types
from collections import Counter
from itertools import pairwise
from pathlib import Path

import nvspan
from helpers.traced import clean_environment
from nvspan.recorder import run_of

PROGRAM = Path(__file__).parents[1] / "lines" / "tortured.py"
GENERATED = re.compile(r"<(rep|gen|evl)-(\d{7})>")
CALLERS = {
    "leaf_a": {"hot_a", "hot_b"},
    "leaf_b": {"hot_a", "hot_b"},
    "hot_a": {"flutter"},
    "hot_b": {"flutter"},
    "numbers": {"chained", "generators", "<genexpr>"},
}


def lines_of_functions():
    """Each function of the program, by its own name, and the lines that it has."""
    found: dict[str, set[int]] = {}
    left = [compile(PROGRAM.read_bytes(), str(PROGRAM), "exec")]
    while left:
        code = left.pop()
        own = {line for *_, line in code.co_lines() if line is not None}
        found.setdefault(code.co_name, set()).update(own, {code.co_firstlineno})
        left += [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return found


def is_true(function, file, line, own):
    """Whether there was such a line."""
    name = function.rpartition(".")[2]
    generated = GENERATED.fullmatch(file)
    if generated is None:
        return not file.endswith("tortured.py") or line in own.get(name, ())
    kind, number = generated[1], int(generated[2])
    if kind == "rep":
        first = number % 50 + 1
        return function in (f"outer_{number:07d}", f"inner_{number:07d}") and (
            first <= line <= first + 5
        )
    if kind == "gen":
        names = (f"fn_{number:07d}", f"in_{number:07d}", "<module>")
        return name in names and (line <= 1 or number % 50 < line <= number % 50 + 7)
    return name in ("<module>", "<genexpr>")


def wrong_callers(places, stacks):
    """Pairs of caller and called that never were, the number of generators below one that took
    their place, the time in which the two callers of flutter are exchanged, and that of both."""
    wrong, reused, exchanged, fluttered = [], 0, 0, 0
    for _, stack, ns in stacks:
        for outer, inner in pairwise(stack):
            (caller, caller_file), (called, file) = places[outer], places[inner]
            above, below = GENERATED.fullmatch(caller_file), GENERATED.fullmatch(file)
            if below is not None and above is not None and below[2] != above[2]:
                wrong.append((caller, caller_file, called, file))
            if not file.endswith("tortured.py"):
                continue
            if (caller, called) == ("numbers", "numbers"):
                reused += 1  # a generator that has ended, and one that was made in its place
            elif called in CALLERS and caller not in CALLERS[called]:
                wrong.append((caller, called))
            if called.startswith("leaf_"):
                fluttered += ns
                exchanged += ns if caller[-1] != called[-1] else 0
    return wrong, reused, exchanged, fluttered


def torture(folder, seconds, rate=2000):
    """What was sampled in `seconds`; an AssertionError where a sample tells what never was."""
    command = [sys.executable, "-m", "nvspan", "record", "--no-report", "--lines", str(rate), "-o"]
    done = subprocess.run(
        [*command, str(folder / "run-{pid}.nvspan"), str(PROGRAM), str(seconds)],
        env=clean_environment() | {"PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=seconds + 240,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    did = json.loads(done.stdout)
    assert [what for what in did if what.startswith("BAD")] == []
    own = lines_of_functions()
    total: Counter[str] = Counter(did)
    for path in folder.glob("run-*.nvspan"):
        if run_of(str(path)) is None:  # its process ended before it was one
            continue
        recording = nvspan.read(str(path))
        lines = recording.lines(show_stdlib=True, idle=True)
        false = [
            (row.function, row.file, row.line)
            for row in lines.rows
            if not is_true(row.function, row.file, row.line, own)
        ]
        assert false == [], (path, false[:9])
        wrong, reused, exchanged, fluttered = wrong_callers(*lines._samples.stacks([], True))
        assert wrong == [], (path, wrong[:9])
        total.update(samples=lines.samples, reused=reused)
        total.update(exchanged=exchanged, fluttered=fluttered)
        total.update(torn=lines.facts.torn, unnamed=lines.facts.unnamed, files=1)
    return total
