# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/external.md do what the page says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import nvspan
from nvspan.export import perfetto
from nvspan.imports import import_file

PAGE = Path(__file__).parents[2] / "docs" / "external.md"


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (block,) = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert [line[:2] for line in lines] == [["nvspan", "import"]] * 4 + [["nvspan", "stats"]]
    events = [{"ph": "X", "name": "a", "ts": 1, "dur": 5, "pid": 1, "tid": 2}]
    (tmp_path / "trace.json").write_text(json.dumps(events))
    import_file(tmp_path / "trace.json", tmp_path / "first.nvspan")
    perfetto.write(nvspan.read(tmp_path / "first.nvspan"), str(tmp_path / "trace.pftrace"))
    (tmp_path / "calls.csv").write_text("ts,duration,label\n1,2,a call\n")
    table = pyarrow.table({"start": [1000], "end": [3000], "name": ["a call"]})
    parquet.write_table(table, tmp_path / "calls.parquet")
    wanted = {"trace.nvspan": ("a", 1000, 6000), "calls.nvspan": ("a call", 1000, 3000)}
    for line in lines:
        done = subprocess.run(
            [sys.executable, "-m", *line], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        if line[1] == "import":
            made = done.stdout.strip()
            (row,) = nvspan.read(tmp_path / made).ranges.rows()
            name, start, end = wanted[made]
            assert (row["name"], row["end"] - row["start"]) == (name, end - start)
    assert done.stdout.splitlines()[1].split()[-1] == "a"
