# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan diff``: what is a change, and how sure it is."""

from __future__ import annotations

import json
import math
from pathlib import Path

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
                "backward": False, "calls": calls, "mean": mean, "std": std, "p50": mean,
                "total": calls * mean, "sum": calls * mean, "warmup": 0, "warmup_total": 0,
                "squares": calls * mean**2 + (calls - 1) * std**2, "warmup_squares": 0,
            })
            for name, (calls, mean, std) in rows.items()
        ]  # fmt: skip

    def stats(self):
        return self


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ((1000, 100, 5), (1000, 103, 5), "same"),
        ((1000, 100, 5), (1000, 110, 5), "slower"),
        ((1000, 100, 5), (1000, 90, 5), "faster"),
        ((5, 100, 40), (5, 110, 40), "unsure"),
        ((1, 100, 0), (1, 200, 0), "unsure"),
        ((10, 100, 0), (10, 120, 0), "slower"),
        ((10, 100, 0), (10, 100, 0), "same"),
        ((10, 0, 0), (10, 0, 0), "same"),
    ],
)
def test_verdicts(before, after, verdict):
    (row,) = compare(Given(r=before), Given(r=after))
    assert row["verdict"] == verdict


def test_the_limits_hold_the_change():
    (row,) = compare(Given(r=(100, 100.0, 10.0)), Given(r=(100, 120.0, 10.0)))
    assert row["change"] == pytest.approx(0.2)
    # t(0.95, 198) = 1.9720; the error of the difference is 10 * sqrt(2 / 100).
    margin = 1.97202 * 10 * math.sqrt(2 / 100) / 100
    assert (row["low"], row["high"]) == pytest.approx((0.2 - margin, 0.2 + margin), rel=1e-4)
    assert row["confidence"] == pytest.approx(1)


def diff(*arguments, check):
    done = run_nvspan("diff", "--format", "json", *arguments, check=check)
    return {row["name"]: row for row in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def runs():
    pytest.importorskip("numpy")
    before = recording_of(RANGES.format(calls=40, duration=1_000_000, other="old"))
    after = recording_of(RANGES.format(calls=40, duration=4_000_000, other="fresh"))
    return before, after


def test_a_slower_range_fails_the_gate(runs):
    rows = diff("--fail", "--threshold", "50%", *runs, check=1)
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "work": "slower", "steady": "same", "old": "gone", "fresh": "new",
    }  # fmt: skip
    # A recording's clock is as fast as a short run can tell, the same for all of its ranges.
    times = (1 + rows["work"]["change"]) / (1 + rows["steady"]["change"])
    assert times - 1 == pytest.approx(3, rel=1e-3)
    assert rows["work"]["low"] < rows["work"]["change"] < rows["work"]["high"]
    assert (rows["work"]["calls_before"], rows["work"]["calls_after"]) == (40, 40)


def test_the_other_way_is_faster_and_passes(runs):
    before, after = runs
    rows = diff("--fail", "--threshold", "50%", "--filter", "lib:*", after, before, check=0)
    assert {name: row["verdict"] for name, row in rows.items()} == {"work": "faster"}


def test_without_fail_it_only_shows(runs):
    shown = run_nvspan("diff", "--threshold", "0.5", *runs).stdout.splitlines()
    names = [Path(path).stem for path in runs]
    assert shown[0].split()[:4] == ["calls", names[0], "calls", names[1]]
    assert shown[1].split()[-3:] == ["slower", "lib:work", "(start/end)"]
    assert shown[-1].endswith("slower by more than 50 %")


def test_a_recording_is_the_same_as_itself(runs):
    rows = diff("--fail", runs[0], runs[0], check=0)
    assert {row["verdict"] for row in rows.values()} == {"same"}


def test_wrong_thresholds_are_refused(runs):
    done = run_nvspan("diff", *runs, "--threshold", "much", check=2)
    assert "argument --threshold: must be a percentage such as 5%, not 'much'" in done.stderr
