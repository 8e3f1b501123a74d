# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that begin in a running process that nobody had armed; requests that cannot be met."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager

import pytest

import nvspan
from helpers.lines import expect_line
from helpers.live import wait_until
from helpers.traced import clean_environment, needs_library

pytestmark = needs_library
needs_remote = pytest.mark.skipif(
    not hasattr(sys, "remote_exec"), reason="needs CPython 3.14, which can run code in a process"
)

# Two ranges for each line of input, inside one that was open before.
STEPPING = """
import nvspan, sys
with nvspan.annotate("outer"):
    print("ready", flush=True)
    for number, line in enumerate(sys.stdin):
        with nvspan.annotate(f"line {number}", payload=number):
            with nvspan.annotate("inner", domain="own"):
                print("ready", flush=True)
"""


class Program:
    def __init__(self, process, folder):
        self.process, self.pid, self.folder = process, process.pid, folder

    def step(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.ready()

    def ready(self) -> None:
        expect_line(self.process)

    def finish(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


@contextmanager
def program(folder, code, *options, **variables):
    """A program without a recorder, once it has said that it is ready."""
    process = subprocess.Popen(
        [sys.executable, *options, "-c", code], env={**clean_environment(), **variables},
        cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        found = Program(process, folder)
        found.ready()
        yield found
    finally:
        process.kill()
        process.communicate()


def start(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "nvspan", "start", *map(str, arguments)], cwd=folder,
        env=clean_environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def recorded(path):
    recording = nvspan.read(path)
    assert list(recording.problems) == []
    rows = sorted(recording.ranges.rows(), key=lambda row: (row["start"], row["level"]))
    return [(row["domain"], row["name"]) for row in rows]


@pytest.fixture
def left(tmp_path, monkeypatch):
    """The folder of temporary files, which has none at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    assert list(folder.iterdir()) == []


@needs_remote
@pytest.mark.parametrize("mode", ["full", "ring=1"])
def test_a_process_that_nobody_armed_records_from_then_on(tmp_path, left, mode):
    with program(tmp_path, STEPPING) as run:
        run.step()
        run.process.stdin.write("\n")
        run.process.stdin.flush()  # it is asked while its main thread waits for input, or works
        code, out, err = start(tmp_path, run.pid, "--mode", mode)
        file = tmp_path / f"nvspan-{run.pid}.nvspan"
        assert (code, err) == (0, ""), out
        if out.startswith("process"):  # it was waiting, and begins when it goes on
            assert out == (f"process {run.pid}: asked; its main thread runs no Python code now, "
                           "and begins when it does\n")  # fmt: skip
        run.ready()
        run.step()
        wait_until(file.exists, "the recording")
        run.step()
        run.step()
        assert run.finish() == (0, "", "")
    found = recorded(file)
    assert found[-4:] == [
        (None, "line 3"), ("own", "inner"), (None, "line 4"), ("own", "inner")
    ]  # fmt: skip


BUSY = """
import nvspan, sys, threading, time
stopped = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stopped.set()), daemon=True).start()
print("ready", flush=True)
while not stopped.is_set():
    with nvspan.annotate("step"):
        time.sleep(0.001)
"""


@needs_remote
def test_where_sees_a_process_that_was_armed_by_its_id(tmp_path, left):
    with program(tmp_path, BUSY) as run:
        file = tmp_path / "there-1.nvspan"
        file.with_name("there.nvspan").touch()  # a file that exists is never touched
        code, out, err = start(tmp_path, run.pid, "-o", "there.nvspan")
        assert (code, out, err) == (
            0, f"{file}: process {run.pid} records into it, full\n", ""
        )  # fmt: skip
        (process,) = nvspan.where(run.pid, interval=0.5).processes
        assert (process.file, process.mode, process.moved > 0) == (str(file), "full", True)
        stop = subprocess.run([sys.executable, "-m", "nvspan", "stop", str(run.pid)],
                              env=clean_environment(), check=True, capture_output=True)  # fmt: skip
        assert b"armed" in stop.stdout
        assert start(tmp_path, run.pid) == (0, f"{file}: it is full now\n", "")
        run.process.stdin.close()
        run.process.stdin = None
        assert run.finish() == (0, "", "")
    rows = recorded(file)
    assert len(rows) > 10
    assert set(rows) == {(None, "step")}
    assert file.with_name("there.nvspan").read_bytes() == b""


@needs_remote
def test_a_program_without_nvspan_gets_ours(tmp_path, left):
    code = """
import sys, threading, time
sys.path[:] = [p for p in sys.path if "site-packages" not in p]
stopped = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stopped.set()), daemon=True).start()
before = list(sys.path)
print("ready", flush=True)
while not stopped.is_set():
    time.sleep(0.001)
    if "nvspan" in sys.modules: sys.modules["nvspan"].mark("own")
assert sys.path == before, sys.path
"""
    with program(tmp_path, code, "-S") as run:
        assert start(tmp_path, run.pid, "-o", "there.nvspan")[0] == 0
        time.sleep(0.1)
        run.process.stdin.close()
        run.process.stdin = None
        assert run.finish() == (0, "", "")
    recording = nvspan.read(tmp_path / "there.nvspan")
    assert {row["name"] for row in recording.marks.rows()} == {"own"}


@needs_remote
def test_libraries_that_may_be_missing_are_said(tmp_path, left):
    (tmp_path / "nvtx.py").write_text("")
    code = "import sys; sys.path.insert(0, '.'); import nvtx\n" + BUSY
    with program(tmp_path, code) as run:
        file = tmp_path / f"nvspan-{run.pid}.nvspan"
        assert start(tmp_path, run.pid) == (
            0, f"{file}: process {run.pid} records into it, full; nvtx was imported before the "
            "recording began: what it sends to NVTX is recorded only if it has not done so yet\n",
            "",
        )  # fmt: skip
        run.process.stdin.close()
        run.process.stdin = None
        assert run.finish() == (0, "", "")


@needs_remote
def test_a_process_that_cannot_be_armed_goes_on(tmp_path, left):
    with program(tmp_path, BUSY) as run:
        (tmp_path / "file").touch()
        code, out, err = start(tmp_path, run.pid, "-o", "file/below.nvspan")
        assert (code, out) == (1, "")
        assert err.startswith(f"nvspan start: process {run.pid} did not begin a recording: ")
        run.process.stdin.close()
        run.process.stdin = None
        code, out, err = run.finish()
        assert (code, out) == (0, "")
        assert err.startswith(f"nvspan: cannot record into {tmp_path}/file/below.nvspan: ")
    with program(tmp_path, BUSY, "-X", "disable-remote-debug") as run:
        code, out, err = start(tmp_path, run.pid)
        assert (code, out) == (1, "")
        assert err.startswith(f"nvspan start: process {run.pid} cannot be armed: ")


def test_a_process_that_is_no_python_program(tmp_path, left):
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            code, out, err = start(tmp_path, process.pid)
        finally:
            process.kill()
    assert (code, out) == (1, "")
    assert err.startswith(f"nvspan start: process {process.pid} ")
    assert list(tmp_path.glob("*.nvspan")) == []


@pytest.mark.skipif(hasattr(sys, "remote_exec"), reason="is for CPython before 3.14")
def test_what_older_versions_of_python_cannot_is_said(tmp_path):
    with program(tmp_path, BUSY) as run:
        code, out, err = start(tmp_path, run.pid)
        assert (code, out, err) == (
            1, "", f"nvspan start: process {run.pid} writes no recording: start it with "
            "NVSPAN_RECORD=armed or 'nvspan record --mode armed'. A program that runs can be armed "
            "where it and nvspan run on CPython 3.14 or newer; this is "
            f"{sys.version_info[0]}.{sys.version_info[1]}\n",
        )  # fmt: skip
        assert run.process.poll() is None


def test_a_process_that_does_not_exist_is_named(tmp_path):
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert start(tmp_path, gone.stdout.strip()) == (
        1, "", f"nvspan start: there is no process {gone.stdout.strip()}\n"
    )  # fmt: skip
    assert os.listdir(tmp_path) == []
