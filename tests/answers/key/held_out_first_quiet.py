# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Held out, first set: programs of other trades in which nothing stands out."""

from __future__ import annotations

import numpy as np
from answers.key.program import Program
from answers.key.quiet import wandering
from answers.key.requests import pool, tasks
from answers.key.truth import Truth, recording


@recording
def aligned_reads(program: Program) -> Truth:
    factors = np.exp(0.12 * program.random.normal(size=60)).tolist()
    parts = {"seed": 3, "extend": 3.4, "score": 2.4, "write_bam": 1.6}
    program.loop("read_block {}", factors, parts)
    return Truth("read_block", 60)


@recording
def encoded_video(program: Program) -> Truth:
    """Scenes are easier or harder: neighbors are alike."""
    parts = {"motion_search": 3.4, "transform": 2, "quantize": 1.2, "entropy": 2.4}
    program.loop("encode_frame", wandering(program.random, 2000, 0.9, 0.06).tolist(), parts)
    return Truth("encode_frame", 2000)


@recording
def world_of_a_game(program: Program) -> Truth:
    parts = {"input": 0.4, "ai": 2.2, "physics": 3, "animation": 2.4, "draw": 3.6}
    program.loop("world_tick", 20_000, parts, noise=0.06)
    return Truth("world_tick", 20_000)


@recording
def bars_of_a_backtest(program: Program) -> Truth:
    """Microseconds, with heavy tails."""
    factors = np.exp(0.03 * program.random.standard_t(4, 5000)).tolist()
    parts = {"indicators": 0.014, "signal": 0.012, "risk": 0.011, "book": 0.013}
    program.loop("bar", factors, parts, pause=0.0005)
    return Truth("bar", 5000)


@recording
def partitions_of_a_warehouse(program: Program) -> Truth:
    program.loop("load_partition", 12, {"extract": 40, "convert": 44, "insert": 38}, noise=0.08)
    return Truth("load_partition", 12)


@recording
def functions_of_a_compiler(program: Program) -> Truth:
    """Functions are of many sizes."""
    thread = program.thread(noise=0.05)
    factors = np.exp(0.25 * program.random.normal(size=300)).tolist()
    with thread.range("optimize_module"):
        parts = {"inline": 1.2, "gvn": 1.5, "licm": 1.1, "regalloc": 1.6}
        thread.loop("optimize_function", factors, parts, pause=0)
    return Truth("optimize_function", 300)


@recording
def servo_of_a_robot(program: Program) -> Truth:
    """Groups within groups; 'read' is in two of them."""
    sense = {"imu": {"read": 0.5, "filter": 0.6}, "lidar": {"read": 1.0, "cluster": 1.2}}
    plan, act = {"costmap": 1.4, "search": 1.5}, {"kinematics": 1.2, "send": 1.0}
    program.loop("servo_cycle", 1000, {"sense": sense, "plan": plan, "act": act}, noise=0.05)
    return Truth("servo_cycle", 1000)


@recording
def jobs_of_a_ci_runner(program: Program) -> Truth:
    parts = {"checkout": 300, "compile": 900, "unit_tests": 800, "upload": 250}
    program.loop("job {}", 14, parts, noise=0.1)
    return Truth("job", 14)


@recording
def searches_of_eight_threads(program: Program) -> Truth:
    parts = {"parse_query": 1, "postings": 3, "rank": 3.2, "snippets": 2}
    pool(program, 1200, parts, name="search", workers=8, noise=0.2, thread_name="searcher-{}")
    return Truth("search", 1200, unit="request")


@recording
def mails_of_coroutines(program: Program) -> Truth:
    parts = {"dns_lookup": 8, "smtp_send": 10, "store_copy": 9}
    tasks(program, 500, parts, 4, name="deliver_message", noise=0.2)
    return Truth("deliver_message", 500, unit="request")


@recording
def sweeps_of_a_lattice(program: Program) -> Truth:
    factors = wandering(program.random, 150, 0.9, 0.06).tolist()
    program.loop("sweep", factors, {"propose": 3, "energy": 3.4, "accept": 2.4})
    return Truth("sweep", 150)


@recording
def blocks_of_audio(program: Program) -> Truth:
    parts = {"decode": 0.25, "equalize": 0.3, "reverb": 0.35, "mix": 0.28}
    program.loop("audio_block", program.random.uniform(0.85, 1.15, 8000).tolist(), parts, pause=0)
    return Truth("audio_block", 8000)


@recording
def mappers_of_a_cluster(program: Program) -> Truth:
    parts = {"read_split": 20, "map": 30, "combine": 18, "spill": 15}
    pool(program, 200, parts, name="map_task {}", workers=4, noise=0.12, thread_name="mapper-{}")
    return Truth("map_task", 200, unit="request")


@recording
def generations_of_a_population(program: Program) -> Truth:
    parts = {"select": 2.4, "crossover": 2.6, "mutate": 2.2, "fitness": 3}
    program.loop("generation {}", 40, parts, noise=0.15)
    return Truth("generation", 40)


@recording
def conversion_of_a_book(program: Program) -> Truth:
    """A script: seven parts, of which none takes a fifth."""
    thread = program.thread(noise=0.05)
    for name in ("unzip", "read_xml", "styles", "footnotes", "images", "paginate", "write_pdf"):
        thread.leaf(name, 60)
    return Truth(None)
