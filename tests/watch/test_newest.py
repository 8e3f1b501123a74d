# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A ring that is read again and again: no more than what is new is read, and all of it counts."""

from __future__ import annotations

from helpers.live import running, wait_until
from helpers.traced import needs_library
from nvspan.watch import figures, ring

PROGRAM = """
import nvspan, sys
def work(n):
    for _ in range(n):
        with nvspan.annotate("step"):
            nvspan.mark("seen")
nvspan.push_range("outer")
work(20000)
held = nvspan.start_range("held")
print("ready", flush=True)
input()
for part in range(3):
    work(50)
    print("ready", flush=True)
    input()
nvspan.end_range(held)
nvspan.pop_range()
print("ready", flush=True)
input()
"""


def calls(watch, name, kind="push_pop"):
    (of,) = watch.read()
    tally = of.tally.ranges.get((None, name, kind))
    return 0 if tally is None else tally.calls


@needs_library
def test_only_what_is_new_is_read_and_each_range_counts_once(tmp_path, monkeypatch):
    monkeypatch.setattr(ring, "SETTLED", 0)
    read_ranges = []
    add = ring.RingTally.add

    def spied(self, recording, match, read_at, newest):
        read_ranges.append((newest, len(recording.ranges)))
        return add(self, recording, match, read_at, newest)

    monkeypatch.setattr(ring.RingTally, "add", spied)
    with running(tmp_path, PROGRAM, "ring=4", until=False) as run:
        watch = figures.Watch([run.file])
        run.wait_for()
        wait_until(lambda: calls(watch, "step") == 20000, "the steps before")
        run.say()
        for part in range(3):
            run.wait_for()
            wait_until(lambda so_far=part: calls(watch, "step") == 20050 + 50 * so_far, "new steps")
            assert calls(watch, "outer") == 0
            run.say()
        run.wait_for()
        wait_until(lambda: calls(watch, "outer") == 1, "the end of what was open")
        assert calls(watch, "held", "start_end") == 1
        (of,) = watch.read()
        assert of.tally.marks == {(None, "seen"): 20150}
        assert (of.tally.missed, of.tally.unseen, of.tally.lost) == (0, 0, 0)
    assert read_ranges[0] == (False, read_ranges[0][1])
    assert all(newest for newest, _ in read_ranges[1:])
    assert read_ranges[-1][1] < 10_000  # a chunk or two of 64


@needs_library
def test_events_that_are_lost_count_once_over_several_readings(tmp_path):
    class Losses:
        def __init__(self, rows):
            self.rows = lambda: iter(rows)

    class Read:
        def __init__(self, *rows):
            keys = ("reason", "from", "count", "thread")
            self.losses = Losses([dict(zip(keys, (*row, 0), strict=True)) for row in rows])

    tally = ring.RingTally()
    assert tally._new_losses(Read(("no space", 10**9, 5), ("overwritten", 0, 99))) == 5
    # The same window, seen some ns away, has grown; another one has come.
    assert tally._new_losses(Read(("no space", 10**9 + 40, 7), ("no space", 3 * 10**9, 2))) == 4
    assert tally._new_losses(Read(("no space", 3 * 10**9, 2))) == 0
