# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""64 threads that record at once, while the program forks and children end in every way."""

from __future__ import annotations

import collections
import sys

import pytest

import nvspan
from helpers.recorded import record_command
from helpers.traced import needs_library

pytestmark = needs_library
THREADS, RANGES, CHILDREN = 64, 300, 8
PROGRAM = f"""
import os, signal, sys, threading, warnings
import nvspan

warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 and newer: of a fork beside threads
start = threading.Barrier({THREADS} + 1)

def work(name, count):
    for i in range(count):
        with nvspan.annotate(f"outer {{name}}", domain="threads"):
            with nvspan.annotate("inner"):
                nvspan.mark("mark", payload=i)

def run(number):
    start.wait()
    work(number, {RANGES})

threads = [threading.Thread(target=run, args=(number,)) for number in range({THREADS})]
for thread in threads:
    thread.start()
start.wait()
children = []
for number in range({CHILDREN}):
    child = os.fork()
    if child == 0:
        work(f"child {{number}}", 50)
        if number % 4 == 0:
            os._exit(0)
        if number % 4 == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if number % 4 == 2:
            os.execv(sys.executable, [sys.executable, "-c", "pass"])
        for other in [threading.Thread(target=work, args=(f"of child {{number}}", 20))
                      for _ in range(8)]:
            other.start()
            other.join()
        sys.exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
for thread in threads:
    thread.join()
"""


@pytest.mark.parametrize("mode", ["full", "stats", "ring=64"])
def test_every_event_of_each_is_there(mode, tmp_path):
    done = record_command([sys.executable, "-c", PROGRAM], mode=mode, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = collections.Counter()
    for path in done.files:
        recording = nvspan.read(path)
        assert [text for text in recording.problems if "ended abruptly" not in text] == []
        assert sum(row["count"] for row in recording.losses.rows()) == 0
        for row in recording.stats().rows:
            found[row.domain, row.name] += row.calls
            assert row.unclosed == 0
    of_threads = THREADS * RANGES
    of_children = CHILDREN * 50 + CHILDREN // 4 * 8 * 20
    assert found == {
        **{("threads", f"outer {number}"): RANGES for number in range(THREADS)},
        **{("threads", f"outer child {number}"): 50 for number in range(CHILDREN)},
        **{("threads", f"outer of child {number}"): 160 for number in range(3, CHILDREN, 4)},
        (None, "inner"): of_threads + of_children,
    }
