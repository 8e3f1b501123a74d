# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What calls usually take: outliers and the warm-up are told apart by the rule that docs state."""

from __future__ import annotations

import math
import statistics
import sys

import pytest

import nvspan
from helpers.recorded import record_command
from helpers.reported import recording_of
from helpers.traced import needs_library

pytestmark = needs_library

# The first two steps compile; the 30th of 40 stalls. "even" has no outlier; "few" is too few calls
# to tell; "short" never reaches 10 us.
PROGRAM = """
import time
import nvspan

def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass

for i in range(40):
    with nvspan.annotate("step", payload=i):
        busy(0.05 if i < 2 else 0.02 if i == 30 else 0.001)
for i in range(10):
    with nvspan.annotate("even"):
        busy(0.001)
for i in range(3):
    with nvspan.annotate("few"):
        busy(0.02 if i == 0 else 0.0005)
for i in range(1000):
    with nvspan.annotate("short"):
        pass
"""


def by_rule(durations):
    """The places of the calls that the rule keeps out."""
    ordered = sorted(durations)
    p50 = ordered[math.ceil(0.5 * len(ordered)) - 1]
    p75 = ordered[math.ceil(0.75 * len(ordered)) - 1]
    limit = max(3 * p50, 2 * p75, 10_000)
    return [i for i, ns in enumerate(durations) if ns > 1.01 * limit]


def test_the_first_steps_and_a_stall_are_kept_out():
    recording = nvspan.read(recording_of(PROGRAM))
    steps = [row["duration"] for row in recording.ranges.rows() if row["name"] == "step"]
    rows = {row["name"]: row for row in recording.stats().rows}
    kept_out = by_rule(steps)
    assert kept_out[:2] == [0, 1]
    assert 30 in kept_out
    row = rows["step"]
    assert row["outliers"] == len(kept_out)
    assert row["warmup"] == sum(i < 16 for i in kept_out)
    assert row["warmup_total"] == sum(steps[i] for i in kept_out if i < 16)
    assert row["outlier_total"] == pytest.approx(sum(steps[i] for i in kept_out), rel=0.01)
    usual = [ns for i, ns in enumerate(steps) if i not in kept_out]
    assert row["typical"] == pytest.approx(statistics.mean(usual), rel=0.01)
    assert row["mean"] == pytest.approx(statistics.mean(steps))
    assert row["mean"] > 2 * row["typical"]
    assert row["p50"] == pytest.approx(statistics.median_low(steps), rel=0.01)


def test_nothing_is_kept_out_where_calls_are_even_few_or_short():
    rows = {row["name"]: row for row in nvspan.read(recording_of(PROGRAM)).stats().rows}
    assert (rows["few"]["outliers"], rows["few"]["warmup"]) == (0, 0)
    assert rows["few"]["typical"] == rows["few"]["mean"]
    short = rows["short"]
    longer = sum(
        row["duration"] > 10_100 for row in nvspan.read(recording_of(PROGRAM)).ranges.rows()
        if row["name"] == "short"
    )  # fmt: skip
    assert short["outliers"] <= longer


def test_each_thread_has_a_warm_up():
    code = (
        PROGRAM.partition("for i in range(40)")[0]
        + """
import threading
def work():
    for i in range(20):
        with nvspan.annotate("step"):
            busy(0.03 if i == 0 else 0.0005)
for _ in range(3):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
    )
    (row,) = nvspan.read(recording_of(code)).stats().rows
    assert (row["calls"], row["warmup"] >= 3, row["threads"]) == (60, True, 3)
    assert row["warmup_total"] >= 3 * 30_000_000
    by_thread = nvspan.read(recording_of(code)).stats("thread").rows
    assert [each["warmup"] >= 1 for each in by_thread] == [True] * 3


def test_statistics_without_events_know_outliers_and_no_warm_up(tmp_path):
    made = record_command([sys.executable, "-c", PROGRAM], mode="stats", folder=tmp_path)
    row = next(row for row in made.recording.stats().rows if row["name"] == "step")
    assert row["outliers"] >= 3
    assert row["warmup"] == 0
    assert row["typical"] < row["mean"] / 2
