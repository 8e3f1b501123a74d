# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Loops with nothing to find: noise that is no jump, no trend, no period, no mode."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from answers.key.program import TRAIN, Program
from answers.key.truth import Truth, add, recording


def wandering(random: np.random.Generator, count: int, memory: float, sigma: float) -> np.ndarray:
    """Factors whose logarithm is autocorrelated: an AR(1) series."""
    values = np.empty(count)
    values[0] = random.normal()
    for place in range(1, count):
        values[place] = memory * values[place - 1] + np.sqrt(1 - memory**2) * random.normal()
    return np.exp(sigma * values)


def strays(count: int, places: tuple[int, ...], factor: float) -> np.ndarray:
    return np.where(np.isin(np.arange(count), places), factor, 1.0)


# What a loop's rounds are called, and the factors of their times.
LOOPS: dict[str, tuple[str, Callable[[np.random.Generator], np.ndarray]]] = {
    "steady": ("step", lambda r: np.exp(0.01 * r.normal(size=100))),
    "noise_24": ("step", lambda r: np.exp(0.10 * r.normal(size=24))),
    "noise_200": ("step", lambda r: np.exp(0.10 * r.normal(size=200))),
    "noise_12": ("minibatch", lambda r: np.exp(0.05 * r.normal(size=12))),
    "noise_500": ("minibatch", lambda r: np.exp(0.08 * r.normal(size=500))),
    "loud": ("batch {}", lambda r: np.exp(0.2 * r.normal(size=40))),
    "correlated_24": ("step", lambda r: wandering(r, 24, 0.8, 0.08)),
    "correlated_200": ("step", lambda r: wandering(r, 200, 0.8, 0.08)),
    "correlated_30": ("iteration", lambda r: wandering(r, 30, 0.7, 0.06)),
    "correlated_16": ("sim_step", lambda r: wandering(r, 16, 0.8, 0.05)),
    "wandering_24": ("step", lambda r: wandering(r, 24, 0.95, 0.06)),
    "wandering_200": ("step", lambda r: wandering(r, 200, 0.95, 0.06)),
    "wandering_80": ("iteration", lambda r: wandering(r, 80, 0.9, 0.06)),
    "wandering_600": ("sim_step", lambda r: wandering(r, 600, 0.9, 0.05)),
    "wandering_slowly": ("minibatch", lambda r: wandering(r, 150, 0.98, 0.05)),
    "uniform_24": ("step", lambda r: r.uniform(0.8, 1.2, 24)),
    "uniform_200": ("step", lambda r: r.uniform(0.8, 1.2, 200)),
    "sum_of_two": ("minibatch", lambda r: 0.5 + 0.25 * (r.random(120) + r.random(120))),
    "discrete": ("minibatch", lambda r: 1 + 0.1 * r.integers(0, 6, 100)),
    "beta": ("minibatch", lambda r: 0.7 + 0.6 * r.beta(2, 3, 90)),
    "skewed": ("step", lambda r: np.exp(0.25 * r.normal(size=100))),
    "gamma": ("step", lambda r: r.gamma(6, 1 / 6, 100) + 0.2),
    "gamma_70": ("sim_step", lambda r: r.gamma(12, 1 / 12, 70) + 0.1),
    "one_stray": ("step", lambda r: strays(100, (33,), 1.6)),
    "one_stray_of_150": ("step", lambda r: strays(150, (77,), 1.5)),
    "two_strays": ("sim_step", lambda r: strays(300, (50, 200), 1.9)),
    "sizes": ("batch", lambda r: r.uniform(0.5, 1.5, 150)),
    "five": ("step", lambda r: np.array([1, 1.1, 0.95, 1.02, 1.05])),
    "three": ("step", lambda r: np.array([1, 1.2, 1.1])),
    "six": ("epoch {}", lambda r: np.exp(0.05 * r.normal(size=6))),
}


def _nothing(name: str, factors: Callable[[np.random.Generator], np.ndarray]):
    def build(program: Program) -> Truth:
        values = factors(program.random).tolist()
        program.loop(name, values, pause=0.05)
        return Truth(name.removesuffix(" {}"), len(values))

    return build


for _label, (_name, _factors) in LOOPS.items():
    add(f"nothing_{_label}", _nothing(_name, _factors))


@recording
def nothing_with_heavy_tails(program: Program) -> Truth:
    """Some are so slow that they may be told."""
    program.loop("step", np.exp(0.03 * program.random.standard_t(3, 100)).tolist())
    return Truth("step", 100, may="rare")


@recording
def nothing_with_a_long_tail(program: Program) -> Truth:
    program.loop("frame", np.exp(0.4 * program.random.normal(size=60)).tolist())
    return Truth("frame", 60, may="rare")


@recording
def nothing_in_noisy_parts(program: Program) -> Truth:
    program.loop("step", 150, TRAIN, noise=0.15)
    return Truth("step", 150)


@recording
def nothing_in_marks_beside_steps(program: Program) -> Truth:
    thread = program.thread(noise=0.03)
    for number in range(60):
        thread.mark(f"batch of {number % 7} files")
        with thread.range("step"):
            thread.run(TRAIN)
    return Truth("step", 60)


@recording
def nothing_in_ranges_of_no_length(program: Program) -> Truth:
    thread = program.thread(noise=0.03)
    for _ in range(60):
        with thread.range("step"):
            thread.until(thread.now, "begin")
            thread.run(TRAIN)
            thread.until(thread.now, "end")
    return Truth("step", 60)


@recording
def nothing_in_ranges_without_a_name(program: Program) -> Truth:
    thread = program.thread(noise=0.03)
    for _ in range(60):
        with thread.range("step"):
            thread.run(TRAIN)
            thread.until(thread.now + 300_000, "")
    return Truth("step", 60)


@recording
def nothing_in_steps_of_one_part(program: Program) -> Truth:
    """Its name says what the step is, and so it is no news."""
    program.loop("step", 60, {"": 9.8}, noise=0.03)
    return Truth("step", 60)


@recording
def nothing_in_pickets_of_a_fence(program: Program) -> Truth:
    """Seven parts of a seventh each."""
    parts = {f"{name}": 1.5 for name in ("mark", "dig", "set", "pour", "level", "nail", "paint")}
    program.loop("build_picket", 150, parts, noise=0.06)
    return Truth("build_picket", 150)


@recording
def nothing_in_orbits_of_unequal_length(program: Program) -> Truth:
    """The parts differ from round to round, and their sum hardly does."""
    factors = wandering(program.random, 260, 0.5, 0.04).tolist()
    parts = {"sun": 2.1, "drag": 2.0, "oblateness": 2.2, "integrate_orbit": 2.3}
    program.loop("orbit_step", factors, parts, noise=0.1)
    return Truth("orbit_step", 260)


@recording
def nothing_in_a_script_of_eight_files(program: Program) -> Truth:
    thread = program.thread(noise=0.05)
    for name in ("north", "east", "south", "west", "center", "islands", "port", "old"):
        thread.leaf(f"merge {name}.csv", 240)
        thread.spend(2)
    return Truth(None)


@recording
def nothing_in_rounds_of_two_threads(program: Program) -> Truth:
    """Another thread is in a range for a hundredth of the time."""
    thread, other = program.thread("main", noise=0.05), program.thread("beacon", noise=0.1)
    parts = {"scan_band": 1.8, "rank_signals": 1.9, "tune": 1.7, "listen": 2.0}
    thread.loop("radio_round", 400, parts)
    while other.now < thread.now - 200_000_000:
        other.leaf("send_beacon", 1)
        other.spend(99)
    return Truth("radio_round", 400)


@recording
def nothing_in_pages_of_a_diary(program: Program) -> Truth:
    factors = wandering(program.random, 180, 0.6, 0.05).tolist()
    parts = {"date_page": 1.9, "read_ink": 2.2, "spell": 2.0, "file_page": 1.8}
    program.loop("diary_page {}", factors, parts, noise=0.05)
    return Truth("diary_page", 180)
