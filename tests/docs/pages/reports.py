# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that are alike, and their ranges as a Parquet file."""

import importlib.util
import os

import nvspan

# An editable install is imported before pytest could rewrite it.
os.environ["PYTEST_ADDOPTS"] = "-W ignore::pytest.PytestAssertRewriteWarning"
for name in ("main", "main-1", "main-2", "branch", "branch-1", "branch-2", "run", "before"):
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


def prepared(command):
    """Runs may differ where the machine is busy, so the gate compares them with themselves."""
    same = "".join(f"cp main-{i}.nvspan branch-{i}.nvspan; " for i in (1, 2))
    return same + command if "--fail" in command else command
