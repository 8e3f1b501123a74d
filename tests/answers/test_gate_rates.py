# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How often ``nvspan diff`` is wrong: tables of 30 ranges of programs that are equal, or are not.

A table is wrong if one of its verdicts is.
"""

from __future__ import annotations

import math
from random import Random

import pytest

from helpers.length import length
from nvspan.answers.compare import _verdict
from nvspan.recording.differences import differences

ROWS, SURE, THRESHOLD = 30, 0.95, 0.05
TABLES = length(1000, 60)
# The share of drift that all rows have in common, and whether rows drift by unequal amounts.
MIXTURES = [(0.0, False), (0.5, False), (1.0, False), (0.0, True), (0.5, True)]


class Program:
    def __init__(self, seed: object, drift: float, shared: float, unequal: bool) -> None:
        self.random, self.shared = Random(f"{seed}"), shared
        self.drift = [
            drift * math.exp(0.6 * self.random.gauss(0, 1) if unequal and row else 0)
            for row in range(ROWS)
        ]

    def side(self, runs: int) -> list[list[float]]:
        """Logarithms of the mean of each row in each run."""
        common = [self.random.gauss(0, 1) for _ in range(runs)]
        return [
            [drift * (math.sqrt(self.shared) * of_all
                      + math.sqrt(1 - self.shared) * self.random.gauss(0, 1)) for of_all in common]
            for drift in self.drift
        ]  # fmt: skip


def verdicts(old: list[list[float]], new: list[list[float]]) -> list[str]:
    found = differences(list(zip(old, new, strict=True)), SURE)
    return [
        _verdict(*(math.expm1(row.value + side * row.margin) for side in (0, -1, 1)), THRESHOLD)
        for row in found
    ]


@pytest.mark.parametrize("runs", [2, 3, 5])
@pytest.mark.parametrize(("shared", "unequal"), MIXTURES)
def test_equal_programs_are_called_different_in_one_table_of_twenty(runs, shared, unequal):
    wrong = 0
    for seed in range(TABLES):
        program = Program((seed, runs, shared, unequal), 0.03, shared, unequal)
        found = verdicts(program.side(runs), program.side(runs))
        wrong += any(verdict in ("slower", "faster") for verdict in found)
    # 5 %, and three standard errors of this many tables.
    assert wrong / TABLES <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / TABLES)


@pytest.mark.parametrize(("shared", "unequal"), MIXTURES)
def test_a_range_that_is_slower_by_7_percent_is_found(shared, unequal):
    found = same = others = 0
    for seed in range(TABLES):
        program = Program((seed, shared, unequal), 0.01, shared, unequal)
        old, new = program.side(5), program.side(5)
        new[0] = [value + math.log(1.07) for value in new[0]]
        first, *rest = verdicts(old, new)
        found += first == "slower"
        same += first == "same"
        others += any(verdict in ("slower", "faster") for verdict in rest)
    assert found / TABLES >= 0.95
    assert same == 0
    assert others / TABLES <= 0.05


def test_same_is_not_said_of_a_change_above_the_threshold():
    same = 0
    for seed in range(TABLES):
        program = Program(seed, 0.01, 0.0, unequal=False)
        old, new = program.side(10), program.side(10)
        new[0] = [value + math.log(1.055) for value in new[0]]
        same += verdicts(old, new)[0] == "same"
    assert same == 0


def test_rows_that_lack_runs_are_judged_by_those_they_have():
    program = Program(1, 0.01, 0.0, unequal=False)
    old, new = program.side(4), program.side(4)
    new[0] = [value + math.log(1.5) for value in new[0][:1]]
    old[0] = old[0][:1]
    one, *rest = differences(list(zip(old, new, strict=True)), SURE)
    assert one.value - one.margin > math.log(1.2)  # by what the other rows vary
    assert all(row.margin < one.margin for row in rest)
    (alone,) = differences([(old[0], new[0])], SURE)
    assert (alone.margin, alone.confidence) == (None, None)
