# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A job of eight ranks on two hosts, the fourth of which loads slowly, and folders of others."""

import importlib.util
import os
from pathlib import Path

import nvspan.torch  # noqa: F401
from helpers import job as jobs
from helpers.written_ranks import MS, write_job


def slow(rank, step, name):
    return 2 * MS if (rank, name) == (3, "dataloader.next") else 0


write_job(
    Path(), 8, extra=slow, hosts=2, clock=lambda host, at: at + host * 3 * 10**9, jitter=0.05,
    steps=100,
)  # fmt: skip
os.mkdir("job")
os.mkdir("job2")
jobs.write_job(Path("job"), 12, slow={3: 1.5})
jobs.write_job(Path("job2"), 12)
for name in ("duckdb", "polars"):
    if importlib.util.find_spec(name):
        globals()[name] = __import__(name)
if importlib.util.find_spec("torch"):
    import torch

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.zeros(4, 2))
