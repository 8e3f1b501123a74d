# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Train a small neural network in pure Python, with a range around each part of the loop.

    nvspan trace examples/train_loop.py --epochs 2

The network learns whether a point lies inside a circle. The loss falls, and the trace shows
where the time of each step goes.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator

import nvspan as nvtx

Point = tuple[float, float]
Batch = list[tuple[Point, float]]

HIDDEN = 8
BATCH_SIZE = 32
LEARNING_RATE = 3.0


class Network:
    """Two inputs, one hidden layer of tanh units, one probability."""

    def __init__(self, rng: random.Random) -> None:
        self.hidden = [[rng.uniform(-1, 1) for _ in range(3)] for _ in range(HIDDEN)]
        self.output = [rng.uniform(-1, 1) for _ in range(HIDDEN + 1)]

    def activations(self, point: Point) -> list[float]:
        x, y = point
        return [math.tanh(a * x + b * y + c) for a, b, c in self.hidden]

    def probability(self, activations: list[float]) -> float:
        total = sum(w * a for w, a in zip(self.output, (*activations, 1.0), strict=True))
        return 1 / (1 + math.exp(-total))

    @nvtx.annotate(color="green", category="compute")
    def forward(self, batch: Batch) -> tuple[list[list[float]], list[float]]:
        layers = [self.activations(point) for point, _ in batch]
        return layers, [self.probability(layer) for layer in layers]

    @nvtx.annotate(color="orange", category="compute")
    def backward(
        self, batch: Batch, layers: list[list[float]], outputs: list[float]
    ) -> tuple[list[list[float]], list[float]]:
        hidden = [[0.0] * 3 for _ in range(HIDDEN)]
        output = [0.0] * (HIDDEN + 1)
        for (point, label), layer, guess in zip(batch, layers, outputs, strict=True):
            error = (guess - label) / len(batch)
            for unit, activation in enumerate(layer):
                output[unit] += error * activation
                delta = error * self.output[unit] * (1 - activation * activation)
                for slot, value in enumerate((*point, 1.0)):
                    hidden[unit][slot] += delta * value
            output[-1] += error
        return hidden, output

    @nvtx.annotate(color="purple", category="compute")
    def update(self, hidden: list[list[float]], output: list[float]) -> None:
        for weights, gradients in zip(self.hidden, hidden, strict=True):
            for slot, gradient in enumerate(gradients):
                weights[slot] -= LEARNING_RATE * gradient
        for slot, gradient in enumerate(output):
            self.output[slot] -= LEARNING_RATE * gradient


@nvtx.annotate("load", color="cyan", category="data")
def batches(count: int, seed: int) -> Iterator[Batch]:
    """A decorated generator: a range each time it runs, and none while it waits."""
    rng = random.Random(seed)
    for _ in range(count):
        points = [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in range(BATCH_SIZE)]
        yield [(point, float(math.hypot(*point) < 0.7)) for point in points]


def cross_entropy(batch: Batch, outputs: list[float]) -> float:
    terms = (
        math.log(max(guess if label else 1 - guess, 1e-12))
        for (_, label), guess in zip(batch, outputs, strict=True)
    )
    return -sum(terms) / len(batch)


def train(epochs: int, steps: int, seed: int = 0) -> list[float]:
    """Train, print the mean loss of each epoch, and return these losses."""
    network = Network(random.Random(seed))
    losses = []
    for epoch in range(epochs):
        with nvtx.annotate("epoch", color="blue", payload=epoch):
            total = 0.0
            for step, batch in enumerate(batches(steps, seed)):
                with nvtx.annotate("step", payload=step):
                    layers, outputs = network.forward(batch)
                    gradients = network.backward(batch, layers, outputs)
                    network.update(*gradients)
                    total += cross_entropy(batch, outputs)
            losses.append(total / steps)
            nvtx.mark("loss", color="red", payload=losses[-1])
        print(f"epoch {epoch}: loss {losses[-1]:.3f}")
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3, help="passes (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=4, help="per epoch (default: %(default)s)")
    arguments = parser.parse_args()
    train(arguments.epochs, arguments.steps)


if __name__ == "__main__":
    main()
