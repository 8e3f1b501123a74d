# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Forward and backward pass of a module are two rows, each with the GPU time of its own ranges."""

from __future__ import annotations

import csv
import io
import json

import pytest

import nvspan
from helpers.device import only_fake
from helpers.device_recorded import recording_of as recording_on_device
from helpers.reported import recording_of, run_nvspan
from helpers.traced import needs_library
from nvspan.answers.compare import compare
from nvspan.report.summary import Summary

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = needs_library

MODEL = """
import torch
import nvspan.torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
"""
LOOP = """
for _ in range(5):
    with nvspan.annotate("backward", category="backward"):  # the whole pass
        model(torch.ones(8, 64)).sum().backward()
"""
ON_CPU = MODEL + "nvspan.torch.annotate_module(model, backward=True)\n" + LOOP

# Torch without CUDA tells no stream. Each Linear launches 1 ms forward and 2 ms backward.
ON_DEVICE = (
    MODEL
    + """
s = cuda.stream()
torch._C._cuda_getCurrentRawStream = lambda device: s
torch._C._cuda_getDevice = lambda: 0
torch.cuda.is_initialized = lambda: True

class Work(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        cuda.launch(s, 1_000_000)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        cuda.launch(s, 2_000_000)
        return gradient

class Layer(nn.Module):
    def forward(self, x):
        return Work.apply(x)

model = nn.Sequential(Layer(), Layer())
nvspan.torch.annotate_module(model, device=True, backward=True)
for _ in range(3):
    model(torch.ones(2, 64, requires_grad=True)).sum().backward()
assert nvspan.device_flush(30)
"""
)


def durations(recording):
    """(name, category, kind) -> durations."""
    found = {}
    for row in recording.ranges.rows():
        category, _, _ = (row["category_name"] or "").partition(" ")  # a class may follow
        key = (row["name"], category, row["kind"])
        found.setdefault(key, []).append(row["duration"])
    return found


def test_the_passes_are_two_rows():
    recording = nvspan.read(recording_of(ON_CPU))
    found = durations(recording)
    rows = {row.label: row for row in Summary(recording).rows}
    assert set(rows) == {
        "backward", *(f"torch:{name}{of}" for name in ("Sequential", "0", "1", "2")
                      for of in ("", " (backward)")),
    }  # fmt: skip
    for name in ("Sequential", "0", "1", "2"):
        forward, backward = rows[f"torch:{name}"], rows[f"torch:{name} (backward)"]
        assert (forward.name, forward.backward) == (name, False)
        assert (backward.name, backward.backward) == (name, True)
        assert forward.total == sum(found[name, "forward", 0])
        assert backward.total == sum(found[name, "backward", 1])
        assert forward.calls == backward.calls == 5
    labels = {row["label"] for row in compare(recording, recording)}
    assert labels == set(rows)


def test_the_tree_and_every_format_keep_them_apart():
    path = recording_of(ON_CPU)
    shown = json.loads(run_nvspan("stats", "--tree", "--format", "json", path).stdout)["rows"]
    assert [(row["level"], row["label"]) for row in shown if row["name"] == "2"] == [
        (2, "torch:2"), (0, "torch:2 (backward)"),
    ]  # fmt: skip
    written = csv.DictReader(io.StringIO(run_nvspan("stats", "--format", "csv", path).stdout))
    found = {(row["name"], row["backward"]) for row in written if row["name"] == "0"}
    assert found == {("0", "False"), ("0", "True")}
    assert "torch:0 (backward)" in run_nvspan("stats", "--flat", path).stdout


@only_fake
def test_each_pass_has_the_gpu_time_of_its_own_ranges():
    recording = nvspan.read(recording_on_device(ON_DEVICE))
    found = durations(recording)
    rows = {row.label: row for row in Summary(recording).rows}
    for name in ("Sequential", "0", "1"):
        for label, category in ((name, "forward"), (f"{name} (backward)", "backward")):
            row = rows[f"torch:{label}"]
            gpu = found[name, category, 2]
            assert (row.calls, row.gpu_calls) == (3, 3)
            assert row.gpu_total == sum(gpu)
            assert row.gpu_mean == pytest.approx(sum(gpu) / 3)
    forward = rows["torch:Sequential"]
    assert forward.gpu_self == pytest.approx(
        forward.gpu_total - rows["torch:0"].gpu_total - rows["torch:1"].gpu_total,
        abs=1_000_000,
    )
