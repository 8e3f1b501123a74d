# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Nsight Systems records every event of nvspan, under versions where nvtx 0.2.17 leaves none."""

from __future__ import annotations

import pytest

from helpers.nsys import profile

pytestmark = pytest.mark.nsys

# Colors, categories, payloads, nesting, threads and domains, each as nsys shows it.
PROGRAM = """
import {module} as nvtx, threading, time
@nvtx.annotate("decorated", domain="lib", color="green")
def decorated(x):
    with nvtx.annotate("inner", domain="lib", category="loop", payload=x): time.sleep(0.001)
with nvtx.annotate("outer", color="red", payload=-7):
    decorated(3)
    nvtx.mark("mark", domain="lib", category=9, payload=1.5)
nvtx.push_range("pushed", color=0x80112233); time.sleep(0.001); nvtx.pop_range()
handle = nvtx.start_range("span", domain="lib")
def work():
    with nvtx.annotate("in thread"): time.sleep(0.001)
    nvtx.end_range(handle)
t = threading.Thread(target=work); t.start(); t.join()
d = nvtx.get_domain("lib")
a = d.get_event_attributes(message="kept", payload=2)
d.push_range(a); time.sleep(0.001); d.pop_range()
print("done")
"""


def test_every_row_is_there(tmp_path):
    report = profile(PROGRAM.format(module="nvspan"), tmp_path)
    assert (report.status, report.stdout) == (0, "done\n")
    ranges = [line for line in report.lines if line.split()[0] not in ("domain", "category")]
    assert ranges == [
        "range [] 'outer' color=00FF0000 payload=int64:-7 depth=0 t0",
        "range [lib] 'decorated' color=00008000 depth=0 t0",
        "range [lib] 'inner' category=1000000001 color=000000FF payload=int64:3 depth=1 t0",
        "mark [lib] 'mark' category=9 color=000000FF payload=double:1.5 t0",
        "range [] 'pushed' color=80112233 depth=0 t0",
        "span [lib] 'span' color=000000FF ended_by=t1 t0",
        "range [] 'in thread' color=000000FF depth=0 t1",
        "range [lib] 'kept' color=000000FF payload=int64:2 depth=0 t0",
    ]
    rest = [line for line in report.lines if line.split()[0] in ("domain", "category")]
    assert sorted(rest) == ["category [lib] 'loop' category=1000000001 t0", "domain lib"]


def test_the_peer_leaves_no_range_under_this_version(tmp_path):
    """Shows what the test above is worth; a newer nsys, under which the peer works, skips it."""
    report = profile(PROGRAM.format(module="nvtx"), tmp_path)
    ranges = [line for line in report.lines if line.split()[0] in ("range", "mark", "span")]
    if ranges:
        pytest.skip("this nsys answers nvtxDomainIsEnabled, so the peer works under it")
    assert report.stdout == "done\n"


def test_odd_messages_neither_crash_nor_vanish(tmp_path):
    code = """
import nvspan as nvtx, warnings
warnings.simplefilter("ignore")
nvtx.mark(None); nvtx.mark(""); nvtx.mark()
nvtx.mark("nul\\0inside"); nvtx.mark("lone \\ud800"); nvtx.mark(b"bytes"); nvtx.mark(b"\\xff")
nvtx.mark("größe 寸 🙂"); nvtx.mark("x" * 60_000)
with nvtx.annotate(): pass
nvtx.push_range(None); nvtx.pop_range(); nvtx.pop_range(); nvtx.pop_range("never pushed")
nvtx.end_range(nvtx.start_range(None)); nvtx.end_range(None)
nvtx.mark("d", domain="nul\\0inside"); nvtx.mark("c", category="a\\0b")
nvtx.mark("c", category="")
nvtx.mark("payload", payload="text"); nvtx.mark("payload", payload=[1, 2])
nvtx.mark("payload", payload=2**64 - 1); nvtx.mark("payload", payload=float("inf"))
print("alive")
"""
    report = profile(code, tmp_path)
    assert (report.status, report.stdout) == (0, "alive\n")
    shown = [
        line.replace("x" * 60_000, "LONG").replace(" color=000000FF", "")
        for line in report.lines
        if line.split()[0] in ("range", "mark", "span")
    ]
    assert shown == [
        "mark [] None t0", "mark [] '' t0", "mark [] None t0",
        r"mark [] 'nul\\0inside' t0", r"mark [] 'lone \\ud800' t0", "mark [] 'bytes' t0",
        r"mark [] '\\xff' t0", "mark [] 'größe 寸 🙂' t0", "mark [] 'LONG' t0",
        "range [] None depth=0 t0", "range [] None depth=0 t0", "span [] None ended_by=t0 t0",
        r"mark [nul\0inside] 'd' t0", "mark [] 'c' category=1000000001 t0",
        "mark [] 'c' category=1000000002 t0",
        "mark [] 'payload' t0", "mark [] 'payload' t0",
        "mark [] 'payload' payload=uint64:-1 t0", "mark [] 'payload' payload=double:inf t0",
    ]  # fmt: skip


def test_an_empty_domain_name_does_not_cost_the_report(tmp_path):
    """nsys 2023.4 cannot import a report in which a domain was created with an empty name."""
    code = "import nvspan\nnvspan.mark('a')\nnvspan.mark('b', domain='')\nnvspan.mark('c')"
    report = profile(code, tmp_path)
    assert [line.split()[-3] for line in report.lines if "mark" in line] == ["'a'", "'b'", "'c'"]


def test_a_message_too_long_for_nsys_does_not_lose_the_range(tmp_path):
    """nsys 2023.4 drops events whose text has more than about 65,500 bytes."""
    code = (
        "import nvspan, warnings\nwarnings.simplefilter('ignore')\n"
        "with nvspan.annotate('x' * 1_000_000): nvspan.mark('inside')"
    )
    lines = profile(code, tmp_path).lines
    assert [line.split()[0] for line in lines] == ["range", "mark"]
    assert lines[0].split("'")[1].startswith("x" * 10_000)


def test_tasks_and_generators(tmp_path):
    code = """
import asyncio, nvspan as nvtx
async def work(name, delay):
    with nvtx.annotate(name): await asyncio.sleep(delay)
@nvtx.annotate("coroutine")
async def coroutine(): await asyncio.gather(work("a", .01), work("b", .002))
@nvtx.annotate("generator")
def generator(): yield 1
asyncio.run(coroutine())
list(generator())
"""
    report = profile(code, tmp_path)
    assert [line.replace(" color=000000FF", "") for line in report.lines] == [
        "span [] 'coroutine' ended_by=t0 t0", "span [] 'a' ended_by=t0 t0",
        "span [] 'b' ended_by=t0 t0", "range [] 'generator' depth=0 t0",
        "range [] 'generator' depth=0 t0",
    ]  # fmt: skip


def test_more_names_than_the_table_holds(tmp_path):
    code = """
import nvspan as nvtx, warnings
warnings.simplefilter("ignore")
nvtx.set_message_limit(5)
for i in range(10): nvtx.mark(f"m{i}")
"""
    report = profile(code, tmp_path)
    assert [line.split()[2] for line in report.lines] == [f"'m{i}'" for i in range(10)]


def test_a_child_process_is_recorded(tmp_path):
    code = """
import subprocess, sys
import nvspan
nvspan.mark("parent")
subprocess.run([sys.executable, "-c", "import nvspan; nvspan.mark('child')"], check=True)
"""
    lines = profile(code, tmp_path).lines
    assert [line.split(" color")[0] for line in lines] == ["mark [] 'parent'", "mark [] 'child'"]


def test_names_of_threads_and_categories(tmp_path):
    code = """
import nvspan, threading
nvspan.name_thread("my main"); nvspan.name_category(7, "io", domain="lib")
nvspan.name_threads_automatically()
nvspan.mark("m", domain="lib", category=7)
t = threading.Thread(target=nvspan.mark, args=("w",), name="my worker"); t.start(); t.join()
"""
    report = profile(code, tmp_path)
    named = [line for line in report.lines if line.split()[0] in ("category", "thread")]
    assert named == [
        "thread [] 'my main' t0",
        "category [lib] 'io' category=7 t0",
        "thread [] 'my worker' t1",
    ]  # fmt: skip
