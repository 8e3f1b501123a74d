# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Deferred events and batches of counter samples keep the times that they were submitted with."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from helpers.compile import build
from helpers.recorded import record_command
from helpers.traced import needs_library
from nvspan._results import MarkRow

pytestmark = needs_library
PROGRAM = Path(__file__).parents[1] / "programs" / "deferred_events.cpp"
MS = 1_000_000
HOUR = 3600 * 1000 * MS
# One clock is read beside another. An hour ago is as exact as a run of 20 ms knows the frequency:
# a clock that is read 5 us late moves it by a second.
CLOSE, FAR = 50_000, 1000 * MS


@pytest.mark.parametrize("mode", ["full", "ring=1"])
def test_deferred_events_are_ranges_and_marks_at_their_times(mode):
    done = record_command([str(build(PROGRAM))], mode=mode)
    recording, zero = done.recording, int(done.stdout)
    assert recording.problems == []
    rows = [row for row in recording.ranges.rows() if row["domain"] == "device"]
    keys = ("process", "name", "kind", "category", "color", "end_reason", "parent")
    kernel = ("kernel", 1, 4, 0xFF112233, 0, None)
    copy = ("copy", 1, 0, 0xFF000000, 0, None)
    parent = recording.ranges["process"][recording.ranges.text("name").index("submitting")]
    child = 1 - parent
    assert [tuple(row[key] for key in keys) for row in rows if row["process"] == parent] == [
        (parent, *kernel), (parent, *copy), (parent, *kernel),
    ]  # fmt: skip
    assert [tuple(row[key] for key in keys) for row in rows if row["process"] == child] == [
        (child, *kernel)
    ]
    expected = [(5 * MS, 9 * MS), (1 * MS, 6 * MS), (-HOUR, -HOUR + 10_000 * MS)]
    times = [(row["start"] - zero, row["end"] - zero) for row in rows]
    for (start, end), (start_expected, end_expected) in zip(
        sorted(times), sorted([*expected, expected[0]]), strict=True
    ):
        tolerance = FAR if start_expected < 0 else CLOSE
        assert abs(start - start_expected) < tolerance
        assert abs(end - end_expected) < tolerance
    lanes = {recording.threads.text("name")[row["thread"]] for row in rows}
    assert lanes == {"deferred events"}
    (mark,) = recording.marks.rows()
    assert (mark["domain"], mark["name"]) == ("device", "flushed")
    assert abs(mark["time"] - zero - 2 * MS) < CLOSE
    names = [row["name"] for row in recording.ranges.rows() if row["domain"] is None]
    assert names == ["submitting"]


def test_batches_of_samples_are_counters_at_their_times():
    done = record_command([str(build(PROGRAM))])
    zero = int(done.stdout)
    rows = [
        (row["name"], row["value"], row["kind"], round((row["time"] - zero) / MS, 1))
        for row in done.recording.counters.rows()
    ]
    assert rows == [
        ("queue", 3.0, 0, 1.0), ("queue", 1.0, 0, 3.0), ("queue", 4.0, 0, 2.0),
        ("load", 0.5, 1, 7.0), ("load", 0.25, 1, 8.0),
    ]  # fmt: skip


def test_deferred_events_count_in_statistics_alone():
    stats = record_command([str(build(PROGRAM))], mode="stats").recording.stats()
    rows = {row.name: row for row in stats.rows if row.domain == "device"}
    assert {name: row.calls for name, row in rows.items()} == {"kernel": 3, "copy": 1}
    assert abs(rows["copy"].total - 5 * MS) < CLOSE
    assert stats.marks == [MarkRow("device", "flushed", 1)]


# A second back, in the first milliseconds of a recording: it knows the rate of its clock from them.
FAR_BACK = """
import numpy as np
import nvspan
from nvspan import EntryKind as K, numpy_dtype as D

domain = nvspan.get_domain("device")
rows = np.zeros(40, [("begin", D("i8", entry_kind=K.RANGE_BEGIN)),
                     ("end", D("i8", entry_kind=K.RANGE_END))])
rows["begin"] = domain.get_timestamp() - 1_000_000_000 + 20_000_000 * np.arange(40)
rows["end"] = rows["begin"] + 1_000_000
domain.event_batch(rows)
"""


def test_ranges_of_one_batch_are_as_long_and_as_far_apart_as_each_other():
    rows = list(record_command([sys.executable, "-c", FAR_BACK]).recording.ranges.rows())
    lengths = {row["end"] - row["start"] for row in rows}
    apart = {after["start"] - row["start"] for row, after in pairwise(rows)}
    assert len(rows) == 40
    assert max(lengths) - min(lengths) <= 2  # ns, by which ticks are rounded
    assert max(apart) - min(apart) <= 2
