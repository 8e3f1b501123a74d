# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the parts of a step take, as scalars of TensorBoard beside the loss.

    python examples/tensorboard_callback.py --logs logs && tensorboard --logdir logs

The class Ranges is the adapter: make one in your own program, inside of nvspan.record.
"""

from __future__ import annotations

import argparse

from tensorboard.summary import Writer

import nvspan
import nvspan.watch


class Ranges:
    """Logs the mean, the 99th percentile and the number of ranges since the last time."""

    def __init__(self, writer: Writer, match: list[str] | None = None) -> None:
        self.writer = writer
        self.scalars = nvspan.watch.Scalars(match=match)

    def log(self, step: int) -> None:
        for name, value in self.scalars.read().items():
            self.writer.add_scalar(name, value, step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="(default: %(default)s)")
    parser.add_argument("--logs", default="logs", help="(default: %(default)s)")
    options = parser.parse_args()
    steps = options.steps
    writer = Writer(options.logs)
    slope = 0.0
    with nvspan.record(mode="stats"):
        ranges = Ranges(writer, ["step", "load"])
        for number in range(1, steps + 1):
            with nvspan.annotate("step"):
                with nvspan.annotate("load", domain="data"):
                    xs = [0.1 * n for n in range(10)]
                slope -= 0.1 * sum(2 * (slope * x - 3 * x) * x for x in xs) / len(xs)
            if number % 10 == 0:
                writer.add_scalar("loss", (slope - 3) ** 2, number)
                ranges.log(number)
    writer.close()
    print(f"slope {slope:.2f} after {steps} steps")


if __name__ == "__main__":
    main()
