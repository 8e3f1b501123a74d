# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Held out, second set: programs of odd shapes in which something is to be told."""

from __future__ import annotations

from answers.key.held_out_second_quiet import drift, overlapping
from answers.key.program import MS, Program
from answers.key.truth import Truth, recording, says


# ---- where time goes ----
@recording
def rollouts_and_updates(program: Program) -> Truth:
    """Numbered iterations; a rollout is most of each, four minibatches are the rest."""
    thread = program.thread(noise=0.04)
    minibatch = {"policy_loss": 6, "value_loss": 4, "clip+adam": 5}
    for number in range(24):
        with thread.range(f"ppo_iteration {number}"):
            thread.run({"rollout": {"generate": 210, "reward_model": 45, "kl": 20}})
            thread.leaf("gae", 9)
            with thread.range("update"):
                thread.loop("minibatch", 4, minibatch, pause=0.05)
        thread.spend(1)
    shares = {name: program.share(name, r"ppo_iteration \d+") for name in ("rollout", "generate")}
    return Truth("ppo_iteration", 24, (says("dominant", shares=shares),), headline=shares)


@recording
def trials_that_remember(program: Program) -> Truth:
    """Trial > fold > fit; what suggests the next trial looks at all the trials before it."""
    thread = program.thread(noise=0.03)
    for number in range(40):
        with thread.range(f"trial_{number:03d}"):
            thread.leaf("tpe.suggest", 2 + 2 * number)
            for _ in range(5):
                with thread.range("fold"):
                    thread.run({"fit": 28, "predict": 5, "roc_auc": 3})
            thread.leaf("storage.commit", 4)
        thread.spend(0.5)
    shares = {name: program.share(name, r"trial_\d+") for name in ("fold", "fit")}
    findings = (says("dominant", shares=shares), says("trend", "slow", "tpe.suggest"))
    return Truth("trial", 40, findings)


@recording
def poses_scored_outside_their_parts(program: Program) -> Truth:
    """A phase holds more than half of the step, and a third of the step is in none of its parts."""
    score = {"vdw": 1.2, "": 3.3, "elec": 1.3}
    program.loop("dock_ligand", 220, {"place": 2, "score_pose": score, "cluster": 2.1}, noise=0.05)
    share = program.share("score_pose", "dock_ligand")
    inside = share - sum(program.share(name, "dock_ligand") for name in ("vdw", "elec"))
    findings = (
        says("dominant|unnamed", shares={"score_pose": share}),
        says("dominant|unnamed", "score_pose", shares={"": inside}),
    )
    return Truth("dock_ligand", 220, findings)


@recording
def channel_of_a_microscope(program: Program) -> Truth:
    """Together, the six channels are most of the picture."""
    channels = {
        f"Kanal_{number}": {
            "entrauschen": 1.6 if number == 4 else 0.8,
            "entfalten": 2.1 if number == 4 else 1.0,
        }
        for number in range(1, 7)
    }
    parts = {"laden": 1.2} | channels | {"überlagern": 1.5}
    program.loop("Bild {}", 50, parts, noise=0.05)
    return Truth("Bild", 50, (says("odd", "Kanal_4"),), may="dominant")


@recording
def pairs_one_by_one(program: Program) -> Truth:
    """200,000 ranges of 0.4 us, one after the other."""
    thread = program.thread(noise=0.05)
    for _ in range(100):
        with thread.range("encode_document"):
            thread.leaf("read_text", 0.06)
            for _ in range(2000):
                thread.leaf("bpe.merge_pair", 0.0004)
                thread.now += 100
            thread.leaf("write_ids", 0.06)
        thread.now += 5_000
    finding = says("overhead", "bpe.merge_pair", figures=(200_000,))
    return Truth("encode_document", 100, (finding,), may="dominant unnamed")


# ---- without steps ----
@recording
def grid_search_in_a_notebook(program: Program) -> Truth:
    """Cells with numbers in front; the seventh takes more than half."""
    thread = program.thread(noise=0.03)
    cells = {"read_parquet": 600, "df.info()": 15, "fillna": 110, "train_test_split": 90}
    cells |= {"OneHotEncoder": 260, "hist": 300, "grid.fit(X, y)": 2900, "plot_roc": 420}
    for number, (cell, ms) in enumerate(cells.items()):
        thread.leaf(f"In [{number + 1}] {cell}", ms)
        thread.spend(3)
    shares = {"grid.fit": program.share(r"In \[7\].*")}
    finding = says("self|dominant", shares=shares)
    return Truth(None, None, (finding,), may="self dominant", headline=shares)


@recording
def polygons_in_a_profile(program: Program) -> Truth:
    """Functions of very long paths; two call the one that takes the time."""
    path = "/opt/conda/envs/gis-2024.06/lib/python3.11/site-packages/shapely"
    thread = program.thread(domain="nvtx.py", noise=0.08)
    with thread.range("/srv/ana/join_parcels.py:88(main)"):
        for _ in range(45):
            thread.leaf(f"{path}/io.py:61(from_wkb)", 2.2)
            with thread.range("/srv/ana/join_parcels.py:31(match)"):
                thread.leaf(f"{path}/strtree.py:190(query)", 1.7)
                thread.leaf(f"{path}/prepared.py:114(intersects)", 5.5)
            with thread.range("/srv/ana/join_parcels.py:52(check)"):
                thread.leaf(f"{path}/prepared.py:114(intersects)", 1.2)
                thread.leaf(f"{path}/validation.py:7(explain)", 1.3)
    shares = {"intersects()": program.share(".*.intersects.")}
    finding = says("self", "prepared.py:114", shares=shares)
    return Truth(None, None, (finding,), may="self dominant", headline=shares)


@recording
def script_that_waits_for_a_packer(program: Program) -> Truth:
    """No range repeats; the main thread waits for what another one does."""
    thread, packer = program.thread("main", noise=0.02), program.thread("packer", noise=0.02)
    with thread.range("export_all"):
        thread.run({"collect": 90, "render_index": 110})
        packer.now = thread.now + 100_000
        packer.leaf("zip_archive", 720)
        thread.leaf("write_manifest", 60)
        thread.until(packer.now + 50_000, "packer.join")
        thread.leaf("rename", 25)
    shares = {"packer.join": program.share(r"packer\.join", "export_all")}
    finding = says("wait", "zip_archive", shares=shares)
    return Truth(None, None, (finding,), may="self dominant")


# ---- requests ----
@recording
def questions_that_are_reranked(program: Program) -> Truth:
    """Coroutines, 40 at once; thirty of them are slow for one reason."""
    slow = program.pick(30, 800)
    requests = [
        {"embed_query": 15.0, "retrieve": 42.0, "rerank": 30.0, "stream_tokens": 60.0}
        | ({"rerank": 420.0} if number in slow else {})
        for number in range(800)
    ]
    overlapping(program, "answer_question", requests, 3.7, 0.12)
    finding = says("slow", "rerank", absent=("embed_query",))
    return Truth("answer_question", 800, (finding,), unit="request")


@recording
def postings_behind_a_lock(program: Program) -> Truth:
    """Four workers; every 0.6 s another thread holds their lock for 150 ms."""
    sweeper = program.thread("ledger-sweeper", noise=0.02)
    holds = []
    for number in range(1, 60):
        sweeper.now = begin = number * 600 * MS
        sweeper.leaf("rebuild_ledger", 150)
        holds.append((begin, sweeper.now))
    workers = [program.thread(f"worker-{number}", noise=0.12) for number in range(4)]
    for number, worker in enumerate(workers):
        worker.now += number * 4 * MS
        for _ in range(250):
            with worker.range("post_entry"):
                worker.leaf("parse_iso20022", 4)
                held = [end for begin, end in holds if begin <= worker.now < end]
                worker.until(max([worker.now, *held]) + 8_000, "ledger_lock.acquire")
                worker.run({"append": 9, "reply": 5.5})
            worker.spend(0.2)
    last = max(worker.now for worker in workers)
    sweeper.ranges[:] = [row for row in sweeper.ranges if row.end < last]
    findings = (
        says("slow", "ledger_lock.acquire", absent=("reply",)),
        says("wait|slow", "ledger_lock.acquire", "rebuild_ledger"),
    )
    return Truth("post_entry", 1000, findings, unit="request")


# ---- between steps, stages, waits ----
@recording
def chunks_from_far_away(program: Program) -> Truth:
    """A name with a slash; between steps, the next chunk is fetched."""
    factors = drift(program.random, 300, 0.08, 0.6)
    parts = {"parse": 2.1, "cast_types": 2.4, "join_lookup": 1.9}
    before = {"s3.get_object": lambda i: 2.7 * factors[i]}
    program.loop("etl/transform_chunk", 300, parts, before=before, pause=0.1, noise=0.06)
    shares = {"s3.get_object": program.loop_share("etl/transform_chunk", r"s3\.get_object")}
    return Truth("etl/transform_chunk", 300, (says("between", shares=shares),))


@recording
def shards_that_are_shuffled(program: Program) -> Truth:
    """Three loops deep: pass > shard > document; a shard is shuffled before its documents."""
    thread = program.thread(noise=0.05)
    parts = {"normalize": 1.4, "minhash": 2.2, "bucket": 1.3, "emit": 1.1}
    for _ in range(3):
        with thread.range("pass"):
            for _ in range(8):
                with thread.range("shard"):
                    thread.leaf("shuffle_shard", 64)
                    thread.loop("dedupe_document", 50, parts, pause=0.01)
    shares = {"shuffle_shard": program.loop_share("dedupe_document", "shuffle_shard")}
    finding = says("between|stage", shares=shares)
    return Truth("dedupe_document", 1200, (finding,))


@recording
def recommender_that_is_evaluated(program: Program) -> Truth:
    """Evaluation and checkpoints between steps, each of several calls."""
    thread = program.thread(noise=0.05)
    parts = {"embed": 2, "interact": 2.3, "grad": 3.2, "apply": 1.4}
    for number in range(1200):
        thread.loop("fit_batch", 1, parts, pause=0.02)
        if number % 150 == 149:
            with thread.range("evaluate_auc"):
                for _ in range(40):
                    thread.run({"embed": 1.9, "interact": 2.1})
        if number % 300 == 299:
            with thread.range("save_checkpoint"):
                thread.run({"gather_tables": 90, "fsync": 110})
    findings = tuple(
        says("stage", shares={name: program.share(name)})
        for name in ("evaluate_auc", "save_checkpoint")
    )
    return Truth("fit_batch", 1200, findings, may="between")


@recording
def layers_and_their_file(program: Program) -> Truth:
    """A slicer: after its last layer, it writes the file."""
    thread = program.thread(noise=0.05)
    parts = {"contours": 3.1, "infill": 4, "supports": 2.4, "travel": 1.8}
    thread.loop("sliceLayer", drift(program.random, 180, 0.1, 0.8), parts, pause=0.05)
    with thread.range("export_gcode"):
        thread.run({"merge_paths": 320, "write_text": 380})
    shares = {"export_gcode": program.share("export_gcode")}
    return Truth("sliceLayer", 180, (says("stage", shares=shares),))


@recording
def slices_that_wait_for_a_detector(program: Program) -> Truth:
    """One thread waits for another one's projections; a third does a little."""
    thread = program.thread("reconstruction", noise=0.04)
    detector, logger = program.thread("detector-0", noise=0.06), program.thread("log", noise=0.2)
    for _ in range(64):
        with thread.range("CTVolume.reconstructSlice"):
            thread.leaf("allocate", 3)
            detector.now = thread.now - 500_000
            detector.leaf("read_projections", 24)
            thread.until(detector.now + 12_000, "sinogram_queue.get")
            thread.run({"ramp_filter": 11, "backproject": 14})
            logger.now = thread.now
            logger.leaf("write_log", 0.3)
            thread.leaf("hounsfield", 5)
        thread.spend(0.05)
    step = "CTVolume.reconstructSlice"
    shares = {"sinogram_queue.get": program.share(r"sinogram_queue\.get", step)}
    finding = says("wait", "detector-0", "read_projections", shares=shares)
    return Truth(step, 64, (finding,))


@recording
def policies_that_wait_for_a_pool(program: Program) -> Truth:
    """A wait of two fifths, for processes that nobody recorded."""
    factors = drift(program.random, 90, 0.04, 0.3)
    parts = {"mortality": 14, "discount": 12, "scenario_future.result": 36, "reserve": 17, "csv": 9}
    program.loop("value_policy_block", factors, parts, noise=0.04)
    share = program.share(r"scenario_future\.result", "value_policy_block")
    finding = says("wait", shares={"scenario_future.result": share})
    return Truth("value_policy_block", 90, (finding,))


# ---- steps that vary ----
@recording
def fixtures_that_build_databases(program: Program) -> Truth:
    """Tests of one name: most of each is its setup, and four time out."""
    stuck = program.pick(4, 150)
    setup = {"create_database": 28, "load_fixtures": 6}
    parts = {"setup": setup, "call": lambda i: 900 if i in stuck else 14, "teardown": 8}
    program.loop("pytest/runtest", 150, parts, noise=0.05)
    findings = (
        says("dominant", "create_database", shares={"setup": 34 / 56 * 100}),
        says("rare", "call", figures=(4, 150)),
    )
    return Truth("pytest/runtest", 150, findings)


@recording
def drafts_that_are_rejected(program: Program) -> Truth:
    """Speculative decoding: where drafts are rejected, the same range takes longer."""
    rejected = (program.random.random(1200) < 0.3).tolist()
    factors = drift(program.random, 1200, 0.02, 0.7)
    parts = {"draft_k4": 3.5, "verify": lambda i: 7.5 if rejected[i] else 3.0}
    parts |= {"kv_update": 3.0, "emit_tokens": 1.2}
    program.loop("spec_decode", factors, parts, noise=0.03)
    return Truth("spec_decode", 1200, (says("modes", "verify"),))


@recording
def images_of_a_cold_model(program: Program) -> Truth:
    """The weights are loaded first; three steps compile. A name with numbers in its middle."""
    cold = [1400, 400, 160]
    thread = program.thread(noise=0.03)
    with thread.range("load_weights"):
        thread.run({"safetensors": 420, "to_device": 300})
    parts = {"cond": 12, "unet": lambda i: 22 + (cold[i] if i < 3 else 0), "cfg": 11, "euler_a": 10}
    thread.loop("sdxl_v1.0_denoise", 60, parts)
    findings = (
        says("warm-up", "first", "unet"),
        says("stage", shares={"load_weights": program.share("load_weights")}),
    )
    return Truth("sdxl_v1.0_denoise", 60, findings)


@recording
def speech_with_a_growing_beam(program: Program) -> Truth:
    factors = drift(program.random, 240, 0.05, 0.8)
    parts = {"mel": 2.6, "encoder": 4.2, "beam_search": lambda i: 2 + 0.022 * i, "punctuate": 2.7}
    program.loop("音声チャンク", factors, parts, noise=0.03)
    return Truth("音声チャンク", 240, (says("trend", "slow", "beam_search"),))


@recording
def rates_from_a_cache(program: Program) -> Truth:
    """At step 340 a cache is switched on."""
    parts = {"load_bookings": 34, "fetch_fx_rates": lambda i: 30 if i < 340 else 6}
    parts |= {"render_chart": 28, "pdf": 26}
    program.loop("build_statement", 500, parts, noise=0.04)
    return Truth("build_statement", 500, (says("jump", "fetch_fx_rates", figures=(340,)),))


@recording
def tables_that_are_compacted(program: Program) -> Truth:
    """Every 16th flush compacts."""
    parts = {"sort_memtable": 3.6, "write_blocks": 4.4, "bloom_filter": 2.2, "fsync": 2}
    parts |= {"compact L0→L1": lambda i: 22 if i % 16 == 15 else 0}
    program.loop("flush_memtable", 640, parts, noise=0.07)
    return Truth("flush_memtable", 640, (says("period", "16th", "compact L0→L1"),))


@recording
def edges_that_fill_up(program: Program) -> Truth:
    """A content network's node: what it does not know becomes less, what it knows more."""
    parts = {
        "origin_fetch": lambda i: 5.8 - 0.014 * i,
        "cache_read": lambda i: 1.6 + 0.014 * i,
        "sign": 2.3,
        "sendfile": 2.4,
    }
    program.loop("serve_segment", 250, parts, noise=0.04)
    return Truth("serve_segment", 250, (says("cancel", "origin_fetch", "cache_read"),))


@recording
def logs_that_roll_over(program: Program) -> Truth:
    """A segment's index is kept in order: appending takes longer until the next segment."""
    parts = {"parse_line": 3.6, "enrich": 3.4, "segment_append": lambda i: 3 + 0.28 * (i % 25)}
    parts |= {"forward_kafka": 3.2}
    program.loop("ingest_batch", 300, parts, noise=0.03)
    return Truth("ingest_batch", 300, (says("sawtooth", "segment_append", figures=(25,)),))


@recording
def traffic_with_garbage(program: Program) -> Truth:
    """30 of 8,000 steps collect garbage, for a tenth of the whole time."""
    collects = program.pick(30, 8000)
    factors = drift(program.random, 8000, 0.05, 0.9)
    parts = {"signals": 1.1, "carFollowing": 2.3, "laneChange": 1.6, "detectors": 1}
    parts |= {"gc.collect": lambda i: 160 if i in collects else 0}
    program.loop("Simulation.advanceTick", factors, parts, noise=0.03)
    finding = says("rare", "gc.collect", figures=(30, 8000))
    return Truth("Simulation.advanceTick", 8000, (finding,))
