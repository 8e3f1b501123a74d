# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Threads and categories have names in the tool, also in one that attaches later."""

from __future__ import annotations

import sys

import pytest

from helpers.events import plain
from helpers.traced import read_events, run_plain, run_traced


def names(traced):
    """The thread names that the tool was told, `main` for a process's first thread's id."""
    return [
        ("main" if event["thread"] == event["pid"] else "other", event["name"])
        for event in traced.of_kind("name_thread")
    ]


def test_name_thread():
    code = """
import nvspan, threading
nvspan.name_thread("first")
nvspan.name_thread("again")
def work():
    nvspan.name_thread("wörker")
t = threading.Thread(target=work); t.start(); t.join()
gate = threading.Event()
t = threading.Thread(target=gate.wait); t.start()
nvspan.name_thread("by id", t.native_id)
gate.set(); t.join()
"""
    assert names(run_traced(code)) == [
        ("main", "first"), ("main", "again"), ("other", "wörker"), ("other", "by id"),
    ]  # fmt: skip


def test_name_category():
    code = """
import nvspan
nvspan.name_category(7, "io", domain="lib")
nvspan.name_category(7, "io", domain="lib")
nvspan.mark("read", category=7, domain="lib")
nvspan.mark("read", category="io", domain="lib")
nvspan.name_category(8, "net", domain="lib")
nvspan.name_category(1, "one")
nvspan.mark("m", category="another")
nvspan.mark("m", category=1)
def refused(*args):
    try: nvspan.name_category(*args)
    except ValueError as error: print(error)
refused(7, "other", "lib"); refused(9, "io", "lib"); refused(1_000_000_001, "x"); refused(0, "x")
"""
    traced = run_traced(code)
    assert plain(traced.events) == [
        "mark [lib] 'read' category=7:io",
        "mark [lib] 'read' category=7:io",
        "mark [] 'm' category=#1:another",
        "mark [] 'm' category=1:one",
    ]
    assert [
        (event["domain"], event["category"], event["name"])
        for event in traced.of_kind("name_category")
    ] == [("lib", 7, "io"), ("lib", 8, "net"), (None, 1_000_000_001, "another"), (None, 1, "one")]
    assert traced.stdout.splitlines() == [
        "category 7 or name 'other' is already used in this domain",
        "category 9 or name 'io' is already used in this domain",
        "category 1000000001 or name 'x' is already used in this domain",
        "category 0 is outside 1..0xFFFFFFFF",
    ]
    assert traced.stderr == ""


AUTOMATIC = """
import nvspan, threading
from concurrent.futures import ThreadPoolExecutor
gate = threading.Event()
early = threading.Thread(target=gate.wait, name="early"); early.start()
nvspan.name_threads_automatically(); nvspan.name_threads_automatically()
late = threading.Thread(target=gate.wait, name="late"); late.start()
late.name = "renamed"
class Sub(threading.Thread):
    def run(self): nvspan.mark("in " + self.name)
sub = Sub(name="sub"); sub.start(); sub.join()
pool = ThreadPoolExecutor(1, thread_name_prefix="pool")
pool.submit(nvspan.mark, "m").result(); pool.shutdown()
gate.set(); early.join(); late.join()
nvspan.name_threads_automatically(False)
t = threading.Thread(target=nvspan.mark, args=("unnamed",), name="unnamed"); t.start(); t.join()
"""


def test_every_thread_by_itself():
    traced = run_traced(AUTOMATIC)
    assert names(traced) == [
        ("main", "MainThread"), ("other", "early"), ("other", "late"), ("other", "renamed"),
        ("other", "sub"), ("other", "pool_0"),
    ]  # fmt: skip
    assert plain(traced.events) == ["mark [] 'in sub'", "mark [] 'm'", "mark [] 'unnamed'"]


def test_a_forked_process_names_its_own_thread():
    code = """
import nvspan, os, threading
threading.main_thread()
if child := os.fork(): os.waitpid(child, 0)
else:
    nvspan.name_threads_automatically()
    threading.current_thread().name = "child"
    os._exit(0)
"""
    assert names(run_traced(code)) == [("main", "MainThread"), ("main", "child")]


def test_threads_are_as_without_naming():
    code = """
import nvspan, threading, traceback, sys
def show(args): print(args.thread.name, [f.name for f in traceback.extract_tb(args.exc_traceback)])
threading.excepthook = show
def fails(): raise ValueError
{}
t = threading.Thread(target=fails, name="t"); t.start(); t.join()
print(threading.Thread.name.__doc__ == DOC, t.name, t.is_alive())
"""
    code = "import threading; DOC = threading.Thread.name.__doc__\n" + code
    plain_output = run_plain(code.format("")).stdout
    assert run_plain(code.format("nvspan.name_threads_automatically()")).stdout == plain_output


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
def test_processes_by_themselves(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import multiprocessing, nvspan
nvspan.name_threads_automatically()
def work(): nvspan.mark("work")
if __name__ == "__main__":
    for method in ("fork", "spawn"):
        process = multiprocessing.get_context(method).Process(target=work, name=method + " child")
        process.start(); process.join()
""")
    traced = run_traced(script)
    assert [name for name in names(traced) if name[1] != "MainThread"] == [
        ("main", "fork child"), ("main", "spawn child"),
    ]  # fmt: skip
    assert plain(traced.events) == ["mark [] 'work'", "mark [] 'work'"]


def test_data_loader_workers():
    pytest.importorskip("torch")
    code = """
import nvspan, torch.utils.data
nvspan.name_threads_automatically()
loader = torch.utils.data.DataLoader(list(range(8)), num_workers=2)
print(sum(int(batch) for batch in loader))
"""
    traced = run_traced(code)
    assert traced.stdout == "28\n"
    workers = [name for name in names(traced) if name[1].startswith("DataLoader")]
    assert sorted(workers) == [("main", "DataLoader worker 0"), ("main", "DataLoader worker 1")]


def test_a_late_tool_is_told(tmp_path):
    code = f"""
import nvspan, threading
nvspan.name_thread("main thread"); nvspan.name_category(3, "three", "lib")
t = threading.Thread(target=nvspan.name_thread, args=("dead",)); t.start(); t.join()
gate = threading.Event()
t = threading.Thread(target=gate.wait); t.start(); nvspan.name_thread("waits", t.native_id)
for n in range(2):
    with nvspan.trace({str(tmp_path)!r} + f"/{{n}}.jsonl", format="jsonl"):
        nvspan.mark("m", domain="lib", category=3)
gate.set(); t.join()
"""
    run_plain(code)
    for n in range(2):
        events = read_events(tmp_path / f"{n}.jsonl")
        assert plain(events) == ["mark [lib] 'm' category=3:three"]
        assert [event["name"] for event in events if event["kind"] == "name_thread"] == [
            "main thread",
            "waits",
        ]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("nvspan.name_thread(3)", "TypeError: name must be a str, not 3"),
        ("nvspan.name_thread('x', 'y')", "TypeError: native_id must be an int or None, not 'y'"),
        ("nvspan.name_thread('x', True)", "TypeError: native_id must be an int or None, not True"),
        ("nvspan.name_thread('x', -1)", "ValueError: native_id -1 is outside 0..0xFFFFFFFF"),
        ("nvspan.name_category('a', 'b')", "TypeError: category must be an int, not 'a'"),
        ("nvspan.name_category(1, 2)", "TypeError: name must be a str, not 2"),
        ("nvspan.name_category(2**32, 'b')",
         "ValueError: category 4294967296 is outside 1..0xFFFFFFFF"),
        ("nvspan.name_category(1, 'b', 5)",
         "TypeError: domain must be a str, bytes, a Domain or None, not 5"),
        ("nvspan.name_threads_automatically(1)", "TypeError: on must be a bool, not 1"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_bad_arguments(run, call, error):
    result = run(f"import nvspan\n{call}", check=False)
    assert result.stderr.splitlines()[-1] == error
