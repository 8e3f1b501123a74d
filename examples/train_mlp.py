# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Train a small network with PyTorch, with a range around each part of a step and each module.

    nvspan record examples/train_mlp.py --steps 50

It learns whether a point lies inside a circle, on the CPU or with --device cuda.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import torch
from torch import nn

import nvspan
from nvspan.torch import annotate_module

BATCH = 64


@nvspan.annotate("data", color="cyan")
def batches(steps: int, device: str) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """A decorated generator: a range each time it runs, and none while it waits."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        points = torch.rand(BATCH, 2, generator=generator) * 2 - 1
        inside = (points.square().sum(1) < 0.5).float()
        yield points.to(device), inside.to(device)


def train(steps: int, device: str) -> list[float]:
    """Train and return the loss of each step."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
    model.append(nn.Linear(32, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    annotate_module(model, backward=True)
    losses = []
    for step, (points, inside) in enumerate(batches(steps, device)):
        with nvspan.annotate("step", payload=step):
            with nvspan.annotate("zero_grad"):
                optimizer.zero_grad()
            output = model(points).squeeze(1)
            with nvspan.annotate("loss"):
                loss = nn.functional.binary_cross_entropy_with_logits(output, inside)
            with nvspan.annotate("backward", color="orange"):
                loss.backward()
            with nvspan.annotate("optimizer.step", color="purple"):
                optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100, help="(default: %(default)s)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    arguments = parser.parse_args()
    losses = train(arguments.steps, arguments.device)
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")


if __name__ == "__main__":
    main()
