# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The Perfetto trace of a recording, read back with Perfetto's own messages."""

from __future__ import annotations

import shutil
import sys

import pytest

import nvspan
from helpers.packages import needs
from helpers.perfetto_trace import read
from helpers.recorded import record_command
from helpers.reported import PROGRAM, recording_of, run_nvspan
from helpers.traced import needs_library

pytestmark = needs_library


@pytest.fixture
def export(tmp_path):
    def made(*files):
        out = tmp_path / "out.pftrace"
        assert run_nvspan("export", *files, "-o", out).stdout == f"{out}\n"
        return read(out)

    return made


@needs("perfetto")
def test_every_range_is_a_slice_in_its_lane(export):
    recording = nvspan.read(recording_of())
    trace = export(recording_of())
    threads = list(recording.threads.rows())
    expected = []
    for row in recording.ranges.rows():
        thread = threads[row["thread"]]
        if row["kind"] == 0:
            lane = (thread["name"] or str(thread["tid"]),)
            lane += () if row["domain"] is None else (row["domain"],)
        elif row["domain"] is None:
            lane = ("start/end ranges",)
        else:
            lane = (f"{row['domain']}: start/end ranges",)
        end = row["end"]
        if end is None:
            end = recording.ranges["end"][len(expected)]
        depth = row["depth"] if row["kind"] == 0 else 0
        expected.append((lane, row["name"], row["start"], end, depth,
                         [row["category_name"]] if row["category_name"] else []))  # fmt: skip
    found = [(s.track[1:], s.name, s.start, s.end, s.depth, s.categories) for s in trace.slices]
    assert sorted(found) == sorted(expected)


@needs("perfetto")
def test_payloads_colors_and_threads_are_arguments(export):
    trace = export(recording_of())

    def of(name):
        return [s.arguments for s in trace.slices if s.name == name]

    assert of("outer") == [{"payload": i, "color": "#FF00FF00"} for i in (0, 1, 2, 3, 4, 0, 1, 2)]
    assert [a["payload"] for a in of("inner")] == [0, 0.5, 1, 1.5, 2, 0, 0.5, 1]
    (handed,) = of("handed over")
    tids = [row["tid"] for row in nvspan.read(recording_of()).threads.rows()]
    assert handed["started_by"] in tids
    assert handed["ended_by"] in tids
    assert handed["started_by"] != handed["ended_by"]
    assert of("never closed")[0]["end_reason"] == "the process ended"
    marks = [
        (track[2:], name, arguments["payload"]) for track, name, _, arguments in trace.instants
    ]
    assert marks == [(("data",), "tick", -1)] * 8


@needs("perfetto")
def test_ranges_that_overlap_have_slots_of_one_name(export):
    path = recording_of(
        "import nvspan\nids = [nvspan.start_range(f's{i}') for i in range(4)]\n"
        "for i in ids: nvspan.end_range(i)\nnvspan.end_range(nvspan.start_range('later'))\n"
    )
    slices = {s.name: s for s in export(path).slices}
    assert {s.track[-1] for s in slices.values()} == {"start/end ranges"}
    assert list(slices) == ["s0", "s1", "s2", "s3", "later"]
    assert all(slices["s0"].end > slices[f"s{i}"].start for i in range(1, 4))


@needs("perfetto")
def test_a_file_is_a_process_even_with_one_number(export, tmp_path):
    first = recording_of()
    copy = tmp_path / "copy.nvspan"
    shutil.copyfile(first, copy)
    trace = export(first, copy, recording_of(PROGRAM))
    assert len(trace.commands) == 3
    assert sum(s.name == "outer" for s in trace.slices) == 24
    assert all(command[0] == sys.executable for command in trace.commands)


@needs("perfetto")
def test_deep_nesting_and_many_names(export):
    path = recording_of(
        "import nvspan\nfor i in range(3000): nvspan.push_range(f'level {i}', domain=f'd{i % 3}')\n"
        "for i in reversed(range(3000)): nvspan.pop_range(domain=f'd{i % 3}')\n"
    )
    slices = export(path).slices
    assert [s.name for s in sorted(slices, key=lambda s: s.start)] == [
        f"level {i}" for i in range(3000)
    ]
    assert max(s.depth for s in slices) == 999


@needs("perfetto")
def test_a_ring_shows_where_it_overwrote(export, tmp_path):
    code = "import nvspan\nfor i in range(60000):\n    nvspan.push_range('r'); nvspan.pop_range()\n"
    made = record_command([sys.executable, "-c", code], mode="ring=0.1", folder=tmp_path)
    trace = export(made.files[0])
    (lost,) = [s for s in trace.slices if s.track[-1] == "lost events"]
    (count,) = made.recording.losses["count"]
    assert count == 120_000 - 2 * len(made.recording.ranges)
    assert lost.name == f"{count} events overwritten by the ring"
    assert len(trace.slices) == len(made.recording.ranges) + 1


@needs("perfetto")
def test_names_that_are_no_utf8_are_kept_readable(export):
    path = recording_of(
        "import ctypes, nvspan\nnvspan.push_range('caf\\udce9 \\u00e9')\nnvspan.pop_range()\n"
    )
    names = [s.name for s in export(path).slices]
    assert len(names) == 1


def test_what_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "out.pftrace"
    done = run_nvspan("export", recording_of(), "-o", out, check=1)
    assert done.stderr == f"nvspan export: cannot write '{out}': File exists\n"
    done = run_nvspan("export", recording_of(), "-o", "/dev/full", check=1)
    assert "No space left on device" in done.stderr
    done = run_nvspan("export", recording_of(), "-o", recording_of(), check=2)
    assert "is one of the recordings to read" in done.stderr
