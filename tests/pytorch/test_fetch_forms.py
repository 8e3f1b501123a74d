# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""auto puts the fetch into the step where the loop's loader is not the one that it was given."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers.loops import by_case, in_short
from helpers.traced import run_traced

pytest.importorskip("torch", reason="torch is not installed")

PROGRAM = Path(__file__).with_name("programs") / "fetch_forms.py"
EXPECTED = {
    "bare": (
        "next step:0( zero forward backward opt ) step:1( next zero forward backward opt ) "
        "step:2( next zero forward backward opt ) next step:3( next zero forward backward opt ) "
        "step:4( next zero forward backward opt ) step:5( next zero forward backward opt ) next "
        ".end"
    ),
    "bare_with_evaluation": (
        "next step:0( zero forward backward opt ) step:1( next zero forward backward opt ) "
        "step:2( next zero forward backward opt ) next forward forward "
        "step:3( next zero forward backward opt ) step:4( next zero forward backward opt ) "
        "step:5( next zero forward backward opt ) next forward forward .end"
    ),
    "bare_with_accumulation": (
        "next step:0( forward backward next forward backward opt ) zero "
        "step:1( next forward backward next forward backward opt ) zero "
        "step:2( next forward backward next forward backward opt ) zero next .end"
    ),
    "bare_without_a_length": (
        "next step:0( forward backward opt ) step:1( next forward backward opt ) "
        "step:2( next forward backward opt ) step:3( next ) .end"
    ),
    "another_loader_than_the_given": (
        "zero forward backward opt step:0( next zero forward backward opt ) "
        "step:1( next zero forward backward opt ) next step:2( next zero forward backward opt ) "
        "step:3( next zero forward backward opt ) step:4( next zero forward backward opt ) next "
        ".end"
    ),
}
PREPARED = {
    "accelerate_before_prepare": (
        "zero forward backward opt step:0( next zero forward backward opt ) next "
        "step:1( zero forward backward opt ) .end"
    ),
    "accelerate_after_prepare": (
        "next next step:0( zero forward backward opt ) step:1( next zero forward backward opt ) "
        "next step:2( zero forward backward opt ) .end"
    ),
    "accelerate_with_the_prepared_loader": (
        "next next step:0( zero forward backward opt ) step:1( next zero forward backward opt ) "
        "next step:2( zero forward backward opt ) .end"
    ),
}


def check(expected):
    cases = by_case(run_traced(PROGRAM, *expected).events, in_short)
    assert cases == expected


def test_loaders_that_auto_was_not_given():
    check(EXPECTED)


@pytest.mark.skipif(find_spec("accelerate") is None, reason="accelerate is not installed")
def test_loaders_that_accelerate_prepares():
    check(PREPARED)
