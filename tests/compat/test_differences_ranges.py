# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What nvtx 0.2.17 does wrong with ranges and decorators, and nvspan does right."""

from __future__ import annotations

import pytest

from helpers.events import by_thread, plain
from helpers.traced import run_plain, run_traced

IMPORT = "import nvspan as nvtx\n"


def test_bare_decorator_decorates_with_a_tool_and_without():
    code = IMPORT + "@nvtx.annotate\ndef f(x): return x + 1\nprint(f(1), f.__name__)"
    traced = run_traced(code)
    assert traced.stdout == run_plain(code).stdout == "2 f\n"
    assert plain(traced.events) == ["push [] 'f' depth=0", "pop [] 'f' depth=0"]


def test_one_object_gives_each_decorated_function_its_own_name():
    code = IMPORT + (
        "a = nvtx.annotate(domain='d')\n@a\ndef f(): pass\n@a\ndef g(): pass\n"
        "class C:\n @a\n def m(self): pass\nf(); g(); C().m(); f()"
    )
    names = [line for line in plain(run_traced(code).events) if line.startswith("push")]
    assert [name.split("'")[1] for name in names] == ["f", "g", "m", "f"]


def test_decorated_coroutine_function_spans_the_awaited_work():
    code = IMPORT + (
        "import asyncio\n@nvtx.annotate('work')\nasync def work():\n nvtx.mark('before')\n"
        " await asyncio.sleep(0)\n nvtx.mark('after')\n return 7\nprint(asyncio.run(work()))"
    )
    traced = run_traced(code)
    assert traced.stdout == "7\n"
    assert plain(traced.events) == [
        "start #1 [] 'work'",
        "mark [] 'before'",
        "mark [] 'after'",
        "end #1 [] 'work'",
    ]


def test_decorated_generator_is_open_while_it_runs_and_not_while_suspended():
    code = IMPORT + (
        "@nvtx.annotate('gen')\ndef gen():\n nvtx.mark('in')\n yield 1\n nvtx.mark('in')\n"
        "for _ in gen(): nvtx.mark('out')"
    )
    assert plain(run_traced(code).events) == [
        "push [] 'gen' depth=0",
        "mark [] 'in'",
        "pop [] 'gen' depth=0",
        "mark [] 'out'",
        "push [] 'gen' depth=0",
        "mark [] 'in'",
        "pop [] 'gen' depth=0",
    ]


def test_decorated_async_generator_is_open_while_it_runs():
    code = IMPORT + (
        "import asyncio\n@nvtx.annotate('gen')\nasync def gen():\n nvtx.mark('in')\n yield 1\n"
        " nvtx.mark('in')\nasync def main():\n async for _ in gen(): nvtx.mark('out')\n"
        "asyncio.run(main())"
    )
    assert plain(run_traced(code).events) == [
        "push [] 'gen' depth=0",
        "mark [] 'in'",
        "pop [] 'gen' depth=0",
        "mark [] 'out'",
        "push [] 'gen' depth=0",
        "mark [] 'in'",
        "pop [] 'gen' depth=0",
    ]


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_decorated_functions_keep_their_kind(run):
    code = IMPORT + (
        "import inspect\n@nvtx.annotate('a')\nasync def c(): pass\n"
        "@nvtx.annotate('a')\ndef g(): yield\n@nvtx.annotate('a')\nasync def ag(): yield\n"
        "print(inspect.iscoroutinefunction(c), inspect.isgeneratorfunction(g),\n"
        "      inspect.isasyncgenfunction(ag))\n"
        "x, y, z = c(), g(), ag()\n"
        "print(inspect.iscoroutine(x), inspect.isgenerator(y), inspect.isasyncgen(z))\nx.close()"
    )
    assert run(code).stdout == "True True True\nTrue True True\n"


def test_interleaved_generators_do_not_close_each_others_ranges():
    code = IMPORT + (
        "@nvtx.annotate('f')\ndef f():\n yield 1\n yield 2\n"
        "@nvtx.annotate('g')\ndef g():\n yield 1\n yield 2\nlist(zip(f(), g()))"
    )
    # The last is g's, which zip drops while it is suspended: closing it runs it once more.
    assert plain(run_traced(code).events) == [
        f"{kind} [] '{name}' depth=0" for name in "fgfgfg" for kind in ("push", "pop")
    ]


def test_interleaved_tasks_do_not_close_each_others_ranges():
    code = IMPORT + (
        "import asyncio\nasync def work(name):\n with nvtx.annotate(name):\n"
        "  await asyncio.sleep(0)\n  nvtx.mark(name)\n  await asyncio.sleep(0)\n"
        "async def main(): await asyncio.gather(work('a'), work('b'))\nasyncio.run(main())"
    )
    assert plain(run_traced(code).events) == [
        "start #1 [] 'a'", "start #2 [] 'b'", "mark [] 'a'", "mark [] 'b'",
        "end #1 [] 'a'", "end #2 [] 'b'",
    ]  # fmt: skip


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_outer_annotate_on_static_and_class_methods_keeps_them(run):
    code = IMPORT + (
        "class A:\n @nvtx.annotate('s')\n @staticmethod\n def s(x): return x\n"
        " @nvtx.annotate('c')\n @classmethod\n def c(cls): return cls.__name__\n"
        "print(A.s(1), A().s(2), A.c(), A().c())\n"
        "print(type(A.__dict__['s']).__name__, type(A.__dict__['c']).__name__)"
    )
    assert run(code).stdout == "1 2 A A\nstaticmethod classmethod\n"


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_annotate_on_a_class_and_on_a_callable_object_keeps_what_they_are(run):
    code = IMPORT + (
        "@nvtx.annotate('K')\nclass K:\n def m(self): return 1\n"
        "class Call:\n def __call__(self, x): return x * 2\n"
        "print(isinstance(K, type), K().m(), isinstance(K(), K))\n"
        "c = nvtx.annotate('call')(Call())\nprint(c(4), nvtx.annotate('len')(len)([1]))"
    )
    assert run(code).stdout == "True 1 True\n8 1\n"


def test_annotated_callable_object_and_builtin_send_their_range():
    code = IMPORT + (
        "class Call:\n def __call__(self, x): return x * 2\n"
        "nvtx.annotate('call')(Call())(4)\nnvtx.annotate()(len)([1])"
    )
    assert plain(run_traced(code).events) == [
        "push [] 'call' depth=0", "pop [] 'call' depth=0",
        "push [] 'len' depth=0", "pop [] 'len' depth=0",
    ]  # fmt: skip


def test_a_payload_that_cannot_be_sent_does_not_stop_a_decorated_function():
    code = IMPORT + (
        "import warnings\nwarnings.simplefilter('error')\n"
        "with warnings.catch_warnings():\n warnings.simplefilter('ignore')\n"
        " f = nvtx.annotate('f', payload=[1, 'mixed', None])(lambda: 'ran')\n f()\n"
        "print(f(), f())"
    )
    traced = run_traced(code)
    assert traced.stdout == "ran ran\n"
    assert plain(traced.events) == ["push [] 'f' depth=0", "pop [] 'f' depth=0"] * 3


def test_exceptions_close_the_range_of_a_decorated_function_once():
    code = IMPORT + (
        "@nvtx.annotate('f')\ndef f(): raise KeyError\nfor _ in range(2):\n try: f()\n"
        " except KeyError: pass"
    )
    assert plain(run_traced(code).events) == ["push [] 'f' depth=0", "pop [] 'f' depth=0"] * 2


def test_entering_twice_and_leaving_in_the_order_of_entry_keeps_the_payloads():
    code = IMPORT + (
        "a, b = nvtx.annotate('a', payload=1, kind='span'), nvtx.annotate('b', payload=2, "
        "kind='span')\na.__enter__(); b.__enter__(); a.__exit__(None, None, None); "
        "b.__exit__(None, None, None)"
    )
    assert plain(run_traced(code).events) == [
        "start #1 [] 'a' payload=i64:1", "start #2 [] 'b' payload=i64:2",
        "end #1 [] 'a'", "end #2 [] 'b'",
    ]  # fmt: skip


def test_one_object_with_a_payload_callable_in_six_threads_sends_only_right_values():
    code = IMPORT + (
        "import threading\nhere = threading.local()\n"
        "r = nvtx.annotate('a', payload=lambda: here.value)\ngate = threading.Barrier(6)\n"
        "def work(i):\n gate.wait()\n for n in range(200):\n  here.value = i * 1000 + n\n"
        "  with r: pass\n"
        "ts = [threading.Thread(target=work, args=(i,)) for i in range(6)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]"
    )
    threads = by_thread(run_traced(code).events)
    expected = [
        [
            line
            for n in range(200)
            for line in (f"push [] 'a' payload=i64:{i * 1000 + n} depth=0", "pop [] 'a' depth=0")
        ]
        for i in range(6)
    ]
    assert sorted(threads) == sorted(expected)


def test_start_range_gives_the_same_type_of_handle_in_both_states():
    code = IMPORT + (
        "h = nvtx.start_range('a', domain='d')\nrange_id, domain = h\n"
        "print(type(h).__name__, len(h), type(range_id).__name__, type(domain).__name__)\n"
        "nvtx.end_range(h)"
    )
    assert run_traced(code).stdout == run_plain(code).stdout


def test_a_stray_pop_inside_a_with_does_not_make_it_close_another_range():
    code = IMPORT + (
        "with nvtx.annotate('outer'):\n with nvtx.annotate('inner'):\n  nvtx.pop_range()\n"
        " nvtx.mark('m')"
    )
    lines = plain(run_traced(code).events)
    assert lines.count("pop [] 'outer' depth=0") == 1
    assert lines.index("mark [] 'm'") < lines.index("pop [] 'outer' depth=0")
