# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How often tests of a series of step times report an effect of noise, and how often they find one.

``python tests/answers/test_variation_rates.py 400`` prints the rates of 400 series of each kind.
"""

from __future__ import annotations

import math
import os
import sys
from array import array
from collections import Counter
from itertools import accumulate
from random import Random

import pytest

from nvspan._reader import variation

SERIES = 400 if os.environ.get("NVSPAN_CI_FULL") == "1" else 60
FOUND = 60
LENGTHS = (12, 40, 200)
MS = 1e6


def wandering(random, count, phi, sigma):
    """The exponential of AR(1) noise whose deviation is `sigma`."""
    step = sigma * math.sqrt(1 - phi * phi)
    noise = accumulate(
        (random.gauss(0, step) for _ in range(count - 1)),
        lambda value, innovation: phi * value + innovation,
        initial=random.gauss(0, sigma),
    )
    return [math.exp(value) for value in noise]


def student(random, freedom):
    return random.gauss(0, 1) / math.sqrt(random.gammavariate(freedom / 2, 2 / freedom))


def each(draw):
    return lambda random, count: [draw(random) for _ in range(count)]


# Kind of noise: how to make it.
NOISE = {
    "steady": each(lambda r: math.exp(0.01 * r.gauss(0, 1))),
    "normal": each(lambda r: math.exp(0.1 * r.gauss(0, 1))),
    "skewed": each(lambda r: math.exp(0.25 * r.gauss(0, 1))),
    "uniform": each(lambda r: r.uniform(0.8, 1.2)),
    "gamma": each(lambda r: r.gammavariate(6, 1 / 6) + 0.2),
    "exponential": each(lambda r: 0.05 + r.expovariate(1)),
    "t3": each(lambda r: math.exp(0.03 * student(r, 3))),
    "strays": each(
        lambda r: (r.uniform(1.5, 4) if r.random() < 0.03 else 1) * math.exp(0.02 * r.gauss(0, 1))
    ),
    "AR(1) 0.5": lambda r, count: wandering(r, count, 0.5, 0.1),
    "AR(1) 0.8": lambda r, count: wandering(r, count, 0.8, 0.1),
    "AR(1) 0.95": lambda r, count: wandering(r, count, 0.95, 0.15),
}  # fmt: skip
CORRELATED = {"AR(1) 0.5": 0.012, "AR(1) 0.8": 0.025, "AR(1) 0.95": 0.03}
CHANGES = ("jump", "levels", "trend")
# Share of series in which an effect may be reported, by kind; of independent noise.
LIMITS = {"change": 0.006, "period": 0.005, "sawtooth": 0.005, "modes": 0.008, "warm_up": 0.005}
RARE = {"exponential": 0.02, "t3": 0.03, "strays": 1.0}
STRAYS = {"warm_up": 0.04, "modes": 0.015}  # a stray may be the first, or one of 8 % of 12 or 40


def kinds(times):
    return [effect.kind for effect in variation(array("d", [MS * time for time in times]))]


def false_alarms(noise: str, count: int, series: int) -> Counter[str]:
    told: Counter[str] = Counter()
    for seed in range(series):
        found = kinds(NOISE[noise](Random(f"{seed} {count}"), count))
        told.update(found)
        told["change"] += any(kind in CHANGES for kind in found)
    return told


def most(rate: float, series: int) -> float:
    """So many alarms at most, by three standard errors."""
    return series * rate + 3 * math.sqrt(series * rate * (1 - rate))


@pytest.mark.parametrize("noise", NOISE)
def test_noise_is_no_effect(noise):
    told = sum((false_alarms(noise, count, SERIES) for count in LENGTHS), Counter())
    limits = {**LIMITS, "change": CORRELATED.get(noise, 0.006), "rare": RARE.get(noise, 0.003)}
    limits |= STRAYS if noise == "strays" else {}
    series = SERIES * len(LENGTHS)
    over = {kind: told[kind] for kind, rate in limits.items() if told[kind] > most(rate, series)}
    assert over == {}


def queue(random, count):
    """How long requests take whose server is busy 70 % of the time: they wait for one another."""
    free = begin = 0.0
    for _ in range(count):
        begin += random.expovariate(0.7)
        free = max(begin, free) + math.exp(0.1 * random.gauss(0, 1))
        yield free - begin


LATENCIES = {
    **{kind: make for kind, make in NOISE.items() if kind != "strays"},
    "very skewed": each(lambda r: math.exp(0.4 * r.gauss(0, 1))),
    "queue": queue,
}


@pytest.mark.parametrize("noise", LATENCIES)
def test_noise_makes_no_request_slow(noise):
    series = [
        [*LATENCIES[noise](Random(f"{seed} {count}"), count)]
        for seed in range(SERIES)
        for count in (40, 200)
    ]
    told = sum(not {"modes", "rare", "period"}.isdisjoint(kinds(times)) for times in series)
    assert told <= most(0.01, len(series))


@pytest.mark.parametrize(("slow", "least"), [(3, 42), (10, 54), (24, 58), (60, 58)])
def test_slow_requests_are_found_however_many(slow, least):
    """Of 200, three times as long as the others."""
    found = 0
    for seed in range(FOUND):
        random = Random(f"slow {seed}")
        places = set(random.sample(range(200), slow))
        times = [
            (3 if i in places else 1) * math.exp(0.15 * random.gauss(0, 1)) for i in range(200)
        ]
        found += not {"modes", "rare", "period"}.isdisjoint(kinds(times))
    assert found >= least


def noisy(shape, sigma):
    """Series of a shape, a function of step and number of steps, with noise of `sigma`."""
    return lambda r, count: [
        shape(i, count) * math.exp(sigma * r.gauss(0, 1)) for i in range(count)
    ]


def bursts(random, count):
    """Growth to four times on a busy machine: bursts of other programs' load."""
    load = wandering(random, count, 0.5, 0.2)
    return [load[i] * (1 + 3 * i / count) * random.choice((1, 1, 1, 1.4)) for i in range(count)]


def two_modes(random, count):
    slow = set(random.sample(range(count), round(0.4 * count)))
    return [(1.4 if i in slow else 1) * math.exp(0.03 * random.gauss(0, 1)) for i in range(count)]


# Effect: how to make it, how long, and in how many of 60 series it must be found.
EFFECTS = [
    ("jump", noisy(lambda i, n: 1.35 if i >= 0.6 * n else 1, 0.04), 100, 60),
    ("jump", noisy(lambda i, n: 1.35 if i >= 0.6 * n else 1, 0.04), 40, 58),
    ("trend", noisy(lambda i, n: 1 + i / n, 0.06), 40, 60),
    ("trend", noisy(lambda i, n: 1 + 0.5 * i / n, 0.05), 200, 60),
    ("trend", bursts, 60, 54),
    ("trend", bursts, 200, 60),
    ("levels", noisy(lambda i, n: 1.3 if n <= 3 * i < 2 * n else 1, 0.04), 100, 57),
    ("period", noisy(lambda i, _: 1.5 if i % 10 == 7 else 1, 0.03), 40, 60),
    ("period", noisy(lambda i, _: 1.5 if i % 8 == 3 else 1, 0.03), 200, 60),
    ("sawtooth", noisy(lambda i, _: 1 + 0.1 * (i % 10), 0.03), 100, 58),
    ("sawtooth", noisy(lambda i, _: 1 + 0.15 * (i % 4), 0.02), 40, 58),
    ("modes", two_modes, 12, 48),
    ("modes", two_modes, 40, 58),
    ("warm_up", noisy(lambda i, _: 3 if i < 3 else 1, 0.05), 40, 60),
    ("rare", each(lambda r: 4 if r.random() < 0.03 else math.exp(0.03 * r.gauss(0, 1))), 200, 55),
]  # fmt: skip


def detections(kind, make, count):
    return sum(kind in kinds(make(Random(f"{seed} {count}"), count)) for seed in range(FOUND))


@pytest.mark.parametrize(("kind", "make", "count", "least"), EFFECTS)
def test_an_effect_is_found(kind, make, count, least):
    assert detections(kind, make, count) >= least


def main(series: int) -> None:
    for noise in NOISE:
        for count in LENGTHS:
            told = false_alarms(noise, count, series)
            rates = ", ".join(
                f"{kind} {alarms / series:.1%}" for kind, alarms in sorted(told.items())
            )
            print(f"{noise:12} n = {count:3}  {rates}", flush=True)
    for kind, make, count, _ in EFFECTS:
        print(f"{kind:9} n = {count:3}: {detections(kind, make, count)} of {FOUND}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
