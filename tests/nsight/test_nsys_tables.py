# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of push/pop and of start/end ranges, as nsys prints them."""

from __future__ import annotations

import csv
import io
import subprocess
from pathlib import Path

import pytest

import nvspan
from helpers import nsys
from helpers.reported import run_nvspan
from nvspan.nsight.nsys import compat
from nvspan.writer import Session

# Ranges of three domains that overlap without nesting, equal times, one that is open at the end.
RANGES = """
import threading, time
import nvspan
for number in range(3):
    with nvspan.annotate("step", domain="a"):
        nvspan.push_range("crossing", domain="b")
        with nvspan.annotate("inner"):
            nvspan.end_range(nvspan.start_range("load", domain="io"))
    nvspan.mark("between")
    nvspan.pop_range(domain="b")
def work():
    with nvspan.annotate("step", domain="a"), nvspan.annotate("inner"): pass
thread = threading.Thread(target=work)
thread.start()
thread.join()
nvspan.start_range("open")
nvspan.push_range("never popped", domain="a")
"""
KIND_TABLES = ("nvtx_pushpop_sum", "nvtx_startend_sum", "nvtx_pushpop_trace")


@pytest.mark.nsys
@pytest.mark.parametrize("case", ["2022.4.2", "2023.4.4", "crossing"])
def test_tables_of_one_kind_are_those_that_nsys_prints(case: str, tmp_path: Path) -> None:
    """By the command line, of databases that exist and of one that is made here."""
    tool = nsys.find() / "nsys"
    if case == "crossing":
        path = nsys.profile(RANGES, tmp_path).database
    else:
        path = nsys.unpacked(case, tmp_path)
    for table in KIND_TABLES:
        done = subprocess.run(
            [tool, "stats", "-q", "-f", "csv", "-r", table, path],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        theirs = list(csv.DictReader(io.StringIO(done.stdout.strip())))
        shown = run_nvspan("stats", path, "--compat", f"nsys:{table}", "--format", "csv").stdout
        ours = list(csv.DictReader(io.StringIO(shown)))
        if table == "nvtx_pushpop_trace":
            ours = nsys.renumbered(ours, theirs)
        assert ours == theirs
        assert len(theirs) >= 2


def test_the_trace_of_push_pop_ranges(tmp_path: Path) -> None:
    """Of a recording of nvspan, with exactly known times."""
    path = tmp_path / "known.nvspan"
    with Session("known", output=path) as session, session.create_stream("main") as thread:
        for start, end, name in ((0, 100, "a"), (10, 60, "b"), (20, 30, "c"), (60, 90, "d")):
            thread.write_pushpop(start, end, message=name)
        thread.write_startend(5, 95, message="span")
    recording = nvspan.read(path)
    keys = ("Start (ns)", "Duration (ns)", "DurChild (ns)", "DurNonChild (ns)", "NameTree",
            "Lvl", "NumChild")  # fmt: skip
    assert [[row[key] for key in keys] for row in compat.push_pop_trace(recording)] == [
        [0, 100, 80, 20, "a", 0, 2], [10, 50, 10, 40, "--b", 1, 1],
        [20, 10, 0, 10, "----c", 2, 0], [60, 30, 0, 30, "--d", 1, 0],
    ]  # fmt: skip
    assert [list(row.values()) for row in compat.start_end_sum(recording)] == [
        [100.0, 90, 1, 90.0, 90.0, 90, 90, 0.0, "span"]
    ]
