# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A training step on a GPU without and with the sampler of lines, in blocks that take turns.

    python benchmarks/gpu/bench_lines.py [--blocks 50] [--rate 1000]

The loop has a slow collate in Python and waits for the loss in each step. The ratio is that of
block medians, with a 95% interval by bootstrap; then the lines that the samples name. The exit code
is 1 where the interval's upper end is above 1.01, or the sampler took more than 3% of a core.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import nvspan
from nvspan import launch, recorder
from nvspan._runtime import lines

sys.path.insert(0, str(Path(__file__).parents[1] / "lines"))
from sampler_thread import sampler_seconds

MOST, SHARE = 1.01, 0.03


def make_step():
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer
    model = torch.nn.Sequential(*[layer(512, 8, 2048, batch_first=True) for _ in range(6)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def collate(number):
        rows = [[(number * j) % 97 for j in range(400)] for _ in range(8)]
        one = torch.tensor(rows, dtype=torch.float32).repeat(4, 1).unsqueeze(-1)
        return one.expand(32, 400, 512).contiguous()

    def step(number):
        batch = collate(number).cuda(non_blocking=True)
        loss = model(batch).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return step


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--blocks", type=int, default=50)
    parser.add_argument("--steps", type=int, default=15, help="in a block")
    parser.add_argument("--rate", default="1000", help="looks a second, or auto")
    options = parser.parse_args()
    period = lines.period_of(options.rate)
    step = make_step()
    for number in range(10):
        step(number)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.nvspan")
        os.environ[launch.INJECTION_VARIABLE] = launch.injection_library()
        os.environ[launch.CONFIG_VARIABLE] = recorder.config_string(path)
        ratios, sampled, wall = [], 0.0, 0.0
        for _ in range(options.blocks):
            took = {}
            for mode in random.sample(["off", "on"], 2):
                if mode == "on":
                    problem = lines.start(launch.injection_library(), period or 0)
                    assert problem is None, problem
                begin = time.perf_counter()
                for number in range(options.steps):
                    step(number)
                took[mode] = time.perf_counter() - begin
                if mode == "on":
                    sampled += sampler_seconds()
                    wall += took[mode]
                    lines.stop()
            ratios.append(took["on"] / took["off"])
        medians = sorted(
            statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(2000)
        )
        low, high = medians[50], medians[1949]
        found = nvspan.read(path).lines(show_stdlib=True, idle=False)
    print(f"step: {1000 * took['off'] / options.steps:.2f} ms without the sampler")
    print(f"with / without: {statistics.median(ratios):.4f} [{low:.4f} {high:.4f}]")
    print(f"the sampler's thread: {100 * sampled / wall:.2f}% of a core; {found.facts}")
    for row in found.rows[:8]:
        print(f"{row.share:6.1%} +-{row.margin:.1%}  {row.function}:{row.line}  {found.text(row)}")
    return 0 if high <= MOST and sampled / wall <= SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
