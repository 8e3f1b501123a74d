# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What calls usually take: outliers and the warm-up are told apart by the rule that docs state."""

from __future__ import annotations

import math
import statistics
import sys

import numpy as np
import pytest

import nvspan
from helpers.external import File
from helpers.recorded import record_command
from helpers.reported import recording_of
from helpers.traced import needs_library

pytestmark = needs_library

US, MS = 1_000, 1_000_000


def by_rule(durations):
    """The places of the calls that the rule keeps out."""
    ordered = sorted(durations)
    p50 = ordered[math.ceil(0.5 * len(ordered)) - 1]
    p75 = ordered[math.ceil(0.75 * len(ordered)) - 1]
    limit = max(3 * p50, 2 * p75, 10 * US)
    return [i for i, ns in enumerate(durations) if ns > limit]


def read_of(folder, calls):
    """A recording of one thread in which the names' calls follow one another."""
    file = File(folder / "given.nvspan")
    now = 10**9
    for name, durations in calls.items():
        ends = np.cumsum(np.asarray(durations, dtype=np.int64) + 1) + now
        now = int(ends[-1])
        starts = ends - np.asarray(durations, dtype=np.int64)
        file.ranges(starts, ends, name=int(file.names(name)[0]))
    return file.read()


# The first two steps compile; the 30th of 40 stalls. Of four calls one may be an outlier, of three
# none. A fifth of the calls is no outlier, whatever it takes; neither is what is below 10 us.
STEPS = [3000 * MS, 40 * MS] + [(1000 + i) * US for i in range(28)] + [20 * MS] + [MS] * 9
CALLS = {
    "step": STEPS,
    "even": [MS] * 10,
    "three": [3000 * MS, MS, MS],
    "four": [3000 * MS, MS, MS, MS],
    "logging": ([MS] * 2 + [10 * MS]) * 10,
    "short": [100] * 90 + [9 * US] * 10,
    "late": [MS] * 16 + [50 * MS] + [MS] * 4,
}


@pytest.mark.parametrize("name", CALLS)
def test_the_rule(name, tmp_path):
    rows = {row.name: row for row in read_of(tmp_path, CALLS).stats().rows}
    durations = CALLS[name]
    kept_out = by_rule(durations)
    assert len(kept_out) == {"step": 3, "four": 1, "late": 1}.get(name, 0)
    first = [i for i in kept_out if i < 16]
    usual = [ns for i, ns in enumerate(durations) if i not in kept_out]
    row = rows[name]
    assert (row.calls, row.outliers, row.warmup) == (
        len(durations), len(kept_out), len(first),
    )  # fmt: skip
    assert row.warmup_total == sum(durations[i] for i in first)
    assert row.outlier_total == pytest.approx(sum(durations[i] for i in kept_out), rel=0.005)
    assert row.typical == pytest.approx(statistics.mean(usual), rel=0.005)
    assert row.mean == pytest.approx(statistics.mean(durations))


PROGRAM = """
import time, threading
import nvspan

def work():
    for i in range(20):
        with nvspan.annotate("step"):
            time.sleep(0.2 if i == 0 else 0.0005)

for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def test_each_thread_has_a_warm_up():
    recording = nvspan.read(recording_of(PROGRAM))
    (row,) = recording.stats().rows
    assert (row.calls, row.threads) == (40, 2)
    assert row.warmup >= 2
    assert row.warmup_total >= 400 * MS
    assert row.typical < row.mean
    assert row.first == min(each["start"] for each in recording.ranges.rows())
    by_thread = recording.stats("thread").rows
    assert [each.warmup >= 1 for each in by_thread] == [True] * 2


def test_statistics_without_events_know_outliers_and_no_warm_up(tmp_path):
    made = record_command([sys.executable, "-c", PROGRAM], mode="stats", folder=tmp_path)
    (row,) = made.recording.stats().rows
    assert row.outliers >= 2
    assert row.warmup == 0
    assert row.typical < row.mean
