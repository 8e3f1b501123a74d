# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Armed recordings, and recorders that are switched from outside while their process runs."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import pytest

import nvspan
from helpers.live import paths, running
from helpers.recorded import record_command
from helpers.traced import needs_library, nvspan_command, python

pytestmark = needs_library

# An event for each line of input.
STEPPING = """
import nvspan, sys, threading
nvspan.push_range("outer", domain="own")
nvspan.push_range("plain")
kept = nvspan.start_range("started")
print("ready", flush=True)
for number, line in enumerate(sys.stdin):
    with nvspan.annotate(f"line {number}"):
        print("ready", flush=True)
"""


def told(command: str, *arguments: object) -> tuple[int, str, str]:
    done = nvspan_command(command, *arguments)
    return done.returncode, done.stdout, done.stderr


def step(run) -> None:
    run.say()
    run.wait_for()


def rows(recording):
    """(kind, domain, name, ended) of each range, in the order of their beginning."""
    kinds = ("push", "start", "device")
    found = sorted(recording.ranges.rows(), key=lambda row: (row["start"], row["level"]))
    return [(kinds[r["kind"]], r["domain"], r["name"], r["end_reason"] == 0) for r in found]


def test_an_armed_recording_holds_no_events(tmp_path):
    code = "import nvspan; nvspan.mark('m')\nwith nvspan.annotate('a'): nvspan.start_range('b')"
    done = record_command([sys.executable, "-c", code], mode="armed", folder=tmp_path)
    (process,) = done.recording.processes
    assert (process.mode, process.closed, done.recording.problems) == ("armed", True, [])
    assert (rows(done.recording), list(done.recording.marks.rows()), done.stderr) == ([], [], "")


@pytest.mark.parametrize(
    ("value", "file"), [("armed", "nvspan-{pid}.nvspan"), ("armed:there.nvspan", "there.nvspan")]
)
def test_the_environment_arms_a_program(tmp_path, value, file):
    code = "import nvspan, os; nvspan.push_range('open'); print(os.getpid())"
    done = python("-c", code, env={"NVSPAN_RECORD": value}, cwd=tmp_path, check=True)
    found = nvspan.where(tmp_path / file.format(pid=done.stdout.strip()))
    assert [(p.mode, p.state, p.path) for p in found.processes] == [
        ("armed", "ended", ((None, "open"),))
    ]


@pytest.mark.filterwarnings(
    "ignore:nvtx was imported before the recording started"
)  # by other tests
def test_record_arms_this_process(tmp_path):
    with nvspan.record(tmp_path / "own.nvspan", mode="armed"), nvspan.annotate("open"):
        (process,) = nvspan.where(os.getpid()).processes
        assert (process.mode, process.path) == ("armed", ((None, "open"),))
    (process,) = nvspan.where(tmp_path / "own.nvspan", samples=1).processes
    assert nvspan.read(tmp_path / "own.nvspan").problems == []


def test_an_armed_process_records_from_attach_to_detach(tmp_path):
    with running(tmp_path, STEPPING) as run:
        step(run)  # line 0 is not recorded
        code, out, err = told("attach", run.pid)
        assert (code, err) == (0, "")
        text = "request sent; it takes effect at the process's next NVTX event (none in 0.5 s)"
        assert out == f"{run.file}: {text}\n"
        step(run)
        step(run)
        told("detach", run.pid)
        step(run)  # line 3 is not
        told("attach", run.pid, "--mode", "ring=1")
        step(run)
        assert paths(nvspan.where(run.pid)) == {"MainThread": "own:outer > plain"}
        run.end()
        recording = nvspan.read(run.file)
        assert recording.problems == []
        around = [("push", "own", "outer"), ("push", None, "plain"), ("start", None, "started")]
        assert sorted(rows(recording), key=str) == sorted(
            [*((*row, True) for row in around), ("push", None, "line 1", True),
             ("push", None, "line 2", True), *((*row, False) for row in around),
             ("push", None, "line 4", True)], key=str)  # fmt: skip


def test_who_holds_a_lock_is_named_and_does_not_hold_up_the_command(tmp_path):
    with running(tmp_path, STEPPING, "armed") as run, open(run.file, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert told("attach", run.pid) == (
            1, "",
            f"{run.file}: process {os.getpid()} has locked it, and no request gets through\n",
        )  # fmt: skip
        fcntl.flock(file, fcntl.LOCK_UN)
        step(run)
        told("attach", run.pid)
        step(run)
        assert told("attach", run.pid)[0] == 0


def test_attach_is_obeyed_by_a_program_that_moves(tmp_path):
    program = """
import nvspan, time
nvspan.push_range("outer")
print("ready", flush=True)
while True:
    with nvspan.annotate("tick"): time.sleep(0.002)
"""
    with running(tmp_path, program) as run:
        assert told("attach", run.pid) == (0, f"{run.file}: it is full now\n", "")
        assert told("detach", run.file) == (0, f"{run.file}: it is armed now\n", "")
        (process,) = nvspan.where(run.pid).processes
        assert (process.mode, process.path[0]) == ("armed", (None, "outer"))
        recording = nvspan.read(run.file)
    assert (None, "outer") in {(r["domain"], r["name"]) for r in recording.ranges.rows()}


def test_a_file_that_others_may_write_takes_no_requests(tmp_path):
    with running(tmp_path, STEPPING) as run:
        run.file.chmod(0o666)
        told("attach", run.pid)
        step(run)
        (process,) = nvspan.where(run.pid).processes
        assert process.mode == "armed"
        assert told("attach", run.pid)[0] == 0
        step(run)
        assert nvspan.where(run.pid).processes[0].mode == "armed"


def test_statistics_are_not_switched(tmp_path):
    with running(tmp_path, STEPPING, "stats") as run:
        told("attach", run.pid)
        step(run)
        (process,) = nvspan.where(run.pid).processes
        assert (process.mode, process.main.ranges) == ("stats", (("own", "outer"), (None, "plain")))


def test_every_thread_follows_at_its_next_event(tmp_path):
    program = """
import nvspan, sys, threading
go = [threading.Event(), threading.Event()]
done = threading.Event()
def work(number):
    with nvspan.annotate(f"thread {number}"):
        sys.stdout.write("ready\\n"); sys.stdout.flush()
        go[number].wait()
        with nvspan.annotate(f"inner {number}"): pass
        sys.stdout.write("ready\\n"); sys.stdout.flush()
        done.wait()
for number in (0, 1):
    threading.Thread(target=work, args=(number,), daemon=True).start()
for number in (0, 1):
    sys.stdin.readline(); go[number].set()
sys.stdin.readline()
"""
    with running(tmp_path, program) as run:
        run.wait_for()
        told("attach", run.pid)
        for _ in range(2):
            step(run)
        recording = nvspan.read(run.file)
        names = sorted(r["name"] for r in recording.ranges.rows())
        assert names == ["inner 0", "inner 1", "thread 0", "thread 1"]


@pytest.mark.parametrize("mode", ["armed", "full"])
@pytest.mark.parametrize("ends", [True, False], ids=["ended", "killed"])
def test_what_a_ring_used_again_is_overwritten_and_not_damaged(tmp_path, mode, ends):
    program = """
import nvspan, sys
with nvspan.annotate("outer"):
    for _ in range(2):
        print("ready", flush=True)
        sys.stdin.readline()
        for _ in range(60000):
            with nvspan.annotate("tick"): pass
    print("ready", flush=True)
    sys.stdin.readline()
"""
    with running(tmp_path, program, mode) as run:
        step(run)
        told("attach", run.pid, "--mode", "ring=0.1")
        step(run)
        if ends:
            run.say()
            run.process.wait()
        else:
            run.end()
        recording = nvspan.read(run.file)
        assert recording.problems == []
        assert {row["reason"] for row in recording.losses.rows()} <= {"overwritten"}
        ticks = next(row for row in recording.stats().rows if row.name == "tick")
        assert 1000 < ticks.calls < (60000 if mode == "armed" else 120000)


def test_wrong_requests_are_named(tmp_path):
    code, out, err = told("attach", tmp_path / "none.nvspan")
    assert (code, out) == (1, "")
    assert "No such file or directory" in err
    code, _, err = told("attach", "--mode", "stats", 1)
    assert (code, err.splitlines()[-1]) == (
        2, "nvspan attach: error: mode must be full or ring=MB, not 'stats'")  # fmt: skip


def test_a_process_without_a_recorder_is_named():
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            said = told("attach", process.pid)
        finally:
            process.kill()
    assert said == (
        1,
        "",
        f"nvspan attach: process {process.pid} writes no recording; start it with "
        "NVSPAN_RECORD=armed, or with 'nvspan record --mode armed script.py'\n",
    )


def test_a_process_that_does_not_exist_is_named():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert told("attach", process.pid) == (
        1,
        "",
        f"nvspan attach: there is no process {process.pid}\n",
    )
