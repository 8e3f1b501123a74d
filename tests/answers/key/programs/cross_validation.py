# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Folds of a model that is fitted by gradient descent, and scored."""

import numpy as np
from measured import phase

random = np.random.default_rng(5)
inputs, noise = random.normal(size=(2000, 60)), random.normal(size=2000)
labels = inputs @ random.normal(size=60) + noise > 0

for fold in range(8):
    with phase(f"fold {fold}"):
        with phase("split"):
            test = np.arange(2000) % 8 == fold
        with phase("fit"):
            weights = np.zeros(60)
            for _ in range(150):
                chance = 1 / (1 + np.exp(-inputs[~test] @ weights))
                weights -= 0.1 * inputs[~test].T @ (chance - labels[~test]) / len(chance)
        with phase("score"):
            for _ in range(60):
                right = ((inputs @ weights > 0) == labels)[test].mean()
