# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Columns that are loaded, cleaned and grouped, once for each of many files."""

import io

import numpy as np
from measured import phase

random = np.random.default_rng(4)
for number in range(24):
    with phase(f"file {number}"):
        with phase("load"):
            text = "\n".join(f"{key},{value}" for key, value in random.integers(0, 99, (3000, 2)))
            table = np.loadtxt(io.StringIO(text), delimiter=",")
        with phase("clean"):
            table = table[table[:, 1] > 5]
        with phase("group"):
            sums = [table[table[:, 0] == key, 1].sum() for key in range(99)]
        with phase("store"):
            np.save(io.BytesIO(), np.array(sums))
