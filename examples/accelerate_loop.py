# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Train with Accelerate; one call shows every step and its parts.

nvspan record examples/accelerate_loop.py
"""

from __future__ import annotations

import argparse

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import nvspan.torch


def train(steps: int) -> list[float]:
    """Learn the line that noisy points lie on; return the loss of each step."""
    torch.manual_seed(0)
    x = torch.randn(16 * steps, 1)
    data = TensorDataset(x, 3 * x - 1 + 0.1 * torch.randn_like(x))
    model = nn.Linear(1, 1)
    accelerator = Accelerator(cpu=True)
    model, optimizer, loader = accelerator.prepare(
        model, torch.optim.SGD(model.parameters(), lr=0.1), DataLoader(data, batch_size=16)
    )
    nvspan.torch.auto(model, optimizer)  # after prepare(): that makes new objects
    losses = []
    for where, value in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(where), value)
        accelerator.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20, help="(default: %(default)s)")
    losses = train(parser.parse_args().steps)
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")


if __name__ == "__main__":
    main()
