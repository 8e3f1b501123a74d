# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Daemon threads that are inside nvspan when the interpreter goes away.

CPython up to 3.13 ends such a thread in the call that wants the GIL, by unwinding its stack. The
program must end with its own status and say nothing.

NVSPAN_SLOW=1 has each case exit 50 times by itself, which takes minutes.
"""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

from helpers import device
from helpers.compile import build
from helpers.length import length
from helpers.recorded import record_command
from helpers.traced import run_plain, run_traced

PROGRAM = Path(__file__).parents[1] / "programs" / "daemon_threads.py"
SOURCE = PROGRAM.read_text()
UNWINDING = re.findall(r'^@unwinds\ndef (\w+)|^    "(\w+)": lambda n:', SOURCE, re.MULTILINE)
UNWINDING = [made or in_table for made, in_table in UNWINDING]
CASES = re.findall(r"^@case\ndef (\w+)", SOURCE, re.MULTILINE) + UNWINDING
# These change what every thread's calls do.
ALONE = ["profile", "switching", "torch_emit", "check", "check_annotation"]
BESIDE = [name for name in CASES if name not in ALONE]
WITHOUT_A_TOOL = ["index_color", "index_category", "attributes", "annotation", "pybind11_function"]
BOTH = pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recording")
    # an export tells its progress every 65,536 rows
    code = "import nvspan\nr = nvspan.annotate('r')\nfor _ in range(70_000):\n  with r: pass"
    return record_command([sys.executable, "-c", code], folder=folder).files[0]


def end(run, how, names, recording, times=1):
    failed = []
    environment = {**device.environment(), "NVSPAN_TRACE": "format=jsonl;file=/dev/null"}
    expected = {(7, "goes on\n", "")}
    if sys.version_info < (3, 11):
        # Its own crash, see crashed_at_its_end, counts only when the interpreter is gone.
        library = build(PROGRAM.parent / "interpreter_end.cpp", "-shared", "-fPIC")
        environment["INTERPRETER_END"] = str(library)
        expected = {(7, "goes on\nended\n", ""), (-signal.SIGSEGV, "goes on\nended\n", "")}
    for _ in range(times):
        done = run(PROGRAM, how, *names, "--", recording, env=environment, check=False, timeout=100)
        if (done.returncode, done.stdout, done.stderr) not in expected:
            failed.append((done.returncode, done.stdout, done.stderr))
    assert failed == []


UNWINDS = pytest.mark.skipif(
    sys.version_info >= (3, 14),
    reason="CPython 3.14 ends no thread in the middle of a call",
)


@BOTH
def test_the_interpreter_exits_while_threads_annotate(run, recording):
    end(run, "exit", BESIDE, recording)


@pytest.mark.parametrize("name", ALONE)
def test_the_interpreter_exits_beside_one_kind_of_thread(name, recording):
    end(run_traced, "exit", [name], recording)


@pytest.mark.parametrize("name", CASES)
def test_the_interpreter_exits_again_and_again(name, recording):
    end(run_traced, "exit", [name], recording, length(50, 1))


@UNWINDS
@BOTH
def test_threads_that_end_within_a_call_are_held(run, recording):
    """Each by pthread_exit(), as CPython does it, but at a moment of our own."""
    names = [name for name in UNWINDING if name not in ALONE]
    if run is run_plain:
        names = [name for name in names if name in WITHOUT_A_TOOL]
    end(run, "unwound", names, recording)


@UNWINDS
@pytest.mark.parametrize("name", ALONE)
def test_a_thread_that_ends_within_a_call_beside_others_is_held(name, recording):
    end(run_traced, "unwound", [name], recording)


def test_what_a_killed_thread_had_open_is_told_once():
    code = """
import atexit, sys, threading, time
opened, go, begun = threading.Event(), threading.Event(), threading.Event()
atexit.register(lambda: (go.set(), begun.wait(60)))  # after check mode's own
import nvspan
nvspan.check()

class Late:
    def __del__(self, sleep=time.sleep): sleep(0.2)

def work():
    with nvspan.annotate("told"):
        opened.set()
        go.wait()
        with nvspan.annotate("begun after the process was looked through"):
            begun.set()
            while True: time.sleep(0)

late = Late()
threading.Thread(target=work, daemon=True).start()
assert opened.wait(60)
"""
    done = run_plain(code)
    assert re.findall("nvspan check: '([^']*)'.*(is still .*)", done.stderr) == [
        ("told", "is still open at exit")
    ]
