# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Check mode names what does not pair up, once for each pair of calls, and changes no event."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from helpers.events import plain
from helpers.traced import clean_environment, read_events, run_plain, run_traced

BOTH = pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])

START = """
import json, os, sys, threading, warnings
import nvspan
warnings.simplefilter("ignore")
nvspan.check()
def done():
    def place(site):
        return f"{site[1]} {site[2]}" if site else None
    print(json.dumps([[r.kind, place(r.site), place(r.other), r.count]
                      for r in nvspan.check.reports()]))
"""
FIRST_LINE = START.count("\n") + 1


def findings(run, code, **options):
    """[kind, line of the call at fault, line of the other, count], lines counted in `code`."""
    result = run(START + code + "\ndone()", **options)

    def line(place):
        return int(place.split()[0]) - FIRST_LINE + 1 if place else None

    return [
        (kind, line(site), line(other), count)
        for kind, site, other, count in json.loads(result.stdout.splitlines()[-1])
    ]


@BOTH
def test_what_pairs_up_is_not_reported(run):
    code = """
import asyncio
kept = nvspan.annotate("kept")
@nvspan.annotate
def decorated(n=3):
    with kept:
        return n and decorated(n - 1)
@nvspan.annotate
def generator():
    yield from range(3)
@nvspan.annotate
async def task(n):
    with nvspan.annotate("in task"):
        await asyncio.sleep(0.001 * n)
    async with nvspan.annotate("async"):
        await asyncio.sleep(0)
async def main():
    await asyncio.gather(*map(task, range(5)))
decorated(); list(generator()); asyncio.run(main())
nvspan.push_range("a", domain="x"); nvspan.push_range("b", domain="y")
nvspan.pop_range("x"); nvspan.pop_range("y")
with nvspan.annotate("recursive"), kept, kept, nvspan.span("s"):
    nvspan.push_range("p"); nvspan.pop_range()
h = nvspan.start_range("h")
t = threading.Thread(target=nvspan.end_range, args=(h,)); t.start(); t.join()
async def sync_part():
    nvspan.push_range("no await inside"); nvspan.pop_range()
asyncio.run(sync_part())
s = nvspan.span("span"); s.start().start(); s.end(); s.end()
nvspan.end_range(None)
"""
    assert findings(run, code) == []


@BOTH
def test_pops_that_close_nothing(run):
    code = """
nvspan.pop_range()
nvspan.push_range("a", domain="x")
nvspan.pop_range("y")
nvspan.get_domain("x").pop_range()
for _ in range(3): nvspan.get_domain("z").pop_range()
"""
    assert findings(run, code) == [
        ("pop_of_nothing", 2, None, 1),
        ("pop_in_wrong_domain", 4, 3, 1),
        ("pop_of_nothing", 6, None, 3),
    ]


@BOTH
def test_other_threads(run):
    code = """
def pops():
    nvspan.pop_range("t")
nvspan.push_range("mine", domain="t")
t = threading.Thread(target=pops); t.start(); t.join()
nvspan.pop_range("t")
entered = nvspan.annotate("entered", payload=1)
entered.__enter__()
def leaves():
    entered.__exit__(None, None, None)
t = threading.Thread(target=leaves); t.start(); t.join()
entered.__exit__(None, None, None)
"""
    assert findings(run, code) == [
        ("pop_on_other_thread", 3, 4, 1),
        ("pop_on_other_thread", 10, 8, 1),
    ]


@BOTH
def test_ranges_out_of_order(run):
    code = """
with nvspan.annotate("outer"):
    nvspan.push_range("left open")
nvspan.pop_range()
with nvspan.annotate("closed by hand"):
    nvspan.pop_range()
a, b = nvspan.annotate("a"), nvspan.annotate("b")
a.__enter__()
b.__enter__()
a.__exit__(None, None, None)
b.__exit__(None, None, None)
@nvspan.annotate
def f():
    nvspan.push_range("left in f")
f()
nvspan.pop_range()
"""
    assert findings(run, code) == [
        ("closed_out_of_order", 3, 2, 1),
        ("pop_of_annotation", 6, 5, 1),
        ("closed_out_of_order", 9, 8, 1),
        ("closed_out_of_order", 14, 12, 1),
    ]


@BOTH
def test_ends(run):
    code = """
h = nvspan.start_range("h")
nvspan.end_range(h)
nvspan.end_range(h)
d = nvspan.get_domain("d")
i = d.start_range(d.get_event_attributes("i"))
nvspan.get_domain("e").end_range(i)
d.end_range(i)
d.end_range(i)
d.end_range(98765)
s = nvspan.span("s").start()
s.end()
s.end()
t = nvspan.start_range("t")
t = (t[0], t[1])
nvspan.end_range(t)
nvspan.end_range(t)
nvspan.end_range((98765, nvspan.get_domain("of no event yet")))
"""
    assert findings(run, code) == [
        ("ended_twice", 4, 3, 1),
        ("end_in_wrong_domain", 7, 6, 1),
        ("ended_twice", 9, 8, 1),
        ("end_of_unknown", 10, None, 1),
        ("ended_twice", 13, 12, 1),
        ("ended_twice", 17, 16, 1),
        ("end_of_unknown", 18, None, 1),
    ]


@BOTH
def test_across_an_await(run):
    code = """
import asyncio
async def waits():
    nvspan.push_range("waits")
    await asyncio.sleep(0)
    nvspan.pop_range()
asyncio.run(waits())
async def first():
    nvspan.push_range("first")
    await asyncio.sleep(0.01)
    nvspan.pop_range()
async def second():
    nvspan.push_range("second")
    await asyncio.sleep(0.05)
    nvspan.pop_range()
async def both():
    await asyncio.gather(first(), second())
asyncio.run(both())
"""
    assert findings(run, code) == [
        ("pop_in_other_task", 11, 13, 1),
        ("pop_in_other_task", 15, 9, 1),
    ]


@BOTH
def test_what_is_left_open(run):
    code = """
def leaves():
    nvspan.push_range("in thread", domain="d")
for _ in range(2):
    t = threading.Thread(target=leaves); t.start(); t.join()
    while os.path.exists(f"/proc/self/task/{t.native_id}"): pass  # after join() it still ends
nvspan.push_range("at exit")
nvspan.start_range("started", domain="d")
span = nvspan.span("span").start()
nvspan.annotate("entered").__enter__()
"""
    result = run(START + code)
    lines = [line.replace("<string>:", "") for line in result.stderr.splitlines()]
    at = {n: f"{n + FIRST_LINE - 1} in <module>" for n in (7, 8, 9, 10)}
    end = "of the default domain is still open at exit"
    inside = f"{3 + FIRST_LINE - 1} in leaves"
    thread = (
        f"'in thread' (pushed at {inside}) of domain 'd' is still open at the end of its thread"
    )
    assert lines == [
        f"nvspan check: {thread}",
        f"nvspan check: 'at exit' (pushed at {at[7]}) {end}",
        f"nvspan check: 'started' (started at {at[8]}) of domain 'd' is still open at exit",
        f"nvspan check: 'span' (started at {at[9]}) {end}",
        f"nvspan check: 'entered' (entered at {at[10]}) {end}",
        f"nvspan check: 2 times: {thread}",
    ]


USES = """
import nvspan, asyncio, threading
@nvspan.annotate(domain="lib", category="c", payload=1)
def f(): yield
list(f())
with nvspan.annotate("a", color="red"):
    nvspan.push_range("left"); nvspan.mark("m", payload=2.5)
nvspan.pop_range(); nvspan.pop_range()
h = nvspan.start_range("h", domain="lib"); nvspan.end_range(h); nvspan.end_range(h)
async def g():
    nvspan.push_range("g"); await asyncio.sleep(0); nvspan.pop_range()
asyncio.run(g())
"""


@pytest.mark.parametrize("variable", ["NVSPAN_CHECK", "NVSPAN_STRICT"])
def test_the_tool_sees_the_same_events(variable):
    code = USES if variable == "NVSPAN_CHECK" else USES.replace("; nvspan.pop_range()\n", "\n")
    code = code if variable == "NVSPAN_CHECK" else code.replace("; nvspan.end_range(h)\n", "\n")
    before = plain(run_traced(code).events)
    checked = run_traced(code, env={variable: "1", "PYTHONWARNINGS": "ignore"}, check=False)
    if variable == "NVSPAN_CHECK":
        assert plain(checked.events) == before
        assert checked.returncode == 0
    else:
        assert checked.returncode == 1
        assert "nvspan.CheckError: 'left' (pushed at" in checked.stderr


def test_started_in_the_middle_and_stopped():
    code = """
import nvspan, warnings
warnings.simplefilter("error")
nvspan.push_range("before")
with nvspan.annotate("around"):
    with nvspan.check():
        nvspan.push_range("inside"); nvspan.pop_range()
nvspan.pop_range()
nvspan.pop_range()
nvspan.push_range("after"); nvspan.pop_range()
print(nvspan.check.reports(), nvspan.check.active())
"""
    traced = run_traced(code)
    assert traced.stdout == "[] False\n"
    assert plain(traced.events) == [
        "push [] 'before' depth=0",
        "push [] 'around' depth=1",
        "push [] 'inside' depth=2",
        "pop [] 'inside' depth=2",
        "pop [] 'around' depth=1",
        "pop [] 'before' depth=0",
        "pop [] - depth=-1",
        "push [] 'after' depth=0",
        "pop [] 'after' depth=0",
    ]


@BOTH
def test_strict_raises_at_the_call(run):
    code = """
import nvspan, threading
check = nvspan.check(strict=True)
def raised(call):
    try:
        call()
    except nvspan.CheckError as error:
        return str(error).split(" (")[0].replace("<string>", "")
h = nvspan.start_range("h"); nvspan.end_range(h)
print(raised(nvspan.pop_range))
print(raised(lambda: nvspan.end_range(h)))
print(raised(lambda: nvspan.get_domain("d").end_range(4321)))
def mismatched():
    with nvspan.annotate("outer"):
        nvspan.push_range("inner")
print(raised(mismatched))
@nvspan.annotate
def decorated(): nvspan.push_range("in decorated")
print(raised(decorated))
print(raised(nvspan.pop_range), raised(nvspan.pop_range))
print(raised(nvspan.pop_range))
check.stop()
print(raised(nvspan.pop_range))
"""
    assert run(code).stdout.splitlines() == [
        "pop_range() at :6 in raised closes nothing: no range of the default domain is open on "
        "this thread",
        "end_range() at :11 in <lambda> ends 'h'",
        "end_range() at :12 in <lambda> ends a range that nvspan did not start",
        "'inner'",
        "'in decorated'",
        "None None",
        "pop_range() at :6 in raised closes nothing: no range of the default domain is open on "
        "this thread",
        "None",
    ]


def test_told_once_at_the_line_at_fault():
    code = """
import nvspan
for _ in range(3): nvspan.pop_range()
"""
    result = run_plain(code, env={"NVSPAN_CHECK": "1"})
    text = (
        "pop_range() at <string>:3 in <module> closes nothing: no range of the default domain is "
        "open on this thread"
    )
    said = [line for line in result.stderr.splitlines() if not line.startswith("  ")]
    assert said == [
        f"<string>:3: NvspanWarning: {text}",
        f"nvspan check: 3 times: {text}",
    ]


def test_a_late_tool_and_a_fork(tmp_path):
    code = f"""
import os, nvspan, warnings
warnings.simplefilter("ignore")
nvspan.check()
nvspan.push_range("open in the parent")
with nvspan.trace({str(tmp_path / "t.jsonl")!r}, format="jsonl"):
    with nvspan.annotate("seen"): pass
    nvspan.pop_range("nowhere")
pid = os.fork()
if pid == 0:
    nvspan.pop_range(); nvspan.pop_range()
    print([r.kind for r in nvspan.check.reports()], flush=True)
    os._exit(0)
os.waitpid(pid, 0)
nvspan.pop_range()
print([r.kind for r in nvspan.check.reports()], nvspan.tool())
"""
    assert run_plain(code).stdout.splitlines() == [
        "['pop_of_nothing', 'pop_of_nothing']",
        "['pop_of_nothing'] None",
    ]
    assert plain(read_events(tmp_path / "t.jsonl")) == [
        "push [] 'seen' depth=0",
        "pop [] 'seen' depth=0",
        "pop [nowhere] - depth=-1",
    ]


def test_nothing_listens_because_of_it():
    code = "import nvspan; nvspan.check(); print(nvspan.is_active(), nvspan.tool())"
    assert run_plain(code).stdout == "False None\n"


def test_switched_off_values():
    code = "import nvspan; print(nvspan.check.active())"
    for value, active in (("", False), ("0", False), ("false", False), ("1", True)):
        assert run_plain(code, env={"NVSPAN_CHECK": value}).stdout == f"{active}\n"


@pytest.mark.parametrize("strict", [1, None, "yes"])
def test_bad_arguments(strict):
    code = f"import nvspan; nvspan.check(strict={strict!r})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=False, env=clean_environment(),
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == f"TypeError: strict must be a bool, not {strict!r}"
