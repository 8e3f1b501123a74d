# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A training loop that evaluates after every ten steps, and saves a checkpoint after the half."""

from measured import phase, work

for number in range(45):
    with phase("train_step"):
        with phase("forward"):
            work(12)
        with phase("backward"):
            work(14)
        with phase("optimizer.step"):
            work(10)
    if number % 10 == 9:
        with phase("evaluate"):
            work(120)
