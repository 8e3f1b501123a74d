# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges that had not ended when the recording did: their time so far, marked, and counted once."""

from __future__ import annotations

import csv
import io
import json

import pytest

import nvspan
from helpers.live import running
from helpers.reported import run_nvspan
from helpers.traced import needs_library
from nvspan._result import Result
from nvspan.answers.explain import explanation, render
from nvspan.answers.findings import analyze
from nvspan.answers.overview import overview
from nvspan.report.summary import Summary, call_tree
from nvspan.writer import Session

MS = 1_000_000
TIMES = ("open_time", "total", "covered", "mean", "max")


@pytest.fixture
def path(tmp_path):
    """Until 100 ms: `train` from 10 ms on, `load` three times in it, the last one still open.

    A second thread has been in `wait` since 40 ms, twice nested since 60; a start/end range since
    50 overlaps one that ended. A mark is the last event.
    """
    path = tmp_path / "run.nvspan"
    with Session("job", output=path) as session:
        with session.create_stream("main", domain="") as main:
            main.write_pushpop(0, 10 * MS, message="setup")
            main.write_push(10 * MS, message="train")
            main.write_pushpop(20 * MS, 30 * MS, message="load")
            main.write_pushpop(50 * MS, 60 * MS, message="load")
            main.write_push(80 * MS, message="load")
            main.write_mark(100 * MS, message="the end")
        with session.create_stream("worker", domain="") as worker:
            worker.write_pushpop(30 * MS, 40 * MS, message="wait")
            worker.write_push(40 * MS, message="wait")
            worker.write_push(60 * MS, message="wait")
            worker.write_pushpop(70 * MS, 80 * MS, message="wait")
            worker.write_startend(40 * MS, 70 * MS, message="request")
            worker.write_start(50 * MS, 7, message="request")
    return path


def in_ms(row: Result, *fields: str) -> list[float]:
    return [getattr(row, field) / MS for field in fields]


def test_they_count_once_until_the_end(path):
    recording = nvspan.read(path)
    summary = Summary(recording)
    assert summary.wall == 100 * MS
    rows = {row.label: row for row in summary.rows}
    found = {label: [row.calls, row.unclosed, *in_ms(row, *TIMES)] for label, row in rows.items()}
    assert found == {
        "setup": [1, 0, 0, 10, 10, 10, 10],
        "train (1 still open)": [0, 1, 90, 90, 90, 0, 0],
        "load (1 still open)": [2, 1, 20, 40, 40, 10, 10],
        "wait (2 still open)": [2, 2, 60, 70, 70, 10, 10],
        "request (start/end) (1 still open)": [1, 1, 50, 80, 60, 30, 30],
    }
    assert {label: row.share for label, row in rows.items()} == {
        "setup": 0.1,
        "train (1 still open)": 0.9,
        "load (1 still open)": 0.4,
        "wait (2 still open)": 0.7,
        "request (start/end) (1 still open)": 0.6,
    }
    assert {label: row.self and row.self / MS for label, row in rows.items()} == {
        "setup": 10,
        "train (1 still open)": 50,
        "load (1 still open)": 40,
        "wait (2 still open)": 70,
        "request (start/end) (1 still open)": None,
    }


@pytest.mark.parametrize("by", ["thread", "process", "category", "payload"])
def test_they_count_in_every_group(path, by):
    whole = {row.name: row.total for row in nvspan.read(path).stats().rows}
    parts = dict.fromkeys(whole, 0.0)
    for row in nvspan.read(path).stats(by).rows:
        parts[row.name] += row.total
    assert parts == whole


def test_the_tree_has_them_around_what_ended(path):
    nodes = call_tree(nvspan.read(path))
    shown = [
        (
            node.name,
            None if node.parent is None else nodes[node.parent].name,
            [node.calls, node.unclosed, *in_ms(node, "open_time", "total", "covered")],
        )
        for node in nodes
    ]
    assert shown == [
        ("setup", None, [1, 0, 0, 10, 10]),
        ("train", None, [0, 1, 90, 90, 90]),
        ("load", "train", [2, 1, 20, 40, 40]),
        ("wait", None, [2, 2, 60, 70, 70]),
        ("request", None, [1, 1, 50, 80, 60]),
    ]
    assert [node.self and node.self / MS for node in nodes] == [10, 50, 40, 70, None]


def test_tables_mark_them(path):
    lines = run_nvspan("stats", path).stdout.splitlines()
    assert lines[0] == "still open: 5 ranges; total, self and share have the time until the end"
    cells = [line.split() for line in lines if "train" in line]
    assert cells == [["0", "90.0", "ms", "50.0", "ms", "90%", "train", "(1", "still", "open)"]]
    flat = json.loads(run_nvspan("stats", "--flat", "--format", "json", path).stdout)
    (train,) = (row for row in flat["rows"] if row["name"] == "train")
    assert (flat["unclosed"], train["unclosed"], train["open_time"], train["share"]) == (
        5, 1, 90 * MS, 0.9,
    )  # fmt: skip
    table = run_nvspan("stats", "--flat", "--format", "csv", path).stdout
    (train,) = (row for row in csv.DictReader(io.StringIO(table)) if row["name"] == "train")
    assert (train["calls"], train["open_time"], train["total"]) == ("0", "90000000.0", "90000000.0")


def test_what_ended_has_no_time_so_far(tmp_path):
    path = tmp_path / "run.nvspan"
    with Session("job", output=path) as session, session.create_stream("main", domain="") as main:
        main.write_pushpop(0, 10 * MS, message="setup")
        main.write_mark(90 * MS, message="the end")
    (row,) = nvspan.read(path).stats().rows
    assert (row.unclosed, row.open_time, row.total) == (0, 0, 10 * MS)
    assert "open" not in run_nvspan("stats", path).stdout
    assert Summary(nvspan.read(path)).wall == 10 * MS


def test_a_run_is_as_long_as_what_is_still_open(path):
    analysis = analyze(nvspan.read(path))
    assert analysis.headline == (
        "100 ms and no steps, 6 ranges; self time: train (still open) 50%, load 20%, "
        "load (still open) 20%; "
        "still open: train for 90.0 ms, wait x2 for up to 60.0 ms, request for 50.0 ms and 1 more"
    )
    assert overview(analysis).splitlines() == [
        "range               calls     self  share",
        "train (still open)      1  50.0 ms    50%",
        "load                    2  20.0 ms    20%",
        "load (still open)       1  20.0 ms    20%",
        "setup                   1  10.0 ms    10%",
    ]
    assert render(explanation(analysis)).splitlines()[1:4] == [
        "1. self  50% of the run is in 'train'",
        "         50.0 ms of self time in 1 range that did not end",
        "   next  put ranges inside 'train', or record --profile, to see which part it is",
    ]


def test_steps_say_what_is_still_open_around_them(tmp_path):
    path = tmp_path / "run.nvspan"
    with Session("job", output=path) as session, session.create_stream("main", domain="") as main:
        main.write_push(0, message="train")
        for number in range(20):
            main.write_pushpop(number * MS, (number + 1) * MS, message="step")
        main.write_push(20 * MS, message="step")
        main.write_mark(50 * MS, message="the end")
    assert analyze(nvspan.read(path)).headline == (
        "20 steps of 1.00 ms; steady; still open: train for 50.0 ms, step for 30.0 ms"
    )


WAITS = """
import threading, time
import nvspan

def wait():
    nvspan.push_range("blocked")
    started.set()
    time.sleep(3600)

started = threading.Event()
nvspan.push_range("train")
threading.Thread(target=wait, daemon=True).start()
started.wait()
nvspan.push_range("poll")
time.sleep(0.05)
with nvspan.annotate("tick"):
    pass
print("ready", flush=True); input()
"""


@needs_library
@pytest.mark.parametrize("mode", ["full", "ring=1"])
def test_a_thread_that_recorded_nothing_more_is_open_until_its_process_ended(tmp_path, mode):
    with running(tmp_path, WAITS, mode) as run:
        run.end()
        recording = nvspan.read(run.file)
    ranges = {row["name"]: row for row in recording.ranges.rows()}
    end = max(row["start"] for row in ranges.values())  # of "tick", the last range
    rows = {row.name: row for row in recording.stats().rows}
    for name in ("blocked", "train", "poll"):
        assert rows[name].unclosed == 1
        assert rows[name].total == rows[name].open_time >= end - ranges[name]["start"]
    assert rows["blocked"].total >= 50 * MS
    assert all(row.share <= 1 for row in Summary(recording).rows)
