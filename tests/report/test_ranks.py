# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The files of several processes in one report: ranks of a job, and two hosts with one pid."""

from __future__ import annotations

import json
import shutil
import sqlite3
import struct
import sys
from contextlib import closing

import pytest

import nvspan
from helpers import perfetto_trace
from helpers.packages import needs
from helpers.page_data import tracks_of
from helpers.recorded import record_command
from helpers.reported import run_nvspan
from helpers.traced import needs_library
from nvspan.export import perfetto
from nvspan.nsight import sqlite
from nvspan.report.page.data import timeline
from nvspan.report.summary import Summary

pytestmark = needs_library

STEPS = """
import os
import nvspan
for i in range(2 + int(os.environ["RANK"])):
    with nvspan.annotate("step", domain="train"):
        pass
    nvspan.end_range(nvspan.start_range("span"))
"""


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """A recording of two ranks, and its files."""
    folder = tmp_path_factory.mktemp("ranks")
    files = []
    for rank in range(2):
        own = folder / str(rank)
        own.mkdir()
        made = record_command([sys.executable, "-c", STEPS], folder=own,
                              env={"RANK": str(rank), "WORLD_SIZE": "2"})  # fmt: skip
        files += made.files
    return nvspan.read(*files), files


@pytest.fixture
def hosts(ranks, tmp_path):
    """The same, but the second is of another boot of a machine whose clock began elsewhere."""
    first, second = (tmp_path / f"{i}.nvspan" for i in range(2))
    for source, made in zip(ranks[1], (first, second), strict=True):
        shutil.copyfile(source, made)
    content = bytearray(second.read_bytes())
    pid = struct.unpack_from("<I", first.read_bytes(), 24)[0]
    struct.pack_into("<I", content, 24, pid)
    boot = ranks[0].processes[1].boot_id.encode()
    at = content.index(boot[:32])
    content[at] = ord("0") if boot[0] != ord("0") else ord("1")
    second.write_bytes(content)
    made = nvspan.read(first, second)
    assert [process.pid for process in made.processes] == [pid, pid]
    assert len({process.boot_id for process in made.processes}) == 2
    return made


def names(recording):
    return [f"rank {p.rank} ({p.pid})" for p in recording.processes]


@needs("perfetto")
@pytest.mark.parametrize("of", ["ranks", "hosts"])
def test_every_report_tells_the_processes_apart(of, request, tmp_path):
    found = request.getfixturevalue(of)
    recording = found[0] if of == "ranks" else found
    first, second = names(recording)
    by_process = Summary(recording, "process")
    assert sorted((row.group, row.label, row.calls) for row in by_process.rows) == sorted([
        (first, "train:step", 2), (second, "train:step", 3),
        (first, "span (start/end)", 2), (second, "span (start/end)", 3),
    ])  # fmt: skip
    threads = recording.threads.text("name")
    assert threads == ["MainThread"] * 2
    by_thread = Summary(recording, "thread")
    assert sorted((row.group, row.calls) for row in by_thread.rows) == sorted([
        (f"{threads[0]} of {first}", 2), (f"{threads[1]} of {second}", 3),
    ] * 2)  # fmt: skip
    drawn = timeline(recording, Summary(recording))
    assert drawn["processes"] == [first, second]
    assert [
        (track["process"], track["label"], [len(level) for level in levels[:-1]])
        for track, levels in tracks_of(drawn)
    ] == [
        (0, threads[0], [2]),
        (0, "start/end ranges", [2]),
        (1, threads[1], [3]),
        (1, "start/end ranges", [3]),
    ]

    sqlite.write(recording, tmp_path / "out.sqlite")
    query = "select globalTid, count(*) from NVTX_EVENTS where eventType = 59 group by globalTid"
    with closing(sqlite3.connect(tmp_path / "out.sqlite")) as connection:
        counts = connection.execute(query).fetchall()
        owners = connection.execute("select globalPid, pid from PROCESSES").fetchall()
        domains = connection.execute(
            "select globalTid >> 24 << 24, text from NVTX_EVENTS where eventType = 75"
        ).fetchall()
    assert sorted(count for _, count in counts) == [2, 3]
    assert {tid >> 24 << 24 for tid, _ in counts} == {number for number, _ in owners}
    assert [pid for _, pid in owners] == [process.pid for process in recording.processes]
    assert sorted(domains) == sorted((number, "train") for number, _ in owners)

    perfetto.write(recording, tmp_path / "out.pftrace")
    slices = perfetto_trace.read(tmp_path / "out.pftrace").slices
    tracks = {}
    for one in slices:
        tracks.setdefault((one.track[0][:7], *one.track[1:]), []).append(one.name)
    assert tracks == {
        ("rank 0:", "MainThread", "train"): ["step"] * 2,
        ("rank 0:", "start/end ranges"): ["span"] * 2,
        ("rank 1:", "MainThread", "train"): ["step"] * 3,
        ("rank 1:", "start/end ranges"): ["span"] * 3,
    }  # fmt: skip


def test_hosts_are_placed_by_their_wall_clocks(ranks, hosts):
    """The ranks ran one after the other; the clocks of one machine agree about that."""
    for together, apart in zip(ranks[0].ranges["start"], hosts.ranges["start"], strict=True):
        assert abs(together - apart) < 50_000_000


def test_the_commands_take_several_files(ranks):
    recording, files = ranks
    shown = run_nvspan("stats", *files, "--by", "process", "--filter", "train:*", "--format",
                       "json").stdout  # fmt: skip
    rows = {row["process"]: row["calls"] for row in json.loads(shown)["rows"]}
    assert rows == dict(zip(names(recording), (2, 3), strict=True))
