# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the same programs under nvtx 0.2.17 and nvspan and compares what a tool receives."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from helpers.events import lines, registrations
from helpers.traced import run_traced

RUNNER = Path(__file__).with_name("fork_runner.py")


@dataclass(frozen=True)
class Difference:
    """A documented difference: where the peer sends the lines `theirs`, nvspan sends `ours`."""

    why: str
    theirs: tuple[str, ...]
    ours: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """A program and the differences that are right; `prints` if its output differs, too."""

    name: str
    source: str
    differences: tuple[Difference, ...] = ()
    prints: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What one program did under one package."""

    lines: list[str]
    strings: set[tuple[str | None, str | None]]
    categories: set[tuple[str | None, int, str]]
    status: int
    stdout: str
    stderr: str


def run_all(programs: list[Program], module: str, folder: Path) -> dict[str, Outcome]:
    """All programs under one package, each in a process of its own."""
    sources, results = folder / "programs.json", folder / "results.json"
    sources.write_text(json.dumps({program.name: program.source for program in programs}))
    traced = run_traced(RUNNER, module, str(sources), str(results))
    outcomes = {}
    for name, result in json.loads(results.read_text()).items():
        events = [event for event in traced.events if event["pid"] == result["pid"]]
        outcomes[name] = Outcome(
            lines(events),
            set(registrations(events, "register_string", "domain", "message")),
            set(registrations(events, "name_category", "domain", "category", "name")),
            result["status"],
            result["stdout"],
            traced.stderr,
        )
    return outcomes


def _without_chosen_ids(sent: list[str]) -> list[str]:
    """`sent` without the ids of named categories, which each package chooses for itself."""
    return [re.sub(r" category=#?\d+:", " category=", line) for line in sent]


def with_differences(program: Program, theirs: list[str]) -> list[str]:
    """The peer's lines with every documented difference put in, once and in order."""
    result, position = list(theirs), 0
    for difference in program.differences:
        size = len(difference.theirs)
        for index in range(position, len(result) - size + 1):
            if tuple(result[index : index + size]) == difference.theirs:
                break
        else:
            raise AssertionError(f"the peer does not send {difference.theirs}: {theirs}")
        result[index : index + size] = difference.ours
        position = index + len(difference.ours)
    return result


def compare(program: Program, ours: Outcome, theirs: Outcome) -> None:
    """Asserts that nvspan does what the peer does, apart from the documented differences."""
    assert theirs.status == 0, f"the peer fails: {theirs.stderr}"
    assert ours.status == 0, ours.stderr
    expected = with_differences(program, _without_chosen_ids(theirs.lines))
    assert _without_chosen_ids(ours.lines) == expected
    assert ours.lines or "nothing" in program.name
    if not program.differences:
        # A string or category that no event carries is not registered.
        assert ours.strings <= theirs.strings
        named = [{(domain, name) for domain, _, name in seen.categories} for seen in (ours, theirs)]
        assert named[0] <= named[1]
    assert ours.stdout == (theirs.stdout if program.prints is None else program.prints)
