# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Held out, third set: programs in which something is to be told."""

from __future__ import annotations

from answers.key.held_out_second_quiet import drift, overlapping
from answers.key.program import Program
from answers.key.requests import in_some, pool, tasks
from answers.key.stages import at_every
from answers.key.truth import Truth, recording, says
from answers.key.varying import extra


# ---- where time goes ----
@recording
def molecules_that_are_minimized(program: Program) -> Truth:
    """Three levels down, one leaf is half of the step."""
    energy = {"bonded": 1.1, "nonbonded": {"neighbor_list": 1.0, "pair_forces": 8.5}}
    parts = {"constraints": 1.5, "energy": energy, "line_search": 1.6, "accept": 1.0}
    program.loop("minimize_step", 140, parts, noise=0.05)
    shares = {name: program.share(name, "minimize_step") for name in ("energy", "pair_forces")}
    finding = says("dominant", "nonbonded", shares=shares)
    return Truth("minimize_step", 140, (finding,), headline=shares)


@recording
def subtitles_that_are_translated(program: Program) -> Truth:
    parts = {"segment": 1.2, "translate": 11, "align": 1.8, "burn_in": 1.5}
    factors = drift(program.random, 70, 0.15, 0.3)
    program.loop("cue {:05d}", factors, parts, noise=0.06)
    shares = {"translate": program.share("translate", r"cue \d+")}
    return Truth("cue", 70, (says("dominant", shares=shares),), headline=shares)


@recording
def paragraphs_of_a_typesetter(program: Program) -> Truth:
    """The numbered chapters are the rounds; a chapter is its paragraphs."""
    thread = program.thread(noise=0.06)
    parts = {"hyphenate": 0.7, "knuth_plass": 1.1, "kern": 0.8, "ship_out": 0.6}
    for number in range(14):
        with thread.range(f"chapter {number + 1}"):
            thread.leaf("open_tex", 1)
            thread.loop("paragraph", 30, parts, pause=0.01)
    shares = {"paragraph": program.share("paragraph", r"chapter \d+")}
    return Truth("chapter", 14, (says("dominant", shares=shares),), headline=shares)


@recording
def coins_that_are_sorted(program: Program) -> Truth:
    """Two fifths of the round are in none of its ranges."""
    parts = {"grab_image": 2.1, "": 5.2, "classify": 2.6, "open_gate": 2.2}
    program.loop("sort_coin", 180, parts, noise=0.06)
    named = sum(
        program.share(name, "sort_coin") for name in ("grab_image", "classify", "open_gate")
    )
    return Truth("sort_coin", 180, (says("unnamed", shares={"": 100 - named}),))


@recording
def tokens_of_a_grammar(program: Program) -> Truth:
    """100,000 ranges of half a microsecond."""
    thread = program.thread(noise=0.05)
    for _ in range(40):
        with thread.range("parse_module"):
            thread.leaf("open_source", 0.05)
            for _ in range(2500):
                thread.leaf("next_token", 0.0005)
                thread.now += 120
            thread.leaf("build_ast", 0.07)
        thread.now += 4_000
    finding = says("overhead", "next_token", figures=(100_000,))
    return Truth("parse_module", 40, (finding,), may="dominant unnamed")


@recording
def nightly_import_of_a_shop(program: Program) -> Truth:
    """A script without a loop; the largest part is two levels down."""
    thread = program.thread(noise=0.03)
    with thread.range("nightly_import"):
        thread.run({"download": 160, "unpack": 110})
        thread.run({"convert": {"prices": 90, "pictures": 980, "texts": 70}})
        thread.run({"publish": 120, "send_mail": 40})
    shares = {"pictures": program.share("pictures")}
    finding = says("self|dominant", shares=shares)
    return Truth(None, None, (finding,), may="self dominant", headline=shares)


@recording
def profile_of_a_spell_checker(program: Program) -> Truth:
    """Functions with file and line; two call the one that takes the time."""
    thread = program.thread(domain="nvtx.py", noise=0.08)
    with thread.range("check.py:120(main)"):
        for _ in range(50):
            with thread.range("check.py:44(line)"):
                thread.run({"words.py:9(split)": 1.1, "edit.py:31(distance)": 4.6})
            with thread.range("suggest.py:18(rank)"):
                thread.run({"edit.py:31(distance)": 2.2, "suggest.py:70(order)": 1.2})
    shares = {"distance()": program.share(".*.distance.")}
    finding = says("self", "edit.py:31", shares=shares)
    return Truth(None, None, (finding,), may="self dominant", headline=shares)


# ---- requests ----
@recording
def parcels_that_are_tracked(program: Program) -> Truth:
    """Coroutines; one in twenty-five waits for a carrier."""
    slow = dict.fromkeys(program.pick(16, 400), ("carrier.lookup", 150.0))
    parts = {"parse_label": 4.0, "carrier.lookup": 14.0, "merge_events": 9.0, "reply": 6.0}
    tasks(program, 400, parts, 5, name="track_parcel", slow=slow, noise=0.12)
    finding = says("slow", "carrier.lookup", absent=("merge_events",))
    return Truth("track_parcel", 400, (finding,), may="dominant", unit="request")


@recording
def images_that_are_moderated(program: Program) -> Truth:
    """Nearly all of a request is one part."""
    requests = [{"fetch": 6.0, "vision_model": 70.0, "verdict": 5.0}] * 300
    overlapping(program, "moderate_image", requests, 9, 0.1)
    shares = {"vision_model": program.share("vision_model", "moderate_image")}
    finding = says("dominant", shares=shares)
    return Truth("moderate_image", 300, (finding,), unit="request", headline=shares)


@recording
def bookings_of_a_clinic(program: Program) -> Truth:
    """A pool; the calendar of one doctor is slow."""
    slow = program.pick(24, 480)
    parts = {"session": 3, "calendar.query": in_some(slow, 70, 6), "confirm": 4}
    pool(
        program, 480, parts, name="POST /booking", workers=6, noise=0.12, thread_name="gunicorn-{}"
    )
    finding = says("slow", "calendar.query", absent=("confirm",))
    return Truth("POST /booking", 480, (finding,), may="dominant", unit="request")


# ---- between steps, stages ----
@recording
def games_that_are_replayed(program: Program) -> Truth:
    """A third of the loop is the sampling between two updates."""
    parts = {"q_values": 2.6, "td_error": 2.2, "backprop": 2.8, "polyak": 1.4}
    before = {"replay.sample": 4.8}
    program.loop("dqn_update", 260, parts, before=before, pause=0.05, noise=0.06)
    shares = {"replay.sample": program.loop_share("dqn_update", r"replay\.sample")}
    return Truth("dqn_update", 260, (says("between", shares=shares),))


@recording
def frames_with_idle_time(program: Program) -> Truth:
    """Half of the loop is in no range at all."""
    parts = {"poll_input": 1.6, "simulate": 2.1, "draw": 2.4}
    program.loop("game_frame", 400, parts, pause=6.2, noise=0.05)
    share = program.loop_share("game_frame")
    return Truth("game_frame", 400, (says("between", shares={"": share}),))


@recording
def reviews_that_are_validated(program: Program) -> Truth:
    """After every forty steps, the model is validated."""
    parts = {"tokenize": 2.2, "attend": 2.8, "backprop": 3.1, "adamw": 1.9}
    after = {"validate_f1": at_every(40, 150)}
    program.loop("sgd_step", 320, parts, after=after, noise=0.04)
    finding = says(
        "stage", "Evaluation", figures=(40,), shares={"validate_f1": program.share("validate_f1")}
    )
    return Truth("sgd_step", 320, (finding,))


@recording
def galaxies_with_snapshots(program: Program) -> Truth:
    parts = {"build_octree": 3.1, "gravity": 4.4, "kick_drift": 3.2, "sfr": 2.1}
    after = {"save_snapshot": at_every(25, 110)}
    program.loop("timestep {}", 200, parts, after=after, noise=0.04)
    finding = says("stage", figures=(25,), shares={"save_snapshot": program.share("save_snapshot")})
    return Truth("timestep", 200, (finding,))


@recording
def corpus_that_is_indexed_first(program: Program) -> Truth:
    """What comes before the first query takes two thirds of the run."""
    thread = program.thread(noise=0.04)
    with thread.range("build_index"):
        thread.run({"tokenize_corpus": 1500, "sort_postings": 1100})
    thread.loop("answer_query", 90, {"lookup": 4.4, "score": 4.9, "snippet": 4.1})
    finding = says("stage", shares={"build_index": program.share("build_index")})
    return Truth("answer_query", 90, (finding,))


# ---- waits ----
@recording
def brewery_that_waits_for_a_sensor(program: Program) -> Truth:
    thread, sensor = program.thread("mash", noise=0.04), program.thread("i2c-bus", noise=0.08)
    for _ in range(80):
        with thread.range("mash_cycle"):
            thread.leaf("stir", 4)
            sensor.now = thread.now + 30_000
            sensor.leaf("read_hydrometer", 13)
            thread.until(sensor.now + 8_000, "reading_queue.get")
            thread.run({"pid": 5, "valve": 6})
        thread.spend(0.03)
    shares = {"reading_queue.get": program.share(r"reading_queue\.get", "mash_cycle")}
    finding = says("wait", "i2c-bus", "read_hydrometer", shares=shares)
    return Truth("mash_cycle", 80, (finding,), may="dominant")


@recording
def sheets_that_wait_for_a_lock(program: Program) -> Truth:
    """The lock is another thread's, beside one that is always busy."""
    thread, saver = program.thread("editor", noise=0.05), program.thread("autosave", noise=0.08)
    spinner = program.thread("spinner", noise=0.2)
    for _ in range(60):
        with thread.range("recalculate"):
            thread.run({"collect": 3, "topological": 3.2})
            saver.now = thread.now + 10_000
            saver.leaf("write_backup", 7.5)
            thread.until(saver.now + 4_000, "sheet_lock.acquire")
            thread.leaf("evaluate", 4.1)
        thread.spend(0.05)
    while spinner.now < thread.now:
        spinner.leaf("animate", 25)
    shares = {"sheet_lock.acquire": program.share(r"sheet_lock\.acquire", "recalculate")}
    finding = says("wait", "autosave", "write_backup", shares=shares, absent=("animate",))
    return Truth("recalculate", 60, (finding,), may="dominant")


@recording
def routes_that_wait_for_a_join(program: Program) -> Truth:
    """No step: a script waits for its only worker."""
    thread, worker = program.thread("main", noise=0.02), program.thread("solver", noise=0.02)
    with thread.range("plan_day"):
        thread.run({"orders": 120, "vehicles": 80})
        worker.now = thread.now + 150_000
        worker.leaf("branch_and_cut", 900)
        thread.leaf("print_labels", 90)
        thread.until(worker.now + 40_000, "solver.join")
        thread.leaf("dispatch", 60)
    shares = {"solver.join": program.share(r"solver\.join", "plan_day")}
    finding = says("wait", "branch_and_cut", shares=shares)
    return Truth(None, None, (finding,), may="self dominant")


# ---- steps that vary ----
@recording
def maps_that_are_rebuilt(program: Program) -> Truth:
    parts = {
        "odometry": 3.2,
        "match_scan": 3.6,
        "fuse": 3.0,
        "loop_closure": extra(range(11, 240, 12), 14),
    }
    program.loop("slam_update", 240, parts, noise=0.04)
    return Truth("slam_update", 240, (says("period", "12th", "loop_closure"),))


@recording
def rows_that_are_upserted(program: Program) -> Truth:
    """A table without an index: each batch takes longer than the one before it."""
    factors = drift(program.random, 200, 0.04, 0.6)
    parts = {"read_csv": 4.1, "upsert": lambda i: 2.4 + 0.03 * i, "audit": 3.8}
    program.loop("import_rows", factors, parts, noise=0.04)
    return Truth("import_rows", 200, (says("trend", "slow", "upsert"),), may="dominant")


@recording
def bridges_after_a_new_mesh(program: Program) -> Truth:
    """At step 130 the mesh is refined: one part takes longer from then on."""
    parts = {"stiffness": lambda i: 4 if i < 130 else 9, "solve": 5.1, "stress": 4.2}
    program.loop("load_case", 210, parts, noise=0.05)
    finding = says("jump", "slower", "stiffness", figures=(130,))
    return Truth("load_case", 210, (finding,), may="dominant")


@recording
def photos_of_two_sizes(program: Program) -> Truth:
    raw = (program.random.random(260) < 0.4).tolist()
    parts = {
        "exif": 2.4,
        "demosaic": lambda i: 9.5 if raw[i] else 3.2,
        "thumbnail": 2.8,
        "hash": 2.1,
    }
    program.loop("import_photo", 260, parts, noise=0.04)
    return Truth("import_photo", 260, (says("modes", "demosaic"),), may="dominant")


@recording
def pumps_that_are_calibrated(program: Program) -> Truth:
    """Five of 900 steps calibrate, each for half a second."""
    due = program.pick(5, 900)
    parts = {
        "pressure": 2.1,
        "flow": 2.4,
        "regulate": 2.7,
        "calibrate": lambda i: 480 if i in due else 0,
    }
    program.loop("pump_cycle", 900, parts, noise=0.05)
    return Truth("pump_cycle", 900, (says("rare", "calibrate", figures=(5, 900)),))


@recording
def memtables_that_are_flushed(program: Program) -> Truth:
    """What is written is kept in memory, and sorted, until it is flushed: a sawtooth of 20."""
    parts = {
        "route": 3.1,
        "memtable_insert": lambda i: 2.2 + 0.35 * (i % 20),
        "ack": 2.9,
        "wal": 3.2,
    }
    program.loop("put_batch", 320, parts, noise=0.03)
    finding = says("sawtooth", "memtable_insert", figures=(20,))
    return Truth("put_batch", 320, (finding,), may="dominant")


@recording
def kernels_that_are_tuned_first(program: Program) -> Truth:
    """Four steps try variants; the others use the best one."""
    tries = [260, 210, 190, 150]
    parts = {
        "load_tile": 4,
        "convolve": lambda i: 5 + (tries[i] if i < 4 else 0),
        "store_tile": 4.2,
    }
    program.loop("apply_filter", 120, parts, noise=0.04)
    return Truth("apply_filter", 120, (says("warm-up", "convolve", figures=(4,)),))


@recording
def streams_that_trade_places(program: Program) -> Truth:
    """The more comes from memory, the less comes from the tape."""
    hits = program.random.uniform(0, 1, 180).tolist()
    parts = {"seek": 2.8, "from_memory": lambda i: 1.5 + 4 * hits[i]}
    parts |= {"from_tape": lambda i: 6 - 4 * hits[i], "checksum": 3.1}
    program.loop("restore_chunk", 180, parts, noise=0.02)
    return Truth("restore_chunk", 180, (says("cancel", "from_memory", "from_tape"),))


@recording
def towns_in_rush_hour(program: Program) -> Truth:
    """Slow from step 100 to 200, and as before then."""
    factors = [1] * 100 + [1.6] * 100 + [1] * 100
    parts = {"demand": 2.4, "assign_routes": 3.1, "signals": 2.2}
    program.loop("traffic_minute", factors, parts, noise=0.04)
    return Truth("traffic_minute", 300, (says("levels"),))
