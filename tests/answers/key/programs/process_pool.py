# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A loop that has a pool of processes transform the tiles of each image."""

from multiprocessing import get_context

from measured import phase, work


def transform(units: int) -> int:
    return len(work(units))


if __name__ == "__main__":
    with get_context("spawn").Pool(2) as pool:
        pool.map(transform, [1, 1])  # they have started
        for _ in range(25):
            with phase("image"):
                with phase("split"):
                    work(20)
                with phase("pool.map"):
                    pool.map(transform, [90, 90], chunksize=1)
                with phase("merge"):
                    work(25)
