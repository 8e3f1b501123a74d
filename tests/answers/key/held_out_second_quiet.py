# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Held out, second set: programs of odd shapes in which nothing stands out."""

from __future__ import annotations

import numpy as np
from answers.key.program import MS, Program
from answers.key.truth import Truth, recording


def drift(random: np.random.Generator, count: int, deviation: float, memory: float) -> list[float]:
    """Lognormal factors around 1, each like the one before it by `memory`."""
    level, factors = float(random.normal()), []
    for push in random.normal(size=count).tolist():
        level = memory * level + (1 - memory**2) ** 0.5 * push
        factors.append(float(np.exp(deviation * level)))
    return factors


def overlapping(
    program: Program,
    name: str,
    requests: list[dict[str, float]],
    apart: float,
    noise: float,
) -> None:
    """Coroutines on one thread: spans around the spans of what each awaits, `apart` ms apart."""
    random, thread = program.random, program.thread("asyncio")
    start, spans = thread.now, []
    for parts in requests:
        start += int(random.exponential(apart) * MS)
        now = start + 4_000
        for part, ms in parts.items():
            end = now + int(ms * MS * np.exp(noise * random.normal()))
            spans.append((now, -1, end, part))
            now = end + 3_000
        spans.append((start, -2, now + 2_000, name))
    for begin, _, end, part in sorted(spans):
        thread.span(part, begin, end)
    thread.now = max(span[2] for span in spans)


@recording
def images_out_of_noise(program: Program) -> Truth:
    """Images of 50 steps; what an image does before and after is little."""
    thread = program.thread(noise=0.03)
    parts = {"unet.down": 2.1, "unet.mid": 1.3, "unet.up": 2.4, "scheduler": 0.9}
    for _ in range(8):
        with thread.range("image"):
            thread.leaf("encode_prompt", 4)
            thread.loop("étape_de_débruitage", 50, parts, pause=0.01)
            thread.leaf("vae_decode", 7)
    return Truth("étape_de_débruitage", 400)


@recording
def rounds_of_hospitals(program: Program) -> Truth:
    """Seven steps of minutes."""
    factors = drift(program.random, 7, 0.12, 0)
    parts = {"broadcast weights": 31e3, "clients": {"St. Anna": 34e3, "Charité": 37e3}}
    parts |= {"secure aggregation": 42e3, "audit": 24e3}
    program.loop("federated round {}", factors, parts, noise=0.05)
    return Truth("federated round", 7)


@recording
def orders_from_a_queue(program: Program) -> Truth:
    """Three consumers, each in a thread of its own."""
    parts = {"deserialize": 1.2, "validateSchema": 1.7, "upsertRow": 2.1, "commitOffset": 0.9}
    for number in range(3):
        thread = program.thread(f"kafka-consumer-{number}-C", noise=0.16)
        thread.now += int(number * 2.3 * MS)
        thread.loop("OrderListener.onMessage", 300, parts, pause=0.05)
    return Truth("OrderListener.onMessage", 900, unit="request")


@recording
def tests_of_a_library(program: Program) -> Truth:
    """48 tests, each of another name: nothing repeats."""
    thread = program.thread(noise=0.1)
    lengths = program.random.gamma(4, 12, 48).tolist()
    modules = ("ledger", "invoice", "dunning", "currency", "calendar", "importer")
    cases = ("empty", "unicode", "rounding", "negative", "leap_day", "retry", "locked", "huge")
    with thread.range("session"):
        for number, ms in enumerate(lengths):
            module, case = modules[number // 8], cases[number % 8]
            thread.leaf(f"tests/{module}/test_{module}.py::TestTotals::test_{case}_{module}", ms)
    return Truth(None)


@recording
def cells_of_a_notebook(program: Program) -> Truth:
    """Nine cells of a tenth each, with numbers in front."""
    thread = program.thread(noise=0.06)
    cells = ("read_excel", "df.dropna", "merge", "groupby", "pivot", "resample", "plot.bar")
    for number, cell in enumerate((*cells, "corr", "to_latex")):
        thread.leaf(f"In [{number + 1}] {cell}", 420)
        thread.spend(2)
    return Truth(None)


@recording
def auctions_of_ads(program: Program) -> Truth:
    """50,000 steps of 24 us, each much like the one before it."""
    factors = drift(program.random, 50_000, 0.05, 0.95)
    parts = {"lookup_bids": 0.0062, "floor": 0.0044, "rank_bids": 0.0078, "price": 0.0049}
    program.loop("auction", factors, parts, pause=0.0004)
    return Truth("auction", 50_000)


@recording
def telescope_with_a_guider(program: Program) -> Truth:
    """Two threads with loops of their own; one of them hardly does a thing."""
    camera = program.thread("camera", noise=0.05)
    guider = program.thread("guider", noise=0.1)
    parts = {"shutter": 5.6, "readout": 6.4, "subtractDark": 5.2, "appendFITS": 4.3}
    camera.loop("Camera.exposeFrame", 300, parts, pause=0.2)
    while guider.now < camera.now - 200 * MS:
        with guider.range("guideStar"):
            guider.run({"centroid": 0.9, "pulse": 0.8})
        guider.spend(104)
    return Truth("Camera.exposeFrame", 300)


@recording
def tiles_that_change_hands(program: Program) -> Truth:
    """Steps that start in one thread and end in another, one after the other."""
    reader, writer = program.thread("reader", noise=0.05), program.thread("writer", noise=0.05)
    for _ in range(200):
        reader.now = start = max(reader.now, writer.now) + 30_000
        reader.run({"read_window": 3, "reproject": 3.3})
        writer.now = reader.now + 15_000
        writer.run({"resample": 2.7, "write_cog": 2.3})
        reader.span("tuile", start, writer.now + 5_000, ends_in=1)
        writer.now += 10_000
    return Truth("tuile", 200)


@recording
def ensemble_of_weather(program: Program) -> Truth:
    """Three loops deep, each with a little of its own."""
    thread = program.thread(noise=0.04)
    parts = {"u·∇u": 0.8, "radiation": 0.9, "microphysics": 0.7, "Δp": 0.5}
    for _ in range(10):
        with thread.range("ensemble_member"):
            thread.leaf("perturb", 4)
            for _ in range(16):
                with thread.range("forecast_hour"):
                    thread.loop("Δt", 12, parts, pause=0.005)
                    thread.leaf("diagnostics", 0.8)
    return Truth("Δt", 1920)


@recording
def embeddings_by_the_dozen(program: Program) -> Truth:
    """Coroutines, 40 at once."""
    parts = {"tokenize": 22.0, "batcher.submit": 35.0, "pool_layer": 30.0, "to_json": 13.0}
    overlapping(program, "POST /v1/embeddings", [parts] * 1500, 2.5, 0.15)
    return Truth("POST /v1/embeddings", 1500, unit="request")


@recording
def site_after_a_silent_start(program: Program) -> Truth:
    """Ranges are at the end only: a mark, eight seconds of nothing, then even steps."""
    thread = program.thread(noise=0.06)
    thread.mark("imports done")
    thread.spend(8_000)
    factors = program.random.uniform(0.6, 1.4, 240).tolist()
    parts = {"markdown": 2.8, "highlight": 2.5, "template": 3.1, "minify/write": 1.9}
    thread.loop("render_page", factors, parts)
    return Truth("render_page", 240, may="stage")


@recording
def frauds_with_tiny_lookups(program: Program) -> Truth:
    """2,400 ranges of a microsecond, far apart: to record them costs nothing."""
    thread = program.thread(noise=0.05)
    for _ in range(60):
        with thread.range("score_batch"):
            with thread.range("features"):
                for _ in range(40):
                    thread.spend(0.15)
                    thread.leaf("lookup", 0.001)
            thread.run({"forest": 13, "rules": 11, "emit": 9})
        thread.spend(0.1)
    return Truth("score_batch", 60)


@recording
def letters_of_an_orbit(program: Program) -> Truth:
    """Names of one letter; a step is much like the one before it, and nothing more."""
    factors = drift(program.random, 500, 0.06, 0.9)
    program.loop("x", factors, {"a": 1.1, "b": 1.3, "c": 0.9, "d": 1.2}, noise=0.02)
    return Truth("x", 500)


@recording
def meters_in_turn(program: Program) -> Truth:
    """No range is around a step."""
    thread = program.thread(noise=0.07)
    for _ in range(90):
        thread.run({"poll_meters": 5, "check_sums": 4.2, "aggregate": 4.6, "publish": 3.4})
        thread.spend(0.1)
    return Truth("poll_meters -> check_sums -> aggregate -> publish", 90)


LONG = "com.acme.logistics.routing.vrp.LargeNeighbourhoodSearch.improveSolutionUntilTimeLimit"


@recording
def routes_with_small_snapshots(program: Program) -> Truth:
    """A very long name; what is saved every hundred steps is a quarter of a percent."""
    factors = drift(program.random, 400, 0.03, 0.5)
    parts = {"ruin": 2.9, "recreate": 4.1, "acceptanceCriterion": 2.2, "penalties": 2.8}
    after = {"saveSnapshot": lambda i: 3 if i % 100 == 99 else 0}
    program.loop(LONG, factors, parts, after=after, noise=0.04)
    return Truth(LONG, 400)
