# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Train a network on a GPU, with ranges of the CPU and of the GPU around each part of the loop.

    nvspan record -o device.nvspan examples/device_ranges.py
    nvspan view device.nvspan

Needs torch and a CUDA GPU. The ranges of the CPU end long before the GPU begins with what was asked
of it there; device ranges lie where the work was. The next batch is copied on a stream of its own.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import nvspan

WIDTH, BATCH, LAYERS = 4096, 4096, 4


def train(torch: Any, steps: int, width: int, batch_size: int) -> float:
    """Trains for some steps and returns the last loss."""
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(width, width), torch.nn.GELU()]
    model = torch.nn.Sequential(*layers).to("cuda", torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = [
        torch.randn(batch_size, width, dtype=torch.bfloat16, pin_memory=True) for _ in range(2)
    ]
    copying = torch.cuda.Stream()
    nvspan.name_stream(copying, "copies")
    nvspan.name_stream(torch.cuda.current_stream(), "training")

    def fetch(step: int) -> Any:
        with (
            nvspan.annotate("fetch", color="cyan"),
            torch.cuda.stream(copying),
            nvspan.device_range("copy", color="cyan", payload=step),
        ):
            return batches[step % 2].to("cuda", non_blocking=True)

    for step in range(steps):
        with nvspan.annotate("step", payload=step):
            batch = fetch(step)
            torch.cuda.current_stream().wait_stream(copying)
            batch.record_stream(torch.cuda.current_stream())
            with nvspan.annotate("forward", color="green", device=True):
                loss = (model(batch) - batch).float().pow(2).mean()
            with nvspan.annotate("backward", color="orange", device=True):
                loss.backward()
            with nvspan.annotate("update", color="purple", device=True):
                optimizer.step()
                optimizer.zero_grad()
    with nvspan.annotate("wait", color="red"):
        torch.cuda.synchronize()
    return float(loss)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=8, help="how often to step (default: 8)")
    parser.add_argument("--warmup", type=int, default=3, help="steps without ranges (default: 3)")
    parser.add_argument("--width", type=int, default=WIDTH, help=f"of a layer (default: {WIDTH})")
    parser.add_argument("--batch", type=int, default=BATCH, help=f"of rows (default: {BATCH})")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("this example needs torch: pip install torch", file=sys.stderr)
        return 1
    if not torch.cuda.is_available():
        print("this example needs a CUDA GPU, and torch finds none", file=sys.stderr)
        return 1
    nvspan.disable()  # the first steps load libraries and choose kernels
    train(torch, options.warmup, options.width, options.batch)
    nvspan.enable()
    loss = train(torch, options.steps, options.width, options.batch)
    if not nvspan.device_flush(30):
        print("some device ranges are not done", file=sys.stderr)
    print(f"loss {loss:.3f}; device ranges: {nvspan.device_stats()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
