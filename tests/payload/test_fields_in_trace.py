# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads and counters of any emitter are read by the names of their fields."""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

import nvspan
from helpers.compile import build
from helpers.packages import needs
from helpers.perfetto_trace import read as read_perfetto
from helpers.recorded import record_command
from helpers.reported import run_nvspan
from helpers.traced import needs_library, run_command, run_traced

pytestmark = needs_library
PROGRAM = Path(__file__).parents[1] / "programs" / "payload_schemas.cpp"

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
    "endless": "size does not fit",
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


def test_fields_beyond_the_last_column_are_counted(tmp_path):
    code = """
import nvspan
for i in range(4):
    nvspan.mark("many", payload={f"field {i * 100 + n}": n for n in range(100)})
"""
    program = tmp_path / "many.py"
    program.write_text(code)
    recording = record_command([sys.executable, str(program)]).recording
    names = [n for n in recording.marks.names if n.startswith("payload.")]
    assert names == [f"payload.field {n}" for n in range(256)]
    assert recording.problems == [
        "144 values in payloads of marks have no column: there are more than 256 fields"
    ]
    assert len(recording.payload_fields(3, "marks")) == 100


def test_payloads_that_are_too_large_are_losses():
    recording = recorded()
    losses = list(recording.losses.rows())
    assert [(row["count"], row["reason"]) for row in losses] == [(1, "payload not kept")]
    assert [(row.count, row.reason) for row in recording.stats().losses] == [
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


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[str]:
    return record_command([str(build(PROGRAM))], folder=tmp_path_factory.mktemp("runs")).files


def exported(files, tmp_path, form) -> Path:
    output = tmp_path / f"out.{form}"
    run_nvspan("export", *files, "--format", form, "-o", output)
    return output


@needs("perfetto")
def test_perfetto_shows_fields_and_units(files, tmp_path):
    trace = read_perfetto(exported(files, tmp_path, "perfetto"))
    shown = {name: arguments.get("payload") for _, name, _, arguments in trace.instants}
    shown.update((each.name, each.arguments["payload"]) for each in trace.slices
                 if each.name in READ)  # fmt: skip
    assert {name: shown[name] for name in READ} == READ
    assert shown["short"].startswith("32 bytes: ")  # as it came, with its schema
    counters = {path[-1]: value for path, _, value in trace.counters}
    assert counters == {"lib:device.used": 80, "lib:device.load": 0.5}
    assert {path[-1]: unit for path, unit in trace.units.items()} == {"lib:device.used": "MiB"}


def test_sqlite_has_fields_as_json(files, tmp_path):
    with closing(sqlite3.connect(exported(files, tmp_path, "sqlite"))) as database:
        found = dict(database.execute(
            "SELECT coalesce(text, value), jsonText FROM NVTX_EVENTS LEFT JOIN StringIds "
            "ON textId = id WHERE jsonText IS NOT NULL"
        ))  # fmt: skip
        assert {name: json.loads(found[name]) for name in READ} == READ
        assert json.loads(found["short"]) == [{"schema": (1 << 24) + 8, "hex": "89674523"}]
        counters = list(database.execute("SELECT name, field, unit, value FROM NVSPAN_COUNTERS"))
        assert counters == [("device", "used", "MiB", 80.0), ("device", "load", None, 0.5)]


@needs("pyarrow")
def test_parquet_has_a_column_for_each_field(files, tmp_path):
    from pyarrow import parquet

    output = exported(files, tmp_path, "parquet")
    names = ["name", "payload.comm", "payload.op", "payload.step"]
    assert parquet.read_table(output, columns=names).to_pylist() == [
        {"name": "AllReduce", "payload.comm": REDUCE["comm"], "payload.op": "max",
         "payload.step": None},
        {"name": "read", "payload.comm": None, "payload.op": None, "payload.step": 11},
    ]  # fmt: skip
    counters = parquet.read_table(output.with_suffix(".counters.parquet"))
    assert counters.select(["name", "field", "unit", "value"]).to_pylist() == [
        {"name": "device", "field": "used", "unit": "MiB", "value": 80.0},
        {"name": "device", "field": "load", "unit": None, "value": 0.5},
    ]


def test_csv_has_a_column_for_each_field(files, tmp_path):
    output = exported(files, tmp_path, "csv")
    with open(output.with_suffix(".marks.csv"), newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert rows["dynamic"]["payload.sizes"] == "[1, -2, 300]"
    assert rows["union"]["payload.number.f"] == "0.25"
    assert rows["short"]["payload.number.f"] == ""


STEP = """
import nvspan
for i in range(6):
    payload = {"step": i % 2, "loss": i / 2, "tag": "ab"[i % 2], "in": (i,)}
    with nvspan.annotate("step", payload=payload):
        nvspan.mark("note", payload=payload)
    nvspan.end_range(nvspan.start_range("async", payload={"step": -i}))
with nvspan.annotate("step"):
    pass
"""


def test_statistics_are_grouped_by_a_field(tmp_path):
    import sys

    done = record_command([sys.executable, "-c", STEP], folder=tmp_path)
    stats = done.recording.stats

    def groups(by, name="step"):
        rows = [row for row in stats(by).rows if row.name == name]
        return sorted(((row.field, row.calls) for row in rows), key=str)

    assert groups("payload.step") == [(0, 3), (1, 3), (None, 1)]
    assert groups("payload.tag") == [("a", 3), ("b", 3), (None, 1)]
    assert groups("payload.loss")[:2] == [(0.0, 1), (0.5, 1)]
    assert groups("payload.in")[:2] == [("[0]", 1), ("[1]", 1)]
    assert groups("payload.nothing") == [(None, 7)]
    assert groups("payload.step", "async") == [(-1, 1), (-2, 1), (-3, 1), (-4, 1), (-5, 1), (0, 1)]
    with pytest.raises(ValueError, match=r"payload\.FIELD"):
        stats("payload.")
    shown = run_nvspan("stats", *done.files, "--by", "payload.tag", "--format", "json")
    rows = json.loads(shown.stdout)["rows"]
    assert sorted((row["payload.tag"], row["calls"]) for row in rows if row["name"] == "step") == [
        ("-", 1), ("a", 3), ("b", 3),
    ]  # fmt: skip
    refused = run_nvspan("stats", *done.files, "--by", "tag", check=2)
    assert "payload.FIELD" in refused.stderr


def test_fields_of_a_part_are_those_of_its_rows(files):
    recording = nvspan.read(*files)
    part = recording.filter(names=["read"])
    assert [name for name in part.ranges.names if name.startswith("payload.")] == [
        "payload.name", "payload.kind", "payload.step",
    ]  # fmt: skip
    assert part.payload_fields(0) == READ["read"]
    assert len(part.marks) == 0


def test_deferred_events_of_a_length_of_their_own():
    recording = record_command([str(build(PROGRAM)), "deferred"]).recording
    keys = ("name", "kind", "payload.n")
    rows = list(recording.ranges.rows())
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("first", 1, 5), ("a longer one", 1, 12),
    ]  # fmt: skip
    assert all(0 < row["duration"] < 50_000 for row in rows)  # clocks are read one after another
    (batch,) = (
        event for event in run_command([str(build(PROGRAM)), "deferred"]).events
        if event["kind"] == "event_batch"
    )  # fmt: skip
    assert [(row["name"], row["n"]) for row in batch["events"]] == [
        ("first", 5), ("a longer one", 12),
    ]  # fmt: skip


LARGE = """
import nvspan, numpy as np
from nvspan import EntryKind, numpy_dtype
domain = nvspan.get_domain("large")
row = np.dtype([("at", numpy_dtype("i8", entry_kind=EntryKind.MARK)), ("n", "i8")])
rows = np.zeros(100_000, row)
rows["at"] = domain.get_timestamp()
rows["n"] = range(len(rows))
domain.event_batch(rows)
counter = domain.get_counter("queue", int)
counter.batch_submit(np.arange(50_000), np.full(50_000, domain.get_timestamp()))
"""


def test_a_recording_has_batches_that_are_too_large_for_a_trace():
    np = pytest.importorskip("numpy")
    import sys

    recording = record_command([sys.executable, "-c", LARGE]).recording
    assert np.array_equal(recording.marks["payload.n"], np.arange(100_000))
    assert np.array_equal(recording.counters["integer"], np.arange(50_000))
    assert [event.get("error") for event in recording.events if "batch" in event["kind"]] == [
        None, None,
    ]  # fmt: skip
    batch, samples = (e for e in run_traced(LARGE).events if "batch" in e["kind"])
    assert batch["error"] == "too large"
    assert samples["entries_error"] == "too many"
