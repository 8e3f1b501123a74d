# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Profile beside coverage, debuggers and other profilers: each sees what it would see alone."""

from __future__ import annotations

import json
import sys

import pytest

from helpers.calls import shown
from helpers.packages import needs
from helpers.traced import needs_library, run_plain, run_traced

pytestmark = needs_library

monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")
hooks = pytest.mark.skipif(sys.version_info >= (3, 12), reason="sys.monitoring takes its place")

SCRIPT = """
import sys
import nvspan
P = nvspan.Profile(linenos=False, include="__main__")
def leaf(x):
    if x > 3:
        return 0
    return x
def generator():
    yield leaf(1)
    yield leaf(2)
def fail():
    raise KeyError
def work():
    for x in generator():
        leaf(x + 3)
    try:
        fail()
    except KeyError:
        return leaf(9)
"""
WORK = "work(generator(leaf) leaf generator(leaf) leaf generator fail leaf)"


def calls(code, script=SCRIPT, **options):
    traced = run_traced(script + code, **options)
    return shown(traced.events), traced


COVERAGE = """
import coverage, json
data = {}
c = coverage.Coverage(data_file=None, include=[__file__], config_file=False)
order = sys.argv[1]
if order == "inside": P.enable()
c.start()
if order != "inside": P.enable()
work()
if order == "crossed": P.disable()
else: work()
c.stop()
if order != "crossed": P.disable()
print(json.dumps(sorted(c.get_data().lines(__file__))))
"""


@needs("coverage")
@pytest.mark.parametrize("order", ["inside", "outside", "crossed"])
@pytest.mark.parametrize(
    "core", ["ctrace", "pytrace", pytest.param("sysmon", marks=monitoring)]
)  # fmt: skip
def test_coverage(tmp_path, core, order):
    script = tmp_path / "covered.py"
    script.write_text(SCRIPT + COVERAGE)
    environment = {"COVERAGE_CORE": core}
    traced = run_traced(script, order, env=environment)
    alone = tmp_path / "alone.py"
    alone.write_text(
        "class P:\n    enable = disable = staticmethod(int)\n"
        + SCRIPT.replace("import nvspan", "").replace("P = nvspan", "0 and nvspan")
        + COVERAGE
    )
    shift = 2
    expected = json.loads(run_plain(alone, order, env=environment).stdout)
    assert [line + shift for line in json.loads(traced.stdout)] == expected
    assert shown(traced.events) == (WORK if order == "crossed" else f"{WORK} {WORK}")


CPROFILE = """
import cProfile, io, pstats
def counts(c):
    stats = pstats.Stats(c, stream=io.StringIO()).stats
    return sorted((name, calls[1]) for (_, _, name), calls in stats.items()
                  if name in ("work", "leaf", "generator", "fail"))
FULL = [("fail", 1), ("generator", 3), ("leaf", 5), ("work", 1)]
c = cProfile.Profile()
"""


@pytest.mark.parametrize(
    ("code", "events"),
    [
        # cProfile first: it goes on.
        ("c.enable(); P.enable(); work(); P.disable(); c.disable()\nassert counts(c) == FULL",
         WORK),
        ("c.enable(); P.enable(); P.disable(); work(); c.disable()\nassert counts(c) == FULL", ""),
        # Profile first, left last.
        ("with P:\n    c.enable(); work(); c.disable()\nassert counts(c) == FULL",
         WORK if sys.version_info >= (3, 12) else ""),
        # Crossed.
        ("P.enable(); c.enable(); P.disable(); work(); c.disable()\nassert counts(c) == FULL", ""),
        ("c.enable(); P.enable(); work(); c.disable(); P.disable()\nassert counts(c) == FULL",
         WORK),
    ],
)  # fmt: skip
def test_cprofile(code, events):
    found, traced = calls(CPROFILE + code)
    assert traced.stderr == ""
    assert found == events


PYTHON_HOOK = """
seen = []
def hook(frame, event, argument):
    if frame.f_code.co_name in ("leaf", "fail"): seen.append((event, frame.f_code.co_name))
ONE = [("call", "leaf"), ("return", "leaf")]
"""


def test_a_profile_function_of_python_is_called_and_restored():
    found, traced = calls(
        PYTHON_HOOK + "sys.setprofile(hook)\n"
        "leaf(1); P.enable(); leaf(1); P.disable(); leaf(1)\n"
        "assert sys.getprofile() is hook\n"
        "sys.setprofile(None)\n"
        "assert seen == ONE * 3, seen\n"
        "with P: assert sys.getprofile() is None or sys.version_info < (3, 12)\n"
        "assert sys.getprofile() is None\n"
    )
    assert (found, traced.stderr) == ("leaf", "")


def test_the_profile_function_of_new_threads_is_called_and_restored():
    found, traced = calls(
        PYTHON_HOOK + "import threading\n"
        "threading.setprofile(hook)\n"
        "def run(): t = threading.Thread(target=leaf, args=(1,)); t.start(); t.join()\n"
        "run()\n"
        "with P: leaf(1)\n"
        "assert threading.getprofile() is hook\n"
        "P = nvspan.Profile(linenos=False, include='__main__', exclude='run')\n"
        "with P: run()\n"
        "run(); threading.setprofile(None)\n"
        "with P: pass\n"
        "assert threading.getprofile() is None\n"
        "assert seen == ONE * 3, seen\n"
    )
    assert (found, traced.stderr) == ("leaf leaf", "")


@hooks
def test_a_profile_function_that_comes_later_stays():
    found, traced = calls(
        PYTHON_HOOK + "P.enable(); leaf(1); sys.setprofile(hook); leaf(1); P.disable()\n"
        "assert sys.getprofile() is hook\n"
        "leaf(1); sys.setprofile(None)\n"
        "assert seen == ONE * 2, seen\n"
    )
    assert (found, traced.stderr) == ("leaf", "")


@hooks
def test_what_getprofile_gives_can_be_set_again():
    found, traced = calls(
        "P.enable(); leaf(1)\n"
        "old = sys.getprofile(); sys.setprofile(None); leaf(1); sys.setprofile(old); leaf(1)\n"
        "P.disable(); leaf(1); assert sys.getprofile() is None\n"
        "sys.setprofile(old); leaf(1); assert sys.getprofile() is None, sys.getprofile()\n"
    )
    assert (found, traced.stderr) == ("leaf leaf", "")


@hooks
def test_a_profile_function_that_raises():
    found, traced = calls(
        "def hook(frame, event, argument):\n"
        "    if frame.f_code.co_name == 'fail': raise ZeroDivisionError\n"
        "sys.setprofile(hook)\n"
        "P.enable()\n"
        "try: fail()\n"
        "except ZeroDivisionError: pass\n"
        "P.disable(); leaf(1); assert sys.getprofile() is None\n"
    )
    assert (found, traced.stderr) == ("fail", "")


@pytest.mark.parametrize("where", ["fail", "leaf", "generator"])
def test_pdb_steps_through(tmp_path, where):
    script = tmp_path / "debugged.py"
    lines = SCRIPT.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"def {where}("))
    lines.insert(at + 1, "    breakpoint()")
    script.write_text("\n".join(lines) + "\nwith P: work()\nprint('done')\n")
    traced = run_traced(script, stdin="n\ns\nw\np 1 + 41\nr\nu\nd\n" + "c\n" * 10)
    assert "42" in traced.stdout
    assert traced.stdout.endswith("done\n")
    assert shown(traced.events) == WORK


DEBUGGER = """
import bdb
stops = []
class Debugger(bdb.Bdb):
    def user_call(self, frame, arguments): stops.append(("call", frame.f_code.co_name))
    def user_line(self, frame): stops.append(("line", frame.f_lineno))
    def user_return(self, frame, value): stops.append(("return", frame.f_code.co_name))
d = Debugger()
def debugged(): d.runcall(work); d.set_quit()
if sys.argv[1:] == ["alone"]: debugged()
else:
    NOT_SHOWN = ["debugged", "Debugger*", "user*"]
    P = nvspan.Profile(linenos=False, include="__main__", exclude=NOT_SHOWN)
    with P: debugged()
print([stop for stop in stops if stop[1] not in ("debugged",)])
"""


def test_a_debugger_stops_where_it_would_alone(tmp_path):
    script = tmp_path / "debugged.py"
    script.write_text(SCRIPT + DEBUGGER)
    traced = run_traced(script)
    assert shown(traced.events) == WORK
    assert len(traced.stdout.splitlines()) == 1
    assert traced.stdout == run_plain(script, "alone").stdout
    assert traced.stdout.count("'line'") > 15


@needs("debugpy")
def test_debugpy(tmp_path):
    script = tmp_path / "debugged.py"
    script.write_text(
        SCRIPT + "import debugpy, os\n"
        "os.environ['PYDEVD_DISABLE_FILE_VALIDATION'] = '1'\n"
        "with P:\n"
        "    work()\n"
        "    debugpy.listen(('127.0.0.1', 0))\n"
        "    work()\n"
        "work()\n"
        "with P: work()\n"
    )
    traced = run_traced(script, env={"PYDEVD_DISABLE_FILE_VALIDATION": "1"})
    main = next(event["tid"] for event in traced.events if event["kind"] == "push")
    assert (
        shown(event for event in traced.events if event.get("tid") == main)
        == f"{WORK} {WORK} {WORK}"
    )


@monitoring
@pytest.mark.parametrize("busy", [(), (4,), (3, 4, 5), (0, 1, 2, 3, 4), (1, 2, 3, 4, 5)])
def test_tool_ids_of_others_are_left_alone(busy):
    found, traced = calls(
        f"M = sys.monitoring; busy = {busy}\n"
        "for i in busy: M.use_tool_id(i, f'tool {i}')\n"
        "before = [M.get_tool(i) for i in range(6)]\n"
        "P.enable(); leaf(1)\n"
        "during = [M.get_tool(i) for i in range(6)]\n"
        "assert [i for i in range(6) if during[i] != before[i]] == [during.index('nvspan')]\n"
        "P.disable(); leaf(1)\n"
        "assert [M.get_tool(i) for i in range(6)] == before\n"
    )
    assert (found, traced.stderr) == ("leaf", "")


@monitoring
def test_no_tool_id_is_free():
    found, traced = calls(
        "M = sys.monitoring\n"
        "for i in range(6): M.use_tool_id(i, 'x')\n"
        "try: P.enable()\n"
        "except RuntimeError as error: print(error)\n"
        "assert not P.enabled; P.disable(); leaf(1)\n"
        "M.free_tool_id(3)\n"
        "with P: leaf(1)\n"
    )
    assert found == "leaf"
    assert "tool id" in traced.stdout


@monitoring
def test_the_tool_id_is_free_for_the_next_user():
    """What one profile muted, neither it nor the tool that has the id next misses."""
    found, traced = calls(
        "M = sys.monitoring; E = M.events\n"
        "P = nvspan.Profile(linenos=False, include='__main__', exclude=['leaf', 'note'])\n"
        "with P: work(); tool = [M.get_tool(i) for i in range(6)].index('nvspan')\n"
        "seen = []\n"
        "def note(code, offset): seen.append(code.co_name)\n"
        "M.use_tool_id(tool, 'next'); M.register_callback(tool, E.PY_START, note)\n"
        "M.restart_events(); M.set_events(tool, E.PY_START)\n"
        "work()\n"
        "with P: work()\n"
        "M.set_events(tool, 0); M.free_tool_id(tool)\n"
        "own = ['__enter__', 'enable', '__exit__', 'disable', 'enabled', '_suspended_frames']\n"
        "calls = ['work', 'generator', 'leaf', 'leaf', 'leaf', 'leaf', 'fail', 'leaf']\n"
        "assert [name for name in seen if name not in own] == calls * 2, seen\n"
    )
    filtered = "work(generator generator generator fail)"
    assert (found, traced.stderr) == (f"{filtered} {filtered}", "")


@monitoring
@pytest.mark.parametrize("event", ["PY_START", "PY_RETURN", "PY_YIELD", "PY_UNWIND", "PY_RESUME"])
def test_another_tool_that_raises_in_its_callback(event):
    """The callback of a lower tool id comes first, and ours is then not called."""
    found, traced = calls(
        f"M = sys.monitoring; event = M.events.{event}\n"
        "M.use_tool_id(0, 'raises')\n"
        "armed = False\n"
        "def callback(code, *rest):\n"
        "    global armed\n"
        "    if armed and code.co_name in ('generator', 'fail'): armed = False; raise ValueError\n"
        "M.register_callback(0, event, callback); M.set_events(0, event)\n"
        "def outer():\n"
        "    try: work()\n"
        "    except ValueError: leaf(1)\n"
        "with P:\n"
        "    for i in range(3): armed = True; outer()\n"
        "    armed = False; outer(); work()\n"
        "M.set_events(0, 0)\n"
    )
    assert traced.stderr == ""
    assert found.endswith(f"outer({WORK}) {WORK}")
    assert found.count("outer") == 4


@needs("greenlet")
def test_greenlets():
    found, traced = calls(
        "import greenlet\n"
        "def child(): leaf(1); main.switch(); leaf(1)\n"
        "def switch(): g.switch(); leaf(1)\n"
        "main = greenlet.getcurrent(); g = greenlet.greenlet(child)\n"
        "with P: switch(); switch(); work()\n"
    )
    assert traced.stderr == ""
    # What a greenlet left open when it switched is closed with the call that switched to it.
    assert found == f"switch(child(leaf leaf)) switch(leaf leaf) {WORK}"


@needs("greenlet")
def test_many_greenlet_switches_are_balanced():
    found, traced = calls(
        "import greenlet, random\n"
        "random.seed(1)\n"
        "def child(n):\n"
        "    for i in range(20):\n"
        "        leaf(1)\n"
        "        if n and random.random() < 0.1: child(n - 1)\n"
        "        elif n: greenlet.getcurrent().parent.switch()\n"
        "all = [greenlet.greenlet(child) for i in range(20)]\n"
        "with P:\n"
        "    while all:\n"
        "        g = random.choice(all)\n"
        "        g.switch(*(() if g else (3,)))\n"
        "        all = [g for g in all if not g.dead]\n"
        "    work()\n"
    )
    assert traced.stderr == ""
    assert found.endswith(WORK)
