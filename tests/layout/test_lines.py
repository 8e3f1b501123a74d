# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that wait for another process fail where it says nothing, with what it said before."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from helpers.lines import expect_line, next_line, read_all

PROGRAM = """
import sys
sys.stderr.write("a warning\\n")
sys.stderr.flush()
print("ready\\nmore", end="", flush=True)
if not sys.stdin.readline():
    sys.exit(3)
print("\\nlast\\nrest")
"""


@pytest.fixture
def process():
    with subprocess.Popen([sys.executable, "-c", PROGRAM], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:  # fmt: skip
        yield started
        started.kill()


def test_lines_come_one_by_one_and_the_rest_stays(process):
    expect_line(process)
    process.stdin.write("\n")
    process.stdin.flush()
    assert next_line(process) == "more\n"
    assert next_line(process, process.stderr) == "a warning\n"
    expect_line(process, "last")
    assert process.communicate() == ("rest\n", "")


def test_a_silent_process_is_an_error_with_what_it_wrote(process):
    expect_line(process)
    with pytest.raises(AssertionError) as error:
        next_line(process, seconds=0.1)
    assert str(error.value) == (
        f"no line for 0.1 s: process {process.pid} runs; its output: 'ready\\nmore'; "
        "its errors: 'a warning\\n'"
    )


def test_another_line_is_an_error_with_what_it_wrote(process):
    with pytest.raises(
        AssertionError, match=r"^it says 'ready\\n', not 'last': process \d+ runs; "
    ):
        expect_line(process, "last")


def test_the_end_of_the_output_is_an_error_with_what_it_wrote(process):
    expect_line(process)
    process.stdin.close()
    process.wait(60)
    with pytest.raises(AssertionError) as error:
        expect_line(process)
    assert str(error.value) == (
        f"it says 'more', not 'ready': process {process.pid} has ended with 3; "
        "its output: 'ready\\nmore'; its errors: 'a warning\\n'"
    )


def test_all_is_read_until_the_other_side_is_closed():
    ours, theirs = os.pipe()
    os.write(theirs, b"some")
    with pytest.raises(AssertionError, match=r"^no end for 0\.1 s; its output: b'some'$"):
        read_all(ours, 0.1)
    os.write(theirs, b"more")
    os.close(theirs)
    assert read_all(ours) == b"more"
    os.close(ours)
