# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Held out, fourth set: programs in which nothing stands out."""

from __future__ import annotations

import numpy as np
from answers.key.held_out_second_quiet import drift, overlapping
from answers.key.program import MS, Program
from answers.key.requests import pool
from answers.key.truth import Truth, recording


@recording
def hands_of_a_poker_bot(program: Program) -> Truth:
    """Hands whose lengths differ a lot."""
    factors = np.exp(0.3 * program.random.normal(size=110)).tolist()
    parts = {"read_board": 6, "ranges": 8, "equity": 9, "choose": 7}
    program.loop("play_hand", factors, parts, noise=0.05)
    return Truth("play_hand", 110, may="rare")


@recording
def stamps_of_an_album(program: Program) -> Truth:
    """A fraction in the name: 3/320."""
    thread = program.thread(noise=0.07)
    for number in range(320):
        with thread.range(f"stamp {number + 1}/320"):
            thread.run({"crop": 1.4, "perforation": 1.5, "catalog": 1.7, "caption": 1.6})
        thread.spend(0.02)
    return Truth("stamp", 320)


@recording
def blocks_of_a_modem(program: Program) -> Truth:
    """15,000 blocks of 100 us."""
    factors = drift(program.random, 15_000, 0.05, 0.95)
    parts = {"sync_symbol": 0.027, "equalize": 0.025, "demap": 0.024, "deinterleave": 0.024}
    program.loop("modem_block", factors, parts, pause=0.001)
    return Truth("modem_block", 15_000)


@recording
def winters_of_an_ice_core(program: Program) -> Truth:
    """Nine winters of minutes."""
    factors = drift(program.random, 9, 0.08, 0)
    parts = {"snowfall": 22e3, "compaction": {"density": 21e3, "bubbles": 20e3}, "isotopes": 25e3}
    program.loop("winter_{}", factors, parts, noise=0.04)
    return Truth("winter", 9)


@recording
def letters_by_a_pool(program: Program) -> Truth:
    parts = {"unfold": 5, "read_address": 6, "stamp_date": 5.5}
    pool(program, 340, parts, name="sort_letter", workers=4, noise=0.2, thread_name="sorter-{}")
    return Truth("sort_letter", 340, unit="request")


@recording
def chats_of_a_help_desk(program: Program) -> Truth:
    """Coroutines, some fifteen at once."""
    parts = {"greet": 11.0, "search_faq": 14.0, "draft": 15.0, "send_reply": 12.0}
    overlapping(program, "chat.turn", [parts] * 650, 3.4, 0.2)
    return Truth("chat.turn", 650, unit="request")


@recording
def drone_of_three_threads(program: Program) -> Truth:
    """The loop of the autopilot; two threads do a little next to it."""
    pilot = program.thread("autopilot", noise=0.06)
    gps, logger = program.thread("gps", noise=0.2), program.thread("logger", noise=0.3)
    parts = {"read_imu": 1.0, "attitude": 1.2, "position": 1.3, "mix_motors": 0.9}
    pilot.loop("autopilot_cycle", 700, parts, pause=0.5)
    while gps.now < pilot.now - 300 * MS:
        gps.leaf("fix", 1.2)
        gps.spend(95)
    while logger.now < pilot.now - 1500 * MS:
        logger.leaf("rotate", 0.3)
        logger.spend(800)
    return Truth("autopilot_cycle", 700, may="between")


@recording
def pages_of_a_website(program: Program) -> Truth:
    """Pages of other names, in turn: nothing repeats."""
    thread = program.thread(noise=0.08)
    names = ("home", "about", "team", "jobs", "press", "terms", "privacy", "shop", "cart", "help",
             "forum", "status", "events", "gallery", "archive", "contact")  # fmt: skip
    lengths = program.random.gamma(5, 55, len(names)).tolist()
    with thread.range("build_site"):
        for name, ms in zip(names, lengths, strict=True):
            thread.leaf(f"minify {name}.html", min(ms, 450))
    return Truth(None)


@recording
def courses_of_a_dinner(program: Program) -> Truth:
    """A script of nine parts of a ninth each."""
    thread = program.thread(noise=0.05)
    for name in ("menu", "shopping", "stock", "soup", "fish", "roast", "sauces", "dessert",
                 "table"):  # fmt: skip
        thread.leaf(name, 290)
        thread.spend(3)
    return Truth(None)


@recording
def bars_of_a_composer(program: Program) -> Truth:
    """Songs > bars; a song does little outside of its bars."""
    thread = program.thread(noise=0.06)
    parts = {"melody": 1.1, "harmony": 1.2, "bass": 1.0, "drums": 1.3}
    for _ in range(7):
        with thread.range("song"):
            thread.leaf("choose_key", 2)
            thread.loop("compose_bar", 48, parts, pause=0.02)
            thread.leaf("title", 1)
    return Truth("compose_bar", 336)


@recording
def looms_in_turn(program: Program) -> Truth:
    """No range is around a round."""
    thread = program.thread(noise=0.08)
    for _ in range(140):
        thread.run({"feed_yarn": 3.0, "check_tension": 3.3, "knit_row": 3.2, "count_row": 2.8})
        thread.spend(0.12)
    return Truth("feed_yarn -> check_tension -> knit_row -> count_row", 140)


@recording
def parking_with_a_short_sweep(program: Program) -> Truth:
    """What is done after every sixty rounds is a quarter of a percent."""
    factors = drift(program.random, 540, 0.05, 0.6)
    parts = {"read_plate": 2.3, "find_tariff": 2.5, "charge": 2.4, "open_barrier": 2.0}
    after = {"sweep": lambda i: 1.4 if i % 60 == 59 else 0}
    program.loop("car #{}", factors, parts, after=after, noise=0.05)
    return Truth("car", 540)


@recording
def puzzles_with_one_stray(program: Program) -> Truth:
    """One of 240 takes twice as long, in all of its parts."""
    factors = np.exp(0.06 * program.random.normal(size=240))
    factors[77] = 2.0
    parts = {"edges": 1.5, "colors": 1.6, "try_fit": 1.4, "rotate": 1.3}
    program.loop("fit_piece", factors.tolist(), parts, noise=0.04)
    return Truth("fit_piece", 240, may="rare")
