# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Lightning, Hugging Face's Trainer and Accelerate: the examples learn, and show every range."""

from __future__ import annotations

import importlib.util
import re

import pytest

from helpers.loops import SIGNS, signs
from helpers.traced import run_traced
from helpers.tree import ROOT

pytest.importorskip("torch", reason="torch is not installed")

STEPS = 8
STEP = {
    "lightning_callback.py": "+optimizer.step +forward -forward +zero_grad -zero_grad "
    "+backward -backward -optimizer.step",
    "hf_trainer_callback.py": "+forward -forward +backward -backward "
    "+optimizer.step -optimizer.step",
    "accelerate_loop.py": "+zero_grad -zero_grad +forward -forward +backward -backward "
    "+optimizer.step -optimizer.step",
}
PACKAGES = {
    "lightning_callback.py": ["lightning"],
    "hf_trainer_callback.py": ["transformers", "accelerate"],
    "accelerate_loop.py": ["accelerate"],
}


FETCH = "+dataloader.next -dataloader.next"
AHEAD = {"hf_trainer_callback.py", "accelerate_loop.py"}  # they fetch one batch ahead


def expected(name):
    """Every step holds its fetch; fetching ahead, the first has two and the last none to make."""
    fetches = [2] + [1] * (STEPS - 2) + [0] if name in AHEAD else [1] * STEPS
    parts = []
    for count in fetches:
        end = [] if count else [FETCH]  # of the data, before the last step
        parts += [*end, "+step", *[FETCH] * count, STEP[name], "-step"]
    return " ".join(parts)


SLOW = {"lightning_callback.py", "hf_trainer_callback.py"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in STEP]
)
def test_example(name):
    for package in PACKAGES[name]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    done = run_traced(ROOT / "examples" / name, "--steps", str(STEPS))
    first, last = re.fullmatch(
        rf"loss ([\d.]+) at first, ([\d.]+) after {STEPS} steps\n", done.stdout
    ).groups()
    assert float(last) < float(first)
    assert " ".join(signs(done.events)) == expected(name)
    events = done.of_kind(*SIGNS)
    steps = [each for each in events if (each["kind"], each["message"]) == ("push", "step")]
    assert [each["payload"] for each in steps] == list(range(STEPS))
    assert {each["domain"] for each in events} == {"torch"}
