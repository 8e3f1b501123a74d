# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One median, whoever prints it: the nearest rank, which is p50."""

from __future__ import annotations

import math
from array import array
from random import Random

import pytest

import nvspan
from helpers.written_loops import MS, write_loop
from nvspan import _reader
from nvspan.recording import statistics


def test_the_median_of_an_even_number_is_the_lower_middle_value():
    assert statistics.median([4, 1, 3, 2]) == 2
    assert statistics.median([3, 1, 2]) == 2
    assert statistics.percentile(range(100), 0.07) == 6  # 0.07 * 100 is 7.000000000000001
    assert [statistics.percentile([1, 2, 3], share) for share in (0, 0.34, 1)] == [1, 2, 3]


def test_percentiles_of_counts_are_those_of_the_values():
    random = Random(1)
    values = [random.randrange(50) for _ in range(333)]
    counts = {value: values.count(value) for value in values}
    for share in (0, 0.01, 0.5, 0.9, 0.99, 1):
        found = statistics.percentile_of_counts(counts, share)
        assert found == statistics.percentile(values, share)


def test_percentiles_of_the_engine_are_the_same():
    random = Random(2)
    values = array("q", [random.randrange(10**12) for _ in range(333)])
    shares = [0.0, 0.01, 0.05, 0.5, 0.9, 0.99, 1.0]
    expected = [statistics.percentile(values, share) for share in shares]
    assert _reader.percentiles(values, shares) == expected
    rest = sorted(values)[:200]
    left_out = [place for place, value in enumerate(values) if value > rest[-1]]
    expected = [statistics.percentile(rest, share) for share in shares]
    assert _reader.percentiles(values, shares, left_out) == expected
    assert _reader.percentiles(array("q"), shares) == []
    for wrong in ((values, [1.5]), (values, [float("nan")]), (values, [0.5], [333])):
        with pytest.raises((ValueError, IndexError)):
            _reader.percentiles(*wrong)


def test_students_t():
    for freedom, limit in ((1, 12.7062), (4, 2.77645), (19, 2.09302), (math.inf, 1.95996)):
        assert statistics.t_limit(0.95, freedom) == pytest.approx(limit, rel=1e-5)
        assert statistics.confidence(limit, freedom) == pytest.approx(0.95, abs=1e-5)


def test_steps_ranks_and_statistics_have_the_same_median(tmp_path):
    path = write_loop(tmp_path / "0.nvspan", {"load": 3 * MS, "forward": 9 * MS}, rank=0,
                      jitter=0.05)  # fmt: skip
    recording = nvspan.read(path)
    steps = recording.steps()
    durations = sorted(steps["duration"].tolist())
    assert len(durations) == steps.typical["steps"] == 20
    assert durations[9] != durations[10]
    (rank,) = nvspan.read_many([path], steps=True).steps().ranks
    assert steps.typical["p50"] == rank["median"] == durations[9]
    assert steps.typical["p90"] == durations[17]
    (row,) = (row for row in recording.stats().rows if row.name == "step")
    assert row.p50 == pytest.approx(durations[9], rel=0.004)
