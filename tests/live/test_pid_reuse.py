# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording whose process was killed, and whose number another process has now."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time

import pytest

import nvspan
from helpers.bundles import bundle_of, reasons
from helpers.live import essential, running
from helpers.traced import needs_library, nvspan_command

pytestmark = needs_library
LAST = "/proc/sys/kernel/ns_last_pid"
CODE = """
import nvspan, time
with nvspan.annotate("step"):
    print("ready", flush=True)
    time.sleep(600)
"""


@contextlib.contextmanager
def another_with(pid):
    """A process that gets the number of one that is gone."""
    for _ in range(100):
        try:
            with open(LAST, "w") as file:
                file.write(str(pid - 1))
        except OSError:
            pytest.skip("only root can choose the number of a process")
        process = subprocess.Popen(["sleep", "600"])
        try:
            if process.pid == pid:
                yield process
                return
        finally:
            process.kill()
            process.wait()
    pytest.skip("other processes took the number each time")


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
