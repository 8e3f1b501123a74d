# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Train a spam filter, in pure Python: a loop that is slow, for a reason that nvspan finds.

    nvspan record -o before.nvspan examples/slow_loop.py
    nvspan explain before.nvspan

The first page of the documentation goes on from here. With `--fixed` the loop is what it is then.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import nvspan

STEPS = 60
BATCH_SIZE = 32
WORDS = 100
LEARNING_RATE = 0.1

Message = dict[str, Any]  # "words": how often each stands in it; "spam": 0 or 1


def write_messages(path: Path) -> None:
    """Make up messages, one in a line. Spam has more of the first ten words."""
    rng = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(STEPS * BATCH_SIZE):
            spam = rng.randrange(2)
            words = rng.choices(range(4), k=WORDS)
            words[:10] = [count + spam for count in words[:10]]
            file.write(json.dumps({"spam": spam, "words": words}) + "\n")


def batches(path: Path) -> Iterator[list[Message]]:
    for number in range(STEPS):
        with nvspan.annotate("load", color="orange"):
            with path.open(encoding="utf-8") as file:
                messages = [json.loads(line) for line in islice(file, (number + 1) * BATCH_SIZE)]
            batch = messages[-BATCH_SIZE:]
        yield batch


def fixed_batches(path: Path) -> Iterator[list[Message]]:
    with path.open(encoding="utf-8") as file:
        for _ in range(STEPS):
            with nvspan.annotate("load", color="orange"):
                batch = [json.loads(line) for line in islice(file, BATCH_SIZE)]
            yield batch


class Filter:
    """Logistic regression on how often each word stands in a message."""

    def __init__(self) -> None:
        self.weights = [0.0] * WORDS

    @nvspan.annotate(color="green")
    def forward(self, batch: list[Message]) -> list[float]:
        guesses = []
        for message in batch:
            total = sum(w * n for w, n in zip(self.weights, message["words"], strict=True))
            guesses.append(1 / (1 + math.exp(-total)))
        return guesses

    @nvspan.annotate(color="purple")
    def update(self, batch: list[Message], guesses: list[float]) -> None:
        for message, guess in zip(batch, guesses, strict=True):
            error = (guess - message["spam"]) / len(batch)
            for word, count in enumerate(message["words"]):
                self.weights[word] -= LEARNING_RATE * error * count


def train(path: Path, fixed: bool = False) -> float:
    """One pass over the messages; returns the part of the last batch that was right."""
    model = Filter()
    source = (fixed_batches if fixed else batches)(path)
    for number in range(STEPS):
        with nvspan.step(number):
            batch = next(source)
            guesses = model.forward(batch)
            model.update(batch, guesses)
        right = sum(
            (guess > 0.5) == message["spam"] for guess, message in zip(guesses, batch, strict=True)
        )
    return right / BATCH_SIZE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fixed", action="store_true", help="read the file once")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "messages.jsonl")
        write_messages(path)
        print(f"{train(path, arguments.fixed):.0%} of the last batch classified correctly")


if __name__ == "__main__":
    main()
