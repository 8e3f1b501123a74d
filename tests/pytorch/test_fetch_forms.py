# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""auto puts the fetch into the step where the loop's loader is not the one that it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.loops import by_case, in_short
from helpers.packages import needs
from helpers.traced import run_traced

pytest.importorskip("torch", reason="torch is not installed")

PROGRAM = Path(__file__).with_name("programs") / "fetch_forms.py"
EXPECTED = {
    "bare": (
        "step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) "
        "step:2( next zero forward backward opt ) next step:3( next zero forward backward opt ) "
        "step:4( next zero forward backward opt ) step:5( next zero forward backward opt ) next "
        ".end"
    ),
    "bare_with_evaluation": (
        "step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) "
        "step:2( next zero forward backward opt ) next forward forward "
        "step:3( next zero forward backward opt ) step:4( next zero forward backward opt ) "
        "step:5( next zero forward backward opt ) next forward forward .end"
    ),
    "bare_with_accumulation": (
        "step:0( next forward backward next forward backward opt ) zero "
        "step:1( next forward backward next forward backward opt ) zero "
        "step:2( next forward backward next forward backward opt ) zero next .end"
    ),
    "bare_without_a_length": (
        "step:0( next forward backward opt ) step:1( next forward backward opt ) "
        "step:2( next forward backward opt ) step:3( next ) .end"
    ),
    "bare_with_looks_at_the_data_first": (
        "next next next next next next forward next forward next forward next .train "
        "step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) "
        "step:2( next zero forward backward opt ) next .end"
    ),
    "bare_with_evaluation_within_the_steps": (
        "step:0( next forward forward backward opt ) step:1( next forward forward backward opt ) "
        "step:2( next forward forward backward opt ) next .end"
    ),
    "bare_and_another_model_is_trained": ("next backward next backward next backward next .end"),
    "bare_and_the_loop_is_left_after_a_fetch": (
        "step:0( next forward backward opt ) step:1( next ) .left "
        "step:1( next forward backward opt ) step:2( next ) .left .end"
    ),
    "bare_with_a_data_set_that_raises": (
        "step:0( next ) .raised step:0( next zero forward backward opt ) "
        "step:1( next zero forward backward opt ) next .end"
    ),
    "bare_and_compiled": (
        "step:0( next zero forward opt ) step:1( next zero forward opt ) "
        "step:2( next zero forward opt ) next .end"
    ),
    "another_loader_than_the_given": (
        "step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) "
        "step:2( next zero forward backward opt ) next step:3( next zero forward backward opt ) "
        "step:4( next zero forward backward opt ) step:5( next zero forward backward opt ) next "
        ".end"
    ),
    "a_copy_of_the_given_loader": "backward backward backward .end",
    "by_hand": (
        "step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) "
        "step:2( next zero forward backward opt ) .end"
    ),
    "by_hand_again_and_again": (
        "step:0( next forward backward opt ) step:1( next forward backward opt ) "
        "step:2( next forward backward opt ) next step:3( next forward backward opt ) .end"
    ),
    "by_hand_from_a_generator": (
        "step:0( next forward backward opt ) step:1( next forward backward opt ) "
        "step:2( next forward backward opt ) next step:3( next forward backward opt ) .end"
    ),
    "by_hand_of_one_batch": (
        "step:0( next forward backward opt ) step:1( next forward backward opt ) "
        "step:2( next forward backward opt ) .end"
    ),
    "by_hand_with_evaluation_within": (
        "step:0( next forward next forward backward opt ) step:1( next forward backward opt ) "
        "forward step:2( next forward backward opt ) .end"
    ),
    "by_hand_a_look_before_each_epoch": (
        "next step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) "
        "step:2( next zero forward backward opt ) next step:3( next ) "
        "step:3( next zero forward backward opt ) step:4( next zero forward backward opt ) "
        "step:5( next zero forward backward opt ) next .end"
    ),
}
STEPS_AHEAD = (
    "step:0( next next zero forward backward opt ) step:1( next zero forward backward opt ) "
    "next step:2( zero forward backward opt ) .end"
)
ACCELERATE = {
    "accelerate_before_prepare": STEPS_AHEAD,
    "accelerate_after_prepare": STEPS_AHEAD,
    "accelerate_with_the_prepared_loader": STEPS_AHEAD,
    "accelerate_with_evaluation_first": f"forward forward {STEPS_AHEAD}",
    "accelerate_without_a_for": (
        "step:0( next next forward backward opt ) zero step:1( next forward backward opt ) zero "
        "next step:2( forward backward opt ) zero .end"
    ),
    "accelerate_in_a_thread": (
        "next next next next step:0( zero forward backward opt ) "
        "step:1( zero forward backward opt ) step:2( zero forward backward opt ) .end"
    ),
}
LIGHTNING = {
    "lightning": (
        "next forward next forward step:0( next opt( forward zero backward ) ) "
        "step:1( next opt( forward zero backward ) ) step:2( next opt( forward zero backward ) ) "
        "forward forward .end"
    ),
    "lightning_with_accumulation": (
        "next forward next forward step:0( next forward zero backward next forward backward "
        "next opt( forward backward ) ) forward forward .end"
    ),
}
HUGGING_FACE = {
    "hugging_face": (
        "next next forward next forward step:0( next next forward backward opt ) "
        "step:1( next forward backward opt ) next step:2( forward backward opt ) "
        "forward forward .end"
    ),
}


def check(expected):
    cases = by_case(run_traced(PROGRAM, *expected).events, in_short)
    assert cases == expected


def test_loaders_that_auto_was_not_given():
    check(EXPECTED)


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(ACCELERATE, id="Accelerate", marks=needs("accelerate")),
        pytest.param(LIGHTNING, id="Lightning", marks=needs("lightning")),
        pytest.param(HUGGING_FACE, id="Hugging Face", marks=needs("accelerate", "transformers")),
    ],
)
def test_loaders_that_a_framework_makes(expected):
    check(expected)
