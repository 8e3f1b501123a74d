# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads with fields in reports of Nsight Systems are those that the programs sent."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

import nvspan
from helpers.compile import build
from helpers.nsys import DATA, edited, unpacked
from helpers.recorded import record_command
from helpers.traced import needs_library

PROGRAM = DATA.parents[1] / "programs" / "payload_forms.cpp"


def events(recording: nvspan.Recording) -> list[tuple[Any, ...]]:
    """What every range and mark is called and carries, in the order of their times."""
    found = []
    for table, time in ((recording.ranges, "start"), (recording.marks, "time")):
        for row in table.rows():
            fields = {name: row[name] for name in row if name.startswith("payload.")}
            found.append((
                row[time], row["domain"], row["name"], row["category_name"], row["color"],
                row["payload_type"],
                bits(row),
                {name: value for name, value in fields.items() if value is not None},
            ))  # fmt: skip
    return [event[1:] for event in sorted(found, key=lambda event: event[0])]


def bits(row: dict[str, Any]) -> int | None:
    """Of a number, as wide as it is."""
    if row["payload_type"] in (0, 7):
        return None
    return row["payload"] & (0xFFFFFFFF if row["payload_type"] > 3 else 0xFFFFFFFFFFFFFFFF)


@needs_library
def test_a_python_program(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    recorded = record_command([sys.executable, str(DATA / "fields.py")]).recording
    of_report = nvspan.read(unpacked("2025.3.1-fields", tmp_path))
    assert of_report.problems == []
    assert events(of_report) == events(recorded)
    first = events(of_report)[0]
    assert first[1] == "fields"
    assert first[-1] == {
        "payload.step": 0, "payload.loss": 0.0, "payload.ok": 0, "payload.name": "größe 0",
        "payload.sizes": "[1, 2, 0]",
    }  # fmt: skip


@needs_library
def test_a_program_with_schemas_of_every_form(tmp_path: Path) -> None:
    # nsys leaves out what 5 sends: ranges that are payloads and nothing else.
    recorded = record_command([str(build(PROGRAM)), *"123467"]).recording
    of_report = nvspan.read(unpacked("2025.3.1-forms", tmp_path))
    assert of_report.problems == []
    assert events(of_report) == events(recorded)
    fields = {event[1]: event[-1] for event in events(of_report) if event[-1]}
    assert fields == {
        "AllReduce": {"payload.comm": 0x1BCDEF0123456789, "payload.bytes": 1 << 20,
                      "payload.op": "max"},
        "nested": {"payload.name": "square", "payload.tags": 3,
                   "payload.corners": '[{"x": 1, "y": 0.5}, {"x": -2, "y": 1.5}]'},
        "dynamic": {"payload.count": 3, "payload.sizes": "[1, -2, 300]", "payload.text": "hé",
                    "payload.value": 2.5},
        "union": {"payload.which": 1, "payload.number.f": 0.25},
        "registered": {"payload.text": "cited text", "payload.n": 7},
    }  # fmt: skip


def test_device_ranges_have_device_and_stream(tmp_path: Path) -> None:
    recording = nvspan.read(unpacked("2025.3.1-device", tmp_path))
    assert recording.problems == []
    found = [
        (row["domain"], row["name"], row["device"], row["stream"], row["payload_type"],
         row["payload"])
        for row in recording.ranges.rows()
        if row["kind"] == 2 and row["domain"] != "CUDA"
    ]  # fmt: skip
    assert found == [("train", "device range", 0, 7, 2, 7), (None, "both", 0, 7, 0, 0)]
    lanes = {row.lane for row in recording.stats(by="stream").rows if row.name == "both"}
    assert lanes == {"GPU 0 (NVIDIA H200) · stream 7"}


def test_what_is_no_payload_is_bytes(tmp_path: Path) -> None:
    path = unpacked("2025.3.1-forms", tmp_path)
    broken = {
        "nested": b"\0", "dynamic": b"\1\2\3", "union": b"\xff" * 40,
        "registered": (9).to_bytes(8, "little") + bytes(24),
    }  # fmt: skip
    with edited(path) as connection:
        for name, blob in broken.items():
            connection.execute("update NVTX_EVENTS set binaryData = ? where text = ?", (blob, name))
        connection.execute("delete from NVTX_PAYLOAD_SCHEMAS where name = 'collective'")
    recording = nvspan.read(path)
    shown = {event[1]: event[-1].get("payload.value") for event in events(recording)}
    assert {name: shown[name] for name in broken} == {
        name: blob.hex() for name, blob in broken.items()
    }
    assert "AllReduce" in shown


def test_bytes_of_schemas_that_are_damaged_are_refused_or_read(tmp_path: Path) -> None:
    path = unpacked("2025.3.1-forms", tmp_path)
    changes = [
        "update NVTX_PAYLOAD_SCHEMAS set payloadSize = 1 << 40",
        "update NVTX_PAYLOAD_SCHEMA_ENTRIES set type = schemaId",
        "update NVTX_PAYLOAD_SCHEMA_ENTRIES set offset = -1, arrayOrUnionDetail = 1 << 50",
        "update NVTX_PAYLOAD_SCHEMA_ENTRIES set idx = null, name = null",
        "update NVTX_PAYLOAD_ENUM_ENTRIES set value = null, name = null",
        "update NVTX_PAYLOAD_SCHEMAS set type = 99, schemaId = null",
    ]
    for change in changes:
        with edited(path) as connection:
            try:
                connection.execute(change)
            except sqlite3.IntegrityError:
                continue
        assert len(events(nvspan.read(path))) == 11
