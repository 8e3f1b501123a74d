# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Profile: the whole list of events of programs that call, raise, yield, await and recurse."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import nvspan
from helpers.calls import shown
from helpers.events import lines, plain, registrations
from helpers.traced import LIBRARY, needs_library, run_plain, run_traced

HEADER = """
import asyncio, os, sys
import nvspan
def leaf(): pass
def twice(): leaf(); leaf()
def fail(): raise KeyError
def caught():
    try: fail()
    except KeyError: leaf()
def passes():
    leaf(); fail()
def down(n):
    if n: down(n - 1)
def generator():
    leaf()
    try: yield 1
    except KeyError: leaf()
    yield 2
def delegate():
    yield from generator()
    leaf()
async def coroutine():
    leaf(); await asyncio.sleep(0); leaf()
async def stream():
    leaf(); yield 1; leaf()
class Class:
    def __init__(self): leaf()
    def method(self): leaf()
    @classmethod
    def of_class(cls): leaf()
    @staticmethod
    def of_none(): leaf()
    @property
    def value(self): leaf()
def begin(): P.enable(); leaf()
def end(): leaf(); P.disable(); leaf()
def profile(**options):
    options.setdefault("include", "__main__")
    return nvspan.Profile(linenos=False, **options)
P = profile()
"""


def program(code, **options):
    traced = run_traced(HEADER + code, **options)
    assert traced.stderr == ""
    return traced


def calls(code, **options):
    return shown(program(code, **options).events)


@needs_library
@pytest.mark.parametrize(
    ("code", "events"),
    [
        ("twice()", "twice(leaf leaf)"),
        ("caught()", "caught(fail leaf)"),
        ("try: passes()\n    except KeyError: leaf()", "passes(leaf fail) leaf"),
        ("down(4)", "down(down(down(down(down))))"),
        ("(lambda: leaf())()", "<lambda>(leaf)"),
        ("sorted([2, 1], key=lambda x: leaf() or x)", "<lambda>(leaf) <lambda>(leaf)"),
        (
            "c = Class(); c.method(); c.of_class(); c.of_none(); c.value",
            "__init__(leaf) method(leaf) of_class(leaf) of_none(leaf) value(leaf)",
        ),
        ("exec('leaf()')", "<module>(leaf)"),
        # Generators have a range for each stretch that they run.
        ("list(generator())", "generator(leaf) generator generator"),
        ("g = generator(); next(g); leaf(); g.throw(KeyError)",
         "generator(leaf) leaf generator(leaf) generator"),
        ("g = generator(); next(g); g.close()", "generator(leaf) generator"),
        ("g = generator(); next(g); del g", "generator(leaf) generator"),
        ("try: generator().throw(KeyError)\n    except KeyError: leaf()", "generator leaf"),
        ("list(delegate())",
         "delegate(generator(leaf)) delegate(generator) delegate(generator leaf)"),
        # throw() goes to the inner generator, past the outer one; what was not entered is not left.
        ("g = delegate(); next(g); g.throw(KeyError); list(g)",
         "delegate(generator(leaf)) generator(leaf) delegate(generator leaf)"),
        # Those that are suspended at the end have one more.
        ("a = generator(); b = generator(); next(a); next(b); next(a); next(b)",
         "generator(leaf) generator(leaf) generator generator generator generator"),
        # Coroutines and asynchronous generators, too, whichever task runs between.
        ("c = coroutine()\n    try:\n        while True: c.send(None)\n"
         "    except StopIteration: pass",
         "coroutine(leaf) coroutine(leaf)"),
        ("asyncio.run(coroutine())", "coroutine(leaf) coroutine(leaf)"),
        ("async def both(): await asyncio.gather(coroutine(), coroutine()); leaf()\n"
         "    asyncio.run(both())",
         "both coroutine(leaf) coroutine(leaf) coroutine(leaf) coroutine(leaf) both(leaf)"),
        ("async def use():\n"
         "        async for x in stream(): leaf()\n"
         "    asyncio.run(use())",
         "use(stream(leaf) leaf stream(leaf))"),
        ("async def cancelled():\n"
         "        task = asyncio.ensure_future(coroutine()); await asyncio.sleep(0)\n"
         "        task.cancel()\n"
         "        try: await task\n"
         "        except asyncio.CancelledError: leaf()\n"
         "    asyncio.run(cancelled())",
         "cancelled coroutine(leaf) cancelled coroutine cancelled(leaf)"),
    ],
)  # fmt: skip
def test_calls_are_ranges(code, events):
    assert calls(f"with P:\n    {code}\n") == events


@needs_library
def test_a_recursion_to_the_limit_is_balanced():
    traced = program(
        "def endless(): endless()\n"
        "with P:\n"
        "    try: endless()\n"
        "    except RecursionError: pass\n"
        "    leaf()\n"
    )
    text = shown(traced.events)
    count = text.count("endless")
    assert count > 500
    assert text == "endless(" * (count - 1) + "endless" + ")" * (count - 1) + " leaf"


@needs_library
def test_names_have_file_and_line():
    traced = program("with nvspan.Profile(include='__main__'): twice()\n")
    assert lines(traced.events) == [
        "push [nvtx.py] '<string>:5(twice)' color=000000FF depth=0",
        "push [nvtx.py] '<string>:4(leaf)' color=000000FF depth=1",
        "pop [nvtx.py] '<string>:4(leaf)' depth=1",
        "push [nvtx.py] '<string>:4(leaf)' color=000000FF depth=1",
        "pop [nvtx.py] '<string>:4(leaf)' depth=1",
        "pop [nvtx.py] '<string>:5(twice)' depth=0",
    ]
    assert registrations(traced.events, "register_string", "domain", "message") == [
        ("nvtx.py", "<string>:5(twice)"), ("nvtx.py", "<string>:4(leaf)"),
    ]  # fmt: skip


@needs_library
def test_a_file_is_named_by_its_last_part(tmp_path):
    script = tmp_path / "some script.py"
    script.write_text("import nvspan\ndef f(): pass\nwith nvspan.Profile(): f()\n")
    assert plain(run_traced(script).events) == [
        "push [nvtx.py] 'some script.py:2(f)' depth=0",
        "pop [nvtx.py] 'some script.py:2(f)' depth=0",
    ]


@needs_library
def test_both_kinds_of_names_of_one_function():
    code = "with nvspan.Profile(): leaf()\nwith P: leaf()\nwith nvspan.Profile(): leaf()\n"
    assert [line.split(" depth")[0] for line in plain(program(code).events)] == [
        "push [nvtx.py] '<string>:4(leaf)'", "pop [nvtx.py] '<string>:4(leaf)'",
        "push [nvtx.py] 'leaf'", "pop [nvtx.py] 'leaf'",
        "push [nvtx.py] '<string>:4(leaf)'", "pop [nvtx.py] '<string>:4(leaf)'",
    ]  # fmt: skip


@needs_library
@pytest.mark.parametrize(
    ("code", "events"),
    [
        ("len('x'); [].append(1); leaf()", "len append leaf"),
        ("sorted([2, 1], key=abs)", "sorted"),
        ("sorted([2, 1], key=lambda x: abs(x))", "sorted(<lambda>(abs) <lambda>(abs))"),
        ("try: int.from_bytes(1, 2)\n    except TypeError: len('')", "from_bytes len"),
        ("try: next(iter([]))\n    except StopIteration: leaf()", "iter next leaf"),
        ("exec('len(())')", "exec(<module>(len))"),
        ("list(map(lambda x: len(()), [1]))", "<lambda>(len)"),
    ],
)
def test_c_functions_by_name(code, events):
    assert calls(f"with profile(annotate_cfuncs=True):\n    {code}\n") == events


@needs_library
@pytest.mark.parametrize(
    ("depth", "events"),
    [
        (1, "down twice"),
        (2, "down(down) twice(leaf leaf)"),
        (3, "down(down(down)) twice(leaf leaf)"),
    ],
)
def test_max_depth(depth, events):
    assert calls(f"with profile(max_depth={depth}): down(5); twice()\n") == events


@needs_library
@pytest.mark.parametrize(
    ("options", "events"),
    [
        ("include='__main__'", "caught(fail leaf) __init__(leaf) method(leaf)"),
        ("include='__main__', exclude='leaf'", "caught(fail) __init__ method"),
        ("include='__main__', exclude=['leaf', 'fail']", "caught __init__ method"),
        ("include='caught'", "caught"),
        ("include=['caught', 'le?f']", "caught(leaf) leaf leaf"),
        ("include='__main__.leaf'", "leaf leaf leaf"),
        ("include='<str*'", "caught(fail leaf) __init__(leaf) method(leaf)"),
        ("include='*.fail'", "fail"),
        ("include='nothing'", ""),
        ("include=()", ""),
        ("exclude='*'", ""),
        ("include='json'", "dumps(encode(iterencode))"),
        ("include='json.encoder', exclude='*.iterencode'", "encode"),
        ("include='*/json/encoder.py'", "encode(iterencode)"),
        ("include='encoder.py'", "encode(iterencode)"),
        pytest.param("include='Class'", "__init__ method", marks=pytest.mark.skipif(
            sys.version_info < (3, 11), reason="code objects have no qualified name")),
        pytest.param("include='__main__.Class'", "__init__ method", marks=pytest.mark.skipif(
            sys.version_info < (3, 11), reason="code objects have no qualified name")),
        pytest.param("include='Class.m*'", "method", marks=pytest.mark.skipif(
            sys.version_info < (3, 11), reason="code objects have no qualified name")),
    ],
)  # fmt: skip
def test_include_and_exclude(options, events):
    if "Class'" in options:
        options = options.replace("'Class'", "'Class.*'")
    code = "import json; json.dumps([], indent=1)\n"
    code += f"with nvspan.Profile(linenos=False, {options}):\n"
    code += "    caught(); Class().method(); json.dumps([{}])\n"
    assert calls(code) == events


@needs_library
def test_what_one_profile_left_out_the_next_shows():
    code = "for i in range(3):\n"
    code += "    with profile(exclude='leaf'): twice(); caught()\n"
    code += "    with profile(exclude='twice'): twice(); caught()\n"
    assert calls(code) == " ".join(["twice caught(fail) leaf leaf caught(fail leaf)"] * 3)


@needs_library
@pytest.mark.parametrize(
    ("code", "events"),
    [
        # Frames that are open at enable() are left without a pop.
        ("begin(); leaf(); P.disable()", "leaf leaf"),
        ("def a(): begin(); leaf()\ndef b(): a(); leaf()\nb(); leaf(); P.disable(); leaf()",
         "leaf leaf leaf leaf"),
        ("def a(): begin(); fail()\ntry: a()\nexcept KeyError: leaf()\nP.disable()",
         "leaf fail leaf"),
        # Frames that are open at disable() are closed then.
        ("P.enable(); end(); leaf()", "end(leaf)"),
        ("def a(): end(); leaf()\ndef b(): a(); leaf()\nP.enable(); b(); leaf()",
         "b(a(end(leaf)))"),
        ("def a(): P.disable(); leaf(); P.enable(); leaf()\nP.enable(); a(); leaf(); P.disable()",
         "a leaf leaf"),
        ("def a(n):\n  if n == 0: P.disable()\n  elif n == 3: P.enable()\n"
         "  if n: a(n - 1)\n  else: leaf()\na(6); leaf()", "a(a(a))"),
        # Generators across both.
        ("g = generator()\nwith P: next(g)\nnext(g)\nwith P: list(g)",
         "generator(leaf) generator generator"),
        ("g = generator()\nnext(g)\nwith P: next(g)\nlist(g)", "generator generator"),
        ("def g():\n  P.enable(); yield 1; leaf(); P.disable(); yield 2\nlist(g())", "g(leaf)"),
        ("async def a(): P.enable(); await coroutine(); P.disable(); leaf()\nasyncio.run(a())",
         "coroutine(leaf) a(coroutine(leaf))"),
        # Enabled twice, disabled twice.
        ("P.enable(); leaf(); P.enable(); leaf(); P.disable(); leaf(); P.disable(); leaf()",
         "leaf leaf"),
        ("P.disable(); leaf()", ""),
        ("for i in range(100):\n    P.enable(); leaf(); P.disable(); leaf()",
         " ".join(["leaf"] * 100)),
        ("try:\n    with P: fail()\nexcept KeyError: leaf()", "fail"),
        ("P.enable(); twice()", "twice(leaf leaf)"),
        ("P.enable(); twice(); sys.exit(0)", "twice(leaf leaf)"),
    ],
)  # fmt: skip
def test_enabled_and_disabled_inside_calls(code, events):
    assert calls(code) == events


@needs_library
def test_beside_other_ranges():
    code = (
        "@nvspan.annotate('deco')\n"
        "def decorated(): leaf()\n"
        "@nvspan.annotate('deco')\n"
        "def decorated_generator(): yield leaf()\n"
        "with nvspan.annotate('before'):\n"
        "    P.enable()\n"
        "    with nvspan.annotate('inside'): leaf()\n"
        "    nvspan.push_range('pushed', domain='nvtx.py')\n"
        "    decorated(); list(decorated_generator())\n"
        "    nvspan.pop_range(domain='nvtx.py')\n"
        "    P.disable()\n"
    )
    shown = [re.sub(r" category=.* payload=\S+", "", line) for line in plain(program(code).events)]
    assert shown == [
        "push [] 'before' depth=0",
        "push [] 'inside' depth=1",
        "push [nvtx.py] 'leaf' depth=0", "pop [nvtx.py] 'leaf' depth=0",
        "pop [] 'inside' depth=1",
        "push [nvtx.py] 'pushed' depth=0",
        "push [] 'deco' depth=1",
        "push [nvtx.py] 'decorated' depth=1",
        "push [nvtx.py] 'leaf' depth=2", "pop [nvtx.py] 'leaf' depth=2",
        "pop [nvtx.py] 'decorated' depth=1",
        "pop [] 'deco' depth=1",
        "push [] 'deco' depth=1",
        "push [nvtx.py] 'decorated_generator' depth=1",
        "push [nvtx.py] 'leaf' depth=2", "pop [nvtx.py] 'leaf' depth=2",
        "pop [nvtx.py] 'decorated_generator' depth=1",
        "pop [] 'deco' depth=1",
        "push [] 'deco' depth=1",
        "push [nvtx.py] 'decorated_generator' depth=1",
        "pop [nvtx.py] 'decorated_generator' depth=1",
        "pop [] 'deco' depth=1",
        "pop [nvtx.py] 'pushed' depth=0",
        "pop [] 'before' depth=0",
    ]  # fmt: skip


@needs_library
@pytest.mark.parametrize(
    ("code", "events"),
    [
        ("def a(): nvspan.disable(); twice(); nvspan.enable(); leaf()\nwith P: a(); leaf()",
         "a(leaf) leaf"),
        ("def a(): nvspan.disable('nvtx.py'); twice()\nwith P: a(); leaf()", "a"),
        ("nvspan.disable('nvtx.py')\nwith P: twice(); nvspan.enable('nvtx.py'); twice()",
         "twice(leaf leaf)"),
        ("with nvspan.paused(), P: twice()", ""),
        ("nvspan.disable()\nwith P: twice(); nvspan.enable(); twice()", "twice(leaf leaf)"),
        ("def a():\n  with nvspan.paused(): leaf()\n  leaf()\nwith P: a()", "a(leaf)"),
        ("nvspan.get_domain('nvtx.py').level = 0\nwith P: twice()", ""),
    ],
)  # fmt: skip
def test_switches_apply(code, events):
    assert calls(code) == events


@needs_library
@pytest.mark.parametrize(
    "environment", [{"NVSPAN_DOMAINS": "-nvtx.py"}, {"NVSPAN_LEVEL": "0"}, {"NVTX_DISABLE": "1"}]
)
def test_the_environment_applies(environment):
    code = "P.enable(); assert P.enabled; twice(); P.disable(); assert not P.enabled\n"
    assert calls(code, env=environment) == ""


def test_without_a_tool_all_is_the_same():
    code = (
        "def a(): P.enable(); assert P.enabled; caught(); P.enable(); P.disable(); P.disable()\n"
        "a(); assert not P.enabled\n"
        "with profile(annotate_cfuncs=True) as q:\n"
        "    assert q.enabled and not P.enabled\n"
        "    list(delegate()); asyncio.run(coroutine())\n"
        "    try: P.enable()\n"
        "    except RuntimeError as error: print(error)\n"
        "print(q)\n"
    )
    plain_run = run_plain(HEADER + code)
    assert plain_run.stdout.startswith("another profile is already enabled: Profile(linenos=False")
    if LIBRARY:
        assert run_traced(HEADER + code).stdout == plain_run.stdout


ATTACH = f"""
from nvspan import _core
def attach(): _core.attach({LIBRARY!r}, "format=jsonl;file=" + sys.argv[1])
def detach(): _core.detach()
"""


@needs_library
def test_a_tool_that_comes_and_goes(tmp_path):
    from helpers.traced import read_events

    code = (
        "P = nvspan.Profile(linenos=False, include='__main__', exclude=['attach', 'detach'])\n"
        "def a(): twice(); attach(); twice(); detach(); leaf(); attach(); leaf()\n"
        "P.enable(); a(); leaf(); P.disable(); leaf(); detach()\n"
    )
    run_plain(HEADER + ATTACH + code, tmp_path / "events")
    assert shown(read_events(tmp_path / "events")) == "twice(leaf leaf) leaf leaf"


@needs_library
def test_a_range_of_a_tool_that_went_sends_no_pop(tmp_path):
    from helpers.traced import read_events

    code = (
        "P = nvspan.Profile(linenos=False, include='__main__', exclude=['attach', 'detach'])\n"
        "def a(): leaf(); detach(); attach(); leaf()\n"
        "attach(); P.enable(); a(); leaf(); P.disable(); detach()\n"
    )
    run_plain(HEADER + ATTACH + code, tmp_path / "events")
    assert plain(read_events(tmp_path / "events")) == [
        "push [nvtx.py] 'a' depth=0",
        "push [nvtx.py] 'leaf' depth=1", "pop [nvtx.py] 'leaf' depth=1",
        "push [nvtx.py] 'leaf' depth=0", "pop [nvtx.py] 'leaf' depth=0",
        "push [nvtx.py] 'leaf' depth=0", "pop [nvtx.py] 'leaf' depth=0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"include": 1}, TypeError, "include must be"),
        ({"include": [1]}, TypeError, "include must be"),
        ({"exclude": [None]}, TypeError, "exclude must be"),
        ({"max_depth": "1"}, TypeError, "max_depth must be"),
        ({"max_depth": True}, TypeError, "max_depth must be"),
        ({"max_depth": 0}, ValueError, "outside 1"),
        ({"max_depth": 1 << 40}, ValueError, "outside 1"),
    ],
)
def test_bad_arguments(options, error, text):
    with pytest.raises(error, match=text):
        nvspan.Profile(**options)


def test_an_abandoned_profile_can_be_collected():
    code = "import gc, weakref; w = weakref.ref(profile()); gc.collect(); assert w() is None\n"
    code += (
        "q = profile(); q.enable(); q.disable(); w = weakref.ref(q); del q; assert w() is None\n"
    )
    assert run_plain(HEADER + code).stderr == ""


def test_the_names_of_code_go_with_the_code():
    """A program that makes functions for ever does not grow."""
    code = """
import resource
def make(n):
    for i in range(n):
        names = {}
        exec(f"def made(): pass", names)
        names["made"]()
with nvspan.Profile(): make(3000)
first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with nvspan.Profile(): make(30000)
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - first < 4000
"""
    if sys.platform != "linux":
        pytest.skip("ru_maxrss has another unit")
    if os.environ.get("NVSPAN_SANITIZED"):
        pytest.skip("a sanitizer needs the memory itself")
    environment = None
    if LIBRARY:
        environment = {"NVTX_INJECTION64_PATH": LIBRARY, "NVSPAN_TRACE": "file=/dev/null"}
    assert run_plain(HEADER + code, env=environment).stderr == ""


def test_importing_nvspan_takes_nothing_that_profile_needs():
    code = "import sys, nvspan; print('threading' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"
