# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""auto(device=True): ranges of the GPU's work beside the CPU's."""

from __future__ import annotations

import pytest

from helpers.device import device_ranges, only_real, run_device
from helpers.loops import in_short

torch = pytest.importorskip("torch", reason="torch is not installed")

PROGRAM = """
import torch, nvspan.torch
where = "{device}"
model = torch.nn.Linear(4, 1, device=where)
optimizer = torch.optim.SGD(model.parameters())
loader = torch.utils.data.DataLoader(torch.zeros(2, 4))
criterion = nvspan.torch.loss(torch.nn.MSELoss(), device=True)
nvspan.torch.auto(model, optimizer, loader, device=True)
for x in loader:
    x = nvspan.torch.to_device(x, where)
    optimizer.zero_grad()
    criterion(model(x), x[:, :1]).backward()
    optimizer.step()
assert nvspan.device_flush(30)
"""
STEP = "next h2d zero forward loss backward opt"
NAMES = ["forward", "loss", "backward", "optimizer.step"]


def check(traced):
    own = [each for each in traced.events if each["kind"] in ("push", "pop")]
    assert in_short([{**each, "payload_type": "none"} for each in own]) == (
        f"step( {STEP} ) step( {STEP} ) next"
    )
    found = device_ranges(traced.events)
    assert sorted((each["domain"], each["message"]) for each in found) == sorted(
        ("torch", name) for name in NAMES * 2
    )


def test_every_part_has_a_device_range():
    check(run_device(PROGRAM.format(device="cpu")))


@only_real
def test_every_part_has_a_device_range_on_a_gpu():
    if not torch.cuda.is_available():
        pytest.skip("torch is built without CUDA, or finds no GPU")
    check(run_device(PROGRAM.format(device="cuda")))
