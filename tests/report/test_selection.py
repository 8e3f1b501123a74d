# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A part of a recording, by name, thread, time and duration, in everything that shows it."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from contextlib import closing

import pytest

import nvspan
from helpers import perfetto_trace
from helpers.compile import build
from helpers.packages import needs
from helpers.page_data import data_of, framed, tracks_of
from helpers.recorded import record_command
from helpers.reported import recording_of, run_nvspan
from helpers.traced import needs_library
from helpers.tree import ROOT
from nvspan import _reader
from nvspan._results import MarkRow
from nvspan.answers import compare
from nvspan.export import perfetto, tables
from nvspan.nsight.nsys.compat import nvtx_sum
from nvspan.report.page.data import timeline
from nvspan.report.summary import Summary, call_tree

pytestmark = needs_library

# "read" stands below another domain's range, and right below "step".
STEPS = """
import threading
import nvspan

def step(number):
    with nvspan.annotate("step", domain="train", payload=number):
        with nvspan.annotate("load", domain="io"):
            with nvspan.annotate("read", domain="train"):
                nvspan.mark("tick", domain="io", payload=number)
        with nvspan.annotate("read", domain="train"):
            nvspan.mark("tock", domain="train")
        span = nvspan.start_range("span", domain="io", payload=number)
        nvspan.end_range(span)

step(0)
step(1)
thread = threading.Thread(target=step, args=(2,), name="worker")
thread.start()
thread.join()
"""


def whole():
    return nvspan.read(recording_of(STEPS))


def node_paths(nodes):
    """Of each node of a call tree the names from the root."""
    made = []
    for node in nodes:
        above = [] if node.parent is None else made[node.parent]
        made.append([*above, f"{node.domain}:{node.name}"])
    return made


def paths(recording):
    """The call tree: (names from the root, calls)."""
    nodes = call_tree(recording)
    named = zip(node_paths(nodes), nodes, strict=True)
    return [(names, node.calls) for names, node in named if node.calls]


def lanes(recording):
    """The timeline of the page: (label of the thread, level, the name of each block)."""
    tracks = tracks_of(timeline(recording, Summary(recording)))
    return [
        (track["label"], number, [block.name for block in level])
        for track, levels in tracks
        for number, level in enumerate(levels[:-1])  # the last level has the marks
    ]


def trace(recording, tmp_path):
    perfetto.write(recording, tmp_path / "out.pftrace")
    found = perfetto_trace.read(tmp_path / "out.pftrace")
    slices = [(s.track[1:], s.name, s.depth, s.arguments.get("payload")) for s in found.slices]
    return slices, [(track[1:], name) for track, name, _, _ in found.instants]


def thread_labels(recording):
    return recording.threads.text("name")


def test_the_tree_of_a_domain_nests_without_the_others():
    part = whole().filter(domains=["train"])
    assert paths(part) == [(["train:step"], 3), (["train:step", "train:read"], 6)]
    assert paths(whole().filter(names=["read"])) == [(["train:read"], 6)]
    assert sorted(paths(whole().filter(match=["io:*"]))) == [(["io:load"], 3), (["io:span"], 3)]
    (read,) = call_tree(whole().filter(names=["read"]))
    of_table = whole().filter(names=["read"]).ranges
    assert read.total == sum(of_table["duration"])
    assert read.self == sum(of_table["self"])


def test_the_page_draws_what_is_left_in_levels_without_gaps():
    recording = whole()
    main, worker = thread_labels(recording)
    assert lanes(recording.filter(domains=["train"])) == [
        (main, 0, ["train:step"] * 2), (main, 1, ["train:read"] * 4),
        (worker, 0, ["train:step"]), (worker, 1, ["train:read"] * 2),
    ]  # fmt: skip
    assert lanes(recording.filter(match=["io:*"], threads=[1])) == [
        (worker, 0, ["io:load"]), ("start/end ranges", 0, ["io:span"]),
    ]  # fmt: skip


@needs("perfetto")
def test_the_perfetto_trace_has_those_slices_and_marks_alone(tmp_path):
    recording = whole()
    main, worker = thread_labels(recording)
    slices, instants = trace(recording.filter(domains=["train"]), tmp_path)
    step = [("step", 0, None), ("read", 1, None), ("read", 1, None)]
    expected = [((main, "train"), *one) for one in step * 2]
    expected += [((worker, "train"), *one) for one in step]
    assert [(track, name, depth, None) for track, name, depth, _ in slices] == expected
    assert [payload for _, name, _, payload in slices if name == "step"] == [0, 1, 2]
    assert instants == [((main, "train"), "tock")] * 2 + [((worker, "train"), "tock")]
    # A thread of which nothing is wanted has no track.
    slices, instants = trace(recording.filter(match=["io:*"], threads=[1]), tmp_path)
    assert slices == [
        ((worker, "io"), "load", 0, None), (("io: start/end ranges",), "span", 0, 2),
    ]  # fmt: skip
    assert instants == [((worker, "io"), "tick")]
    found = perfetto_trace.read(tmp_path / "out.pftrace")
    assert len(found.commands) == 1


@needs("perfetto")
def test_a_time_takes_what_begins_in_it(tmp_path):
    recording = whole()
    rows = [row for row in recording.ranges.rows() if row["name"] == "step"]
    second = recording.filter(start=rows[1]["start"], stop=rows[1]["end"])
    assert sorted(paths(second)) == [
        (["io:span"], 1), (["train:step"], 1), (["train:step", "io:load"], 1),
        (["train:step", "io:load", "train:read"], 1), (["train:step", "train:read"], 1),
    ]  # fmt: skip
    inner = recording.filter(start=rows[1]["start"] + 1, stop=rows[1]["end"])
    slices, instants = trace(inner, tmp_path)
    main = thread_labels(recording)[0]
    assert slices == [
        ((main, "io"), "load", 0, None), ((main, "train"), "read", 0, None),
        ((main, "train"), "read", 0, None), (("io: start/end ranges",), "span", 0, 1),
    ]  # fmt: skip
    assert instants == [((main, "io"), "tick"), ((main, "train"), "tock")]
    assert lanes(inner) == [
        (main, 0, ["io:load", "train:read"]), (main, 1, ["train:read"]),
        ("start/end ranges", 0, ["io:span"]),
    ]  # fmt: skip


# "short" opens before "long" and closes within it, as ranges of two domains may.
CROSSED = """
import time
import nvspan
nvspan.push_range("short", domain="a")
nvspan.push_range("long", domain="b")
nvspan.push_range("within", domain="a")
nvspan.pop_range(domain="a")
nvspan.pop_range(domain="a")
time.sleep(0.35)
nvspan.pop_range(domain="b")
nvspan.end_range(nvspan.start_range("brief"))
nvspan.push_range("open")
"""


@needs("perfetto")
def test_a_duration_is_known_at_the_end(tmp_path):
    recording = nvspan.read(recording_of(CROSSED))
    assert paths(recording) == [
        (["a:short"], 1), (["a:short", "b:long"], 1), (["a:short", "b:long", "a:within"], 1),
        (["None:brief"], 1),
    ]  # fmt: skip
    part = recording.filter(min_duration=300_000_000)
    assert paths(part) == [(["b:long"], 1)]
    # What did not end may have taken any time.
    main = thread_labels(recording)[0]
    assert lanes(part) == [(main, 0, ["b:long", "open"])]
    assert [row[:3] for row in trace(part, tmp_path)[0]] == [
        ((main, "b"), "long", 0), ((main,), "open", 0),
    ]  # fmt: skip
    assert part.ranges.text("name") == ["long", "open"]
    assert [(row.name, row.calls, row.unclosed) for row in part.stats().rows] == [
        ("long", 1, 0), ("open", 0, 1),
    ]  # fmt: skip


RANDOM = """
import random
import nvspan
random = random.Random(7)
domains = ["a", "b", None]
depth = dict.fromkeys(domains, 0)
for _ in range(4000):
    domain = random.choice(domains)
    if depth[domain] and random.random() < 0.5:
        nvspan.pop_range(domain=domain)
        depth[domain] -= 1
    else:
        nvspan.push_range(f"r{random.randrange(6)}", domain=domain)
        depth[domain] += 1
"""


def outermost(ranges):
    """Those that lie in no other one."""
    return [
        (start, end) for start, end in ranges
        if not any(s <= start and end <= e and (s, e) != (start, end) for s, e in ranges)
    ]  # fmt: skip


@needs("perfetto")
@pytest.mark.parametrize("filters", [
    {"match": ["r[135]"]}, {"match": ["a:r?", "b:r0"]}, {"min_duration": "median"},
    {"match": ["r[024]"], "min_duration": "median"},
], ids=str)  # fmt: skip
def test_walks_and_tables_agree_about_what_is_left(filters, tmp_path):
    recording = nvspan.read(recording_of(RANDOM))
    if "min_duration" in filters:
        closed = sorted(d for row in recording.ranges.rows() if (d := row["duration"]) is not None)
        filters = {**filters, "min_duration": closed[len(closed) // 2]}
    part = recording.filter(**filters)
    rows = list(part.ranges.rows())
    assert 100 < len(rows) < len(recording.ranges)
    named, calls, times = [], Counter(), {}
    for row, end in zip(rows, part.ranges["end"], strict=True):
        above = () if row["parent"] is None else named[row["parent"]]
        name = f"{row['domain']}:{row['name']}"
        # A name within itself is the one that it lies in.
        named.append(above[: above.index(name) + 1] if name in above else (*above, name))
        if row["end"] is not None:
            calls[named[-1]] += 1
        times.setdefault(named[-1], []).append((row["start"], end))
    found = {tuple(names): count for names, count in paths(part)}
    assert found == calls
    assert any(len(names) > 2 for names in found)
    totals = {path: sum(end - start for start, end in outermost(of)) for path, of in times.items()}
    nodes = call_tree(part)
    shown = zip(node_paths(nodes), nodes, strict=True)
    assert {tuple(names): node.total for names, node in shown} == totals

    # In a lane a range is as deep as there are others of its domain around it.
    expected, stacks = [], {}
    kept = {(row["start"], row["domain"], row["name"], row["depth"]) for row in rows}
    for row in recording.ranges.rows():
        stack = stacks.setdefault(row["domain"], [])
        del stack[row["depth"] :]
        is_kept = (row["start"], row["domain"], row["name"], row["depth"]) in kept
        if is_kept:
            expected.append((row["domain"], row["name"], sum(stack)))
        stack.append(is_kept)
    slices, _ = trace(part, tmp_path)
    of_domain = [(track[1] if len(track) > 1 else None, name, depth)
                 for track, name, depth, _ in slices]  # fmt: skip
    assert sorted(of_domain, key=str) == sorted(expected, key=str)


def test_a_filter_of_a_filter_takes_what_both_take():
    part = whole().filter(domains=["train"]).filter(names=["read", "load"])
    assert part.ranges.text("name") == ["read"] * 6
    assert paths(part) == [(["train:read"], 6)]
    assert [row["name"] for row in part.stats(names=["step"]).rows] == []
    assert len(part.filter(threads=[1]).ranges) == 2
    assert len(part.filter(threads=[0]).filter(threads=[1]).ranges) == 0
    steps = [row["start"] for row in whole().ranges.rows() if row["name"] == "step"]
    late = whole().filter(names=["step"], start=steps[1])
    assert len(late.filter(start=steps[0]).ranges) == 2


def test_the_share_is_of_the_whole_time_whatever_is_shown():
    recording = whole()
    everything = Summary(recording)
    part = Summary(recording.filter(names=["read"]))
    assert part.wall == everything.wall == recording.stats().wall
    (read,) = part.rows
    assert read.share == next(r.share for r in everything.rows if r.name == "read")
    stats = recording.stats(names=["read"])
    assert stats.wall < stats.whole == everything.wall


@needs("pyarrow")
def test_exports_hold_the_part(tmp_path):
    out = tmp_path / "out.sqlite"
    arguments = (recording_of(STEPS), "--filter", "train:*", "-o")
    run_nvspan("export", "--format", "sqlite", *arguments, out)
    with closing(sqlite3.connect(out)) as connection:
        rows = connection.execute(
            "select eventType, coalesce(text, value), int64Value from NVTX_EVENTS"
            " left join StringIds on textId = id where eventType in (34, 59, 60, 75)"
            " order by NVTX_EVENTS.rowid"
        ).fetchall()
    steps = [
        row for i in range(3) for row in ((59, "step", i), (59, "read", None), (59, "read", None))
    ]
    assert rows == [(75, "train", None), *steps, *[(34, "tock", None)] * 3]

    made = run_nvspan("export", "--format", "csv", *arguments, tmp_path / "out.csv").stdout
    assert made.splitlines() == [str(tmp_path / "out.csv"), str(tmp_path / "out.marks.csv")]
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as file:
        rows = [(row["name"], row["parent"]) for row in csv.DictReader(file)]
    assert rows == [
        (name, parent) for i in (0, 3, 6) for name, parent in
        (("step", ""), ("read", str(i)), ("read", str(i)))
    ]  # fmt: skip
    with open(tmp_path / "out.marks.csv", encoding="utf-8", newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["tock"] * 3

    from pyarrow import parquet

    run_nvspan("export", "--format", "parquet", *arguments, tmp_path / "out.parquet")
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.column("name").to_pylist() == ["step", "read", "read"] * 3
    assert table.column("parent").to_pylist() == [None, 0, 0, None, 3, 3, None, 6, 6]


@needs("perfetto")
def test_the_commands_take_the_part(tmp_path):
    file = recording_of(STEPS)
    recording = whole()
    origin = recording.processes[0].start
    second = [row["start"] for row in recording.ranges.rows() if row["name"] == "step"][1]
    time = ("--from", f"{second - origin}ns")

    run_nvspan("report", file, "--filter", "train:step", *time, "-o", tmp_path / "out.html")
    data = data_of(tmp_path / "out.html")
    assert [row[:2] for row in data["rows"]] == [["train:step", 2]]
    assert [
        [[block.name for block in level] for level in levels]
        for _, levels in tracks_of(data["timeline"])
    ] == [[["train:step"], []]] * 2  # the last level has the marks

    shown = run_nvspan("stats", file, "--tree", "--filter", "train:*", "--format", "json").stdout
    assert [(row["level"], row["label"], row["calls"]) for row in json.loads(shown)["rows"]] == [
        (0, "train:step", 3), (1, "train:read", 6),
    ]  # fmt: skip
    shown = run_nvspan("stats", file, "--compat", "nsys", "--filter", "io:*", *time, "--format",
                       "json").stdout  # fmt: skip
    assert sorted((row["Range"], row["Instances"]) for row in json.loads(shown)) == [
        ("io:load", 2), ("io:span", 2),
    ]  # fmt: skip
    shown = run_nvspan("diff", file, file, "--filter", "train:*", *time, "--format", "json").stdout
    # A call that the machine kept is one of the warm-up.
    assert sorted(
        (row["label"], row["calls_before"] + row["warmup_before"]) for row in rows_of(shown)
    ) == [("train:read", 4), ("train:step", 2)]

    out = tmp_path / "out.pftrace"
    run_nvspan("export", file, "--filter", "span", "--to", f"{second - origin}ns", "-o", out)
    (only,) = perfetto_trace.read(out).slices
    assert (only.name, only.arguments["payload"]) == ("span", 0)


def rows_of(shown):
    return [{**row, "label": f"{row['domain']}:{row['name']}"} for row in json.loads(shown)]


def test_a_notebook_shows_the_part():
    data = data_of(framed(whole().filter(names=["read"])._repr_html_()))
    levels = [level for _, levels in tracks_of(data["timeline"]) for level in levels]
    assert [block.name for level in levels for block in level] == ["train:read"] * 6
    assert [row[0] for row in data["rows"]] == ["train:read"]
    assert "train:step" not in str(data)


def test_reports_in_python_take_the_part():
    part = whole().filter(domains=["io"])
    assert [row["label"] for row in compare.compare(part, part)] == [
        "io:load", "io:span (start/end)",
    ]  # fmt: skip
    assert {row["Range"] for row in nvtx_sum(part)} == {"io:load", "io:span"}
    assert [r.name for r in _reader.tree(part._reader.handle())] == ["load", "span"]


@needs("perfetto")
def test_counters_go_by_their_names(tmp_path):
    source = ROOT / "tests" / "programs" / "every_extension_call.cpp"
    program = build(source, f"-I{source.parent / 'stubs'}")
    recording = record_command([str(program)], folder=tmp_path).recording
    for name, count in (("queue", 2), ("none", 0)):
        part = recording.filter(names=[name])
        rows = list(part.counters.rows())
        assert {row["name"] for row in rows} <= {name}
        perfetto.write(part, tmp_path / "out.pftrace")
        counters = perfetto_trace.read(tmp_path / "out.pftrace").counters
        assert [track[-1].split(":")[-1] for track, _, _ in counters] == [name] * count
        assert ("counters" in tables.files(part, tmp_path / "out.csv")) == bool(rows)


def test_a_mode_without_ranges_goes_by_names_too():
    recording = nvspan.read(recording_of(STEPS, mode="stats"))
    part = recording.filter(match=["train:*"])
    assert sorted((row.name, row.calls) for row in part.stats().rows) == [
        ("read", 6), ("step", 3),
    ]  # fmt: skip
    assert part.stats().marks == [MarkRow("train", "tock", 3)]
