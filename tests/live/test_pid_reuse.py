# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording whose process was killed, and whose number another process has now."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

import nvspan
from helpers.bundles import bundle_of, reasons
from helpers.lines import next_line
from helpers.live import essential, running
from helpers.traced import needs_library, nvspan_command

pytestmark = needs_library
# Becomes `sleep` with the number that it is given: clone3() takes one that is free from root.
SLEEP = """
import ctypes, os, sys
number = ctypes.c_int(int(sys.argv[1]))
arguments = (ctypes.c_uint64 * 10)()
arguments[4], arguments[8], arguments[9] = 17, ctypes.addressof(number), 1  # SIGCHLD, set_tid
pid = ctypes.CDLL(None, use_errno=True).syscall(435, arguments, ctypes.sizeof(arguments))
if pid == 0:
    os.execvp("sleep", ["sleep", "600"])
print(pid if pid > 0 else os.strerror(ctypes.get_errno()), flush=True)
if pid > 0:
    os.waitpid(pid, 0)
"""
CODE = """
import nvspan, time
with nvspan.annotate("step"):
    print("ready", flush=True)
    time.sleep(600)
"""


@contextlib.contextmanager
def another_with(pid):
    """A process that gets the number of one that is gone."""
    command = [sys.executable, "-c", SLEEP, str(pid)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        answer = next_line(parent).strip()
        if answer != str(pid):
            pytest.skip(f"the number of a process cannot be chosen here: {answer}")
        try:
            yield
        finally:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def reused(tmp_path):
    """The recording of a killed process, and its number, which `sleep` has."""
    with running(tmp_path, CODE, "ring=1") as run:
        time.sleep(0.1)  # the system says when a process began in steps of 10 ms
        run.end()
        with another_with(run.pid):
            yield run


def test_it_is_shown_as_killed(reused):
    done = nvspan_command("where", reused.file)
    assert (done.returncode, done.stderr) == (0, "")
    assert essential(done.stdout, {reused.pid: "PID"}) == (
        "process PID on HOST: killed, ring; its last state:\n"
        "  MainThread PID: step  [unchanged for TIME]\n"
    )
    (process,) = nvspan.where(reused.file, samples=1).processes
    assert [(thread.state, thread.busy) for thread in process.threads] == [(None, None)]


@pytest.mark.parametrize("command", ["where", "top", "attach", "detach"])
def test_the_other_process_is_not_taken_for_it(command, reused):
    once = ["--once"] if command == "top" else []
    done = nvspan_command(command, *once, reused.pid)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"nvspan {command}: process {reused.pid} writes no recording; start it with "
        "NVSPAN_RECORD=armed, or with 'nvspan record --mode armed script.py'\n"
    )


@pytest.mark.parametrize("command", ["attach", "detach"])
def test_no_request_waits_for_a_process_that_is_gone(command, reused):
    done = nvspan_command(command, reused.file)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{reused.file}: its process was killed\n"


def test_a_process_that_has_ended_takes_no_request(tmp_path):
    code = "import nvspan\nwith nvspan.annotate('step'): print('ready', flush=True)\n"
    with running(tmp_path, code, "armed") as run:
        assert run.process.wait(30) == 0
        done = nvspan_command("attach", run.file)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"{run.file}: its process has ended\n"


def test_the_black_box_notices_that_it_was_killed(reused):
    folder = reused.file.parent
    command = [sys.executable, "-m", "nvspan", "trigger", "--when", "killed", str(folder)]
    with subprocess.Popen(command) as watcher:
        try:
            (reason,) = reasons(bundle_of(folder, "killed"))
            assert (reason["why"], reason["pid"]) == (
                "the process was ended within a range", reused.pid,
            )  # fmt: skip
        finally:
            watcher.kill()
