# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a rank stands out: many drawn jobs of each kind of noise, whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from nvspan._reader import stand_out
from nvspan.ranks.cause.delays import ALPHA, SURE

DRAWS = 300
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
        false += any(stand_out(excess(work), ALPHA)["stands"])
    assert false < 0.01 * DRAWS


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("noise", NOISES[:-1])  # where ranks are late in turn that is the verdict
def test_who_is_late_by_the_stated_power_stands_out(noise, ranks):
    random = np.random.default_rng([7, ranks, NOISES.index(noise)])
    right = 0
    for _ in range(DRAWS // 3):
        work = noise(random, ranks, 64)
        random.shuffle(work)
        quiet = stand_out(excess(work), ALPHA)
        late = int(random.integers(ranks))
        work[late] += (quiet["needed"] + SURE) * max(quiet["error"])
        right += stand_out(excess(work), ALPHA)["stands"][late]
    assert right >= 0.99 * (DRAWS // 3)
