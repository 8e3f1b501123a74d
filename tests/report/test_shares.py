# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Shares of ranges that overlap are of the time that they cover: never above 100 %."""

from __future__ import annotations

import os
import sys
from array import array

import pytest

import nvspan
from helpers.recorded import record_command
from nvspan import _reader, writer
from nvspan.report import render, tree
from nvspan.report.summary import Summary, call_tree


def recorded(path, spans=(), device=(), pushes=()):
    """`spans` and `pushes`: (thread, start, end, name). `device`: (device, stream, start, end)."""
    with _reader.ExternalWriter(os.fsencode(path)) as output:
        process = output.process(77)
        threads = [output.thread(process, number) for number in (1, 2)]
        domain = output.domain(process, "app")
        for kind, ranges in (("start_end", spans), ("push_pop", pushes)):
            for thread, start, end, name in ranges:
                output.ranges(threads[thread], domain, array("q", [start]), array("q", [end]),
                              kind=kind, name=output.strings([name]))  # fmt: skip
        for number, stream, start, end in device:
            name = output.strings(["kernel"])
            output.device_ranges(process, domain, array("q", [start]), array("q", [end]),
                                 device=number, stream=stream, name=name)  # fmt: skip
    return nvspan.read(path)


def shares(recording):
    """Of each name: total, covered time and share, in the table and in the tree."""
    summary = Summary(recording)
    table = {row.name: (row.total, row.covered, row.share) for row in summary.rows}
    lines = tree.rows(call_tree(recording), summary.wall)
    assert {
        line.name: (line.total, line.covered, line.share)
        for line in lines if line.kind not in ("device", "stream")
    } == {row.name: table[row.name] for row in summary.rows if row.kind != "device"}  # fmt: skip
    return table


def test_overlapping_requests_count_their_time_once(tmp_path):
    spans = [(0, 100 * i, 100 * i + 400, "request") for i in range(20)]
    recording = recorded(tmp_path / "a.nvspan", [*spans, (0, 0, 2500, "server")])
    assert shares(recording) == {
        "request": (8000, 2300, 2300 / 2500),
        "server": (2500, 2500, 1.0),
    }
    assert "open" not in render.plain(Summary(recording))


def test_requests_with_pauses_and_within_one_another(tmp_path):
    spans = [(0, 0, 100, "r"), (0, 10, 20, "r"), (0, 150, 200, "r"), (0, 200, 250, "r")]
    recording = recorded(tmp_path / "a.nvspan", spans)
    assert shares(recording) == {"r": (210, 200, 0.8)}


def test_each_thread_has_its_own_time(tmp_path):
    spans = [(0, 0, 100, "r"), (0, 50, 150, "r"), (1, 0, 100, "r"), (1, 300, 400, "r")]
    recording = recorded(tmp_path / "a.nvspan", spans)
    assert shares(recording) == {"r": (400, 350, 350 / 800)}
    by_thread = Summary(recording, "thread").rows
    assert sorted((row.total, row.covered, row.share) for row in by_thread) == [
        (200, 150, 150 / 400), (200, 200, 200 / 400),
    ]  # fmt: skip


def test_spans_that_end_on_another_thread(tmp_path):
    path = tmp_path / "a.nvspan"
    with (
        writer.Session("app", output=path) as session,
        session.create_stream("one", domain="app") as one,
        session.create_stream("two", domain="app") as two,
    ):
        for number, start in enumerate((0, 50, 300), 1):
            one.write_start(start, number, message="r")
        one.write_startend(310, 320, message="r")
        two.write_startend(100, 500, message="r")
        for number, end in enumerate((100, 150, 400), 1):
            two.write_end(end, number)
    assert shares(nvspan.read(path)) == {"r": (710, 650, 650 / 1000)}


def test_a_program_of_asyncio(tmp_path):
    code = (
        "import asyncio, nvspan\n"
        "@nvspan.annotate('request')\n"
        "async def request():\n"
        "    await asyncio.sleep(0.02)\n"
        "async def main():\n"
        "    await asyncio.gather(*[request() for _ in range(20)])\n"
        "asyncio.run(main())\n"
    )
    made = record_command([sys.executable, "-c", code], folder=tmp_path)
    (row,) = Summary(made.recording).rows
    assert row.calls == 20
    assert row.total > 10 * row.covered
    assert 0.9 < row.share <= 1.0


def test_nested_ranges_cover_what_they_add_up_to(tmp_path):
    pushes = [(0, 0, 100, "outer"), (0, 10, 30, "inner"), (0, 150, 200, "outer")]
    recording = recorded(tmp_path / "a.nvspan", pushes=pushes)
    assert shares(recording) == {"outer": (150, 150, 0.75), "inner": (20, 20, 0.1)}


def test_many_spans_that_never_stop_are_merged(tmp_path):
    count = 50_000
    starts = array("q", range(0, 10 * count, 10))
    path = tmp_path / "a.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as output:
        process = output.process(77)
        thread, domain = output.thread(process, 1), output.domain(process, "app")
        for name, length in (("long", 300), ("short", 4)):
            output.ranges(thread, domain, starts, array("q", [at + length for at in starts]),
                          kind="start_end", name=output.strings([name] * count))  # fmt: skip
    last = 10 * (count - 1) + 300
    assert shares(nvspan.read(path)) == {
        "long": (300 * count, last, 1.0),
        "short": (4 * count, 4 * count, 4 * count / last),
    }


def test_streams_of_a_device_count_once(tmp_path):
    device = [(0, 7, 0, 100), (0, 8, 50, 150), (1, 7, 0, 100), (0, 7, 350, 400)]
    recording = recorded(tmp_path / "a.nvspan", device=device)
    (row,) = Summary(recording).rows
    assert (row.gpu_total, row.gpu_share) == (350, 300 / 800)
    by_device = Summary(recording, "device").rows
    assert sorted((row.total, row.share) for row in by_device) == [(100, 0.25), (250, 0.5)]
    lines = tree.rows(call_tree(recording), Summary(recording).wall)
    assert [(line.kind, line.total, line.covered, line.share) for line in lines] == [
        ("stream", 150, 150, 0.375), ("device", 150, 150, 0.375),
        ("stream", 100, 100, 0.25), ("device", 100, 100, 0.25),
        ("stream", 100, 100, 0.25), ("device", 100, 100, 0.25),
    ]  # fmt: skip


def test_ranges_that_overlap_in_one_stream_count_once(tmp_path):
    device = [(0, 7, 0, 100), (0, 7, 50, 150), (0, 7, 60, 200)]
    recording = recorded(tmp_path / "a.nvspan", device=device)
    (row,) = Summary(recording).rows
    assert (row.gpu_total, row.gpu_share) == (340, 1.0)
    stream, _ = tree.rows(call_tree(recording), Summary(recording).wall)
    assert (stream.total, stream.covered, stream.share) == (340, 200, 1.0)


def test_statistics_without_events_have_no_share_of_spans(tmp_path):
    code = (
        "import nvspan\n"
        "with nvspan.annotate('nested'):\n"
        "    for i in range(3): nvspan.end_range(nvspan.start_range('span'))\n"
    )
    made = record_command([sys.executable, "-c", code], mode="stats", folder=tmp_path)
    summary = Summary(made.recording)
    rows = {row.name: row for row in summary.rows}
    assert (rows["span"].covered, rows["span"].share) == (None, None)
    assert rows["span"].mean_open == rows["span"].total / summary.wall
    assert rows["nested"].mean_open is None
    assert f"{rows['span'].mean_open:.3g} open" in render.plain(summary)
    assert summary.share_note().endswith(
        "; of spans, which may overlap, how many were open on average"
    )
    assert rows["nested"].covered == rows["nested"].total
    assert 0 < rows["nested"].share <= 1


def test_files_of_a_job_add_up(tmp_path):
    spans = [(0, 100 * i, 100 * i + 400, "request") for i in range(20)]
    files = [tmp_path / "a.nvspan", tmp_path / "b.nvspan"]
    for path in files:
        recorded(path, spans, pushes=[(1, 0, 1150, "server")])
    many = nvspan.read_many(files)
    assert {row.name: (row.total, row.covered) for row in many.stats().rows} == {
        "request": (16000, 4600),
        "server": (2300, 2300),
    }


@pytest.mark.parametrize("by", ["name", "thread", "process", "category", "payload"])
def test_no_group_exceeds_all_of_the_time(tmp_path, by):
    spans = [(i % 2, 10 * i, 10 * i + 95, "r") for i in range(200)]
    for row in Summary(recorded(tmp_path / "a.nvspan", spans), by).rows:
        assert row.share is not None
        assert row.share <= 1.0
        assert row.total > 4 * row.covered
