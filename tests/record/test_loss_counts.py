# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every event is kept or counted as lost, whatever the mode, the payloads and the space."""

from __future__ import annotations

import collections
import resource
import sys

import pytest

from helpers.disks import small_disk
from helpers.length import length
from helpers.recorded import record_command
from helpers.traced import needs_library

pytestmark = needs_library

PROGRAM = """
import random, sys, threading
import nvspan

kind, threads, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(7)
LARGE = 40000 if kind == "large" else 3000
SIZES = [chance.choice([1, 8, 40, 400, LARGE]) for _ in range(64)]

def payload(i):
    if kind == "number":
        return i
    if kind in ("mixed", "large"):
        return [None, i, i / 3, {"i": i, "text": "x" * SIZES[i % 64]}, "y" * SIZES[i % 64]][i % 5]
    if kind == "dict":
        return {"i": i, "text": "x" * SIZES[i % 64]}
    return None

def work(count):
    for i in range(count):
        with nvspan.annotate("range", payload=payload(i)):
            nvspan.mark("mark", payload=payload(i + 1))
        nvspan.end_range(nvspan.start_range("started", payload=payload(i)))

work(10)
running = [threading.Thread(target=work, args=(count,)) for _ in range(threads)]
for thread in running:
    thread.start()
for thread in running:
    thread.join()
print(5 * (10 + threads * count))
"""
KINDS = ("push", "pop", "mark", "start", "end")


def kept_and_lost(recording):
    """Every event that is in the file, and every one that it says is not."""
    stats = recording.stats()
    # What is open where a ring begins anew is told again, and no event.
    kept = len(recording.marks) + sum(2 * row.calls + row.unclosed for row in stats.rows)
    kept += recording.orphan_ends
    rows = [row for row in recording.losses.rows() if row["reason"] != "payload not kept"]
    assert stats.lost + stats.overwritten == sum(row["count"] or 0 for row in rows)
    return kept, sum(row["count"] or 0 for row in rows)


def ring_events(recording):
    """The same of each thread of a ring, None for one of whose events nothing is left to count by.

    A ring's oldest chunk begins with the ranges that were open then, counted as overwritten.
    """
    known, since, unknown = collections.Counter(), {}, set()
    for row in recording.losses.rows():
        if row["reason"] == "payload not kept":
            continue
        if row["reason"] == "overwritten":
            since[row["thread"]] = row["to"]
        if row["count"] is None:
            unknown.add(row["thread"])
        known[row["thread"]] += row["count"] or 0
    for call in recording.calls():
        if call["kind"] in KINDS and call["ts"] >= since.get(call["thread"], 0):
            known[call["thread"]] += 1
    return {thread: None if thread in unknown else count for thread, count in known.items()}


def limited(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("kind", ["none", "number", "dict", "mixed"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("limit", [24_000, 40_000, 100_000, 300_000])
def test_what_a_limit_of_file_size_leaves_out_is_counted(tmp_path, kind, threads, limit):
    command = [sys.executable, "-c", PROGRAM, kind, str(threads), "3000"]
    done = record_command(command, folder=tmp_path, preexec_fn=limited(limit))
    assert done.recording.problems == []
    assert done.stderr.count("\n") == 1
    assert "cut short: File too large" in done.stderr
    kept, lost = kept_and_lost(done.recording)
    assert kept + lost == int(done.stdout)
    assert {row["reason"] for row in done.recording.losses.rows()} == {"no space"}


@pytest.mark.parametrize("kind", ["number", "mixed"])
@pytest.mark.parametrize("mode", ["full", "ring=8"])
def test_what_a_full_disk_leaves_out_is_counted(tmp_path, kind, mode):
    count = length(20000, 5000) if kind == "mixed" else 20000
    with small_disk(tmp_path / "small", 1_048_576) as folder:
        command = [sys.executable, "-c", PROGRAM, kind, "2", str(count)]
        done = record_command(command, folder=folder, mode=mode)
        assert done.recording.problems == []
        if mode == "full":
            assert sum(kept_and_lost(done.recording)) == int(done.stdout)
        else:
            counts = ring_events(done.recording)
            main, *workers = (counts[thread] for thread in sorted(counts))
            assert main in (50, None)
            assert len(workers) == 2
            assert set(workers) - {None} == {5 * count}


@pytest.mark.parametrize("kind", ["none", "number", "dict", "mixed", "large"])
def test_what_a_ring_overwrites_is_counted(tmp_path, kind):
    # Payloads fill the ring many times sooner.
    count = 30000 if kind in ("none", "number") else length(30000, 5000)
    command = [sys.executable, "-c", PROGRAM, kind, "0", "0"]
    command[2] = PROGRAM.replace("work(10)", f"work({count})").replace("(10 +", f"({count} +")
    done = record_command(command, folder=tmp_path, mode="ring=1")
    assert done.recording.problems == []
    assert ring_events(done.recording) == {0: int(done.stdout)}


DEEP = """
import sys
import nvspan
depth = int(sys.argv[1])
for i in range(depth):
    nvspan.push_range("deep")
nvspan.mark("bottom")
for i in range(depth):
    nvspan.pop_range()
for i in range(1000):
    with nvspan.annotate("after"):
        pass
"""


def test_statistics_count_what_is_nested_too_deeply(tmp_path):
    done = record_command([sys.executable, "-c", DEEP, "6000"], mode="stats", folder=tmp_path)
    rows = {row.name: row.calls for row in done.recording.stats().rows}
    assert rows == {"deep": 4096, "after": 1000}
    (loss,) = done.recording.losses.rows()
    assert (loss["count"], loss["reason"]) == (6000 - 4096, "nested too deeply")


@pytest.mark.parametrize("depth", [600, 3000, 6000])
def test_a_ring_with_many_open_ranges_goes_on(tmp_path, depth):
    code = DEEP.replace("range(1000)", "range(100000)")
    done = record_command([sys.executable, "-c", code, str(depth)], mode="ring=1", folder=tmp_path)
    recording = done.recording
    assert recording.problems == []
    names = recording.ranges.text("name")
    assert names.count("after") > 1000
    assert ring_events(recording) == {0: 2 * depth + 1 + 200_000}


@pytest.mark.parametrize(("depth", "ended"), [(3000, ["level 2999"]), (6000, [])])
def test_a_ring_that_ends_deep_inside_never_mistakes_a_range(tmp_path, depth, ended):
    code = f"""
import nvspan
for i in range({depth}):
    nvspan.push_range(f"level {{i}}")
for i in range(300000):
    nvspan.mark("inside")
nvspan.pop_range()
"""
    done = record_command([sys.executable, "-c", code], mode="ring=1", folder=tmp_path)
    assert {row["reason"] for row in done.recording.losses.rows()} == {"overwritten"}
    assert done.recording.problems == []
    closed = [row["name"] for row in done.recording.ranges.rows() if row["end_reason"] == 0]
    assert closed == ended
