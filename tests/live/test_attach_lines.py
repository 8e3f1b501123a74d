# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`nvspan attach --lines`: samples of processes that were started without, also while they hang."""

from __future__ import annotations

import os
import sys

import pytest

import nvspan
from helpers.live import essential, running, wait_until
from helpers.traced import needs_library, nvspan_command

pytest.importorskip("nvspan._lines")
pytestmark = needs_library

HANGING = """
import nvspan, time
def read(seconds):
    print("ready", flush=True)
    time.sleep(seconds)
with nvspan.annotate("step"):
    read(600)
"""
SPINNING = HANGING.replace("time.sleep(seconds)", 'import re; re.match(r"(a+)+$", "a" * 60 + "b")')


def started(folder, source, mode="armed", lines="armed"):
    program = folder / "program.py"
    program.write_text(source)
    extra = {} if lines is None else {"NVSPAN_RECORD_LINES": lines}
    return running(folder, [sys.executable, str(program)], mode, extra=extra)


def command(*arguments):
    done = nvspan_command(*arguments)
    return done.returncode, done.stdout, done.stderr


def place(run):
    """Where the main thread is now; None: it is not sampled."""
    (process,) = nvspan.where(str(run.file), samples=1).processes
    return None if process.stack is None else process.stack.line.place


def sampler(run):
    (process,) = nvspan.where(str(run.file), samples=1).processes
    return process.sampler


@pytest.mark.parametrize("mode", ["armed", "full", "ring=1"])
@pytest.mark.parametrize("source", [HANGING, SPINNING], ids=["asleep", "holds the GIL"])
def test_lines_of_a_process_that_hangs_are_switched_on_and_off(tmp_path, source, mode):
    with started(tmp_path, source, mode) as run:
        wait_until(lambda: sampler(run) == "armed", "the sampler")
        assert place(run) is None
        told = essential(command("where", run.pid)[1], {run.pid: "PID"})
        assert told.endswith("\nlines  nvspan attach --lines PID  show where Python is\n")
        assert command("attach", "--lines", run.pid) == (
            0, f"{run.file}: its lines are sampled\n", ""
        )  # fmt: skip
        wait_until(lambda: place(run) == "program.py:5", "a sample")
        assert sampler(run) == "on"
        assert command("detach", run.pid)[0] == 0
        wait_until(lambda: (sampler(run), place(run)) == ("armed", None), "no samples")
        assert command("attach", "--lines", run.pid)[0] == 0
        wait_until(lambda: place(run) == "program.py:5", "a sample")


def test_a_sampler_that_waits_takes_no_samples(tmp_path):
    with started(tmp_path, HANGING, "full") as run:
        wait_until(lambda: sampler(run) == "armed", "the sampler")
        run.end()
    assert nvspan.read(run.file).lines().samples == 0


def test_the_recording_has_the_samples_between_attach_and_detach(tmp_path):
    source = HANGING.replace("time.sleep(seconds)", "input(); time.sleep(0.5); input()")
    with started(tmp_path, source, "full") as run:
        wait_until(lambda: sampler(run) == "armed", "the sampler")
        assert command("attach", "--lines", run.pid)[0] == 0
        run.say()
        wait_until(lambda: place(run) == "program.py:5", "a sample")
        assert command("detach", run.file)[0] == 0
        run.say()
        run.process.wait()
    lines = nvspan.read(run.file).lines()
    assert {row.line for row in lines.rows if row.share > 0.5} == {5}
    assert lines.facts.missing == 0


def test_lines_that_nobody_asked_for_go_on_after_a_detach(tmp_path):
    with started(tmp_path, HANGING, "full", "200") as run:
        wait_until(lambda: place(run) == "program.py:5", "a sample")
        assert command("detach", run.pid)[0] == 0
        assert (sampler(run), place(run)) == ("on", "program.py:5")


def test_a_forked_child_waits_as_well(tmp_path):
    source = """
import nvspan, os, time
def child():
    nvspan.mark("child")
    print("ready", flush=True)
    time.sleep(600)
if os.fork() == 0:
    child()
os.wait()
"""
    with started(tmp_path, source) as run:
        (file,) = (path for path in tmp_path.glob("*.nvspan") if path != run.file)
        (process,) = nvspan.where(file, samples=1).processes
        try:
            wait_until(
                lambda: nvspan.where(file, samples=1).processes[0].sampler == "armed", "the sampler"
            )
            assert command("attach", "--lines", file)[0] == 0
            wait_until(lambda: nvspan.where(file, samples=1).processes[0].stack is not None, "one")
            stack = nvspan.where(file, samples=1).processes[0].stack
            assert [frame.call for frame in stack.shown] == ["child()", "<module>"]
        finally:
            os.kill(process.pid, 9)


def test_a_process_without_a_sampler_refuses(tmp_path):
    with started(tmp_path, HANGING, lines=None) as run:
        assert command("attach", "--lines", run.pid) == (
            1,
            "",
            f"{run.file}: refused: it has no sampler; start it with NVSPAN_RECORD_LINES=armed\n",
        )
        told = essential(command("where", run.pid)[1], {run.pid: "PID"})
        assert told.splitlines()[-1] == (
            "lines  off; start the program with NVSPAN_RECORD_LINES=armed to see where Python is"
        )


def test_a_file_that_others_may_write_takes_no_requests(tmp_path):
    with started(tmp_path, HANGING) as run:
        wait_until(lambda: sampler(run) == "armed", "the sampler")
        run.file.chmod(0o622)
        code, said, _ = command("attach", "--lines", run.file)
        assert (code, said) == (
            0, f"{run.file}: request sent; its sampler has not answered in 0.5 s\n"
        )  # fmt: skip
        assert place(run) is None
