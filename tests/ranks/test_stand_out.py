# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a rank stands out: many drawn jobs of each kind of noise, whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.length import length
from nvspan._reader import stand_out
from nvspan.ranks.cause.delays import ALPHA, SURE

DRAWS = 300
LATE = length(100, 30)
MS = 1e6


def normal(random, ranks, steps):
    return random.normal(0, 0.2 * MS, (ranks, steps))


def heavy_tails(random, ranks, steps):
    return random.standard_t(2, (ranks, steps)) * 0.1 * MS


def hiccups(random, ranks, steps):
    """Now and then a step of one rank takes much longer."""
    late = random.random((ranks, steps)) < 0.05
    return normal(random, ranks, steps) + late * random.exponential(5 * MS, (ranks, steps))


def alike_neighbours(random, ranks, steps):
    """A step is like the one before it, with half of its deviation."""
    noise = random.normal(0, 0.2 * MS, (ranks, steps))
    for step in range(1, steps):
        noise[:, step] += 0.5 * noise[:, step - 1]
    return noise


def own_jitter(random, ranks, steps):
    """Each rank varies twice as much as another."""
    return random.standard_t(3, (ranks, steps)) * 0.05 * MS * 2.0 ** np.arange(ranks)[:, None]


def upwards(random, ranks, steps):
    return random.exponential(0.3 * MS, (ranks, steps))


def in_turn(random, ranks, steps):
    noise = random.normal(0, 0.1 * MS, (ranks, steps))
    noise[np.arange(steps) % ranks, np.arange(steps)] += 3 * MS
    return noise


NOISES = [normal, heavy_tails, hiccups, alike_neighbours, own_jitter, upwards, in_turn]


def excess(work):
    """What a rank does longer than the median of the others, step by step."""
    others = [np.median(np.delete(work, rank, 0), 0) for rank in range(len(work))]
    return work - np.array(others)


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("noise", NOISES)
def test_nobody_stands_out_where_all_are_alike(noise, ranks):
    random = np.random.default_rng([ranks, NOISES.index(noise)])
    false = 0
    for _ in range(DRAWS):
        work = noise(random, ranks, int(random.integers(30, 130)))
        random.shuffle(work)  # which rank has which jitter is a matter of chance
        false += any(stand_out(excess(work), ALPHA).stands)
    assert false < 0.01 * DRAWS


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("noise", NOISES[:-1])  # where ranks are late in turn that is the verdict
def test_who_is_late_by_the_stated_power_stands_out(noise, ranks):
    random = np.random.default_rng([7, ranks, NOISES.index(noise)])
    right = 0
    for _ in range(LATE):
        work = noise(random, ranks, 64)
        random.shuffle(work)
        quiet = stand_out(excess(work), ALPHA)
        late = int(random.integers(ranks))
        work[late] += (quiet.needed + SURE) * max(quiet.error)
        right += stand_out(excess(work), ALPHA).stands[late]
    assert right >= 0.99 * LATE


class Draws:
    """The numbers that the shuffles take: xorshift64*."""

    def __init__(self):
        self.state = 0x9E3779B97F4A7C15

    def below(self, count):
        state = self.state
        state ^= state >> 12
        state ^= state << 25 & 2**64 - 1
        state ^= state >> 27
        self.state = state
        return (state * 0x2545F4914F6CDD1D % 2**64 >> 32) * count >> 32


def standing(values):
    """The trimmed mean and its standard error."""
    values = np.sort(values)
    count, cut = len(values), len(values) // 5
    kept = count - 2 * cut
    winsorized = values.clip(values[cut], values[count - cut - 1])
    squares = ((winsorized - winsorized.mean()) ** 2).sum()
    mean = values[cut : count - cut].mean()
    return mean, max(1.0, np.sqrt(squares / (kept * (kept - 1))))


def chances(found, values, alpha):
    """Of the ranks that pass the first threshold, by shuffles that are all looked at in full."""
    ranks = len(values)
    around = (values - np.array([[standing(of)[0]] for of in values])).T.tolist()
    ratios = [mean / error for mean, error in zip(found.mean, found.error, strict=True)]
    passed = [rank for rank in range(ranks) if ratios[rank] >= found.needed]
    reached = dict.fromkeys(passed, 0)
    draws, random, drawn = int(max(10 / alpha, 1000)), Draws(), 0
    while drawn < draws:
        for block in around:
            for i in range(ranks, 1, -1):
                other = random.below(i)
                block[i - 1], block[other] = block[other], block[i - 1]
        most = max(mean / error for mean, error in map(standing, np.array(around).T))
        for rank in passed:
            reached[rank] += most >= ratios[rank]
        drawn += 1
        if min(reached.values()) >= 24:
            break
    return {rank: (reached[rank] + 1) / (drawn + 1) for rank in passed}


@pytest.mark.parametrize("ranks", [2, 5])
def test_shuffles_that_are_not_looked_at_in_full_come_to_the_same(ranks):
    alpha, compared, reached = 0.05, 0, 0
    random = np.random.default_rng(ranks)
    while compared < 6:
        values = random.integers(-200_000, 200_000, (ranks, 24)).astype(float)
        values[0] += 60_000 + 10_000 * compared
        found = stand_out(values, alpha)
        if found.block != 1 or found.mean[0] < found.needed * found.error[0]:
            continue
        compared += 1
        for rank, chance in chances(found, values, alpha).items():
            assert found.chance[rank] == pytest.approx(chance)
            reached += chance > 0.002
    assert reached
