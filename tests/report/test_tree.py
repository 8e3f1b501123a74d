# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan stats`` as a tree: when it is one, in which order, and with what is around a match."""

from __future__ import annotations

import json
import os
import sys

import pytest

import nvspan
from helpers.recorded import record_command
from helpers.reported import recording_of, run_nvspan
from helpers.traced import needs_library
from helpers.written import put
from nvspan import _reader
from nvspan.report import page, tree
from nvspan.report.summary import Summary

pytestmark = needs_library

PROGRAM = """
import threading, time
import nvspan

def step(i):
    with nvspan.annotate("step", payload=i):
        for name, ms in (("load", 1), ("train", 3), ("save", 2)):
            with nvspan.annotate(name):
                with nvspan.annotate("inner", domain="lib"):
                    time.sleep(ms / 100)

for i in range(3):
    step(i)
thread = threading.Thread(target=step, args=(3,))
thread.start()
thread.join()
with nvspan.annotate("report"):
    pass
"""
PARTS = (("load", 10), ("train", 30), ("save", 20))  # ms


@pytest.fixture(scope="module")
def written_program(tmp_path_factory):
    """What PROGRAM does, with exact times."""
    path = tmp_path_factory.mktemp("written") / "run.nvspan"
    ms = 1_000_000
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        plain, lib = writer.domain(process, None), writer.domain(process, "lib")

        now = ms
        main, other = writer.thread(process, 77, "MainThread"), writer.thread(process, 78)
        for number, thread in enumerate([main, main, main, other]):
            put(writer, thread, plain, [(now, now + 60 * ms, "step")], payload=number)
            for name, length in PARTS:
                end = now + length * ms
                put(writer, thread, plain, [(now, end, name)])
                put(writer, thread, lib, [(now + 1000, end - 1000, "inner")])
                now = end
        put(writer, main, plain, [(now, now + 1000, "report")])
    return path


FLAT = "import nvspan\nfor i in range(9):\n    with nvspan.annotate(f'r{i % 3}'): pass\n"


def shown(*arguments):
    """(indent, name) of each line below the headings, and the headings."""
    lines = run_nvspan("stats", *arguments).stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("calls"))
    names = lines[at].index("name")
    rows = [line for line in lines[at + 1 :] if not line.startswith(("share:", "typical:", "over"))]
    return [line[names:] for line in rows], lines[at].split()


TREE = ["step", "  train", "    lib:inner", "  save", "    lib:inner", "  load", "    lib:inner",
        "report"]  # fmt: skip


def test_it_is_a_tree_where_ranges_nest_and_fit(written_program):
    path = written_program
    assert shown(path) == shown("--tree", path)
    assert shown(path) == (TREE, ["calls", "total", "self", "share", "p50", "typical", "name"])
    for table in (["--flat"], ["--top", "9"], ["--sort", "p99"]):
        names, headings = shown(*table, path)
        assert sorted(names) == ["lib:inner", "load", "report", "save", "step", "train"]
        assert headings[:5] == ["calls", "total", "self", "p50", "typical"]
    assert json.loads(run_nvspan("stats", "--format", "json", path).stdout)["by"] == "name"
    assert run_nvspan("stats", "--by", "thread", path).stdout.startswith("calls")
    assert sorted(shown(recording_of(FLAT))[0]) == ["r0", "r1", "r2"]
    assert "p50" in shown(recording_of(FLAT))[1]


def test_a_tree_of_many_lines_is_a_table():
    code = """
import nvspan
for i in range(40):
    with nvspan.annotate(f"outer {i}"), nvspan.annotate("inner"):
        pass
"""
    path = recording_of(code)
    assert len(shown(path)[0]) == 41
    assert len(shown("--tree", path)[0]) == 80 > tree.MOST_LINES


def test_the_order_of_first_appearance(written_program):
    path = written_program
    assert shown("--sort", "first", path)[0] == [
        "step", "  load", "    lib:inner", "  train", "    lib:inner", "  save", "    lib:inner",
        "report",
    ]  # fmt: skip
    assert shown("--sort", "name", path)[0][0] == "report"
    names = ["step", "load", "lib:inner", "train", "save", "report"]
    assert shown("--flat", "--sort", "first", path)[0] == names


def test_a_filter_keeps_what_is_around_its_matches(written_program):
    path = written_program
    assert shown("--filter", "lib:*", path)[0] == ["lib:inner"]
    assert shown("--filter", "save", "--ancestors", path)[0] == ["step", "  save"]
    assert shown("--filter", "lib:*", "--ancestors", "--sort", "first", path)[0] == [
        "step", "  load", "    lib:inner", "  train", "    lib:inner", "  save", "    lib:inner",
    ]  # fmt: skip
    rows = json.loads(
        run_nvspan("stats", "--filter", "save", "--ancestors", "--format", "json", path).stdout
    )["rows"]
    whole = {row.name: row for row in nvspan.read(path).stats().rows}
    assert [(row["name"], row["total"], row["parent"]) for row in rows] == [
        ("step", whole["step"].total, None), ("save", whole["save"].total, rows[0]["id"]),
    ]  # fmt: skip


def test_shares_are_of_the_wall_time_in_each_thread():
    path = recording_of(PROGRAM)
    found = json.loads(run_nvspan("stats", "--tree", "--format", "json", path).stdout)
    step = found["rows"][0]
    assert (step["threads"], step["calls"]) == (2, 4)
    assert step["share"] == pytest.approx(step["total"] / found["wall"] / 2)
    assert found["footnotes"][0].startswith("share: of the ")
    assert found["footnotes"][0].endswith("in each thread that the row ran in")


def test_statistics_have_shares_of_the_time_that_was_recorded(tmp_path):
    code = PROGRAM + "time.sleep(0.05)\n"
    made = record_command([sys.executable, "-c", code], mode="stats", folder=tmp_path)
    summary = Summary(made.recording)
    (process,) = made.recording.processes
    assert summary.wall == process.end - process.start
    rows = {row.name: row for row in summary.rows}
    assert rows["step"].share == pytest.approx(rows["step"].total / summary.wall / 2)
    assert 0 < rows["step"].share < 1
    text = run_nvspan("stats", made.files[0]).stdout
    assert "in which they were recorded, in each thread" in text
    assert "recorded with --mode stats, which holds no single ranges" in text
    assert "in which they were recorded" in page.html(made.recording)
    assert "in which they were recorded" in made.recording._repr_html_()


def test_statistics_of_a_process_that_was_killed_have_no_shares(tmp_path):
    code = PROGRAM + "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    made = record_command([sys.executable, "-c", code], mode="stats", folder=tmp_path, check=False)
    summary = Summary(made.recording)
    assert {row.share for row in summary.rows} == {None}
    text = run_nvspan("stats", made.files[0]).stdout
    assert "share: not known, as the file of statistics was not closed by its process" in text
