# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The files that the page imports."""

import json
from pathlib import Path

import nvspan
from nvspan.export import perfetto
from nvspan.imports import import_file

events = [{"ph": "X", "name": "a", "ts": 1, "dur": 5, "pid": 1, "tid": 2}]
Path("trace.json").write_text(json.dumps(events))
import_file("trace.json", "first.nvspan")
perfetto.write(nvspan.read("first.nvspan"), "trace.pftrace")
Path("calls.csv").write_text("ts,duration,label\n1,2,a call\n")
try:
    import pyarrow
    from pyarrow import parquet
except ImportError:
    pyarrow = None
else:
    table = pyarrow.table({"start": [1000], "end": [3000], "name": ["a call"]})
    parquet.write_table(table, "calls.parquet")


def prepared(command):
    return None if "parquet" in command and pyarrow is None else command
