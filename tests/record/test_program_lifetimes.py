# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of what programs do before main, after it, and to their files, memory and stacks.

NVSPAN_SLOW=1 has ten million names in place of a hundred thousand.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers.compile import build
from helpers.length import length
from helpers.recorded import record_command
from helpers.traced import needs_library

pytestmark = needs_library
PROGRAMS = Path(__file__).parents[1] / "programs"
GLOBAL_OBJECT = ["constructor of a static", "destructor of a static"]
sanitized = pytest.mark.skipif(
    bool(os.environ.get("NVSPAN_SANITIZED")), reason="a sanitizer needs the memory itself"
)


def corner(*arguments, **options):
    done = record_command([str(build(PROGRAMS / "program_lifetimes.cpp")), *arguments], **options)
    assert done.stdout == "done\n"
    assert done.recording is None or done.recording.problems == []
    return done


def marks(done):
    """(name, payload) of the marks of main's thread, without those of the static object."""
    table = done.recording.marks
    found = zip(table.text("name"), table["payload"], strict=True)
    return [each for each in found if each[0] not in GLOBAL_OBJECT]


def lost(done):
    return sum(row["count"] for row in done.recording.losses.rows())


def test_events_before_main_after_it_and_of_ending_threads():
    done = corner("ends")
    assert done.stderr == ""
    marks = done.recording.marks
    names = [name for _, name in sorted(zip(marks["time"], marks.text("name"), strict=True))]
    assert names == [
        GLOBAL_OBJECT[0], "thread", "destructor of a thread", "main", "atexit", GLOBAL_OBJECT[1],
    ]  # fmt: skip
    assert done.recording.ranges.text("name") == ["life of a thread"]
    assert list(done.recording.ranges["end_reason"]) == [0]


def test_an_object_that_is_loaded_and_unloaded_again_and_again():
    flags = ["-shared", "-fPIC", "-fvisibility=hidden", '-DPLUGIN_NAME="again"', "-DPLUGIN_QUIET"]
    plugin = build(PROGRAMS / "plugin.cpp", *flags, name="again.so")
    recording = corner("reloads", str(plugin)).recording
    assert recording.ranges.text("name") == ["again"] * 50
    assert recording.ranges.text("domain") == ["shared name"] * 50
    assert set(recording.ranges["end_reason"]) == {0}
    assert recording.orphan_ends == 0


def test_a_program_that_closes_every_file_has_its_own_intact(tmp_path):
    done = corner("closes", str(tmp_path / "own"))
    assert (tmp_path / "own").read_text() == "the program's own"
    assert marks(done) == [("before", 0), *(("after", i) for i in range(200_000))]
    assert done.stderr == ""


@sanitized
def test_a_program_without_memory_goes_on(tmp_path):
    done = corner("no memory")
    assert done.stderr.count("\n") == 1
    assert "Cannot allocate memory" in done.stderr
    kept = marks(done)
    assert kept[0] == ("with memory", 0)
    assert [number for _, number in kept[1:]] == list(range(len(kept) - 1))
    others = len(done.recording.marks) - len(kept)
    assert len(kept) + others + lost(done) == 200_003


def test_a_deep_stack():
    ranges = corner("deep").recording.ranges
    assert list(ranges["depth"]) == list(range(10_000))
    assert set(ranges["end_reason"]) == {0}


def test_very_many_names(tmp_path):
    count = length(10_000_000, 100_000)
    done = corner("names", str(count), timeout=600)
    kept = marks(done)
    assert [number for _, number in kept] == list(range(len(kept)))
    assert all(name == str(number) for name, number in kept)
    others = len(done.recording.marks) - len(kept)
    assert len(kept) + others + lost(done) == count + 2


def test_a_file_that_is_taken_away_is_said_once(tmp_path):
    done = corner("unlink", str(tmp_path), folder=tmp_path)
    assert done.stderr.count("\n") == 1
    assert "No such file" in done.stderr
    assert done.files == []
