# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that are alike, and their ranges as a Parquet file."""

import importlib.util

import pytest  # noqa: F401

import nvspan

for name in ("main", "main-1", "main-2", "branch", "branch-1", "branch-2", "run"):
    with nvspan.record(f"{name}.nvspan"):
        for _ in range(20):
            with nvspan.annotate("step"):
                pass
if importlib.util.find_spec("pyarrow"):
    from nvspan.export import tables

    tables.write_parquet(nvspan.read("run.nvspan"), "run.parquet")
for name in ("duckdb", "pandas"):
    if importlib.util.find_spec(name):
        globals()[name] = __import__(name)


loader = range(20)


def train(*batch, steps=0):
    pass
