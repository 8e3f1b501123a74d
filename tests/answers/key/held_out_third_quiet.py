# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Held out, third set: programs in which nothing stands out."""

from __future__ import annotations

import numpy as np
from answers.key.held_out_second_quiet import drift, overlapping
from answers.key.program import MS, Program
from answers.key.requests import pool
from answers.key.truth import Truth, recording


@recording
def moves_of_a_chess_engine(program: Program) -> Truth:
    """A game is longer than its moves, whose searches differ a lot."""
    factors = np.exp(0.35 * program.random.normal(size=90)).tolist()
    parts = {"probe_table": 6, "generate": 7, "alphabeta": 9, "quiescence": 8}
    program.loop("search_move", factors, parts, noise=0.05)
    return Truth("search_move", 90, may="rare")


@recording
def payslips_of_a_month(program: Program) -> Truth:
    """A fraction in the name: 17/250."""
    thread = program.thread(noise=0.07)
    for number in range(250):
        with thread.range(f"payslip {number + 1}/250"):
            thread.run({"hours": 1.3, "tax_table": 1.6, "social": 1.4, "render_pdf": 1.9})
        thread.spend(0.03)
    return Truth("payslip", 250)


@recording
def blocks_of_a_synthesizer(program: Program) -> Truth:
    """20,000 blocks of 120 us, each like the one before it."""
    factors = drift(program.random, 20_000, 0.06, 0.97)
    parts = {"oscillators": 0.032, "envelopes": 0.026, "reverb": 0.036, "mixdown": 0.022}
    program.loop("audio_block", factors, parts, pause=0.001)
    return Truth("audio_block", 20_000)


@recording
def shots_of_a_seismic_survey(program: Program) -> Truth:
    """Eight shots of minutes."""
    factors = drift(program.random, 8, 0.08, 0)
    parts = {"source": 21e3, "propagate": {"stencil": 24e3, "absorb": 19e3}, "migrate": 28e3}
    program.loop("shot_{}", factors, parts, noise=0.04)
    return Truth("shot", 8)


@recording
def claims_by_a_pool(program: Program) -> Truth:
    parts = {"ocr": 6, "match_policy": 5, "triage": 5.5}
    pool(program, 360, parts, name="assess_claim", workers=5, noise=0.2, thread_name="assessor-{}")
    return Truth("assess_claim", 360, unit="request")


@recording
def bids_of_websockets(program: Program) -> Truth:
    """Coroutines, some twenty at once."""
    parts = {"authorize": 12.0, "lock_lot": 15.0, "write_ledger": 14.0, "broadcast": 13.0}
    overlapping(program, "ws.place_bid", [parts] * 700, 2.6, 0.2)
    return Truth("ws.place_bid", 700, unit="request")


@recording
def robot_of_three_threads(program: Program) -> Truth:
    """The loop of the controller; two threads do a little beside it."""
    control = program.thread("control", noise=0.06)
    lidar, watchdog = program.thread("lidar", noise=0.2), program.thread("watchdog", noise=0.3)
    parts = {"read_joints": 0.9, "estimate": 1.3, "plan": 1.4, "write_torques": 0.8}
    control.loop("control_cycle", 800, parts, pause=0.6)
    while lidar.now < control.now - 300 * MS:
        lidar.leaf("scan", 1.1)
        lidar.spend(90)
    while watchdog.now < control.now - 2000 * MS:
        watchdog.leaf("ping", 0.2)
        watchdog.spend(900)
    return Truth("control_cycle", 800, may="between")


@recording
def modules_of_a_build(program: Program) -> Truth:
    """Files of other names, in turn: nothing repeats."""
    thread = program.thread(noise=0.08)
    names = ("lexer", "parser", "sema", "ir", "regalloc", "peephole", "linker", "driver", "utf8",
             "bigint", "arena", "hash", "diag", "vfs", "cache", "cli")  # fmt: skip
    lengths = program.random.gamma(5, 60, len(names)).tolist()
    with thread.range("build"):
        for name, ms in zip(names, lengths, strict=True):
            thread.leaf(f"cc -O2 src/{name}.c", min(ms, 500))
    return Truth(None)


@recording
def sections_of_a_report(program: Program) -> Truth:
    """A script of ten parts of a tenth each."""
    thread = program.thread(noise=0.05)
    for name in ("abstract", "sources", "cleaning", "cohort", "survival", "cox", "forest_plot",
                 "sensitivity", "tables", "appendix"):  # fmt: skip
        thread.leaf(name, 310)
        thread.spend(4)
    return Truth(None)


@recording
def generations_of_a_colony(program: Program) -> Truth:
    """Trials > generations, from which neither spends much outside of the innermost."""
    thread = program.thread(noise=0.06)
    parts = {"select": 1.0, "crossover": 1.2, "mutate": 0.9, "fitness": 1.4}
    for _ in range(6):
        with thread.range("colony_run"):
            thread.leaf("seed_population", 3)
            thread.loop("generation", 60, parts, pause=0.02)
            thread.leaf("archive_best", 2)
    return Truth("generation", 360)


@recording
def plants_in_turn(program: Program) -> Truth:
    """No range is around a round."""
    thread = program.thread(noise=0.08)
    for _ in range(120):
        thread.run({"soil_probe": 3.1, "camera_still": 3.6, "decide_valves": 2.7, "log_row": 2.9})
        thread.spend(0.15)
    return Truth("soil_probe -> camera_still -> decide_valves -> log_row", 120)


@recording
def ledgers_with_a_short_vacuum(program: Program) -> Truth:
    """What is done after every fifty rounds is a third of a percent."""
    factors = drift(program.random, 600, 0.05, 0.6)
    parts = {"decode": 2.2, "verify_sig": 2.6, "apply_state": 2.4, "append": 1.8}
    after = {"vacuum": lambda i: 1.5 if i % 50 == 49 else 0}
    program.loop("block #{}", factors, parts, after=after, noise=0.05)
    return Truth("block", 600)


@recording
def fares_with_one_stray(program: Program) -> Truth:
    """One of 220 takes twice as long, and none of its parts is unusual in kind."""
    factors = np.exp(0.07 * program.random.normal(size=220))
    factors[131] = 1.9
    parts = {"zones": 1.4, "tariff": 1.7, "discounts": 1.2, "ticket": 1.5}
    program.loop("compute_fare", factors.tolist(), parts, noise=0.04)
    return Truth("compute_fare", 220, may="rare")


@recording
def stamps_on_letters(program: Program) -> Truth:
    factors = drift(program.random, 280, 0.07, 0.5)
    parts = {"feed": 1.8, "read_zip": 2.1, "print_mark": 2.3, "stack": 1.7}
    program.loop("stamp_letter", factors, parts, noise=0.05)
    return Truth("stamp_letter", 280)


@recording
def tickets_at_the_gate(program: Program) -> Truth:
    parts = {"decode_qr": 4.2, "check_seat": 4.9, "open": 4.4}
    pool(program, 420, parts, name="scan_ticket", workers=4, noise=0.18, thread_name="gate-{}")
    return Truth("scan_ticket", 420, unit="request")


@recording
def rooms_of_a_museum(program: Program) -> Truth:
    """A script of a dozen parts of a twelfth each."""
    thread = program.thread(noise=0.05)
    for name in ("foyer", "etruscans", "coins", "maps", "armor", "clocks", "glass", "looms",
                 "minerals", "whales", "shop", "cloakroom"):  # fmt: skip
        thread.leaf(name, 240)
        thread.spend(3)
    return Truth(None)


@recording
def calls_of_a_dispatcher(program: Program) -> Truth:
    """Coroutines, a dozen at once."""
    parts = {"locate": 11.0, "rank_cars": 12.5, "assign": 10.5, "notify": 11.5}
    overlapping(program, "dispatch_call", [parts] * 500, 4, 0.18)
    return Truth("dispatch_call", 500, unit="request")
