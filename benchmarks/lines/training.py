# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A training loop of one thread for some seconds: ``training.py SECONDS``, in PyTorch if it is
installed, else the same work in Python."""

from __future__ import annotations

import json
import sys
import time

try:
    import torch
except ImportError:
    torch = None

TEXT = json.dumps({"words": list(range(400))})


def load():
    rows = [json.loads(TEXT) for _ in range(8)]
    return [[float(word % 97) for word in row["words"]] for row in rows]


def torch_loop(until):
    torch.set_num_threads(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(400, 400) for _ in range(8)])
    optimizer = torch.optim.Adam(model.parameters())
    while time.perf_counter() < until:
        loss = model(torch.tensor(load())).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def forward(weights, rows):
    return [sum(a * b for a, b in zip(weights, row, strict=True)) for row in rows]


def backward(rows, outputs):
    gradient = [0.0] * len(rows[0])
    for row, output in zip(rows, outputs, strict=True):
        for place, value in enumerate(row):
            gradient[place] += value * output
    return gradient


def python_loop(until):
    weights = [0.0] * 400
    while time.perf_counter() < until:
        rows = load()
        outputs = forward(weights, rows)
        weights = [a - 1e-9 * b for a, b in zip(weights, backward(rows, outputs), strict=True)]


if __name__ == "__main__":
    (torch_loop if torch else python_loop)(time.perf_counter() + float(sys.argv[1]))
