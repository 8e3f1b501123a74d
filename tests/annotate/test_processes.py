# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Children, subinterpreters and the end of the interpreter: annotations do no harm."""

from __future__ import annotations

import sys

import pytest

from helpers.events import by_thread, plain
from helpers.length import length
from helpers.traced import run_plain, run_traced

IMPORT = "import nvspan as nvtx, sys, threading, os\n"
BOTH = pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])

WORKER = """
import multiprocessing, sys
import nvspan as nvtx

@nvtx.annotate("work", domain="children")
def work(x):
    with nvtx.annotate("inner", payload=x): return x * x

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with nvtx.annotate("parent"), context.Pool(1) as pool:
        print(pool.map(work, [1, 2, 3]))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_of_multiprocessing_are_traced(method, tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    traced = run_traced(script, method)
    assert traced.stdout == "[1, 4, 9]\n"
    work = [
        line
        for x in (1, 2, 3)
        for line in (
            "push [children] 'work' depth=0", f"push [] 'inner' payload=i64:{x} depth={{0}}",
            "pop [] 'inner' depth={0}", "pop [children] 'work' depth=0",
        )
    ]  # fmt: skip
    # A forked child starts inside the parent's open range.
    depth = 1 if method == "fork" else 0
    assert sorted(by_thread(traced.events)) == sorted(
        [["push [] 'parent' depth=0", "pop [] 'parent' depth=0"],
         [line.format(depth) for line in work]]
    )  # fmt: skip


def test_a_fork_child_goes_on_inside_the_open_ranges():
    code = IMPORT + (
        "r = nvtx.annotate('r')\nnvtx.push_range('p')\nwith r:\n pid = os.fork()\n"
        " if pid: os.waitpid(pid, 0)\nnvtx.pop_range()\n"
        "with nvtx.annotate('after'): pass"
    )
    shared = ["push [] 'p' depth=0", "push [] 'r' depth=1"]
    rest = ["pop [] 'r' depth=1", "pop [] 'p' depth=0", "push [] 'after' depth=0",
            "pop [] 'after' depth=0"]  # fmt: skip
    parent, child = by_thread(run_traced(code).events)
    assert parent == shared + rest
    assert [line.split(" depth")[0] for line in child] == [line.split(" depth")[0] for line in rest]


def test_fork_while_64_threads_annotate_does_not_hang():
    code = IMPORT + (
        "stop = threading.Event()\nr = nvtx.annotate('shared', domain='busy')\n"
        "def work(i):\n n = 0\n while not stop.is_set():\n  n += 1\n  with r: pass\n"
        "  nvtx.mark(f'{i} {n}', domain='busy', category=f'{n % 7}')\n"
        "ts = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(16)]\n"
        "[t.start() for t in ts]\n"
        f"for _ in range({length(20, 5)}):\n pid = os.fork()\n if pid == 0:\n"
        "  with nvtx.annotate('child', domain='new'): nvtx.mark('m', domain='busy')\n"
        "  with r: pass\n  os._exit(0)\n assert os.waitpid(pid, 0)[1] == 0\n"
        "stop.set(); [t.join() for t in ts]; print('done')"
    )
    code = "import warnings; warnings.simplefilter('ignore')\n" + code
    traced = run_traced(code, env={"NVSPAN_TRACE": "format=jsonl;file=/dev/null"}, timeout=60)
    assert traced.stdout == "done\n"


@BOTH
def test_subinterpreters_are_supported_or_refused_clearly(run):
    code = """
import nvspan
nvspan.mark("main before")
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
inner = '''
try:
    import nvspan
except ImportError as error:
    text = str(error)
    assert "interpreter" in text, text
else:
    nvspan.mark("inner")
    with nvspan.annotate("inner"): pass
    @nvspan.annotate
    def f(): pass
    f()
'''
for _ in range(3):
    identity = interpreters.create()
    failed = interpreters.run_string(identity, inner)
    assert failed is None, failed
    interpreters.destroy(identity)
nvspan.mark("main after")
print("fine")
"""
    done = run(code, timeout=20)
    assert done.stdout == "fine\n"
    marks = [line for line in plain(done.events) if "main" in line]
    assert marks == (["mark [] 'main before'", "mark [] 'main after'"] if run is run_traced else [])


@BOTH
def test_annotations_at_the_end_of_the_interpreter_do_no_harm(run):
    code = (
        IMPORT
        + """
import atexit, weakref
class Late:
    def __init__(self, name): self.name = name; self.range = nvtx.annotate(name)
    def __del__(self, nvtx=nvtx):
        with self.range: nvtx.mark(self.name)
        with nvtx.annotate("made late"): pass
        f()
@nvtx.annotate("f")
def f(): pass
def at_exit():
    with nvtx.annotate("atexit"): f()
atexit.register(at_exit)
kept = Late("module global")
cycle = Late("cycle"); cycle.me = cycle
sys.late = Late("on sys")
weakref.finalize(f, at_exit)
nvtx.push_range("never closed")
handle = nvtx.start_range("never ended")
"""
    )
    done = run(code)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("statement", "status"),
    [("sys.exit(7)", 7), ("raise SystemExit", 0), ("raise ValueError('x')", 1), ("exit(4)", 4)],
)
def test_leaving_the_program_inside_ranges_closes_them(statement, status):
    code = IMPORT + (f"@nvtx.annotate('f')\ndef f():\n with nvtx.annotate('in'): {statement}\nf()")
    traced = run_traced(code, check=False)
    assert traced.returncode == status
    assert plain(traced.events) == [
        "push [] 'f' depth=0", "push [] 'in' depth=1", "pop [] 'in' depth=1", "pop [] 'f' depth=0",
    ]  # fmt: skip


def test_exit_of_a_thread_inside_a_range_closes_it():
    code = IMPORT + (
        "def work():\n with nvtx.annotate('in'): sys.exit()\n"
        "t = threading.Thread(target=work); t.start(); t.join()\nnvtx.mark('m')"
    )
    assert plain(run_traced(code).events) == [
        "push [] 'in' depth=0", "pop [] 'in' depth=0", "mark [] 'm'",
    ]  # fmt: skip


@BOTH
def test_objects_are_collected_and_leave_nothing_behind(run):
    code = (
        IMPORT
        + """
import gc, weakref
class Big: pass
big = Big(); gone = weakref.ref(big)
r = nvtx.annotate("r", payload=lambda big=big: 1)
with r: pass
@nvtx.annotate("f")
def f(big=big): pass
f()
dead = weakref.ref(f)
del r, f, big
gc.collect()
print(gone(), dead())
"""
    )
    assert run(code).stdout == "None None\n"


@BOTH
def test_reference_counts_stay_even(run):
    code = (
        IMPORT
        + """
import gc
text, domain, payload = "message " + str(os.getpid()), "d" + str(os.getpid()), object()
names = [text, domain, None, True]
def once():
    with nvtx.annotate(text, domain=domain): pass
    with nvtx.annotate(text, "red", domain, text, 5) as r: r.attributes
    nvtx.mark(text, domain=domain); nvtx.push_range(text); nvtx.pop_range()
    nvtx.end_range(nvtx.start_range(text, domain=domain))
    nvtx.get_domain(domain).mark(message=text)
    try: nvtx.annotate(text, color="no such color")
    except ValueError: pass
    try: nvtx.mark(text, domain=5)
    except TypeError: pass
for _ in range(100): once()
for _ in range(3): gc.collect()
before = [sys.getrefcount(n) for n in names[:2]]; objects = len(gc.get_objects())
for _ in range(1000): once()
gc.collect(); after = [sys.getrefcount(n) for n in names[:2]]
print([a - b for a, b in zip(after, before)], len(gc.get_objects()) - objects < 20)
"""
    )
    assert run(code).stdout == "[0, 0] True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_churn_of_decorated_functions_keeps_memory_flat():
    code = (
        IMPORT
        + """
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
def churn(n):
    for i in range(n):
        @nvtx.annotate("f")
        def f(): pass
        f()
        r = nvtx.annotate(f"r {i % 50}", payload=i)
        with r: pass
churn(2000); before = rss(); churn(20_000); print(rss() - before)
"""
    )
    assert int(run_plain(code).stdout) < 8 * 1024 * 1024
