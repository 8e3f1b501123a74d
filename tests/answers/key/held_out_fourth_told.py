# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Held out, fourth set: programs in which something is to be told."""

from __future__ import annotations

from answers.key.held_out_second_quiet import drift, overlapping
from answers.key.program import Program
from answers.key.requests import in_some, pool, tasks
from answers.key.stages import at_every
from answers.key.truth import Truth, recording, says
from answers.key.varying import extra


# ---- where time goes ----
@recording
def looms_that_weave(program: Program) -> Truth:
    """Two levels down, one leaf is two thirds of the step."""
    weave = {"lift_heddles": 0.8, "throw_shuttle": 7.2, "beat_reed": 0.7}
    program.loop("weave_pick", 160, {"wind": 0.9, "weave": weave, "take_up": 1.0}, noise=0.05)
    shares = {"throw_shuttle": program.share("throw_shuttle", "weave_pick")}
    return Truth("weave_pick", 160, (says("dominant", shares=shares),), headline=shares)


@recording
def contracts_that_are_compared(program: Program) -> Truth:
    """Names with a number of five digits, in a run of 45 steps."""
    factors = drift(program.random, 45, 0.1, 0.4)
    parts = {"load_pdf": 3.0, "align_clauses": 21, "highlight": 3.4}
    program.loop("contract {:05d}", factors, parts, noise=0.05)
    shares = {"align_clauses": program.share("align_clauses", r"contract \d+")}
    return Truth("contract", 45, (says("dominant", shares=shares),), headline=shares)


@recording
def trains_that_are_scheduled(program: Program) -> Truth:
    """Half of the step is in no range of it."""
    parts = {"read_timetable": 2.0, "": 7.4, "assign_platform": 2.4, "publish": 2.1}
    program.loop("schedule_train", 130, parts, noise=0.05)
    names = ("read_timetable", "assign_platform", "publish")
    named = sum(program.share(name, "schedule_train") for name in names)
    return Truth("schedule_train", 130, (says("unnamed", shares={"": 100 - named}),))


@recording
def pollen_that_is_counted(program: Program) -> Truth:
    """60,000 ranges of 0.4 us."""
    thread = program.thread(noise=0.05)
    for _ in range(30):
        with thread.range("count_slide"):
            thread.leaf("focus", 0.06)
            for _ in range(2000):
                thread.leaf("test_grain", 0.0004)
                thread.now += 100
            thread.leaf("write_counts", 0.05)
        thread.now += 5_000
    finding = says("overhead", "test_grain", figures=(60_000,))
    return Truth("count_slide", 30, (finding,), may="dominant unnamed")


@recording
def audit_of_a_warehouse(program: Program) -> Truth:
    """A script without a loop; one leaf has three fifths of it."""
    thread = program.thread(noise=0.03)
    with thread.range("audit"):
        thread.run({"read_stock": 210, "read_orders": 190})
        thread.run({"reconcile": {"match_lots": 1300, "explain_gaps": 160}})
        thread.run({"sign": 90, "archive": 120})
    shares = {"match_lots": program.share("match_lots")}
    finding = says("self|dominant", shares=shares)
    return Truth(None, None, (finding,), may="self dominant", headline=shares)


@recording
def profile_of_a_crossword_filler(program: Program) -> Truth:
    """Functions with file and line."""
    thread = program.thread(domain="nvtx.py", noise=0.06)
    with thread.range("fill.py:200(main)"):
        for _ in range(40):
            with thread.range("grid.py:15(next_slot)"):
                thread.run({"trie.py:40(candidates)": 5.2, "grid.py:77(crossings)": 1.1})
            thread.run({"grid.py:90(place)": 1.3, "score.py:8(freshness)": 0.9})
    shares = {"candidates()": program.share(".*.candidates.")}
    finding = says("self", "trie.py:40", shares=shares)
    return Truth(None, None, (finding,), may="self dominant", headline=shares)


# ---- requests ----
@recording
def elevators_that_are_called(program: Program) -> Truth:
    """Coroutines; 15 of 375 wait for a door."""
    slow = dict.fromkeys(program.pick(15, 375), ("door.close", 140.0))
    parts = {"dispatch": 5.0, "door.close": 13.0, "travel": 11.0, "announce": 4.0}
    tasks(program, 375, parts, 5, name="elevator_call", slow=slow, noise=0.12)
    finding = says("slow", "door.close", absent=("announce",))
    return Truth("elevator_call", 375, (finding,), may="dominant", unit="request")


@recording
def prescriptions_that_are_checked(program: Program) -> Truth:
    requests = [{"parse_rx": 5.0, "interactions": 62.0, "sign_off": 6.0}] * 260
    overlapping(program, "check_prescription", requests, 10, 0.1)
    shares = {"interactions": program.share("interactions", "check_prescription")}
    finding = says("dominant", shares=shares)
    return Truth("check_prescription", 260, (finding,), unit="request", headline=shares)


@recording
def tickets_of_a_theater(program: Program) -> Truth:
    """A pool; the seat map of some halls is slow."""
    slow = program.pick(22, 440)
    parts = {"login": 4, "seat_map.load": in_some(slow, 80, 6), "pay": 5}
    pool(program, 440, parts, name="GET /tickets", workers=5, noise=0.12, thread_name="waitress-{}")
    finding = says("slow", "seat_map.load", absent=("login",))
    return Truth("GET /tickets", 440, (finding,), may="dominant", unit="request")


# ---- between steps, stages ----
@recording
def hives_that_are_weighed(program: Program) -> Truth:
    """Two fifths of the loop is what the scale needs between two steps."""
    parts = {"tare": 2.1, "smooth": 2.4, "classify": 2.6, "store": 1.9}
    program.loop("weigh_hive", 220, parts, before={"scale.settle": 6.0}, pause=0.04, noise=0.05)
    shares = {"scale.settle": program.loop_share("weigh_hive", r"scale\.settle")}
    return Truth("weigh_hive", 220, (says("between", shares=shares),))


@recording
def tides_with_idle_time(program: Program) -> Truth:
    """Three fifths of the loop is in no range."""
    program.loop("tide_minute", 300, {"gauge": 1.5, "harmonics": 1.9, "warn": 1.4}, pause=7.5,
                 noise=0.05)  # fmt: skip
    share = program.loop_share("tide_minute")
    return Truth("tide_minute", 300, (says("between", shares={"": share}),))


@recording
def poems_that_are_evaluated(program: Program) -> Truth:
    """After every thirty steps."""
    parts = {"embed": 2.3, "decode": 2.9, "backprop": 3.0, "clip": 2.0}
    program.loop("lr_step", 270, parts, after={"evaluate_meter": at_every(30, 120)}, noise=0.04)
    shares = {"evaluate_meter": program.share("evaluate_meter")}
    return Truth("lr_step", 270, (says("stage", "Evaluation", figures=(30,), shares=shares),))


@recording
def glaciers_with_checkpoints(program: Program) -> Truth:
    parts = {"stress": 3.3, "flow_law": 4.1, "calve": 3.0, "melt": 2.8}
    after = {"write_checkpoint": at_every(20, 95)}
    program.loop("ice_step {}", 180, parts, after=after, noise=0.04)
    shares = {"write_checkpoint": program.share("write_checkpoint")}
    return Truth("ice_step", 180, (says("stage", "Checkpoint", figures=(20,), shares=shares),))


@recording
def vineyard_that_is_mapped_first(program: Program) -> Truth:
    """What comes before the first row takes half of the run."""
    thread = program.thread(noise=0.04)
    with thread.range("stitch_map"):
        thread.run({"load_tiles": 800, "blend": 700})
    thread.loop("prune_row", 100, {"find_canes": 4.9, "choose": 4.6, "cut": 4.4})
    shares = {"stitch_map": program.share("stitch_map")}
    return Truth("prune_row", 100, (says("stage", shares=shares),))


# ---- waits ----
@recording
def kiln_that_waits_for_a_probe(program: Program) -> Truth:
    thread, probe = program.thread("kiln", noise=0.04), program.thread("thermo-bus", noise=0.08)
    for _ in range(90):
        with thread.range("kiln_cycle"):
            thread.leaf("ramp", 4)
            probe.now = thread.now + 25_000
            probe.leaf("read_thermocouple", 12)
            thread.until(probe.now + 6_000, "probe_queue.get")
            thread.run({"model": 4.5, "burner": 5})
        thread.spend(0.04)
    shares = {"probe_queue.get": program.share(r"probe_queue\.get", "kiln_cycle")}
    finding = says("wait", "thermo-bus", "read_thermocouple", shares=shares)
    return Truth("kiln_cycle", 90, (finding,), may="dominant")


@recording
def scores_that_wait_for_a_lock(program: Program) -> Truth:
    thread, printer = program.thread("engraver", noise=0.05), program.thread("printer", noise=0.08)
    for _ in range(70):
        with thread.range("engrave_bar"):
            thread.run({"space_notes": 3.4, "beams": 3.1})
            printer.now = thread.now + 12_000
            printer.leaf("rasterize_page", 8.2)
            thread.until(printer.now + 5_000, "font_lock.acquire")
            thread.leaf("slurs", 4.0)
        thread.spend(0.05)
    shares = {"font_lock.acquire": program.share(r"font_lock\.acquire", "engrave_bar")}
    finding = says("wait", "printer", "rasterize_page", shares=shares)
    return Truth("engrave_bar", 70, (finding,), may="dominant")


@recording
def census_that_waits_for_a_future(program: Program) -> Truth:
    """No step: a script waits for its only worker."""
    thread, worker = program.thread("main", noise=0.02), program.thread("geocoder", noise=0.02)
    with thread.range("census"):
        thread.run({"read_forms": 140, "dedupe": 110})
        worker.now = thread.now + 120_000
        worker.leaf("geocode_all", 1100)
        thread.leaf("draw_legend", 80)
        thread.until(worker.now + 30_000, "places_future.result")
        thread.leaf("print_maps", 90)
    shares = {"places_future.result": program.share(r"places_future\.result", "census")}
    finding = says("wait", "geocode_all", shares=shares)
    return Truth(None, None, (finding,), may="self dominant")


# ---- steps that vary ----
@recording
def stars_that_are_calibrated(program: Program) -> Truth:
    parts = {"expose": 3.1, "read_ccd": 3.4, "detect": 2.9,
             "take_flat": extra(range(8, 225, 9), 15)}  # fmt: skip
    program.loop("exposure", 225, parts, noise=0.04)
    return Truth("exposure", 225, (says("period", "9th", "take_flat"),))


@recording
def rumors_that_spread(program: Program) -> Truth:
    """A list that is searched from its start becomes longer."""
    factors = drift(program.random, 240, 0.04, 0.6)
    parts = {"meet": 3.7, "has_heard": lambda i: 2.2 + 0.025 * i, "talk": 3.9}
    program.loop("rumor_round", factors, parts, noise=0.04)
    return Truth("rumor_round", 240, (says("trend", "slow", "has_heard"),), may="dominant")


@recording
def cranes_after_a_storm(program: Program) -> Truth:
    """From step 90 on, one part takes longer."""
    parts = {"swing": 3.8, "steady_load": lambda i: 4.2 if i < 90 else 9.5, "lower": 4.4}
    program.loop("crane_move", 170, parts, noise=0.05)
    finding = says("jump", "slower", "steady_load", figures=(90,))
    return Truth("crane_move", 170, (finding,), may="dominant")


@recording
def eggs_of_two_sizes(program: Program) -> Truth:
    large = (program.random.random(280) < 0.35).tolist()
    parts = {"candle": 2.5, "grade": lambda i: 9.8 if large[i] else 3.0, "stamp": 2.7, "pack": 2.3}
    program.loop("sort_egg", 280, parts, noise=0.04)
    return Truth("sort_egg", 280, (says("modes", "grade"),), may="dominant")


@recording
def buoys_that_are_uploaded(program: Program) -> Truth:
    """Four of 800 steps upload."""
    due = program.pick(4, 800)
    parts = {"wave_height": 2.2, "salinity": 2.5, "compress": 2.6,
             "upload_batch": lambda i: 430 if i in due else 0}  # fmt: skip
    program.loop("buoy_sample", 800, parts, noise=0.05)
    return Truth("buoy_sample", 800, (says("rare", "upload_batch", figures=(4, 800)),))


@recording
def undo_logs_that_are_cut(program: Program) -> Truth:
    """A sawtooth of 16."""
    parts = {"apply_edit": 3.2, "append_undo": lambda i: 2.0 + 0.45 * (i % 16), "redraw": 3.0,
             "notify": 3.1}  # fmt: skip
    program.loop("edit_op", 320, parts, noise=0.03)
    finding = says("sawtooth", "append_undo", figures=(16,))
    return Truth("edit_op", 320, (finding,), may="dominant")


@recording
def shaders_that_are_compiled_first(program: Program) -> Truth:
    """Three steps compile; the others do not."""
    tries = [310, 240, 170]
    parts = {"cull": 4.1, "draw_calls": lambda i: 5 + (tries[i] if i < 3 else 0), "present": 4.3}
    program.loop("render_view", 140, parts, noise=0.04)
    return Truth("render_view", 140, (says("warm-up", "draw_calls", figures=(3,)),))


@recording
def shelves_that_trade_places(program: Program) -> Truth:
    near = program.random.uniform(0, 1, 200).tolist()
    parts = {"scan_tag": 2.7, "near_shelf": lambda i: 1.4 + 4.2 * near[i]}
    parts |= {"far_shelf": lambda i: 6.2 - 4.2 * near[i], "label": 3.0}
    program.loop("restock_item", 200, parts, noise=0.02)
    return Truth("restock_item", 200, (says("cancel", "near_shelf", "far_shelf"),))


@recording
def ferries_in_fog(program: Program) -> Truth:
    """Slow from step 80 to 170, and then as before."""
    factors = [1] * 80 + [1.7] * 90 + [1] * 100
    program.loop("ferry_tick", factors, {"radar": 2.5, "steer": 3.0, "horn": 2.1}, noise=0.04)
    return Truth("ferry_tick", 270, (says("levels"),))


@recording
def quilts_with_one_odd_block(program: Program) -> Truth:
    """One of six numbered siblings takes three times as long as the others."""
    blocks = {f"block{i}": 6.3 if i == 4 else 2.1 for i in range(6)}
    program.loop("sew_quilt", 110, {"cut_cloth": 2.0, **blocks, "press": 1.9}, noise=0.04)
    return Truth("sew_quilt", 110, (says("odd", "block4"),), may="dominant")
