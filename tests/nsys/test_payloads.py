# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads and counters in a report of Nsight Systems: their fields and samples where the version
implements them, and the ranges without them where it does not."""

from __future__ import annotations

import contextlib
import sqlite3
import struct
from pathlib import Path

import pytest

from helpers.nsys import profile

pytestmark = pytest.mark.nsys

PROGRAM = """
import dataclasses, nvspan, numpy
@dataclasses.dataclass
class Shape:
    rows: int
    scale: float
with nvspan.annotate("dict", payload={"step": 3, "loss": 0.25}):
    nvspan.mark("dataclass", payload=Shape(4, 0.5))
with nvspan.annotate("list", payload=[1, 2, 3]): pass
with nvspan.annotate("text", payload="hello"): pass
with nvspan.annotate("array", payload=numpy.arange(3, dtype="f4")): pass
with nvspan.annotate("number", payload=7): pass
domain = nvspan.get_domain("train")
tokens, loss = domain.get_counter("tokens", int), domain.get_counter("loss", float)
for i in range(3):
    tokens.sample(i * 7)
    loss.sample(i * 0.5)
with nvspan.annotate("in domain", domain="train", payload={"a": 1}): pass
"""
RANGES = ["dict", "dataclass", "list", "text", "array", "number", "in domain"]
STRING = 76


def payloads(connection: sqlite3.Connection) -> dict[str, tuple[int, bytes]]:
    """The schema and the bytes of each event's one payload, by the event's message: nsys keeps
    them as a count, then (schema, size, offset) of each, then the bytes."""
    found = {}
    query = (
        "select coalesce(text, value), binaryData from NVTX_EVENTS"
        " left join StringIds on textId = StringIds.id where binaryData is not null"
    )
    for name, blob in connection.execute(query):
        count, schema, size, offset = struct.unpack_from("<QQQQ", blob)
        assert count == 1
        found[name] = (schema, blob[offset : offset + size])
    return found


def fields(connection: sqlite3.Connection, domain: int) -> dict[int, list[tuple[str, int]]]:
    found: dict[int, list[tuple[str, int]]] = {}
    query = (
        "select schemaId, name, type from NVTX_PAYLOAD_SCHEMA_ENTRIES where domainId = ?"
        " order by schemaId, idx"
    )
    for schema, name, kind in connection.execute(query, (domain,)):
        found.setdefault(schema, []).append((name, kind))
    return found


def samples(connection: sqlite3.Connection) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    query = (
        "select value, coalesce(intVal, uintVal, floatVal, doubleVal) from GENERIC_EVENTS"
        " join GENERIC_EVENT_DATA using (genericEventId)"
        " join GENERIC_EVENT_TYPES using (typeId) join StringIds on nameId = StringIds.id"
        " order by timestamp, genericEventId"
    )
    for name, value in connection.execute(query):
        found.setdefault(name, []).append(value)
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return profile(PROGRAM, tmp_path_factory.mktemp("nsys"))


def tables(database: Path) -> set[str]:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return {name for (name,) in connection.execute("select name from sqlite_master")}


def test_every_range_is_there_with_or_without_its_payload(report):
    shown = [line for line in report.lines if line.split()[0] in ("range", "mark")]
    assert [line.split("'")[1] for line in shown] == RANGES
    assert [line for line in shown if "payload=" in line] == [
        "range [] 'number' color=000000FF payload=int64:7 depth=0 t0"
    ]


def test_fields_and_bytes_of_payloads(report):
    if "NVTX_PAYLOAD_SCHEMAS" not in tables(report.database):
        pytest.skip("this nsys does not implement NVTX's payload extension")
    with contextlib.closing(sqlite3.connect(report.database)) as connection:
        found = payloads(connection)
        schemas, in_domain = fields(connection, 0), fields(connection, 1)
    assert sorted(found) == sorted(name for name in RANGES if name != "number")
    assert found["text"] == (STRING, b"hello")
    assert {name: data for name, (schema, data) in found.items()} == {
        "dict": struct.pack("<qd", 3, 0.25),
        "dataclass": struct.pack("<qd", 4, 0.5),
        "list": struct.pack("<qqqq", 3, 1, 2, 3),
        "text": b"hello",
        "array": struct.pack("<qfff", 3, 0, 1, 2),
        "in domain": struct.pack("<q", 1),
    }
    named = {name: [field for field, _ in schemas.get(schema, [])]
             for name, (schema, _) in found.items()}  # fmt: skip
    assert named["dict"] == ["step", "loss"]
    assert named["dataclass"] == ["rows", "scale"]
    assert named["list"] == named["array"] == ["size", "data"]
    elements = [schemas[found[name][0]][1][1] for name in ("list", "array")]
    assert [schemas[element] for element in elements] == [[("int64", 17)], [("float32", 43)]]
    assert [field for field, _ in in_domain[found["in domain"][0]]] == ["a"]


def test_samples_of_counters(report):
    if "GENERIC_EVENT_DATA" not in tables(report.database):
        pytest.skip("this nsys does not implement NVTX's counters")
    with contextlib.closing(sqlite3.connect(report.database)) as connection:
        assert samples(connection) == {"tokens": [0, 7, 14], "loss": [0.0, 0.5, 1.0]}
