# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Another process makes a recording shorter while it is written: the program notices nothing."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nvspan
from helpers.compile import build
from helpers.traced import LIBRARY, clean_environment, needs_library
from nvspan import launch, recorder

pytestmark = [
    needs_library,
    pytest.mark.skipif(
        bool(os.environ.get("NVSPAN_SANITIZED")), reason="a sanitizer has SIGBUS for itself"
    ),
]
PROGRAMS = Path(__file__).parents[1] / "programs"
MODES = ["full", "ring=1", "stats"]


def recorded_environment(path, mode="full"):
    environment = clean_environment()
    environment[launch.INJECTION_VARIABLE] = LIBRARY
    environment[launch.CONFIG_VARIABLE] = recorder.config_string(path, mode)
    return environment


def run_truncated(path, size, threads, events, how, *more, mode="full", tool=True):
    if not tool:
        path.write_bytes(b"")
    environment = recorded_environment(path, mode) if tool else clean_environment()
    command = [build(PROGRAMS / "truncated.cpp"), path, size, threads, events, how, *more]
    return subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


def count_events(recording):
    """Pushes, pops and marks of a recording of mode full or ring."""
    kept = [call for call in recording.calls() if call["kind"] in ("push", "pop", "mark")]
    return len(kept), sum(row["count"] or 0 for row in recording.losses.rows())


@pytest.mark.parametrize("mode", ["full", "ring=1"])
@pytest.mark.parametrize("size", [0, 30_000, 4096, 100])
@pytest.mark.parametrize("threads", [1, 4])
def test_the_program_goes_on_and_every_event_is_kept_or_counted(tmp_path, mode, size, threads):
    path = tmp_path / "run.nvspan"
    events = 5000
    done = run_truncated(path, size, threads, events, "once", mode=mode)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "default 1")
    assert done.stdout.startswith("recording: handled 0,")
    assert done.stderr == (
        f"nvspan: recording stopped: another process truncated {path}; lost events are counted\n"
    )
    recording = nvspan.read(path)
    assert recording.problems == []
    assert recording.processes[0].closed is True
    kept, lost = count_events(recording)
    # A range whose end is gone is a push alone: it has no end among the calls.
    assert kept + lost == 2 * threads * events * 3
    assert recording.stats().lost + recording.stats().overwritten == lost


def test_statistics_that_were_cut_off_say_so(tmp_path):
    path = tmp_path / "run.nvspan"
    done = run_truncated(path, 0, 2, 20_000, "once", mode="stats")
    assert done.returncode == 0
    recording = nvspan.read(path)
    assert recording.stats().rows == []
    (cut,) = recording.losses.rows()
    assert (cut["reason"], cut["count"], cut["from"] < cut["to"]) == ("cut off", None, True)


@pytest.mark.parametrize("how", ["info", "plain", "once", "ignore", "default"])
@pytest.mark.parametrize("late", [False, True])
def test_a_handler_of_the_program_is_called_as_without_a_recording(tmp_path, how, late):
    more = ["late"] if late else []
    alone = run_truncated(tmp_path / "none", 0, 2, 2000, how, *more, tool=False)
    done = run_truncated(tmp_path / "run.nvspan", 0, 2, 2000, how, *more)
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout)
    assert done.stderr.count("another process truncated") == 1


FAULTHANDLER = """
import faulthandler, os, signal, sys
path, when = sys.argv[1:]
import nvspan
if when == "before":
    faulthandler.enable()
nvspan.mark("first")
if when == "after":
    faulthandler.enable()
for i in range(2000):
    nvspan.mark("number", payload=i)
os.truncate(path, 0)
for i in range(20000):
    nvspan.mark("number", payload=i)
print("alive", flush=True)
if when == "disabled":
    faulthandler.enable()
    faulthandler.disable()
os.kill(os.getpid(), signal.SIGBUS)
"""


@pytest.mark.parametrize("when", ["before", "after", "disabled", "never"])
def test_faulthandler_reports_what_is_the_programs_own(tmp_path, when):
    path = tmp_path / "run.nvspan"
    done = subprocess.run(
        [sys.executable, "-c", FAULTHANDLER, str(path), when], env=recorded_environment(path),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (-signal.SIGBUS, "alive\n")
    reports = 1 if when in ("before", "after") else 0
    assert done.stderr.count("Fatal Python error: Bus error") == reports
    assert done.stderr.count("another process truncated") == 1


FORKED = """
import mmap, os, signal, sys, tempfile
import nvspan
path = sys.argv[1]
nvspan.mark("parent")
os.truncate(path, 0)
pid = os.fork()
if pid == 0:
    for i in range(3000):
        nvspan.mark("child")
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
pid = os.fork()
if pid == 0:  # one that never annotates, and faults in a file of its own
    with tempfile.TemporaryFile() as file:
        file.truncate(1 << 24)
        mapped = mmap.mmap(file.fileno(), 1 << 24)
        file.truncate(0)
        mapped[1 << 20] = 1
    os._exit(0)
print(os.WTERMSIG(os.waitpid(pid, 0)[1]))
nvspan.mark("parent")
"""


def test_forked_children_have_files_and_faults_of_their_own(tmp_path):
    path = tmp_path / "run.nvspan"
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(path)], env=recorded_environment(path),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, f"{int(signal.SIGBUS)}\n"), done.stderr
    child = nvspan.read(tmp_path / "run-1.nvspan")
    assert child.marks.text("name") == ["child"] * 3000
    assert [row["count"] for row in nvspan.read(path).losses.rows()] == [2]


IN_PROCESS = """
import ctypes, os, signal, sys
import nvspan
libc = ctypes.CDLL(None)
action = ctypes.create_string_buffer(256)

def handler():
    libc.sigaction(int(signal.SIGBUS), None, action)
    return action.raw[:8]

path = sys.argv[1]
before = handler()
for i in range(3):
    with nvspan.record(path) as recorder:
        nvspan.mark("in")
        print(handler() != before, end=" ")
        if i == 1:
            os.truncate(recorder.paths[0], 0)
            nvspan.mark("in")
    print(handler() == before, end=" ")
    print(len(nvspan.read(*recorder.paths).marks))
"""


def test_the_handler_goes_with_the_recording(tmp_path):
    path = tmp_path / "run.nvspan"
    done = subprocess.run(
        [sys.executable, "-c", IN_PROCESS, str(path)], env=clean_environment(),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["True True 1", "True True 0", "True True 1"], done.stderr


def cut_until_it_ends(process, path, progress, events):
    """Whether a cut came before the program's last event: a quick program may be done by then."""
    while not path.exists():
        time.sleep(0.001)
    in_time = False
    while process.poll() is None:
        is_written = path.stat().st_size > 0
        path.write_bytes(b"")
        counts = struct.unpack_from("<Q56xQ56xQ", progress.read_bytes())
        in_time = in_time or (is_written and min(counts) < events)
        time.sleep(0.003)
    return in_time


@pytest.mark.parametrize("mode", MODES)
def test_a_cut_at_any_moment(tmp_path, mode):
    program = str(build(PROGRAMS / "counting.cpp"))
    events, cuts = 30000, 0
    for attempt in range(20):
        path, progress = tmp_path / f"{attempt}.nvspan", tmp_path / f"{attempt}.progress"
        command = [program, str(progress), "3", str(events), "ranges"]
        process = subprocess.Popen(command, env=recorded_environment(path, mode),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
        in_time = cut_until_it_ends(process, path, progress, events)
        stderr = process.stderr.read().decode()
        process.stderr.close()
        assert process.returncode == 0
        if in_time:
            assert stderr.count("another process truncated") == 1
            assert path.stat().st_size in (0, 4096)
        cuts += in_time
        if cuts == 2:
            break
    assert cuts == 2
