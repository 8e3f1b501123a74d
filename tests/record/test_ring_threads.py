# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A ring that has fewer chunks than the program has threads keeps the newest events of each."""

from __future__ import annotations

import collections
import sys

import pytest

from helpers.recorded import record_command
from helpers.traced import needs_library

pytestmark = needs_library

PROGRAM = """
import sys, threading
import nvspan

threads, rounds = map(int, sys.argv[1:])
together = threading.Barrier(threads)

def work(name):
    together.wait()
    for i in range(rounds):
        with nvspan.annotate(name, payload=i):
            pass
    together.wait()  # none ends, and so gives its chunk back, before all are through

running = [threading.Thread(target=work, args=(f"thread {n}",)) for n in range(threads)]
for thread in running:
    thread.start()
for thread in running:
    thread.join()
"""


@pytest.mark.parametrize(("threads", "rounds"), [(63, 1500), (64, 1500), (65, 1500), (150, 900)])
def test_every_thread_keeps_its_newest_ranges(threads, rounds):
    command = [sys.executable, "-c", PROGRAM, str(threads), str(rounds)]
    done = record_command(command, mode="ring=1")
    assert done.recording.problems == []
    kept = collections.defaultdict(list)
    for row in done.recording.ranges.rows():
        kept[row["name"]].append(row["payload"])
    assert set(kept) == {f"thread {n}" for n in range(threads)}
    for payloads in kept.values():
        # The newest, without a gap; the last ended range is the last of all.
        assert payloads == list(range(rounds - len(payloads), rounds))
        assert len(payloads) > 1
    assert {row["reason"] for row in done.recording.losses.rows()} <= {"overwritten"}
