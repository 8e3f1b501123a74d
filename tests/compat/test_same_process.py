# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Threads, forks, exits: whole processes send what they send under nvtx 0.2.17."""

from __future__ import annotations

import pytest

from helpers.events import by_thread
from helpers.traced import run_traced

PROGRAMS = {
    "threads_one_after_the_other": """
import threading
def work(i):
    with nvtx.annotate(f"t{i}"):
        nvtx.mark("m", payload=i)
for i in range(4):
    t = threading.Thread(target=work, args=(i,)); t.start(); t.join()
""",
    "threads_share_one_object": """
import threading
r = nvtx.annotate("shared")
gate = threading.Barrier(4)
def work():
    gate.wait()
    for _ in range(50):
        with r: pass
ts = [threading.Thread(target=work) for _ in range(4)]
for t in ts: t.start()
for t in ts: t.join()
""",
    "threads_share_one_decorated_function": """
import threading
@nvtx.annotate("f", domain="d")
def f(): pass
ts = [threading.Thread(target=lambda: [f() for _ in range(50)]) for _ in range(4)]
for t in ts: t.start()
for t in ts: t.join()
""",
    "fork_inside_a_range": """
import os
with nvtx.annotate("outer"):
    pid = os.fork()
    with nvtx.annotate("child" if pid == 0 else "parent"): pass
    if pid: os.waitpid(pid, 0)
nvtx.mark("after")
if pid == 0: os._exit(0)
""",
    "fork_while_another_thread_annotates": """
import os, threading
stop = threading.Event()
def work():
    while not stop.is_set():
        with nvtx.annotate("busy", domain="other"): pass
t = threading.Thread(target=work); t.start()
for i in range(5):
    pid = os.fork()
    if pid == 0:
        with nvtx.annotate("child"): pass
        os._exit(0)
    os.waitpid(pid, 0)
stop.set(); t.join()
""",
    "exit_code_inside_a_range": """
import sys
with nvtx.annotate("a"):
    sys.exit(3)
""",
    "error_inside_a_range": """
with nvtx.annotate("a"):
    raise RuntimeError("boom")
""",
    "os_exit_inside_a_range": """
import os
nvtx.push_range("a")
os._exit(5)
""",
    "multiprocessing_fork": """
import multiprocessing
@nvtx.annotate("work")
def work(x): return x * x
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        with nvtx.annotate("map"): print(pool.map(work, range(3)))
""",
}


# The peer imports numpy, whose thread may still be counted when CPython 3.12 looks for threads at a
# fork: then it warns.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_sends_what_the_peer_sends(name, tmp_path):
    seen = {}
    for module in ("nvtx", "nvspan"):
        script = tmp_path / f"with_{module}.py"
        script.write_text(f"import {module} as nvtx\n" + PROGRAMS[name])
        traced = run_traced(script, check=False, env=ONE_THREAD)
        events = [event for event in traced.events if event.get("domain") != "other"]
        errors = traced.stderr.strip().splitlines()[-1:]
        seen[module] = (sorted(by_thread(events)), traced.returncode, traced.stdout, errors)
    assert seen["nvspan"] == seen["nvtx"]
    assert seen["nvspan"][0]
