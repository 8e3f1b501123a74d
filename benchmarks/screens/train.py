# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A training loop without a framework. Its loader decodes text for four fifths of the time, and its
metrics go through all losses so far, so that the steps grow."""

import json
import math
import random

from nvspan import annotate

SAMPLE = json.dumps({"x": [random.random() for _ in range(2_000)]})


def load() -> list[float]:
    rows = [json.loads(SAMPLE)["x"] for _ in range(12)]
    return [sum(column) / 12 for column in zip(*rows, strict=True)]


def smoothed(losses: list[float]) -> float:
    return sum(math.exp(-age / 50) * loss for age, loss in enumerate(reversed(losses)))


def main() -> None:
    weights = [0.0] * 2_000
    losses: list[float] = []
    for _ in range(200):
        with annotate("step"):
            with annotate("load"):
                batch = load()
            with annotate("forward"):
                error = [w - x for w, x in zip(weights, batch, strict=True)]
            with annotate("update"):
                weights = [w - 0.1 * e for w, e in zip(weights, error, strict=True)]
            with annotate("metrics"):
                losses += [e * e for e in error[:200]]
                loss = smoothed(losses)
    print(f"loss {loss:.3f}")


if __name__ == "__main__":
    main()
