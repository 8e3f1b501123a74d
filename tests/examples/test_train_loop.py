# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""examples/train_loop.py: what it prints, and every event that it emits."""

from __future__ import annotations

import re

import pytest

import nvspan
from helpers.tree import ROOT

EXAMPLE = ROOT / "examples" / "train_loop.py"
EPOCHS, STEPS = 2, 3
OPTIONS = ["--epochs", str(EPOCHS), "--steps", str(STEPS)]

traced_only = pytest.mark.skipif(not nvspan._core.have_nvtx, reason="built without NVTX")

COLORS = {"epoch": 0xFF, "load": 0xFFFF, "step": 0xFF, "forward": 0x8000,
          "backward": 0xFFA500, "update": 0x800080, "loss": 0xFF0000}  # fmt: skip
CATEGORIES = {"load": "data", "forward": "compute", "backward": "compute", "update": "compute"}


def expected_events():
    """(kind, message, depth) of every event."""

    def leaf(name, depth):
        yield "push", name, depth
        yield "pop", name, depth

    for _ in range(EPOCHS):
        yield "push", "epoch", 0
        for _ in range(STEPS):
            yield from leaf("load", 1)
            yield "push", "step", 1
            for name in ("forward", "backward", "update"):
                yield from leaf(name, 2)
            yield "pop", "step", 1
        yield from leaf("load", 1)  # the generator runs once more, and ends
        yield "mark", "loss", None
        yield "pop", "epoch", 0


def losses(stdout):
    lines = stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"epoch {n}" for n in range(EPOCHS)]
    return [float(re.fullmatch(r"epoch \d+: loss (\d\.\d{3})", line)[1]) for line in lines]


@pytest.fixture(scope="module")
def traced():
    from helpers.traced import run_traced

    return run_traced(EXAMPLE, *OPTIONS)


def test_it_learns_without_a_tool():
    from helpers.traced import run_plain

    done = run_plain(EXAMPLE, *OPTIONS)
    assert done.stderr == ""
    first, last = losses(done.stdout)
    assert last < first


@traced_only
def test_it_prints_the_same_with_a_tool(traced):
    first, last = losses(traced.stdout)
    assert last < first


@traced_only
def test_every_event(traced):
    calls = [(kind, message, None if kind == "mark" else depth)
             for kind, message, depth in traced.calls("kind", "message", "depth")]  # fmt: skip
    assert calls == list(expected_events())


@traced_only
def test_every_attribute_of_what_opens(traced):
    opened = [call for call in traced.calls("kind", "message", "domain", "message_type", "color",
                                            "category_name") if call[0] != "pop"]  # fmt: skip
    assert opened == [
        (kind, message, None, "registered", COLORS[message], CATEGORIES.get(message))
        for kind, message, _ in expected_events() if kind != "pop"
    ]  # fmt: skip


@traced_only
def test_payloads(traced):
    found = [(message, payload) for kind, message, payload in
             traced.calls("kind", "message", "payload") if kind != "pop"]  # fmt: skip
    whole = {name: [payload for message, payload in found if message == name] for name in COLORS}
    assert whole["epoch"] == list(range(EPOCHS))
    assert whole["step"] == list(range(STEPS)) * EPOCHS
    assert [f"{loss:.3f}" for loss in whole["loss"]] == [
        f"{loss:.3f}" for loss in losses(traced.stdout)
    ]
    for name in ("load", "forward", "backward", "update"):
        assert set(whole[name]) == {None}


@traced_only
def test_one_thread_one_process(traced):
    assert len(set(traced.calls("pid", "tid"))) == 1
