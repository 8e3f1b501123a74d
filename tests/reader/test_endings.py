# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Notes about processes that did not end their recordings: only where events may be missing."""

from __future__ import annotations

import pytest

import nvspan
from helpers.live import running
from helpers.reported import run_nvspan
from helpers.traced import needs_library
from nvspan.recording.losses import ending_lines

pytestmark = needs_library

OPEN = """
import nvspan
nvspan.push_range("step")
with nvspan.annotate("load"): pass
print("ready", flush=True); input()
"""
CLOSED = OPEN.replace('nvspan.push_range("step")', "")
LEAVES = CLOSED.replace("input()", "import os; os._exit(0)")


@pytest.mark.parametrize("mode", ["full", "ring=1", "stats"])
def test_a_process_that_runs_still_runs(tmp_path, mode):
    with running(tmp_path, OPEN, mode) as run:
        line = f"process {run.pid} still runs; its later events are not shown"
        assert ending_lines(nvspan.read(run.file)) == [line]
        assert line in run_nvspan("stats", run.file).stdout
        run.say()
        run.process.wait()
        assert ending_lines(nvspan.read(run.file)) == []


@pytest.mark.parametrize("mode", ["full", "ring=1", "stats"])
def test_a_process_that_was_killed_in_a_range_ended_abruptly(tmp_path, mode):
    with running(tmp_path, OPEN, mode) as run:
        run.end()
        recording = nvspan.read(run.file)
        (process,) = recording.processes
        chunks = "1 chunk" if process.open_chunks == 1 else f"{process.open_chunks} chunks"
        line = f"process {run.pid} ended abruptly; its last events ({chunks}) are unverified"
        assert ending_lines(recording) == [line]
        assert run_nvspan("stats", run.file).stdout.count("abruptly") == 1


@pytest.mark.parametrize("program", [CLOSED, LEAVES])
def test_nothing_is_missing_of_a_process_that_was_in_no_range(tmp_path, program):
    with running(tmp_path, program, "full") as run:
        run.end()
        recording = nvspan.read(run.file)
    (process,) = recording.processes
    assert (process.closed, process.open_chunks > 0) == (False, True)
    assert ending_lines(recording) == []


def test_several_are_said_once(tmp_path):
    pids = []
    for rank in range(3):
        with running(tmp_path, OPEN, "full", rank=rank) as run:
            pids.append(run.pid)
            run.end()
    recording = nvspan.read(*(tmp_path / f"run-{rank}.nvspan" for rank in range(3)))
    chunks = sum(process.open_chunks for process in recording.processes)
    assert ending_lines(recording) == [
        f"processes {pids[0]}, {pids[1]} and {pids[2]} ended abruptly; their last events "
        f"({chunks} chunks) are unverified"
    ]


def test_record_says_that_a_program_was_killed_and_not_that_it_still_runs(tmp_path):
    program = tmp_path / "killed.py"
    program.write_text(
        "import nvspan, os, signal\nnvspan.push_range('step')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = run_nvspan("record", "-o", tmp_path / "run.nvspan", program, check=None)
    text = done.stdout + done.stderr
    assert "still runs" not in text
    assert text.count("ended abruptly") == 1
