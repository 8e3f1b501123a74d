# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of one name within one another: their time counts once, in every mode and table."""

from __future__ import annotations

import csv
import io
import sys

import pytest

import nvspan
from helpers.recorded import record_command
from helpers.reported import recording_of, run_nvspan
from helpers.traced import needs_library
from nvspan.report.summary import call_tree

pytestmark = needs_library

# Ten nested calls; two names in turns; a name of another domain; a payload for each depth; one that
# never ends around two that do; the same in a second thread.
PROGRAM = """
import threading, time
import nvspan

def deep(n):
    with nvspan.annotate("deep", payload=n):
        time.sleep(0.0002)
        if n:
            deep(n - 1)

def ping(n):
    with nvspan.annotate("ping"):
        time.sleep(0.0001)
        if n:
            pong(n)

def pong(n):
    with nvspan.annotate("pong"):
        ping(n - 1)

def work():
    with nvspan.annotate("main"):
        for _ in range(3):
            deep(9)
        ping(3)
        with nvspan.annotate("twice"), nvspan.annotate("twice", domain="other"):
            time.sleep(0.0001)
    nvspan.push_range("open")
    for _ in range(2):
        with nvspan.annotate("open"):
            time.sleep(0.0001)

work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
CALLS = {"main": 2, "deep": 60, "ping": 8, "pong": 6, "twice": 4, "open": 4}


def expected(path):
    """(domain, name) -> calls and their sum, and the time of those within no other one, so far."""
    ranges = nvspan.read(path).ranges
    rows = [{**row, "end": end, "ended": row["end"] is not None}
            for row, end in zip(ranges.rows(), ranges["end"], strict=True)]  # fmt: skip
    found = {}
    for row in rows:
        around = any(
            other is not row and other["thread"] == row["thread"] and other["name"] == row["name"]
            and other["domain"] == row["domain"] and other["start"] <= row["start"]
            and row["end"] <= other["end"] for other in rows
        )  # fmt: skip
        of = found.setdefault((row["domain"], row["name"]), [0, 0, 0])
        of[0] += row["ended"]
        of[1] += row["duration"] if row["ended"] else 0
        of[2] += 0 if around else row["end"] - row["start"]
    return found


@pytest.fixture(scope="module")
def path():
    return recording_of(PROGRAM)


def test_the_outermost_counts(path):
    recording = nvspan.read(path)
    rows = {(row.domain, row.name): row for row in recording.stats().rows}
    wanted = expected(path)
    assert set(rows) == set(wanted)
    assert wanted[None, "deep"][1] > 2 * wanted[None, "deep"][2]
    for key, (calls, every, outermost) in wanted.items():
        row = rows[key]
        assert (row.calls, row.total, row.sum) == (calls, outermost, every), key
        assert row.mean == pytest.approx(every / calls)
        assert row.total <= 2 * recording.stats().wall
    assert rows[None, "open"].unclosed == 2
    # A call that holds others is longer for that alone.
    assert {row.outliers for row in rows.values() if row.total < row.sum} == {0}


def test_self_time_is_that_of_every_call(path):
    recording = nvspan.read(path)
    own = {}
    for row in recording.ranges.rows():
        own[row["name"]] = own.get(row["name"], 0) + row["self"]
    for name, ns in own.items():
        shown = sum(row.self for row in recording.stats().rows if row.name == name)
        assert shown == pytest.approx(ns, abs=100)


def test_a_group_counts_its_own_outermost(path):
    recording = nvspan.read(path)
    by_payload = {row.payload: row for row in recording.stats("payload").rows if row.name == "deep"}
    assert {n: row.calls for n, row in by_payload.items()} == dict.fromkeys(range(10), 6)
    assert all(row.total == row.sum for row in by_payload.values())
    whole = next(row for row in recording.stats().rows if row.name == "deep")
    assert by_payload[9].total == whole.total
    threads = [row for row in recording.stats("thread").rows if row.name == "deep"]
    assert [row.calls for row in threads] == [30, 30]
    assert sum(row.total for row in threads) == whole.total


def test_the_tree_has_a_name_once_in_a_path(path):
    nodes = call_tree(nvspan.read(path))
    made, found = [], {}
    for node in nodes:
        above = () if node.parent is None else made[node.parent]
        made.append((*above, node.name))
        found[made[-1]] = (node.calls, node.total)
    wanted = {name: each for (domain, name), each in expected(path).items() if domain is None}
    assert found == {
        ("main",): (2, wanted["main"][2]),
        ("main", "deep"): (60, wanted["deep"][2]),
        ("main", "ping"): (8, wanted["ping"][2]),
        ("main", "ping", "pong"): (6, wanted["pong"][2]),
        ("main", "twice"): (2, wanted["twice"][2]),
        ("main", "twice", "twice"): (2, expected(path)["other", "twice"][2]),
        ("open",): (4, wanted["open"][2]),
    }
    lines = run_nvspan("stats", "--tree", path).stdout.splitlines()
    assert sum(line.endswith(" deep") for line in lines) == 1


def test_a_selection_counts_the_outermost_that_it_takes(path):
    recording = nvspan.read(path)
    deep = [row for row in recording.ranges.rows() if row["name"] == "deep"]
    second = deep[1]  # within the first
    (row,) = recording.stats(names=["deep"], start=second["start"], stop=deep[10]["start"]).rows
    assert (row.calls, row.total) == (9, second["duration"])
    (row,) = recording.stats(names=["deep"], min_duration=second["duration"]).rows
    assert row.total == expected_of(deep, second["duration"])


def expected_of(rows, shortest):
    kept = [row for row in rows if row["duration"] >= shortest]
    return sum(row["duration"] for row in kept if not any(
        other is not row and other["thread"] == row["thread"] and other["start"] <= row["start"]
        and row["end"] <= other["end"] for other in kept))  # fmt: skip


def test_nsys_sums_them_all(path):
    done = run_nvspan("stats", "--compat", "nsys", "--format", "csv", path)
    shown = {row["Range"].lstrip(":"): row for row in csv.DictReader(io.StringIO(done.stdout))}
    wanted = expected(path)
    assert int(float(shown["deep"]["Total Time (ns)"])) == wanted[None, "deep"][1]
    assert int(shown["deep"]["Instances"]) == 60


@pytest.mark.parametrize("mode", ["stats", "ring"])
def test_other_modes_count_the_same(mode, tmp_path):
    made = record_command([sys.executable, "-c", PROGRAM], mode=mode, folder=tmp_path)
    rows = {(row.domain, row.name): row for row in made.recording.stats().rows}
    assert {name: rows[None, name].calls for name in CALLS if name != "twice"} == {
        name: calls for name, calls in CALLS.items() if name != "twice"
    }
    for (domain, name), row in rows.items():
        if domain is None and name in ("deep", "ping", "pong"):
            assert row.total <= rows[None, "main"].total
            assert row.total < row.sum
            inner = rows[None, "ping"].self + rows[None, "pong"].self
            whole = row.self if name == "deep" else inner
            assert row.total <= 1.01 * whole
            assert row.total >= (0 if name == "pong" else 0.99) * whole
        elif name == "open" and mode != "stats":
            assert row.unclosed == 2
            assert row.sum < row.total == row.open_time
        else:
            assert row.total == pytest.approx(row.sum)


def test_both_halves_of_a_job_add_up(path):
    single = {(row.domain, row.name): row for row in nvspan.read(path).stats().rows}
    other = recording_of(PROGRAM + "\n# again\n")
    second = {(row.domain, row.name): row for row in nvspan.read(other).stats().rows}
    for row in nvspan.read(path, other).stats().rows:
        key = (row.domain, row.name)
        assert row.calls == single[key].calls + second[key].calls
        assert row.total == pytest.approx(single[key].total + second[key].total, abs=200)
