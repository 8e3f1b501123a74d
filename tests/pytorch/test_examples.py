# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The PyTorch examples learn, print the same with and without a tool, and every range of a step."""

from __future__ import annotations

import re

import pytest

from helpers.device import device_ranges, environment, only_real
from helpers.loops import signs
from helpers.traced import run_plain, run_traced
from helpers.tree import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed")


def steps_of(events, opening):
    """The ranges of each step in short; a step begins with the range `opening`."""
    steps = []
    for text in signs(events):
        if text == f"+{opening}":
            steps.append([])
        steps[-1].append(text)
    return steps


def run_both(name, *options, opening="step"):
    """The steps, after a look at the losses."""
    plain = run_plain(ROOT / "examples" / name, *options)
    traced = run_traced(ROOT / "examples" / name, *options)
    assert traced.stdout == plain.stdout
    first, last = re.fullmatch(
        r"loss ([\d.]+) at first, ([\d.]+) after \d+ steps\n", plain.stdout
    ).groups()
    assert float(last) < float(first)
    assert plain.stderr == traced.stderr == ""
    return steps_of(traced.events, opening)


def test_train_mlp():
    steps = run_both("train_mlp.py", "--steps", "5", opening="data")
    layers = " ".join(f"+{i} -{i}" for i in range(5))
    backward = " ".join(f"<{i} >{i}" for i in range(4, -1, -1))
    step = (
        f"+data -data +step +zero_grad -zero_grad +Sequential {layers} -Sequential +loss -loss "
        f"+backward <Sequential {backward} >Sequential -backward "
        "+optimizer.step -optimizer.step -step"
    ).split(" ")
    assert steps == [step] * 5 + [["+data", "-data"]]


LAST = ["+dataloader.next", "-dataloader.next"]  # finds that there is no batch any more
TRANSFORMER = (
    "+step +dataloader.next -dataloader.next +h2d -h2d +zero_grad -zero_grad +forward {blocks} "
    "+head -head -forward +loss -loss +backward <head >head {back} -backward "
    "+optimizer.step -optimizer.step -step"
)


def transformer_step(back="<blocks.1 >blocks.1 <blocks.0 >blocks.0"):
    blocks = " ".join(f"+blocks.{i} +attention -attention -blocks.{i}" for i in range(2))
    return TRANSFORMER.format(blocks=blocks, back=back).split(" ")


def test_train_transformer():
    steps, step = run_both("train_transformer.py", "--steps", "3"), transformer_step()
    assert steps == [step] * 2 + [step + LAST]


@only_real
def test_train_transformer_on_a_gpu():
    if not torch.cuda.is_available():
        pytest.skip("torch is built without CUDA, or finds no GPU")
    done = run_traced(
        ROOT / "examples" / "train_transformer.py", "--steps", "3", "--device", "cuda",
        env=environment(),
    )  # fmt: skip
    step = transformer_step()
    assert steps_of(done.events, "step") == [step] * 2 + [step + LAST]
    names = [each["message"] for each in device_ranges(done.events)]
    assert sorted(names) == sorted(["forward", "backward", "optimizer.step"] * 3)


def test_train_transformer_with_checkpoints():
    steps = run_both("train_transformer.py", "--steps", "2", "--checkpoint")
    again = " ".join(
        f"<blocks.{i} +blocks.{i}(recompute) +attention -attention -blocks.{i}(recompute) "
        f">blocks.{i}"
        for i in (1, 0)
    )
    step = [each.replace("(recompute)", " (recompute)") for each in transformer_step(again)]
    assert steps == [step, step + LAST]
