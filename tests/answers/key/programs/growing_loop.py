# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Each round sorts all that was read so far: it takes longer and longer."""

import random

from measured import phase

random.seed(6)
history: list[float] = []
for _ in range(80):
    with phase("iteration"):
        with phase("read"):
            history += [random.random() for _ in range(600)]
        with phase("sort all"):
            ordered = sorted(history, key=lambda value: -value)
