# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Real programs under `nvspan record --lines`: where their threads are is what samples say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import nvspan
from helpers.traced import clean_environment

pytest.importorskip("nvspan._lines")


def record(tmp_path, source, *options, rate="1000", name="program.py", **more):
    """The finished `nvspan record`, and the recordings of its processes in order of their start."""
    program = tmp_path / name
    program.write_text(source)
    output = tmp_path / "run-{pid}.nvspan"
    command = [sys.executable, "-m", "nvspan", "record", "--no-report", "--lines", rate]
    done = subprocess.run(
        [*command, "-o", str(output), *options, str(program)],
        env=clean_environment() | more,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    files = sorted(tmp_path.glob("run-*.nvspan"), key=lambda path: path.stat().st_ctime_ns)
    recordings = [nvspan.read(str(path)) for path in files]
    return done, sorted(recordings, key=lambda one: one.processes[0].start)


def places(recording, file="program.py", share=0.2):
    """Each (function, line) of the file in which, or below which, much of the time is: whether it
    is the innermost."""
    rows = recording.lines(show_stdlib=True, idle=True).rows
    whole = sum(row.self for row in rows)
    return {
        (row.function.rpartition(".")[2], row.line): row.self > share * whole
        for row in rows
        if row.file is not None and row.file.endswith(file) and row.total > share * whole
    }


CHAIN = """
import time
def inner():
    time.sleep(1)
def outer():
    inner()
outer()
"""


def test_a_thread_that_waits_is_where_it_waits(tmp_path):
    done, (recording,) = record(tmp_path, CHAIN)
    assert (done.returncode, done.stderr) == (0, "")
    assert places(recording) == {("<module>", 7): False, ("outer", 6): False, ("inner", 4): True}
    lines = recording.lines()
    assert lines.waiting > 0.8 * lines.total
    assert lines.facts.period == 1_000_000
    assert lines.facts.threads == lines.facts.processes == 1
    assert recording.problems == []


THREADS = """
import threading, time
def hold():
    with lock:
        time.sleep(1)
def wait():
    with lock:
        pass
lock = threading.Lock()
threads = [threading.Thread(target=hold)]
threads[0].start()
threads.append(threading.Thread(target=wait))
time.sleep(0.05)
threads[1].start()
for thread in threads:
    thread.join()
"""


def test_each_thread_has_its_own_stack(tmp_path):
    _, (recording,) = record(tmp_path, THREADS)
    assert places(recording) == {("<module>", 16): False, ("hold", 5): True, ("wait", 7): True}
    assert recording.lines().facts.threads == 3


SUSPENDED = """
import asyncio, time
def produce():
    for _ in range(2):
        time.sleep(1)
        yield 1
async def work():
    for value in produce():
        pass
async def call():
    await work()
asyncio.run(call())
"""


def test_coroutines_and_generators_are_one_stack(tmp_path):
    _, (recording,) = record(tmp_path, SUSPENDED)
    assert places(recording, share=0.4) == {
        ("<module>", 12): False, ("call", 11): False, ("work", 8): False, ("produce", 5): True,
    }  # fmt: skip


DEEP = """
import sys, time
sys.setrecursionlimit(20000)
def deep(n):
    if n:
        return deep(n - 1)
    time.sleep(1)
deep(5000)
"""


def test_a_deep_recursion_is_seen_by_its_innermost_frames(tmp_path):
    _, (recording,) = record(tmp_path, DEEP)
    found = places(recording)
    found.pop(("deep", 5), None)  # a look on the way down
    assert found == {("deep", 6): False, ("deep", 7): True}
    facts = recording.lines().facts
    assert facts.cut > 0
    assert facts.torn < 10


MADE = """
import time
code = compile("def made():\\n  time.sleep(1)\\nmade()", "<made here>", "exec")
exec(code, {"time": time})
"""


def test_code_that_is_made_while_it_runs(tmp_path):
    _, (recording,) = record(tmp_path, MADE)
    assert places(recording, "<made here>") == {("<module>", 3): False, ("made", 2): True}


CHILDREN = """
import multiprocessing, os, subprocess, sys, time
def child():
    time.sleep(1)
if __name__ == "__main__":
    pid = os.fork()
    if pid == 0:
        child()
        os._exit(0)
    os.waitpid(pid, 0)
    spawned = multiprocessing.get_context("spawn").Process(target=child)
    spawned.start()
    spawned.join()
    subprocess.run([sys.executable, "-c", "import time; time.sleep(1)"])
"""


def test_children_are_sampled(tmp_path):
    done, recordings = record(tmp_path, CHILDREN)
    assert (done.returncode, done.stderr) == (0, "")
    forked = {("<module>", 8): False, ("child", 4): True}
    found = [places(recording) for recording in recordings]
    waits = {("<module>", 10), ("<module>", 13), ("<module>", 14)}
    assert waits <= places(recordings[0], share=0.05).keys()
    assert found[1] == forked
    assert {("child", 4): True} in found[2:]
    assert {("<module>", 1): True} in [places(one, "<string>") for one in recordings]


def test_a_fork_of_a_program_with_one_thread_warns_of_nothing(tmp_path):
    """CPython 3.12 and later count the threads of the system as well."""
    source = "import os, time\nif os.fork() == 0: time.sleep(0.5); os._exit(0)\nos.wait()\n"
    done, recordings = record(tmp_path, source, PYTHONWARNINGS="always::DeprecationWarning")
    assert (done.returncode, done.stderr, len(recordings)) == (0, "", 2)


def test_the_environment_own_sitecustomize_is_imported(tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("print('own', flush=True)\n")
    source = "import sys\nprint([entry for entry in sys.path if '_startup' in entry])\n"
    source += "import time\nend = time.time() + 0.5\nwhile time.time() < end: pass\n"
    path = filter(None, [str(own), os.environ.get("PYTHONPATH")])
    done, (recording,) = record(tmp_path, source, PYTHONPATH=os.pathsep.join(path))
    assert (done.stdout, done.stderr) == ("own\nown\n[]\n", "")  # nvspan's own process has it too
    assert recording.lines().facts.processes == 1


def test_a_killed_process_keeps_its_samples(tmp_path):
    source = CHAIN.replace("time.sleep(1)", "time.sleep(1); os.kill(os.getpid(), 9)")
    done, (recording,) = record(tmp_path, source.replace("import time", "import os, time"))
    assert done.returncode == -signal.SIGKILL
    assert places(recording) == {("<module>", 7): False, ("outer", 6): False, ("inner", 4): True}


def test_samples_lie_in_ranges(tmp_path):
    source = """
import nvspan, time
for _ in range(10):
    with nvspan.annotate("load"):
        time.sleep(0.05)
    with nvspan.annotate("save"):
        time.sleep(0.05)
"""
    _, (recording,) = record(tmp_path, source)
    lines = recording.lines()
    load, save = (lines.within(name).rows[0] for name in ("load", "save"))
    assert [(load.line, load.share > 0.9), (save.line, save.share > 0.9)] == [(5, True), (7, True)]


@pytest.mark.filterwarnings("ignore:.* imported before the recording started")
@pytest.mark.parametrize("mode", ["ring=1", "full"])
def test_lines_of_a_part_of_a_program(tmp_path, mode):
    """And the second recording begins anew."""
    for number in range(2):
        with nvspan.record(tmp_path / f"run{number}.nvspan", mode=mode, lines=1000) as recorder:
            time.sleep(0.5)
        recording = nvspan.read(*recorder.paths)
        own = os.path.basename(__file__)
        place = ("test_lines_of_a_part_of_a_program", time_line())
        assert places(recording, own)[place] is True
        assert recording.lines().facts.looks > 100


def test_a_sampler_that_stops_and_begins_again(tmp_path):
    """In one file: the time in between is nobody's."""
    source = """
import os, time
from nvspan import _lines
def first():
    time.sleep(0.5)
def between():
    time.sleep(2)
def second():
    time.sleep(0.5)
first()
_lines.stop()
between()
_lines.start(os.environ["NVTX_INJECTION64_PATH"], 1_000_000)
second()
"""
    _, (recording,) = record(tmp_path, source)
    found = places(recording, share=0.1)
    innermost = {place for place, is_innermost in found.items() if is_innermost}
    assert innermost == {("first", 5), ("second", 9)}
    assert recording.lines(idle=True).total < 1.8e9


def time_line():
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if "time.sleep(0.5)\n" in line
                    and line.startswith(" " * 12))  # fmt: skip


def test_without_lines_there_are_none(tmp_path):
    _, recordings = record(tmp_path, "import nvspan\nnvspan.mark('a')\n", rate="off")
    assert recordings[0].lines().samples == 0


@pytest.mark.parametrize(
    ("rate", "error", "words"),
    [
        (
            "often",
            ValueError,
            "1 to 10,000 samples a second, auto, armed or off, not 'often'",
        ),
        (0, ValueError, "1 to 10,000 samples a second, auto, armed or off, not 0"),
        (20_000, ValueError, "1 to 10,000 samples a second, auto, armed or off, not 20000"),
        ([], TypeError, "a number of samples a second, not []"),
    ],
)
def test_rates_that_are_none(rate, error, words):
    with pytest.raises(error) as caught:
        nvspan.record(lines=rate)
    assert str(caught.value) == f"lines must be {words}"


def test_a_rate_of_the_environment_that_is_none(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "import nvspan"],
        env=clean_environment()
        | {"NVSPAN_RECORD": str(tmp_path / "a.nvspan"), "NVSPAN_RECORD_LINES": "fast"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        0,
        "nvspan: lines are not sampled: NVSPAN_RECORD_LINES must be 1 to 10,000 samples a second, "
        "auto, armed or off, not 'fast'\n",
    )
