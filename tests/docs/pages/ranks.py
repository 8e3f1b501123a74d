# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A folder with the files of a job."""

import importlib.util
import os
from pathlib import Path

import nvspan  # noqa: F401
from helpers.job import write_job

os.mkdir("job")
os.mkdir("job2")
write_job(Path("job"), 12, slow={3: 1.5})
write_job(Path("job2"), 12)
for name in ("duckdb", "polars"):
    if importlib.util.find_spec(name):
        globals()[name] = __import__(name)
