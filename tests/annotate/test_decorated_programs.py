# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorated functions in whole programs: events, recursion, interrupts, processes, exit."""

from __future__ import annotations

import sys

import pytest

from helpers.packages import needs
from helpers.traced import run_plain, run_traced

IMPORT = "import nvspan, sys\n"


def calls(traced):
    return traced.calls("kind", "message", "depth")


def test_every_event_of_a_program_with_each_kind_of_function():
    code = IMPORT + (
        "import asyncio\n"
        "d = nvspan.get_domain('lib')\n"
        "@d.annotate(color='#112233', category='cat', payload=7)\n"
        "def plain(x):\n"
        "    with d.annotate('inside'): return x\n"
        "@d.annotate(kind='span')\n"
        "def span(): return plain(1)\n"
        "@d.annotate\n"
        "def numbers():\n"
        "    yield 1\n"
        "@d.annotate\n"
        "async def work():\n"
        "    await asyncio.sleep(0)\n"
        "    return [x async for x in stream()]\n"
        "@d.annotate\n"
        "async def stream():\n"
        "    yield 2\n"
        "plain(1); span(); list(numbers()); print(asyncio.run(work()))\n"
    )
    traced = run_traced(code)
    assert traced.stdout == "[2]\n"
    plain = [("push", "plain"), ("push", "inside"), ("pop", "inside"), ("pop", "plain")]
    numbers = [("push", "numbers"), ("pop", "numbers")]
    stream = [("push", "stream"), ("pop", "stream")]
    assert traced.calls("kind", "message") == [
        *plain,
        ("start", "span"), *plain, ("end", "span"),
        *numbers, *numbers,
        ("start", "work"), *stream, *stream, ("end", "work"),
    ]  # fmt: skip
    assert {domain for (domain,) in traced.calls("domain")} == {"lib"}
    pushes = [event for event in traced.of_kind("push") if event["message"] == "plain"]
    assert [(e["color"], e["category_name"], e["payload"], e["message_type"]) for e in pushes] == [
        (0xFF112233, "cat", 7, "registered")
    ] * 2


def test_the_first_call_decides_and_switches_to_idle():
    code = IMPORT + (
        "@nvspan.annotate\n"
        "def first():\n"
        "    return first.__code__ is first.__wrapped__.__code__\n"
        "@nvspan.annotate\n"
        "def other(): pass\n"
        "same = lambda f: f.__code__ is f.__wrapped__.__code__\n"
        "print(same(first), same(other), first(), same(first), same(other))\n"
        "@nvspan.annotate\n"
        "def later(): pass\n"
        "print(same(later))\n"
    )
    assert run_plain(code).stdout == "False False True True True\nTrue\n"
    assert run_traced(code).stdout == "False False False False False\nFalse\n"


@pytest.mark.parametrize(
    "first", ["next(numbers())", "asyncio.run(work())", "asyncio.run(drain())", "call(1)", "span()"]
)
def test_any_kind_of_function_may_decide(first):
    code = IMPORT + (
        "import asyncio\n"
        "@nvspan.annotate\ndef numbers(): yield 1\n"
        "@nvspan.annotate\nasync def work(): return 1\n"
        "@nvspan.annotate\nasync def stream(): yield 1\n"
        "@nvspan.annotate(kind='span')\ndef span(): return 1\n"
        "async def drain(): return [x async for x in stream()]\n"
        "call = nvspan.annotate(abs)\n"
        f"print({first})\n"
        "functions = (numbers, work, stream, span)\n"
        "print({f.__code__ is f.__wrapped__.__code__ for f in functions})\n"
    )
    assert run_plain(code).stdout.endswith("{True}\n")
    traced = run_traced(code)
    assert traced.stdout.endswith("{False}\n")
    assert len(calls(traced)) in (2, 4)


DEPTH = (
    "def deepest(f):\n"
    "    low, high = 1, 1000000\n"
    "    while high - low > 1:\n"
    "        middle = (low + high) // 2\n"
    "        try: f(middle); low = middle\n"
    "        except RecursionError: high = middle\n"
    "    return low\n"
)

RECURSIVE = {
    "function": "def f(n): return f(n - 1) + 1 if n else 0\n",
    "keyword": "def f(n, *, k=1): return f(n - 1, k=2) + 1 if n else 0\n",
    "variable": "def f(n, *args): return f(n - 1, *args) + 1 if n else 0\n",
    "method": "class C:\n def f(self, n): return C.f(self, n - 1) + 1 if n else 0\n",
}


@pytest.mark.parametrize("shape", ["function", "keyword", "variable"])
def test_recursion_to_the_default_limit(shape):
    code = IMPORT + DEPTH + RECURSIVE[shape] + (
        "bare = deepest(f)\n"
        "f = nvspan.annotate(level=1)(f)\n"  # no events: a million would be slow to write
        "nvspan.mark('decide')\n"
        "print(bare, deepest(f))\n"
    )  # fmt: skip
    bare, idle = map(int, run_plain(code).stdout.split())
    assert idle == bare
    bare, active = map(int, run_traced(code).stdout.split())
    # CPython 3.13.0 counts no frames for functions with *args: there is nothing to compare with.
    assert active >= (bare // 2 if bare < 10000 else 400) - 2


SUSPENDING = {
    "generator": (
        "def f(n):\n if n: yield from f(n - 1)\n yield n\n",
        "lambda n: next(f(n))",
    ),
    "coroutine": (
        "async def f(n): return await f(n - 1) if n else 0\n",
        "lambda n: f(n).send(None)",
    ),
}


@pytest.mark.parametrize("shape", SUSPENDING)
def test_recursion_of_suspending_functions_to_the_default_limit(shape):
    source, call = SUSPENDING[shape]
    code = IMPORT + DEPTH + source + (
        f"g = {call}\n"
        "def run(n):\n"
        "    try: g(n)\n"
        "    except StopIteration: pass\n"
        "bare = deepest(run)\n"
        "f = nvspan.annotate(f)\n"
        "nvspan.mark('decide')\n"
        "print(bare, deepest(run))\n"
    )  # fmt: skip
    bare, idle = map(int, run_plain(code).stdout.split())
    assert idle == bare
    bare, active = map(int, run_traced(code).stdout.split())
    assert active >= bare // 2 - 2


@pytest.mark.parametrize("shape", RECURSIVE)
@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["idle", "active"])
def test_recursion_of_50000_calls(run, shape):
    source = RECURSIVE[shape].replace("def f", "@nvspan.annotate(level=1)\ndef f")
    if shape == "method":
        source = source.replace("\ndef f", "\n def f").replace("class C:\n @", "class C:\n @")
    code = IMPORT + source + (
        "import threading\n"
        "nvspan.mark('decide')\n"
        "sys.setrecursionlimit(110000)\n"
        f"def main(): print({'C().f' if shape == 'method' else 'f'}(50000))\n"
        # From 3.11 on a call takes no C stack, but for f(*args) on 3.11 itself.
        f"if sys.version_info < (3, 11) or {shape == 'variable'}:\n"
        "    threading.stack_size(512 * 1024 * 1024)\n"
        "thread = threading.Thread(target=main); thread.start(); thread.join()\n"
    )  # fmt: skip
    # 100,000 lines of a trace that nobody reads
    done = run(code, env={"NVSPAN_TRACE": "format=jsonl;file=/dev/null"})
    assert done.stdout == "50000\n"


def test_interrupts_at_any_moment_leave_balanced_ranges():
    code = IMPORT + (
        "import signal, itertools\n"
        "class Interrupt(BaseException): pass\n"
        "def handler(*_): raise Interrupt\n"
        "@nvspan.annotate\n"
        "def inner(n): return inner(n - 1) if n else 0\n"
        "@nvspan.annotate(kind='span')\n"
        "def span(): return inner(2)\n"
        "@nvspan.annotate\n"
        "def numbers():\n"
        "    for i in range(3): yield inner(1)\n"
        "signal.signal(signal.SIGALRM, handler)\n"
        "hits = 0\n"
        "for i in itertools.count():\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0.0002 + (i % 97) * 1e-6)\n"
        "        while True:\n"
        "            span(); list(numbers())\n"
        "    except Interrupt: hits += 1\n"
        "    if hits >= 150: break\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\n"
    )
    traced = run_traced(code)
    stack, spans = [], set()
    for kind, message, key in traced.calls("kind", "message", "id"):
        if kind == "push":
            stack.append(message)
        elif kind == "pop":
            assert stack.pop() == message
        elif kind == "start":
            spans.add(key)
        else:
            spans.remove(key)
    assert stack == []
    assert spans == set()


def test_spawned_process_imports_the_decorated_function(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import multiprocessing, nvspan, os\n"
        "@nvspan.annotate\n"
        "def work(x): return x * 2\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(work, [1, 2]))\n"
        "        pool.close(); pool.join()\n"
    )
    assert run_plain(script).stdout == "[2, 4]\n"
    traced = run_traced(script)
    assert traced.stdout == "[2, 4]\n"
    assert calls(traced) == [("push", "work", 0), ("pop", "work", 0)] * 2


def test_calls_while_the_interpreter_goes_away():
    code = IMPORT + (
        "import atexit, threading, time\n"
        "@nvspan.annotate\n"
        "def late(name): print(name, flush=True)\n"
        "@nvspan.annotate\n"
        "def numbers():\n"
        "    try: yield 1\n"
        "    finally: late('generator')\n"
        "class Dying:\n"
        "    call = late\n"
        "    def __del__(self): self.call()\n"
        "    def __repr__(self): return 'dying'\n"
        "    __str__ = __repr__\n"
        "atexit.register(late, 'atexit')\n"
        "kept = numbers(); next(kept)\n"
        "dying = Dying(); dying.me = dying\n"
        "def spin():\n"
        "    while True: late.__wrapped__; time.sleep(0.001)\n"
        "threading.Thread(target=spin, daemon=True).start()\n"
    )
    plain = run_plain(code)
    traced = run_traced(code)
    assert traced.stdout == plain.stdout
    assert traced.stderr == plain.stderr == ""
    kinds = [kind for kind, _, _ in calls(traced)]
    assert kinds.count("push") == kinds.count("pop")


def test_ten_thousand_functions_through_many_switches():
    code = IMPORT + (
        "import gc\n"
        "from nvspan import _core, launch\n"
        "import os, tempfile\n"
        "namespace = {'d': nvspan.annotate(level=1)}\n"
        "functions = []\n"
        "for i in range(10000):\n"
        "    exec(f'@d\\ndef f(a, b={i}): return a + b', namespace)\n"
        "    functions.append(namespace['f'])\n"
        "file = os.path.join(tempfile.mkdtemp(), 'x')\n"
        "for i in range(4):\n"
        "    _core.attach(launch.injection_library(), f'format=jsonl;file={file}')\n"
        "    assert all(f.__code__ is not f.__wrapped__.__code__ for f in functions)\n"
        "    assert [f(1) for f in functions[:50]] == list(range(1, 51))\n"
        "    del functions[-1000:]\n"
        "    _core.detach()\n"
        "    assert all(f.__code__ is f.__wrapped__.__code__ for f in functions)\n"
        "    assert [f(1) for f in functions[:50]] == list(range(1, 51))\n"
        "gc.collect()\n"
        "print(_core._decorated.count())\n"
    )
    assert run_plain(code).stdout in ("6000\n", "6001\n")


def test_switching_does_not_accumulate_objects():
    code = IMPORT + (
        "import gc, tempfile, os\n"
        "from nvspan import _core, launch\n"
        "file = os.path.join(tempfile.mkdtemp(), 'x')\n"
        "def local(n):\n"
        "    @nvspan.annotate(level=1)\n"
        "    def f(x): return f(x - 1) if x else n\n"
        "    @nvspan.annotate(level=1, payload=lambda: f)\n"
        "    def g(): yield f(2)\n"
        "    return f, g\n"
        "def cycle():\n"
        "    pairs = [local(i) for i in range(100)]\n"
        "    _core.attach(launch.injection_library(), f'format=jsonl;file={file}')\n"
        "    pairs += [local(i) for i in range(100)]\n"
        "    for f, g in pairs: f(3); list(g())\n"
        "    _core.detach()\n"
        "counts = []\n"
        "for _ in range(12):\n"
        "    cycle(); gc.collect(); counts.append(len(gc.get_objects()))\n"
        "print(max(counts[6:]) <= max(counts[:6]), _core._decorated.count() <= 2)\n"
    )
    assert run_plain(code).stdout == "True True\n"


@pytest.mark.parametrize(
    "flags", [["-O"], ["-OO"], ["-X", "dev"], ["-W", "error"], ["-s"]], ids=str
)
def test_interpreter_flags(flags):
    from helpers.traced import run_command

    code = IMPORT + (
        "@nvspan.annotate\n"
        "def f(a, *args, k=1, **kw):\n"
        "    'doc'\n"
        "    return a, args, k, kw\n"
        "@nvspan.annotate\n"
        "def g():\n"
        "    yield 1\n"
        "print(f(1, 2, k=3, z=4), list(g()), f.__doc__)\n"
    )
    traced = run_command([sys.executable, *flags, "-c", code])
    plain = run_command([sys.executable, *flags, "-c", code], traced=False)
    assert traced.stdout == plain.stdout
    assert traced.stderr == plain.stderr == ""
    assert len(calls(traced)) == 6


@needs("cloudpickle")
def test_a_function_serialised_by_value_while_listening_runs_elsewhere(tmp_path):
    file = tmp_path / "function.pickle"
    traced = run_traced(
        IMPORT + "import cloudpickle\n"
        "def make(factor):\n"
        "    @nvspan.annotate('by value')\n"
        "    def f(x, *, k=1): return x * factor + k\n"
        "    @nvspan.annotate\n"
        "    def g(n): yield from range(n)\n"
        "    return f, g\n"
        "f, g = make(3)\n"
        "nvspan.mark('decide')\n"
        f"open({str(file)!r}, 'wb').write(cloudpickle.dumps((f, g)))\n"
    )
    assert calls(traced) == [("mark", "decide", None)]
    load = (
        "import pickle, sys\n"
        f"f, g = pickle.load(open({str(file)!r}, 'rb'))\n"
        "print(f(2), f(2, k=0), list(g(2)))\n"
    )
    assert run_plain(load).stdout == "7 6 [0, 1]\n"
    traced = run_traced(load)
    assert traced.stdout == "7 6 [0, 1]\n"
    names = ["by value"] * 2 + ["g"] * 3
    assert [message for kind, message, _ in calls(traced) if kind == "push"] == names


@needs("cloudpickle")
def test_copies_by_value_in_the_same_process_keep_their_own_variables():
    code = IMPORT + (
        "import cloudpickle\n"
        "total = 0\n"
        "@nvspan.annotate\n"
        "def count(n):\n"
        "    global total\n"
        "    total += n\n"
        "    return total\n"
        "nvspan.mark('decide')\n"
        "copy = cloudpickle.loads(cloudpickle.dumps(count))\n"
        "print(count(1), copy(10), count(1), copy(10), total)\n"
    )
    assert run_traced(code).stdout == run_plain(code).stdout == "1 10 2 20 2\n"


def test_functions_with_builtins_of_their_own():
    code = IMPORT + (
        "space = {'__builtins__': {'__import__': __import__, 'print': print,\n"
        "    'd': nvspan.annotate}}\n"
        "exec('@d\\ndef f(): print(1)\\n@d\\ndef g(): yield 2', space)\n"
        "space['f'](); print(list(space['g']()))\n"
    )
    traced = run_traced(code)
    assert traced.stdout == run_plain(code).stdout == "1\n[2]\n"
    assert [message for kind, message, _ in calls(traced) if kind == "push"] == ["f", "g", "g"]


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["idle", "active"])
@pytest.mark.parametrize("first", ["undecided", "decided"])
def test_torch_compile_takes_decorated_functions(run, first):
    pytest.importorskip("torch")
    code = IMPORT + (
        "import torch\n"
        "@nvspan.annotate\n"
        "def f(x, k=2): return (x * k).sin()\n"
        "class Model(torch.nn.Module):\n"
        "    @nvspan.annotate\n"
        "    def forward(self, x, *rest, s=1): return f(x) * s\n"
        f"if {first == 'decided'}: nvspan.mark('decide')\n"
        "x = torch.ones(3)\n"
        "for function in (f, Model(), lambda x: f(x) + 1):\n"
        "    compiled = torch.compile(function, backend='eager')\n"
        "    print(torch.equal(compiled(x), function(x)))\n"
    )
    assert run(code).stdout == "True\n" * 3
