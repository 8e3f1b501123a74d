# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Threads, signals, recursion, greenlets, many names: annotations hold."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from helpers.events import by_thread, plain
from helpers.length import length
from helpers.packages import needs
from helpers.traced import run_plain, run_traced

IMPORT = "import nvspan as nvtx, sys, threading\n"


def test_64_threads_hammer_one_domain():
    code = IMPORT + (
        "d = nvtx.get_domain('d')\n"
        "r = nvtx.annotate('shared', domain='d', category='c', payload=1)\n"
        "a = d.get_event_attributes(message='kept', category='k')\ngate = threading.Barrier(64)\n"
        "@nvtx.annotate('f', domain='d')\ndef f(): pass\n"
        "def work(i):\n gate.wait()\n for n in range(20):\n"
        "  with r: pass\n  with nvtx.annotate(f'own {i}', domain='d', payload=n): pass\n"
        "  d.push_range(a); d.pop_range(); f()\n  d.end_range(d.start_range(message=f'{n}'))\n"
        "ts = [threading.Thread(target=work, args=(i,)) for i in range(64)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]"
    )
    traced = run_traced(code)
    threads = by_thread(traced.events)
    expected = []
    for i in range(64):
        lines = []
        for n in range(20):
            lines += [
                "push [d] 'shared' category=C payload=i64:1 depth=0", "pop [d] 'shared' depth=0",
                f"push [d] 'own {i}' payload=i64:{n} depth=0", f"pop [d] 'own {i}' depth=0",
                "push [d] 'kept' category=C depth=0", "pop [d] 'kept' depth=0",
                "push [d] 'f' depth=0", "pop [d] 'f' depth=0",
                f"start [d] '{n}'", f"end [d] '{n}'",
            ]  # fmt: skip
        expected.append(lines)

    def simple(line):
        words = line.split(" ")
        words = ["category=C" if w.startswith("category=") else w for w in words if w[0] != "#"]
        return " ".join(words)

    assert sorted([simple(line) for line in lines] for lines in threads) == sorted(expected)
    ids = [event["id"] for event in traced.events if event["kind"] == "start"]
    assert len(set(ids)) == len(ids) == 64 * 20


def test_threads_share_one_object_opened_in_all_at_once():
    code = IMPORT + (
        "r = nvtx.annotate('r')\ngate = threading.Barrier(8)\n"
        "def work():\n with r:\n  gate.wait()\n  with r: gate.wait()\n  gate.wait()\n"
        "ts = [threading.Thread(target=work) for _ in range(8)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]"
    )
    assert by_thread(run_traced(code).events) == [
        ["push [] 'r' depth=0", "push [] 'r' depth=1", "pop [] 'r' depth=1", "pop [] 'r' depth=0"]
    ] * 8  # fmt: skip


@pytest.mark.parametrize("kind", ["nested", "span"])
def test_one_object_is_open_many_times_at_once(kind):
    code = IMPORT + (
        f"r = nvtx.annotate('r', kind='{kind}')\n"
        "for _ in range(1000): r.__enter__()\nfor _ in range(1000): r.__exit__(None, None, None)\n"
        "r.__exit__(None, None, None)"
    )
    counts = Counter(line.split()[0] for line in plain(run_traced(code).events))
    assert counts == (
        {"push": 1000, "pop": 1000} if kind == "nested" else {"start": 1000, "end": 1000}
    )


def test_exit_of_one_objects_entries_closes_the_innermost_first():
    code = IMPORT + (
        "r = nvtx.annotate('r', kind='span')\nr.__enter__(); r.__enter__()\n"
        "r.__exit__(None, None, None); nvtx.mark('m'); r.__exit__(None, None, None)"
    )
    assert plain(run_traced(code).events) == [
        "start #1 [] 'r'", "start #2 [] 'r'", "end #2 [] 'r'", "mark [] 'm'", "end #1 [] 'r'",
    ]  # fmt: skip


def test_signal_handlers_may_annotate():
    code = IMPORT + (
        "import signal\ncount = 0\n"
        "def handler(*_):\n global count\n"
        " with nvtx.annotate('handler', domain='signals', payload=count): count += 1\n"
        " signal.setitimer(signal.ITIMER_REAL, .001)\n"
        "signal.signal(signal.SIGALRM, handler)\nsignal.setitimer(signal.ITIMER_REAL, .001)\n"
        "while count < 20:\n with nvtx.annotate('loop'): sum(range(50))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\nprint(count)"
    )
    traced = run_traced(code)
    lines = plain(traced.events)
    handlers = [line for line in lines if "[signals]" in line]
    count = int(traced.stdout)
    assert handlers == [
        line
        for n in range(count)
        for line in (
            f"push [signals] 'handler' payload=i64:{n} depth=0",
            "pop [signals] 'handler' depth=0",
        )
    ]
    loops = [line for line in lines if "[signals]" not in line]
    assert loops == ["push [] 'loop' depth=0", "pop [] 'loop' depth=0"] * (len(loops) // 2)


def test_an_interrupt_by_a_signal_closes_the_ranges():
    code = IMPORT + (
        "import signal, time\n"
        "def handler(*_): raise KeyboardInterrupt\nsignal.signal(signal.SIGALRM, handler)\n"
        "@nvtx.annotate('f')\ndef f():\n with nvtx.annotate('in'):\n"
        "  signal.setitimer(signal.ITIMER_REAL, .01)\n  while True: pass\n"
        "try: f()\nexcept KeyboardInterrupt: print('interrupted')\nnvtx.mark('after')"
    )
    traced = run_traced(code)
    assert traced.stdout == "interrupted\n"
    assert plain(traced.events) == [
        "push [] 'f' depth=0", "push [] 'in' depth=1", "pop [] 'in' depth=1", "pop [] 'f' depth=0",
        "mark [] 'after'",
    ]  # fmt: skip


RECURSION = (
    IMPORT
    + """
limit = {limit}
sys.setrecursionlimit(limit)
def count(f, make):
    deepest = 0
    def body(n):
        nonlocal deepest
        deepest = n
        g(n + 1)
    g = make(body)
    try: g(1)
    except RecursionError: pass
    return deepest
def run():
    bare = count(None, lambda f: f)
    decorated = count(None, nvtx.annotate("deep"))
    print(bare, decorated)
threading.stack_size(512 * 1024 * 1024)
t = threading.Thread(target=run); t.start(); t.join()
"""
)


@pytest.mark.parametrize("limit", [1000, 20_000])
def test_an_idle_decorated_recursion_goes_as_deep_as_the_bare_one(limit):
    bare, decorated = map(int, run_plain(RECURSION.format(limit=limit)).stdout.split())
    assert decorated >= bare - 5


@pytest.mark.parametrize("limit", [1000, 20_000])
def test_an_active_decorated_recursion_goes_half_as_deep(limit):
    traced = run_traced(RECURSION.format(limit=limit))
    bare, decorated = map(int, traced.stdout.split())
    assert decorated >= bare // 2 - 5
    lines = [line.split()[0] for line in plain(traced.events)]
    depth = lines.count("push")
    assert depth >= decorated
    assert lines == ["push"] * depth + ["pop"] * depth


def test_with_recursion_to_the_limit_closes_every_range():
    code = IMPORT + (
        "def f():\n with nvtx.annotate('r'): f()\ntry: f()\nexcept RecursionError: print('limit')"
    )
    traced = run_traced(code)
    assert traced.stdout == "limit\n"
    words = [line.split()[0] for line in plain(traced.events)]
    assert words == ["push"] * (len(words) // 2) + ["pop"] * (len(words) // 2)
    assert len(words) > 1000


@needs("greenlet")
def test_greenlets_keep_their_ranges_apart_where_spans_are_asked_for():
    code = IMPORT + (
        "import greenlet\n"
        "def work(name):\n with nvtx.annotate(name, kind='span'):\n  main.switch()\n"
        "main = greenlet.getcurrent()\na, b = (greenlet.greenlet(work) for _ in 'ab')\n"
        "a.switch('a'); b.switch('b'); a.switch(); b.switch()\n"
        "nvtx.mark('m')"
    )
    assert plain(run_traced(code).events) == [
        "start #1 [] 'a'", "start #2 [] 'b'", "end #1 [] 'a'", "end #2 [] 'b'", "mark [] 'm'",
    ]  # fmt: skip


@needs("greenlet")
def test_greenlets_that_interleave_nested_ranges_do_no_harm():
    code = IMPORT + (
        "import greenlet\n"
        "def work(name):\n for _ in range(50):\n  with nvtx.annotate(name): main.switch()\n"
        "main = greenlet.getcurrent()\ngs = [greenlet.greenlet(work) for _ in range(5)]\n"
        "for i, g in enumerate(gs): g.switch(str(i))\n"
        "while any(gs):\n for g in gs:\n  if g: g.switch()\nprint('done')"
    )
    traced = run_traced(code)
    assert traced.stdout == "done\n"
    counts = Counter(line.split()[0] for line in plain(traced.events))
    assert counts == {"push": 250, "pop": 250}


MANY = (
    IMPORT
    + """
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
d = nvtx.get_domain("many")
for i in range(10_000): nvtx.mark(f"warm up {{i}}", domain="many")
before = rss()
for i in range({count} // 4):
    with nvtx.annotate(f"annotate {{i}}", domain="many"): pass
    nvtx.mark(f"mark {{i}}", domain="many")
    nvtx.push_range(f"push {{i}}", domain="many"); nvtx.pop_range("many")
    d.mark(message=f"domain {{i}}")
print(rss() - before, d.message_stats())
"""
)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_millions_of_distinct_names_keep_memory_flat(run):
    count = length(10_000_000, 100_000)
    env = {"NVSPAN_TRACE": "format=jsonl;file=/dev/null"}
    done = run("import warnings; warnings.simplefilter('ignore')\n" + MANY.format(count=count),
               env=env, timeout=900)  # fmt: skip
    grown, stats = done.stdout.split(" ", 1)
    assert int(grown) < 32 * 1024 * 1024
    stats = eval(stats)
    assert stats["limit"] == 4096
    assert stats["registered"] <= 4096
    if run is run_traced:
        assert stats["overflowed"] >= count - 4096


def test_past_the_limit_messages_are_plain_strings_and_one_warning_says_so():
    code = (
        "import nvspan as nvtx, warnings\nnvtx.set_message_limit(3, domain='d')\n"
        "with warnings.catch_warnings(record=True) as caught:\n warnings.simplefilter('always')\n"
        " for i in [0, 1, 2, 3, 4, 0]: nvtx.mark(f'm{i}', domain='d')\n"
        "print([(w.category.__name__, str(w.message).split(';')[0]) for w in caught])\n"
        "print(nvtx.get_domain('d').message_stats())"
    )
    traced = run_traced(code)
    assert plain(traced.events) == [
        "mark [d] 'm0'", "mark [d] 'm1'", "mark [d] 'm2'", "mark [d] ascii:'m3'",
        "mark [d] ascii:'m4'", "mark [d] 'm0'",
    ]  # fmt: skip
    told = [("NvspanWarning", "domain 'd' reached its limit of 3 registered names")]
    assert traced.stdout == f"{told}\n{{'registered': 3, 'limit': 3, 'overflowed': 2}}\n"
    assert run_plain(code).stdout.startswith("[]\n")


def test_the_environment_sets_the_message_limit():
    code = (
        "import warnings; warnings.simplefilter('ignore')\nimport nvspan\n"
        "for i in range(3): nvspan.mark(f'm{i}')"
    )
    traced = run_traced(code, env={"NVSPAN_MESSAGE_LIMIT": "2"})
    assert plain(traced.events) == ["mark [] 'm0'", "mark [] 'm1'", "mark [] ascii:'m2'"]
