# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sampling beside debuggers, coverage, profilers and greenlets: neither sees the other."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import types

import pytest

import nvspan
from helpers.traced import clean_environment

pytest.importorskip("nvspan._lines")

WORK = """
import json, sys, time
TOOL = sys.argv[1]
def inner(n):
    total = 0
    for i in range(n):
        total += i % 7
    return total
def outer(n):
    return [inner(n) for _ in range(3)]
def work():
    end = time.perf_counter() + 1
    first = outer(500)
    while time.perf_counter() < end:
        assert outer(500) == first
    return first
seen = set()
def see(frame, *_):
    seen.add(frame.f_code.co_name)
    return see
"""

TOOLS = {
    "none": "result = work()",
    "settrace": "sys.settrace(see); result = work(); sys.settrace(None)",
    "setprofile": "sys.setprofile(see); result = work(); sys.setprofile(None)",
    "cProfile": """
import cProfile, pstats
profile = cProfile.Profile()
result = profile.runcall(work)
seen = {name for _, _, name in pstats.Stats(profile).stats}
""",
    "coverage": """
import coverage
measured = coverage.Coverage(data_file=None, include=[__file__])
measured.start()
result = work()
measured.stop()
lines = measured.analysis2(__file__)
seen = {"inner", "outer", "work"} if not {5, 7, 8, 10} & set(lines[3]) else set()
""",
    "bdb": """
import bdb
class Debugger(bdb.Bdb):
    def user_line(self, frame):
        seen.add(frame.f_code.co_name)
debugger = Debugger()
result = debugger.runcall(work)
""",
    "pdb": """
import io, pdb
commands = io.StringIO("break inner\\ncontinue\\nclear 1\\ny\\ncontinue\\n")
debugger = pdb.Pdb(stdin=commands, stdout=io.StringIO(), nosigint=True, readrc=False)
debugger.use_rawinput = False
result = debugger.runcall(work)
seen = {"inner", "outer", "work"}
""",
    "debugpy": """
import debugpy
debugpy.listen(("127.0.0.1", 0), in_process_debug_adapter=True)
debugpy.trace_this_thread(True)
result = work()
seen = {"inner", "outer", "work"} if debugpy.is_client_connected() is False else set()
""",
    "monitoring": """
events = sys.monitoring
events.use_tool_id(events.PROFILER_ID, "test")
events.register_callback(events.PROFILER_ID, events.events.PY_START,
                         lambda code, offset: seen.add(code.co_name))
events.register_callback(events.PROFILER_ID, events.events.LINE, lambda code, line: None)
events.set_events(events.PROFILER_ID, events.events.PY_START | events.events.LINE)
result = work()
events.set_events(events.PROFILER_ID, 0)
""",
}
END = "\nprint(json.dumps([result, sorted({'inner', 'outer', 'work'} & seen)]))\n"


def recorded(tmp_path, source, *options):
    """What a program printed under `nvspan record`, and its recording."""
    program = tmp_path / "program.py"
    program.write_text(source)
    path = tmp_path / "run.nvspan"
    done = subprocess.run(
        [sys.executable, "-m", "nvspan", "record", "--no-report", "--lines", "1000", "-o",
         str(path), str(program), *options],
        env=clean_environment(), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, nvspan.read(path)


def true_lines(source):
    """Each (function, line) that a program has."""
    found = set()
    codes = [compile(source, "program.py", "exec")]
    for code in codes:
        name = getattr(code, "co_qualname", code.co_name)
        found.update((name, line) for _, _, line in code.co_lines() if line)
        codes += [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return found


@pytest.mark.parametrize("tool", TOOLS)
def test_beside_a_tool(tmp_path, tool):
    """The program's results and the tool's are what they are, samples arrive and are true."""
    if tool == "monitoring" and sys.version_info < (3, 12):
        pytest.skip("sys.monitoring")
    if importlib.util.find_spec(tool.partition(".")[0]) is None and tool in ("coverage", "debugpy"):
        pytest.skip(f"{tool} is not installed")
    source = WORK + TOOLS[tool] + END
    printed, recording = recorded(tmp_path, source, tool)
    inner = sum(i % 7 for i in range(500))
    functions = [] if tool == "none" else ["inner", "outer", "work"]
    assert json.loads(printed) == [[inner] * 3, functions]
    rows = recording.lines(show_stdlib=True).rows
    own = [row for row in rows if row.file is not None and row.file.endswith("program.py")]
    assert {(row.function, row.line) for row in own} <= true_lines(source)
    total = {row.function: row.total for row in recording.lines("function", show_stdlib=True).rows
             if row.file is not None and row.file.endswith("program.py")}  # fmt: skip
    assert total["work"] >= total["outer"] >= total["inner"] > 0
    assert recording.problems == []


GREENLETS = """
import time
import greenlet
def spin():
    end = time.perf_counter() + 0.002
    while time.perf_counter() < end:
        pass
def a_inner():
    spin()
    b.switch()
    spin()
def a_outer():
    while True:
        a_inner()
        main.switch()
def b_inner(depth):
    if depth:
        return b_inner(depth - 1)
    spin()
    a.switch()
def b_outer():
    while True:
        b_inner(20)
main = greenlet.getcurrent()
a, b = greenlet.greenlet(a_outer), greenlet.greenlet(b_outer)
for _ in range(300):
    a.switch()
"""


def test_greenlets_have_their_own_stacks(tmp_path):
    """A sample is of the one that runs, whole: never of two."""
    pytest.importorskip("greenlet")
    _, recording = recorded(tmp_path, GREENLETS)
    stacks = {tuple(dict.fromkeys(stack)): ns for stack, ns in recording.lines().stacks().items()}
    running = {("a_outer", "a_inner", "spin"), ("b_outer", "b_inner", "spin")}
    begun = {stack[:depth] for stack in running for depth in (1, 2)}
    names = {"a_outer", "a_inner", "b_outer", "b_inner", "spin"}
    assert {stack for stack in stacks if names & set(stack)} <= running | begun
    total = sum(stacks.values())
    shares = {stack: stacks.get(stack, 0) / total for stack in running}
    assert all(share > 0.2 for share in shares.values()), shares
    source = true_lines(GREENLETS)
    assert {(row.function, row.line) for row in recording.lines().rows
            if row.file is not None and row.file.endswith("program.py")} <= source  # fmt: skip
