# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a transformer on a GPU, bare and under `auto` in turns; writes the times of the steps.

auto_worker.py RESULT.json TURNS STEPS WIDTH LAYERS BATCH LENGTH
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path

import torch
from torch import nn

import nvspan
import nvspan.torch

WORDS = 8192


def make(width: int, layers: int) -> nn.Module:
    block = nn.TransformerEncoderLayer(
        width, width // 64, 4 * width, dropout=0.0, batch_first=True, norm_first=True
    )
    return nn.Sequential(
        nn.Embedding(WORDS, width),
        nn.TransformerEncoder(block, layers, enable_nested_tensor=False),
        nn.Linear(width, WORDS),
    )


def main() -> None:
    result, turns, steps, width, layers, size, length = sys.argv[1], *map(int, sys.argv[2:])
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    model = make(width, layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(WORDS, (size * steps, length + 1))
    loader = torch.utils.data.DataLoader(data, batch_size=size)
    criterion = nn.CrossEntropyLoss()

    def epoch() -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        for batch in loader:
            tokens = batch.to("cuda")
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                output = model(tokens[:, :-1])
                loss = criterion(output.flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            optimizer.step()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / steps * 1e6

    for _ in range(5):
        epoch()
    times: dict[str, list[float]] = {"bare": [], "auto": []}
    for turn in range(turns):
        for kind in sorted(times, reverse=turn % 2 == 0):
            manager = (
                nvspan.torch.auto(model, optimizer, loader, device=True)
                if kind == "auto"
                else contextlib.nullcontext()
            )
            with manager:
                times[kind].append(epoch())
    assert nvspan.device_flush(30)
    Path(result).write_text(json.dumps({"times": times, "device": nvspan.info()["device"]}))


main()
