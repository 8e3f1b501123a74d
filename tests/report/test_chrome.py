# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan export --format chrome``: every kind of event, read back by `nvspan import` and by json.

What Perfetto's trace processor makes of it is in test_viewer.py.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import nvspan
from helpers.device_recorded import PROGRAM as DEVICES
from helpers.device_recorded import recording_of as device_recording_of
from helpers.reported import recording_of, run_nvspan
from helpers.traced import needs_library

pytestmark = needs_library

PROGRAM = """
import threading, nvspan
with nvspan.annotate('quoted "name" \\\\ \\n\\x01 ☃ \\U0001f600', domain="größe", color="#ff0000"):
    with nvspan.annotate("inner", category="io", payload={"step": 3, "loss": 0.25, "tag": "a/b"}):
        nvspan.mark("tick", payload=-7)
with nvspan.annotate("inner", category="backward", payload=2.5): pass
nvspan.push_range("first", domain="a"); nvspan.push_range("second", domain="b")
nvspan.pop_range(domain="a"); nvspan.pop_range(domain="b")
handed = nvspan.start_range("handed", domain="a", payload=4)
t = threading.Thread(target=nvspan.end_range, args=(handed,), name="ender"); t.start(); t.join()
counter = nvspan.get_domain("train").get_counter("memory", [("used", "i8"), ("part", "f8")])
counter.sample((10, 0.5))
counter.sample((-3, float("nan")))
nvspan.push_range("never closed")
"""


@pytest.fixture
def export(tmp_path):
    def made(*files):
        out = tmp_path / "out.trace.json"
        assert run_nvspan("export", *files, "--format", "chrome", "-o", out).stdout == f"{out}\n"
        return json.loads(out.read_bytes().decode("ascii"))

    return made


def test_every_kind_of_event(export):
    path = recording_of(PROGRAM)
    recording = nvspan.read(path)
    document = export(path)
    (process,) = recording.processes
    assert document["displayTimeUnit"] == "ns"
    assert document["baseTimeNanoseconds"] == process["unix_offset"]
    main, ender = recording.threads["tid"].tolist()
    events = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert {event["pid"] for event in events} == {process["pid"]}
    ends = recording.ranges["end"].tolist()  # of what did not end the last that is known
    rows = {(row["name"], row["category_name"] == "backward"): (row["start"], end)
            for row, end in zip(recording.ranges.rows(), ends, strict=True)}  # fmt: skip

    def times(name, backward=False):
        start, end = rows[name, backward]
        return start / 1000, end / 1000

    name = 'quoted "name" \\ \n\x01 ☃ \U0001f600'
    (mark,) = recording.marks["time"].tolist()
    shown = [
        (e["ph"], e["tid"], e["ts"], e.get("name"), e.get("cat"), e.get("args")) for e in events
    ]
    outer, inner, again = times(name), times("inner"), times("inner", True)
    first, second, handed = times("first"), times("second"), times("handed")
    open_ = times("never closed")
    samples = [row["time"] / 1000 for row in recording.counters.rows()]
    fields = {"nvtx.category": "io", "step": 3, "loss": 0.25, "tag": "a/b"}
    red = {"nvtx.color": "#FFFF0000"}
    assert sorted(shown, key=str) == sorted([
        ("B", main, outer[0], name, "größe", red), ("E", main, outer[1], None, None, None),
        ("B", main, inner[0], "inner", None, fields), ("E", main, inner[1], None, None, None),
        ("i", main, mark / 1000, "tick", None, {"payload": -7}),
        ("B", main, again[0], "inner (backward)", None,
         {"nvtx.category": "backward", "payload": 2.5}),
        ("E", main, again[1], None, None, None),
        ("b", main, first[0], "first", "a", None), ("e", main, first[1], "first", "a", None),
        ("B", main, second[0], "second", "b", None), ("E", main, second[1], None, None, None),
        ("b", main, handed[0], "handed", "a", {"payload": 4}),
        ("e", ender, handed[1], "handed", "a", None),
        ("C", main, samples[0], "memory.used", "train", {"value": 10}),
        ("C", main, samples[0], "memory.part", "train", {"value": 0.5}),
        ("C", main, samples[2], "memory.used", "train", {"value": -3}),
        ("B", main, open_[0], "never closed", None, None),
        ("E", main, open_[1], None, None, {"end_reason": "the process ended"}),
    ], key=str)  # fmt: skip
    assert {e["cname"] for e in events if "cname" in e} == {"terrible"}
    names = {(e["name"], e.get("tid")): e["args"] for e in document["traceEvents"]
             if e["ph"] == "M"}  # fmt: skip
    assert names["thread_name", main] == {"name": "MainThread"}
    assert names["thread_name", ender] == {"name": "ender"}
    assert names["process_name", None]["name"].startswith("python")


def test_imported_again_it_is_the_same(export, tmp_path):
    path = recording_of(PROGRAM)
    before = nvspan.read(path)
    (tmp_path / "in.json").write_text(json.dumps(export(path)))
    back = tmp_path / "back.nvspan"
    done = subprocess.run(
        [sys.executable, "-m", "nvspan", "import", tmp_path / "in.json", "-o", back],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    after = nvspan.read(back)

    def ranges(recording):
        names, ends = recording.threads.text("name"), recording.ranges["end"].tolist()
        found = set()
        for row, end in zip(recording.ranges.rows(), ends, strict=True):
            # What crosses another range is asynchronous; the pass of a range is a part of its name.
            kind = 1 if row["name"] == "first" else row["kind"]
            name = row["name"] + (" (backward)" if row["category_name"] == "backward" else "")
            found.add(
                (
                    kind,
                    names[row["thread"]],
                    row["domain"],
                    name,
                    row["start"] + recording.unix_offset,
                    end + recording.unix_offset,
                )
            )
        return found

    assert ranges(after) == ranges(before)
    marks = [(row["name"], row["time"] + after.unix_offset) for row in after.marks.rows()]
    assert marks == [(row["name"], row["time"] + before.unix_offset) for row in before.marks.rows()]
    fields = [after.payload_fields(row) for row in range(len(after.ranges))]
    assert {"nvtx.category": "io", "step": 3, "loss": 0.25, "tag": "a/b"} in fields
    assert [(row["name"], row["value"]) for row in after.counters.rows()] == [
        ("memory.used", 10), ("memory.part", 0.5), ("memory.used", -3),
    ]  # fmt: skip


def test_ranges_of_devices_are_threads_with_arrows(export):
    path = device_recording_of(DEVICES, "exact")
    recording = nvspan.read(path)
    events = export(path)["traceEvents"]
    works = [event for event in events if event["ph"] == "X"]
    rows = [row for row in recording.ranges.rows() if row["kind"] == 2]
    assert sorted((e["name"], e["ts"], e["dur"], e["args"]["device"], e["args"]["stream"])
                  for e in works) == sorted(
        (row["name"], row["start"] / 1000, row["duration"] / 1000, row["device"], row["stream"])
        for row in rows
    )  # fmt: skip
    lanes = {event["tid"]: event["args"]["name"] for event in events
             if event.get("name") == "thread_name"}  # fmt: skip
    assert all(lanes[event["tid"]].startswith("GPU ") for event in works)
    assert not {event["tid"] for event in works} & set(recording.threads["tid"].tolist())
    leave = {event["id"]: event for event in events if event["ph"] == "s"}
    arrive = [event for event in events if event["ph"] == "f"]
    assert len(arrive) == sum(row["launcher"] is not None for row in rows) > 0
    table = list(recording.ranges.rows())
    assert sorted(leave[event["id"]]["ts"] for event in arrive) == sorted(
        table[row["launcher"]]["start"] / 1000 for row in rows if row["launcher"] is not None
    )
    assert {event["cat"] for event in works} == {"gpu_user_annotation"}


def test_processes_and_losses(export, tmp_path):
    code = "import nvspan\nfor i in range(60_000):\n  with nvspan.annotate('r'): pass\n"
    rings = recording_of(code, mode="ring=0.1")
    events = export(recording_of(PROGRAM), rings, recording_of(PROGRAM))["traceEvents"]
    assert len({event["pid"] for event in events if event["ph"] == "M"}) == 3
    (lost,) = {event["name"] for event in events if event.get("cat") == "nvspan"}
    assert lost.endswith(" events overwritten by the ring")
