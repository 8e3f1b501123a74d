# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads and counters of any emitter are read by the names of their fields."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import nvspan
from helpers.compile import build
from helpers.perfetto_trace import read as read_perfetto
from helpers.recorded import record_command
from helpers.traced import needs_library, run_command, run_plain, run_traced
from nvspan.cli import main

pytestmark = needs_library
PROGRAM = Path(__file__).parent / "programs" / "payload_schemas.cpp"

REDUCE = {"comm": 0xABCDEF0123456789, "bytes": 1 << 20, "op": "max"}
READ = {
    "AllReduce": REDUCE,
    "nested": {"name": "square", "corners": [{"x": 1, "y": 0.5}, {"x": -2, "y": 1.5}], "tags": 3},
    "dynamic": {"sizes": [1, -2, 300], "text": "hé", "value": 2.5},
    "union": {"which": 1, "number": {"f": 0.25}},
    "read": {"name": "read", "kind": "io", "step": 11},
    "in the child": REDUCE,
}
REFUSED = {
    "short": "size does not fit",
    "itself": "too deep",
    "endless": "too large",
    "unknown": "unknown schema",
}
NAMES = ["AllReduce", "nested", "dynamic", "union", "read", *REFUSED, "large", "in the child"]


def recorded(**options) -> nvspan.Recording:
    return record_command([str(build(PROGRAM))], **options).recording


def test_a_trace_shows_fields_and_refuses_what_does_not_fit():
    events = [e for e in run_command([str(build(PROGRAM))]).events if e["kind"] in ("mark", "push")]
    assert [event["message"] for event in events] == NAMES
    assert {e["message"]: e["payload_fields"] for e in events if "payload_fields" in e} == READ
    assert {e["message"]: e["payload_error"] for e in events if "payload_error" in e} == REFUSED
    (named,) = (event for event in events if event["message"] == "read")
    keys = ("message_type", "category", "category_name", "color")
    assert [named[key] for key in keys] == ["registered", 4, "io", 0xFF102030]
    (large,) = (event for event in events if event["message"] == "large")
    assert [piece["error"] for piece in large["payload_data"]] == ["too large"]


def test_a_trace_shows_samples_of_groups():
    events = run_command([str(build(PROGRAM))]).events
    samples = [event for event in events if event["kind"] == "counter_sample"]
    assert [(e["values"], e.get("payload_error")) for e in samples] == [
        ([{"used": 80, "load": 0.5}], None), ([], "size does not fit"),
    ]  # fmt: skip


def test_text_shows_fields():
    done = run_command([str(build(PROGRAM))], env={"NVSPAN_TRACE": "format=text"})
    shown = [line.split("payload=")[1] for line in done.stderr.splitlines() if "payload=" in line]
    assert shown == [
        "{comm=12379813738877118345, bytes=1048576, op=max}",
        "{name=square, corners=[{x=1, y=0.5}, {x=-2, y=1.5}], tags=3}",
        "{sizes=[1, -2, 300], text=hé, value=2.5}",
        "{which=1, number={f=0.25}}",
        "{name=read, kind=io, step=11}",
        "89674523 (4 bytes)", "8967452301efcdab (8 bytes)", "8967452301efcdab (8 bytes)",
        "8967452301efcdab (8 bytes)", "too large",
        "{comm=12379813738877118345, bytes=1048576, op=max}",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["full", "ring=1"])
def test_a_recording_has_the_same_fields(mode):
    recording = recorded(mode=mode)
    calls = [call for call in recording.calls() if call["kind"] in ("mark", "push")]
    assert sorted(call["message"] for call in calls) == sorted(NAMES)
    assert {c["message"]: c["payload_fields"] for c in calls if "payload_fields" in c} == READ
    marks = recording.marks
    names = marks.text("name")
    fields = {name: recording.payload_fields(row, "marks") for row, name in enumerate(names)}
    assert fields == {name: READ.get(name) for name in NAMES if name not in ("AllReduce", "read")}
    assert [recording.payload_fields(row) for row in range(2)] == [REDUCE, READ["read"]]
    with pytest.raises(IndexError):
        recording.payload_fields(2)
    with pytest.raises(KeyError):
        recording.payload_fields(0, "counters")


def test_columns_have_the_names_of_fields():
    recording = recorded()
    assert recording.ranges.names[-6:] == [
        "payload.comm", "payload.bytes", "payload.op", "payload.name", "payload.kind",
        "payload.step",
    ]  # fmt: skip
    rows = list(recording.ranges.rows())
    assert [row["name"] for row in rows] == ["AllReduce", "read"]
    assert [(row["payload.comm"], row["payload.op"], row["payload.step"]) for row in rows] == [
        (REDUCE["comm"], "max", None), (None, None, 11),
    ]  # fmt: skip
    marks = {row["name"]: row for row in recording.marks.rows()}
    assert marks["nested"]["payload.corners"] == '[{"x": 1, "y": 0.5}, {"x": -2, "y": 1.5}]'
    assert marks["union"]["payload.number.f"] == 0.25
    assert marks["in the child"]["payload.bytes"] == 1 << 20
    # What nobody can read is said, once for each table.
    assert [problem for problem in recording.problems if "schemas" in problem] == [
        "3 payloads of marks do not fit their schemas"
    ]


def test_payloads_that_are_too_large_are_losses():
    recording = recorded()
    losses = list(recording.losses.rows())
    assert [(row["count"], row["reason"]) for row in losses] == [(1, "payload not kept")]
    assert [(row["count"], row["reason"]) for row in recording.stats().losses] == [
        (1, "payload not kept")
    ]
    assert recording.stats().lost == 0


def test_counters_of_a_group_are_rows_with_field_and_unit():
    keys = ("name", "field", "unit", "kind", "value", "integer")
    assert [tuple(row[key] for key in keys) for row in recorded().counters.rows()] == [
        ("device", "used", "MiB", 0, 80.0, 80), ("device", "load", None, 1, 0.5, None),
    ]  # fmt: skip


STEPS = """
import MODULE as nvtx
import numpy as np
dtype = np.dtype([("step", "i8"), ("loss", "f8"), ("tag", "S2")])
domain = nvtx.get_domain("train")
for i in range(6):
    row = np.zeros((), dtype)
    row["step"], row["loss"], row["tag"] = i % 2, i / 4, b"ab"[i % 2: i % 2 + 1]
    domain.push_range(message="step", payload=row)
    domain.pop_range()
    domain.mark(message="shape", payload=[i, 128])
power = domain.get_counter("power", [("watt", "f4"), ("limit", "i4")])
power.sample((250.5, 300))
"""


@pytest.mark.parametrize("module", ["nvspan", "nvtx"])
def test_payloads_of_numpy(module):
    pytest.importorskip("numpy")
    source = STEPS.replace("MODULE", module)
    events = run_traced(source).events
    fields = [e["payload_fields"] for e in events if e["kind"] == "push"]
    assert fields[:2] == [
        {"step": 0, "loss": 0.0, "tag": "6100"}, {"step": 1, "loss": 0.25, "tag": "6200"},
    ]  # fmt: skip
    shapes = [e["payload_fields"] for e in events if e["kind"] == "mark"]
    assert shapes == [{"size": 2, "data": [i, 128]} for i in range(6)]
    (sample,) = (e["values"] for e in events if e["kind"] == "counter_sample")
    assert sample == [{"watt": 250.5, "limit": 300}]


PAYLOADS = """
import collections, dataclasses, enum, nvspan
class Phase(enum.Enum): WARM = 1
@dataclasses.dataclass
class Batch: rows: int; name: str
Shape = collections.namedtuple("Shape", "h w")
domain = nvspan.get_domain("d")
for payload in ({"step": 3, "ok": True, "inner": {"a": 1.5, "b": (1, 2)}, "raw": b"xy"},
                Batch(8, "first"), Shape(2, 3), "text", b"by", [1.5, 2], ((1, 2), (3, 4)),
                ["a", "bc"], range(3)):
    domain.mark(message="m", payload=payload)
"""


def test_payloads_of_python():
    found = [e["payload_fields"] for e in run_traced(PAYLOADS).events if e["kind"] == "mark"]
    assert found == [
        {"step": 3, "ok": 1, "inner.a": 1.5, "inner.b": [1, 2], "raw": "7879"},
        {"rows": 8, "name": "first"}, {"h": 2, "w": 3}, {"value": "text"}, {"value": "6279"},
        {"size": 2, "data": [1.5, 2.0]}, {"size": 4, "data": [1, 2, 3, 4]},
        {"size": 2, "data": ["a", "bc"]}, {"size": 3, "data": [0, 1, 2]},
    ]  # fmt: skip


BATCH = """
import nvspan, numpy as np
from nvspan import EntryKind, PayloadEntryType, numpy_dtype
domain = nvspan.get_domain("batch")
row = np.dtype([
    ("begin", numpy_dtype("i8", entry_kind=EntryKind.RANGE_BEGIN)),
    ("end", numpy_dtype("i8", entry_kind=EntryKind.RANGE_END)),
    ("name", numpy_dtype("u8", entry_kind=EntryKind.MESSAGE,
                         entry_type=PayloadEntryType.REGISTERED_STRING)),
    ("loss", "f4"), ("shape", "i4", (2,)),
])
rows = np.zeros(3, row)
rows["name"] = domain.get_registered_string("kernel").handle
rows["begin"] = domain.get_timestamp()
rows["end"] = rows["begin"] + 1000
rows["loss"] = [0.5, 1.5, 2.5]
rows["shape"] = [8, 128]
domain.event_batch(rows)
"""


def test_rows_of_batches_have_fields():
    pytest.importorskip("numpy")
    (batch,) = (e for e in run_traced(BATCH).events if e["kind"] == "event_batch")
    assert [(row["name"], row["loss"], row["shape"]) for row in batch["events"]] == [
        ("kernel", 0.5, [8, 128]), ("kernel", 1.5, [8, 128]), ("kernel", 2.5, [8, 128]),
    ]  # fmt: skip
