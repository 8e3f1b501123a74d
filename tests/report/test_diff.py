# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan diff``: what is a change, and how sure it is."""

from __future__ import annotations

import json
import math
import statistics

import pytest

from helpers.reported import recording_of, run_nvspan
from helpers.traced import needs_library
from nvspan._reader import t_two_sided
from nvspan._results import StatsRow
from nvspan.answers.compare import compare

pytestmark = needs_library

# Ranges that say themselves how long they took: no load of the machine changes a verdict.
RANGES = """
import numpy as np
import nvspan
from nvspan import EntryKind as K, numpy_dtype as D

row = np.dtype([
    ("begin", D("i8", entry_kind=K.RANGE_BEGIN)), ("end", D("i8", entry_kind=K.RANGE_END)),
    ("name", D("u8", entry_kind=K.MESSAGE, entry_type=nvspan.PayloadEntryType.REGISTERED_STRING)),
])

def send(domain, name, calls, duration):
    rows = np.zeros(calls, row)
    rows["name"] = domain.get_registered_string(name).handle
    rows["begin"] = domain.get_timestamp() + 20_000_000 * np.arange(-calls, 0)
    rows["end"] = rows["begin"] + duration + 1000 * (np.arange(calls) % 5 - 2)
    domain.event_batch(rows)

send(nvspan.get_domain(), "steady", {calls}, 1_000_000)
send(nvspan.get_domain("lib"), "work", {calls}, {duration})
with nvspan.annotate("{other}"):
    pass
"""
# Student's t from a table: two-sided probability, t, degrees of freedom.
KNOWN = [(0.05, 12.7062, 1), (0.05, 2.2281, 10), (0.01, 3.1693, 10), (0.10, 1.6973, 30),
         (0.05, 1.9840, 100), (0.001, 3.3905, 100), (0.05, 1.95996, math.inf)]  # fmt: skip


@pytest.mark.parametrize(("probability", "t", "freedom"), KNOWN)
def test_probabilities_are_those_of_the_table(probability, t, freedom):
    assert t_two_sided(t, freedom) == pytest.approx(probability, rel=1e-3)
    assert t_two_sided(-t, freedom) == t_two_sided(t, freedom)


class Given:
    """Statistics without a recording."""

    def __init__(self, **rows):
        self.rows = [
            StatsRow(**{
                **dict.fromkeys(StatsRow._types), "name": name, "kind": "push_pop",
                "backward": False, "calls": 10, "open_time": 0, "mean": mean, "std": 0.0,
                "p50": mean,
                "total": 10 * mean, "sum": 10 * mean, "warmup": 0, "warmup_total": 0,
                "squares": 10 * mean**2, "warmup_squares": 0,
            })
            for name, mean in rows.items()
        ]  # fmt: skip

    def stats(self):
        return self


def given(*means):
    return [Given(r=mean) for mean in means]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ((100, 101, 99), (102, 101, 103), "same"),
        ((100, 101, 99), (110, 111, 112), "slower"),
        ((100, 101, 99), (90, 91, 89), "faster"),
        ((100, 120, 80), (110, 130, 90), "unsure"),
        ((100, 101, 99), (103, 105, 104), "unsure"),  # around the threshold
        ((100,), (200,), "unsure"),
        ((100,), (100,), "unsure"),
        ((100, 101, 99), (200,), "slower"),
        ((100, 100), (120, 120), "slower"),
        ((100, 100), (100, 100), "same"),
        ((0, 0), (0, 0), "same"),
        ((0,), (0,), "same"),
        ((0, 0), (1, 1), "unsure"),
    ],
)
def test_verdicts(before, after, verdict):
    (row,) = compare(given(*before), given(*after))
    assert row["verdict"] == verdict


def test_the_limits_hold_the_change():
    (row,) = compare(given(100, 110, 90), given(120, 132, 108))
    assert row["change"] == pytest.approx(0.2)
    error = statistics.stdev(map(math.log, (0.9, 1, 1.1))) * math.sqrt(2 / 3)
    margin = 2.77645 * error  # t(0.95, 4)
    change = math.log1p(row["change"])
    assert change == pytest.approx(math.log(1.2))
    assert math.log1p(row["high"]) - change == pytest.approx(margin, rel=1e-4)
    assert change - math.log1p(row["low"]) == pytest.approx(margin, rel=1e-4)
    assert row["confidence"] == pytest.approx(1 - t_two_sided(change / error, 4), rel=1e-4)


def diff(*arguments, check):
    done = run_nvspan("diff", "--format", "json", *arguments, check=check)
    return {row["name"]: row for row in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def runs():
    """Three runs before, three after."""
    pytest.importorskip("numpy")
    return [
        [
            recording_of(RANGES.format(calls=40, duration=duration, other=other) + f"# run {i}")
            for i in range(3)
        ]
        for duration, other in ((1_000_000, "old"), (4_000_000, "fresh"))
    ]


def test_a_slower_range_fails_the_gate(runs):
    before, after = runs
    rows = diff("--fail", "--repeats", "--threshold", "50%", *before, "--", *after, check=1)
    assert {name: row["verdict"] for name, row in rows.items() if name in ("work", "steady")} == {
        "work": "slower", "steady": "same",
    }  # fmt: skip
    assert (rows["old"]["verdict"], rows["fresh"]["verdict"]) == ("gone", "new")
    # A recording's clock is as fast as a short run can tell, the same for all of its ranges.
    times = (1 + rows["work"]["change"]) / (1 + rows["steady"]["change"])
    assert times - 1 == pytest.approx(3, rel=1e-3)
    assert rows["work"]["low"] < rows["work"]["change"] < rows["work"]["high"]
    assert (rows["work"]["calls_before"], rows["work"]["calls_after"]) == (120, 120)


def test_the_other_way_is_faster_and_passes(runs):
    before, after = runs
    rows = diff(
        "--fail",
        "--threshold",
        "50%",
        "--repeats",
        "--filter",
        "lib:*",
        *after,
        "--",
        *before,
        check=0,
    )
    assert {name: row["verdict"] for name, row in rows.items()} == {"work": "faster"}


def test_without_fail_it_only_shows(runs):
    before, after = runs
    names = "old", "new"
    words = ["--names", ",".join(names), "--threshold", "0.5", "--repeats", *before, "--", *after]
    shown = run_nvspan("diff", *words).stdout.splitlines()
    assert shown[0].split()[:4] == ["calls", "old", "calls", "new"]
    assert shown[1].split()[-3:] == ["slower", "lib:work", "(start/end)"]
    assert shown[-2].endswith("slower by more than 50%")


def test_a_recording_against_itself(runs):
    path = runs[0][0]
    rows = diff("--fail", path, path, check=2)
    assert {row["change"] for row in rows.values()} == {0}


def test_wrong_thresholds_are_refused():
    done = run_nvspan("diff", "a", "b", "--threshold", "much", check=2)
    assert "argument --threshold: must be a percentage such as 5%, not 'much'" in done.stderr
