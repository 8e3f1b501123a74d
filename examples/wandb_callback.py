# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the parts of a step take, as charts of Weights & Biases beside the loss.

    WANDB_MODE=offline python examples/wandb_callback.py

The class Ranges is the adapter: make one in your own program, inside of nvspan.record.
"""

from __future__ import annotations

import argparse

import wandb

import nvspan
import nvspan.watch


class Ranges:
    """Logs the mean, the 99th percentile and the number of ranges since the last time."""

    def __init__(self, run: wandb.Run, match: list[str] | None = None) -> None:
        self.run = run
        self.scalars = nvspan.watch.Scalars(match=match)

    def log(self, step: int) -> None:
        self.run.log(self.scalars.read(), step=step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="(default: %(default)s)")
    steps = parser.parse_args().steps
    slope = 0.0
    with nvspan.record(mode="stats"), wandb.init(project="nvspan") as run:
        ranges = Ranges(run, ["step", "load"])
        for number in range(1, steps + 1):
            with nvspan.annotate("step"):
                with nvspan.annotate("load", domain="data"):
                    xs = [0.1 * n for n in range(10)]
                slope -= 0.1 * sum(2 * (slope * x - 3 * x) * x for x in xs) / len(xs)
            if number % 10 == 0:
                run.log({"loss": (slope - 3) ** 2}, step=number)
                ranges.log(number)
    print(f"slope {slope:.2f} after {steps} steps")


if __name__ == "__main__":
    main()
