# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Held out, first set: programs of other trades in which something is to be told."""

from __future__ import annotations

import numpy as np
from answers.key.program import Program
from answers.key.quiet import wandering
from answers.key.requests import in_some, pool, tasks
from answers.key.stages import at_every
from answers.key.truth import Truth, recording, says
from answers.key.varying import extra


# ---- where time goes ----
@recording
def tiles_of_a_ray_tracer(program: Program) -> Truth:
    trace = {"intersect": {"bvh_walk": 5, "triangle": 1.2}, "shade": 1.4}
    factors = np.exp(0.2 * program.random.normal(size=144)).tolist()
    program.loop("tile {}", factors, {"sample": 0.8, "trace": trace, "store": 0.6})
    shares = {name: program.share(name, r"tile \d+") for name in ("trace", "bvh_walk")}
    return Truth("tile", 144, (says("dominant", "intersect", shares=shares),), headline=shares)


@recording
def newton_within_time_steps(program: Program) -> Truth:
    """Five levels: the numbered time step is the loop that its author thinks of."""
    matvec = {"halo_exchange": 0.6, "spmv": 4.5}
    newton = {"assemble": 1.5, "linear_solve": {"precondition": 0.9, "matvec": matvec}}
    thread = program.thread(noise=0.06)
    for number in range(30):
        with thread.range(f"time_step {number}"):
            thread.leaf("boundary", 1)
            for _ in range(3):
                thread.run({"newton": newton})
            thread.leaf("output", 1.2)
    shares = {name: program.share(name, r"time_step \d+") for name in ("newton", "spmv")}
    return Truth("time_step", 30, (says("dominant", "linear_solve", shares=shares),))


@recording
def windows_of_genomes(program: Program) -> Truth:
    thread = program.thread(noise=0.08)
    for number in range(18):
        with thread.range(f"sample_{number:02d}"):
            thread.leaf("open_bam", 6)
            thread.loop("window", 24, {"pileup": 1.2, "call": 1.4, "filter": 0.9}, pause=0)
            thread.leaf("write_vcf", 5)
    shares = {"window": program.share("window", r"sample_\d+")}
    return Truth("sample", 18, (says("dominant", shares=shares),), headline=shares)


@recording
def shard_that_is_slow(program: Program) -> Truth:
    """Together, the six shards are most of the query."""
    shards = {
        f"shard_{number}": {
            "postings": 1.1 if number == 4 else 0.5,
            "score": 1.3 if number == 4 else 0.6,
        }
        for number in range(6)
    }
    program.loop("query", 80, {"parse": 0.6} | shards | {"merge": 0.8}, noise=0.06)
    return Truth("query", 80, (says("odd", "shard_4"),), may="dominant")


@recording
def paths_planned_in_no_range(program: Program) -> Truth:
    parts = {"sample": 2, "": 3.2, "collide": 2.4, "connect": 2}
    program.loop("plan_path", 60, parts, noise=0.08)
    share = 100 - sum(program.share(name, "plan_path") for name in ("sample", "collide", "connect"))
    return Truth("plan_path", 60, (says("unnamed", shares={"": share}),))


@recording
def spins_one_by_one(program: Program) -> Truth:
    thread = program.thread(noise=0.05)
    for _ in range(25):
        with thread.range("sweep"):
            thread.leaf("energy", 0.05)
            for _ in range(600):
                thread.leaf("flip_spin", 0.0006)
                thread.now += 150
    finding = says("overhead", "flip_spin", figures=(15_000,))
    return Truth("sweep", 25, (finding,), may="dominant unnamed")


@recording
def sort_of_a_map_reduce(program: Program) -> Truth:
    """A script: the largest part is two levels down."""
    thread = program.thread(noise=0.03)
    with thread.range("run_job"):
        thread.run({"read_splits": 90, "map": 210})
        thread.run({"shuffle": {"partition": 80, "sort": 720, "merge": 60}})
        thread.run({"reduce": 130, "commit": 30})
    shares = {"sort": program.share("sort")}
    finding = says("self|dominant", shares=shares)
    return Truth(None, None, (finding,), may="self dominant", headline=shares)


@recording
def profile_of_a_compiler(program: Program) -> Truth:
    thread = program.thread(domain="nvtx.py", noise=0.1)
    with thread.range("minic.py:70(main)"):
        for _ in range(30):
            with thread.range("parser.py:80(parse_unit)"):
                thread.run({"lexer.py:44(scan)": 5, "parser.py:120(reduce)": 1.4})
            thread.run({"types.py:31(infer)": 1.2, "codegen.py:9(emit)": 1.5})
    shares = {"scan()": program.share(".*scan.")}
    finding = says("self", "lexer.py:44", shares=shares)
    return Truth(None, None, (finding,), may="self dominant", headline=shares)


# ---- requests ----
@recording
def payments_that_are_slow(program: Program) -> Truth:
    slow = program.pick(20, 400)
    parts = {"session": 5, "stock": 6, "payment.authorize": in_some(slow, 65, 5), "receipt": 4}
    pool(program, 400, parts, name="checkout", workers=5, noise=0.15, thread_name="puma-{}")
    finding = says("slow", "payment.authorize", absent=("receipt",))
    return Truth("checkout", 400, (finding,), unit="request")


@recording
def pages_of_a_crawler(program: Program) -> Truth:
    parts = {"resolve": 4, "connect": 6, "download": 40, "extract_links": 5}
    tasks(program, 250, parts, 7, name="fetch_page", noise=0.15)
    shares = {"download": program.share("download", "fetch_page")}
    finding = says("dominant", shares=shares)
    return Truth("fetch_page", 250, (finding,), unit="request", headline=shares)


@recording
def messages_that_miss_the_cache(program: Program) -> Truth:
    slow = dict.fromkeys(program.pick(36, 600), ("cache.get", 45.0))
    parts = {"decode": 3, "cache.get": 4, "publish": 4, "ack": 3}
    tasks(program, 600, parts, 3, name="handle_message", slow=slow, noise=0.2)
    finding = says("slow", "cache.get", absent=("publish",))
    return Truth("handle_message", 600, (finding,), unit="request")


# ---- between steps, stages, waits ----
@recording
def packets_of_a_compressed_feed(program: Program) -> Truth:
    parts = {"header": 0.8, "payload": 1.1, "route": 0.9}
    program.loop("decode_packet", 600, parts, before={"inflate_block": 2.2}, noise=0.1)
    shares = {"inflate_block": program.loop_share("decode_packet", "inflate_block")}
    return Truth("decode_packet", 600, (says("between", shares=shares),))


@recording
def directories_with_pauses(program: Program) -> Truth:
    factors = np.exp(0.04 * program.random.standard_t(5, 100)).tolist()
    program.loop("scan_directory", factors, {"listdir": 2, "stat": 3, "hash": 3.4}, pause=4.5)
    finding = says("between", shares={"": program.loop_share("scan_directory")})
    return Truth("scan_directory", 100, (finding,))


@recording
def checkpoints_of_a_database(program: Program) -> Truth:
    parts = {"begin": 0.6, "apply": 1.3, "commit": 1.1}
    program.loop("transaction", 2100, parts, after={"checkpoint": at_every(250, 90)}, noise=0.1)
    shares = {"checkpoint": program.share("checkpoint")}
    finding = says("stage", "Checkpoint", figures=(250,), shares=shares)
    return Truth("transaction", 2100, (finding,), may="between")


@recording
def index_that_is_loaded_first(program: Program) -> Truth:
    thread = program.thread(noise=0.1)
    with thread.range("load_index"):
        thread.run({"mmap": 200, "build_dictionary": 700})
    thread.loop("rank_query", 200, {"tokenize": 2.6, "match": 4, "sort_hits": 3.2})
    shares = {"load_index": program.share("load_index")}
    return Truth("rank_query", 200, (says("stage", shares=shares),))


@recording
def mailbox_that_is_locked(program: Program) -> Truth:
    thread, indexer = program.thread("smtp", noise=0.05), program.thread("indexer", noise=0.15)
    for _ in range(80):
        with thread.range("store_mail"):
            thread.leaf("parse_mime", 2)
            indexer.now = thread.now - 300_000
            indexer.leaf("rebuild_index", 6)
            thread.until(indexer.now + 8_000, "mailbox_lock.acquire")
            thread.run({"append": 2.2, "fsync": 1.6})
        thread.spend(0.02)
    shares = {"mailbox_lock.acquire": program.share(r"mailbox_lock\.acquire", "store_mail")}
    finding = says("wait", "indexer", "rebuild_index", shares=shares)
    return Truth("store_mail", 80, (finding,), may="dominant")


# ---- steps that vary ----
@recording
def index_that_grows(program: Program) -> Truth:
    factors = wandering(program.random, 500, 0.7, 0.04).tolist()
    parts = {"coerce": 3, "dedupe": 3, "index": lambda i: 1.5 + 0.006 * i, "write": 2.5}
    program.loop("upsert_batch", factors, parts, noise=0.05)
    return Truth("upsert_batch", 500, (says("trend", "slow", "index"),))


@recording
def build_with_a_cold_cache(program: Program) -> Truth:
    cold = {"restore_cache": lambda i: 900 if i == 0 else 40}
    program.loop("build {}", 30, cold | {"configure": 60, "compile": 90, "link": 50}, noise=0.04)
    return Truth("build", 30, (says("warm-up", "first", "restore_cache"),))


@recording
def key_frames(program: Program) -> Truth:
    parts = {"predict": 3.4, "residual": 3, "pack": 2.6}
    parts |= {"intra_refresh": extra(range(29, 900, 30), 12)}
    program.loop("code_picture", 900, parts, noise=0.06)
    return Truth("code_picture", 900, (says("period", "30th", "intra_refresh"),))


@recording
def levels_that_are_streamed(program: Program) -> Truth:
    loads = program.pick(40, 5000)
    parts = {"simulate": 3.8, "cull": 3.2, "submit": 4.2, "stream_level": extra(loads, 110)}
    program.loop("frame", 5000, parts, noise=0.08)
    return Truth("frame", 5000, (says("rare", "stream_level", figures=(40, 5000)),))


@recording
def map_that_became_larger(program: Program) -> Truth:
    parts = {"scan": 2, "localize": lambda i: 2 if i < 1700 else 3.4, "avoid": 3, "drive": 1.6}
    program.loop("control_cycle", 3000, parts, noise=0.05)
    finding = says("jump", "slower at step 1700:", "localize")
    return Truth("control_cycle", 3000, (finding,))


@recording
def buffers_that_fill_up(program: Program) -> Truth:
    parts = {"resample": lambda i: 1.5 + 0.35 * (i % 12), "gain": 2.6, "dither": 2.4}
    program.loop("mix_block", 144, parts, noise=0.03)
    return Truth("mix_block", 144, (says("sawtooth", "resample", figures=(12,)),), may="dominant")


@recording
def meshes_that_are_refined(program: Program) -> Truth:
    refined = program.random.random(400) < 0.3
    parts = {"flux": 3.4, "limit": 2.4, "update": 3}
    parts |= {"remesh": lambda i: 8 if refined[i] else 0}
    program.loop("advance_flow", 400, parts, noise=0.04)
    return Truth("advance_flow", 400, (says("modes", "remesh"),))


@recording
def clock_that_goes_down_and_up(program: Program) -> Truth:
    factors = [1.0] * 70 + [1.45] * 50 + [1.0] * 80 + [1.45] * 40
    program.loop("move_particles", factors, {"gather": 3, "push": 3.4, "scatter": 2.8}, noise=0.04)
    return Truth("move_particles", 240, (says("levels"),))


@recording
def code_that_is_compiled_bit_by_bit(program: Program) -> Truth:
    parts = {
        "interpret": lambda i: 5 - 0.025 * i,
        "native_code": lambda i: 2 + 0.025 * i,
        "collect": 1.6,
        "print": 2,
    }
    program.loop("run_script", 120, parts, noise=0.03)
    return Truth("run_script", 120, (says("cancel", "interpret", "native_code"),))
