# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""span objects, domain.range handles and domains with a library's own switch."""

from __future__ import annotations

import pytest

from helpers.events import lines, plain
from helpers.traced import run_plain, run_traced

BOTH = pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])


def test_a_span_starts_and_ends_anywhere():
    code = """
import nvspan, threading
s = nvspan.span("req", "red", "srv", "http", 3)
def work(): s.end()
assert s.start() is s and s.open == 1
t = threading.Thread(target=work); t.start(); t.join()
assert s.open == 0
s.end()
with nvspan.span("block", domain="srv", payload=2.5) as b: assert b.open == 1
def raises():
    with nvspan.span("raises"): raise KeyError
try: raises()
except KeyError: pass
nvspan.span().start().end()
nvspan.get_domain("srv").span("of domain").start().end()
nvspan.span("quiet", level=2).start().end()
"""
    assert lines(run_traced(code).events) == [
        "start #1 [srv] 'req' color=00FF0000 category=#1:http payload=i64:3",
        "end #1 [srv] 'req'",
        "start #2 [srv] 'block' color=000000FF payload=f64:2.5", "end #2 [srv] 'block'",
        "start #3 [] 'raises' color=000000FF", "end #3 [] 'raises'",
        "start #4 [] - color=000000FF", "end #4 [] -",
        "start #5 [srv] 'of domain' color=000000FF", "end #5 [srv] 'of domain'",
    ]  # fmt: skip


def test_one_span_object_open_many_times():
    code = """
import nvspan, threading
s = nvspan.span("s")
s.start().start()
gate = threading.Barrier(2)
def other():
    s.start(); gate.wait(); gate.wait(); s.end()
t = threading.Thread(target=other); t.start()
gate.wait()
s.end(); nvspan.mark("one left here, one there")
gate.wait(); t.join()
s.end(); s.end()
"""
    assert plain(run_traced(code).events) == [
        "start #1 [] 's'", "start #2 [] 's'", "start #3 [] 's'",
        "end #2 [] 's'", "mark [] 'one left here, one there'",
        "end #3 [] 's'", "end #1 [] 's'",
    ]  # fmt: skip


def test_spans_of_tasks():
    code = """
import asyncio, nvspan
async def task(n):
    s = nvspan.span(f"task {n}", payload=lambda: n).start() if False else nvspan.span(f"task {n}")
    s.start()
    await turns[n].wait()
    s.end()
    turns[n - 1].set()
async def main():
    global turns
    turns = [asyncio.Event() for _ in range(3)]
    turns[2].set()  # the last one ends first
    await asyncio.gather(*(task(n) for n in range(3)))
asyncio.run(main())
"""
    assert plain(run_traced(code).events) == [
        "start #1 [] 'task 0'", "start #2 [] 'task 1'", "start #3 [] 'task 2'",
        "end #3 [] 'task 2'", "end #2 [] 'task 1'", "end #1 [] 'task 0'",
    ]  # fmt: skip


def test_two_spans_of_one_name_are_two():
    code = """
import nvspan
a, b = nvspan.span("x"), nvspan.span("x")
a.start(); b.start(); a.end(); a.end(); b.end()
"""
    assert plain(run_traced(code).events) == [
        "start #1 [] 'x'", "start #2 [] 'x'", "end #1 [] 'x'", "end #2 [] 'x'",
    ]  # fmt: skip


def test_switched_off_between():
    code = """
import nvspan
s = nvspan.span("s", domain="d").start()
nvspan.disable("d"); s.end(); s.start(); nvspan.enable("d"); s.end()
s.start(); nvspan.disable(); s.end(); nvspan.enable()
"""
    assert plain(run_traced(code).events) == [
        "start #1 [d] 's'", "end #1 [d] 's'", "start #2 [d] 's'", "end #2 [d] 's'",
    ]  # fmt: skip


def test_a_kept_range_is_reentrant_and_thread_safe():
    code = """
import nvspan, threading
d = nvspan.get_domain("lib")
r = d.range("r", "red", "c", 7)
assert isinstance(r, nvspan.annotate)
def nest(n):
    with r:
        if n: nest(n - 1)
nest(2)
t = threading.Thread(target=nest, args=(1,)); t.start(); t.join()
with d.range("level", level=2): pass
"""
    one = ["push [lib] 'r' category=#1:c payload=i64:7 depth={}", "pop [lib] 'r' depth={}"]
    assert plain(run_traced(code).events) == [
        *(one[0].format(n) for n in (0, 1, 2)), *(one[1].format(n) for n in (2, 1, 0)),
        *(one[0].format(n) for n in (0, 1)), *(one[1].format(n) for n in (1, 0)),
    ]  # fmt: skip


@BOTH
@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("nvspan.span(5)", "TypeError"),
        ("nvspan.span('a', (1, 2))", "ValueError"),
        ("nvspan.span('a', domain=5)", "TypeError"),
        ("nvspan.span('a', level=-1)", "ValueError"),
        ("nvspan.span('a', kind='nested')", "TypeError"),
        ("nvspan.span('a').start(1)", "TypeError"),
        ("nvspan.get_domain('d').range('a', domain='e')", "TypeError"),
        ("nvspan.get_domain('d').span('a', domain='e')", "TypeError"),
        ("nvspan.get_domain('d', default_level='x')", "TypeError"),
        ("nvspan.get_domain('d', default_level=1001)", "ValueError"),
        ("nvspan.get_domain('d', env=5)", "TypeError"),
    ],
)
def test_bad_arguments(run, call, error):
    code = f"import nvspan\ntry: {call}\nexcept Exception as e: print(type(e).__name__)"
    assert run(code).stdout == f"{error}\n"


@pytest.mark.parametrize(
    ("environment", "default_level", "expected"),
    [
        ({}, None, (True, 1)),
        ({}, 0, (True, 0)),
        ({"MYLIB_NVTX": ""}, 2, (True, 2)),
        ({"MYLIB_NVTX": "0"}, 2, (False, 2)),
        ({"MYLIB_NVTX": "Off"}, None, (False, 1)),
        ({"MYLIB_NVTX": "1"}, 0, (True, 1)),
        ({"MYLIB_NVTX": "true"}, 3, (True, 3)),
        ({"MYLIB_NVTX": "5"}, 1, (True, 5)),
        ({"MYLIB_NVTX": "0", "NVSPAN_DOMAINS": "+mylib"}, None, (True, 1)),
        ({"MYLIB_NVTX": "1", "NVSPAN_DOMAINS": "-my*"}, None, (False, 1)),
        ({"MYLIB_NVTX": "5", "NVSPAN_LEVEL": "mylib:2"}, 1, (True, 2)),
    ],
)
def test_a_librarys_own_variable(environment, default_level, expected):
    code = f"""
import nvspan
d = nvspan.get_domain("mylib", default_level={default_level}, env="MYLIB_NVTX")
print((d.enabled, d.level))
for level in range(7): d.annotate(f"{{level}}", level=level).__enter__()
"""
    traced = run_traced(code, env=environment)
    enabled, level = expected
    assert traced.stdout.splitlines()[-1] == str(expected)
    sent = range(level + 1) if enabled else range(0)
    assert plain(traced.events) == [f"push [mylib] '{n}' depth={n}" for n in sent]


def test_a_variable_that_cannot_be_read():
    code = """
import nvspan
d = nvspan.get_domain("mylib", env="MYLIB_NVTX")
print(d.enabled, d.level)
"""
    result = run_plain(code, env={"MYLIB_NVTX": "maybe"})
    assert result.stdout == "True 1\n"
    said = [line for line in result.stderr.splitlines() if not line.startswith("  ")]
    assert said == [
        "<string>:3: NvspanWarning: MYLIB_NVTX='maybe' is neither a level from 0 to 1000 nor one "
        "of 0 false off no 1 true on yes: taken as on"
    ]


def test_info():
    code = """
import json, nvspan
nvspan.set_message_limit(2, domain="d")
for n in range(5): nvspan.mark(f"m {n}", domain="d", category="c")
nvspan.name_thread("t"); nvspan.Domain("e", level=3); nvspan.disable("e")
info = nvspan.info()
print(json.dumps(info) and info.pop("version") == nvspan.__version__)
print(info)
"""
    expected = {
        "tool": "nvspan", "active": True, "checking": False, "names_registered": 2,
        "names_overflowed": 3, "threads_named": 1, "dropped": 0, "findings": 0,
        "device": {"backend": "exact", "begun": 0, "sent": 0, "lost": {}},
        "domains": {
            "NVTX": {"enabled": True, "level": 1, "names_registered": 0, "names_limit": 4096,
                     "names_overflowed": 0, "categories": 0},
            "d": {"enabled": True, "level": 1, "names_registered": 2, "names_limit": 2,
                  "names_overflowed": 3, "categories": 1},
            "e": {"enabled": False, "level": 3, "names_registered": 0, "names_limit": 4096,
                  "names_overflowed": 0, "categories": 0},
        },
    }  # fmt: skip
    assert run_traced(code, env={"PYTHONWARNINGS": "ignore"}).stdout == f"True\n{expected}\n"
    off = run_plain("import nvspan; i = nvspan.info(); print(i['tool'], i['active'])")
    assert off.stdout == "None False\n"
