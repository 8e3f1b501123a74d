# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording as the SQLite database that ``nsys export`` writes, so that its scripts work.

Times are ns since the recording began, as there. What nsys has no place for stands in tables of our
own: NVSPAN_LOSSES, NVSPAN_COUNTERS. The end of a range that did not end is NULL.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from operator import not_

from nvspan import _core
from nvspan.recording import Recording
from nvspan.recording.clock import zero
from nvspan.recording.time_text import moment

CATEGORY, MARK, THREAD, PUSH_POP, START_END, DOMAIN = 33, 34, 39, 59, 60, 75
_SCHEMA = """
PRAGMA journal_mode=OFF;
PRAGMA synchronous=OFF;
PRAGMA locking_mode=EXCLUSIVE;
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER NOT NULL, duration INTEGER NOT NULL,
  startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
  rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,
  endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER,
  doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER,
  jsonText TEXT);
CREATE TABLE NVSPAN_LOSSES (start INTEGER, end INTEGER, globalTid INTEGER, count INTEGER,
  reason TEXT);
CREATE TABLE NVSPAN_COUNTERS (time INTEGER NOT NULL, globalTid INTEGER, domainId INTEGER,
  name TEXT, counterId INTEGER, value REAL, integerValue INTEGER, field TEXT, unit TEXT);
INSERT INTO ENUM_NSYS_EVENT_TYPE (id, name) VALUES (33, 'NvtxCategory'), (34, 'NvtxMark'),
  (39, 'NvtxThread'), (59, 'NvtxPushPopRange'), (60, 'NvtxStartEndRange'), (75, 'NvtxDomainCreate');
UPDATE ENUM_NSYS_EVENT_TYPE SET label = name;
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'nvspan'),
  ('EXPORT_PRODUCT_VERSION', '%s'), ('EXPORT_SCHEMA_VERSION', '3.7.2'),
  ('EXPORT_SCHEMA_VERSION_MAJOR', '3'), ('EXPORT_SCHEMA_VERSION_MINOR', '7'),
  ('EXPORT_SCHEMA_VERSION_MICRO', '2');
"""
_KINDS = (PUSH_POP, START_END, START_END)
_REGISTERED, _EXTENDED = 3, 7
# The column of each type of payload, its format as a memoryview has it, and its step.
_NUMBERS = {
    1: ("uint64Value", "q", 1),
    2: ("int64Value", "q", 1),
    3: ("doubleValue", "d", 1),
    4: ("uint32Value", "I", 2),
    5: ("int32Value", "i", 2),
    6: ("floatValue", "f", 2),
}
_BATCH = 1 << 16  # rows

Columns = dict[str, Sequence[object]]


def write(
    recording: Recording,
    path: str | os.PathLike[str],
    progress: Callable[[float], object] | None = None,
) -> None:
    """Writes the database; an existing file is replaced when it is whole.

    Raises:
        OSError: it cannot be written.
    """
    part = f"{os.fspath(path)}.part"
    try:
        with open(part, "wb"):
            pass
        with closing(sqlite3.connect(part)) as connection:
            connection.executescript(_SCHEMA % _core.__version__)
            _Writer(recording, connection, progress or (lambda part: None)).write()
            connection.commit()
        os.replace(part, path)
    except sqlite3.Error as error:
        raise OSError(f"cannot write {os.fspath(path)!r}: {error}") from None
    finally:
        if os.path.exists(part):
            os.unlink(part)


def signed(value: int) -> int:
    """The lowest 64 bits of a number as SQLite has them: its integers have a sign."""
    bits = value & (1 << 64) - 1
    return bits - (1 << 64) if bits >> 63 else bits


def _count(value: int | None) -> int | None:
    """A number of events: what is past SQLite's largest integer, and so damaged, is that."""
    return None if value is None else min(value, (1 << 63) - 1)


def _clean(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class _Writer:
    def __init__(
        self,
        recording: Recording,
        connection: sqlite3.Connection,
        progress: Callable[[float], object],
    ) -> None:
        self.recording = recording
        self.reader = recording._reader
        self.connection = connection
        self.progress = progress
        self.origin = zero(recording)
        # Processes of one number, of two machines or containers, are those of two machines.
        machines: dict[int, int] = {}
        self.pids = []
        for process in recording.processes:
            pid = process.pid
            machines[pid] = machines.get(pid, 0) + 1
            self.pids.append(machines[pid] << 48 | pid << 24)
        threads = recording.threads
        self.tids = [
            self.pids[process] | tid & 0xFFFFFF
            for process, tid in zip(threads["process"], threads["tid"], strict=True)
        ]
        # The default domain is 0; one name has one number, in all processes.
        self.domains = {-1: 0}
        for domain in recording.domains["domain"]:
            self.domains.setdefault(domain, len(self.domains))
        recording.losses["reason"]  # adds texts to `strings`
        self.strings = [_clean(text) for text in recording.strings]

    def write(self) -> None:
        self.insert("StringIds (id, value)", enumerate(self.strings))
        self.information()
        self.names()
        rows = max(self.reader.rows("ranges") + self.reader.rows("marks"), 1)
        done = 0
        for table in ("ranges", "marks"):
            for begin in range(0, self.reader.rows(table), _BATCH):
                columns = _Batch(self, table, begin).columns()
                values = zip(*columns.values(), strict=True)
                self.insert(f"NVTX_EVENTS ({', '.join(columns)})", values)
                done += len(columns["start"])
                self.progress(min(done / rows, 1))
        self.insert("NVSPAN_LOSSES (start, end, globalTid, count, reason)", self.losses())
        self.insert(
            "NVSPAN_COUNTERS (time, globalTid, domainId, name, counterId, value, integerValue, "
            "field, unit)",
            self.counters(),
        )

    def insert(self, into: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Writes rows into a table, which is followed by its columns."""
        places = ",".join("?" * (into.count(",") + 1))
        self.connection.executemany(f"INSERT INTO {into} VALUES ({places})", rows)

    def information(self) -> None:
        processes = self.recording.processes
        begin = self.origin + self.recording.unix_offset
        form = "%Y-%m-%dT%H:%M:%S"
        self.insert(
            "TARGET_INFO_SESSION_START_TIME (utcEpochNs, utcTime, localTime)",
            [(signed(begin), moment(begin, form), moment(begin, form, local=True))],
        )
        duration = signed(max(process.end for process in processes) - self.origin)
        self.insert(
            "ANALYSIS_DETAILS (globalVid, duration, startTime, stopTime)",
            [(1 << 48, duration, 0, duration)],
        )
        commands = (
            (number, process.pid, _clean(" ".join(process.command)))
            for number, process in zip(self.pids, processes, strict=True)
        )
        self.insert("PROCESSES (globalPid, pid, name)", commands)

    def names(self) -> None:
        """What names the threads, domains and categories of each process."""
        recording, strings = self.recording, self.strings
        threads = recording.threads
        named = [
            (name, start - self.origin, tid)
            for name, start, tid in zip(threads["name"], threads["start"], self.tids, strict=True)
            if name >= 0
        ]
        self.insert(
            "ThreadNames (nameId, priority, globalTid)", ((name, 0, tid) for name, _, tid in named)
        )
        main: dict[int, int] = {}
        for process, tid in zip(threads["process"], self.tids, strict=True):
            main.setdefault(process, tid)
        starts = [signed(process.start - self.origin) for process in recording.processes]
        categories: set[tuple[int, int, int, int]] = set()
        for table in (recording.ranges, recording.marks):
            of = [table[name] for name in ("process", "domain", "category", "category_name")]
            categories.update(zip(*of, strict=True))
        rows: list[tuple[object, ...]] = [
            (starts[process], DOMAIN, None, strings[domain], main[process], self.domains[domain])
            for process, domain in sorted({found[:2] for found in categories})
            if domain >= 0
        ]
        rows += [
            (starts[process], CATEGORY, number, strings[name], main[process], self.domains[domain])
            for process, domain, number, name in sorted(categories)
            if name >= 0
        ]
        rows += [
            (signed(start), THREAD, None, strings[name], tid, None) for name, start, tid in named
        ]
        self.insert("NVTX_EVENTS (start, eventType, category, text, globalTid, domainId)", rows)

    def losses(self) -> Iterator[tuple[object, ...]]:
        for row in self.recording.losses.rows():
            tid = None if row["thread"] is None else self.tids[row["thread"]]
            times = (signed(row[key] - self.origin) for key in ("from", "to"))
            yield (*times, tid, _count(row["count"]), row["reason"])

    def counters(self) -> Iterator[tuple[object, ...]]:
        numbers = {None if k < 0 else self.recording.strings[k]: v for k, v in self.domains.items()}
        for row in self.recording.counters.rows():
            name, field, unit = (
                None if row[key] is None else _clean(row[key]) for key in ("name", "field", "unit")
            )
            place = (self.tids[row["thread"]], numbers[row["domain"]])
            value = (signed(row["counter"]), row["value"], row["integer"])
            yield (signed(row["time"] - self.origin), *place, name, *value, field, unit)


def _where(values: Iterable[object], given: Iterable[object]) -> list[object]:
    """The values of the rows that are `given` one, None for the others."""
    return [value if has else None for value, has in zip(values, given, strict=True)]


class _Batch:
    """Ranges or marks as columns of NVTX_EVENTS: no Python runs for a row."""

    def __init__(self, writer: _Writer, table: str, begin: int) -> None:
        self.writer, self.table, self.begin = writer, table, begin

    def memory(self, name: str) -> memoryview:
        column = self.writer.reader.column(self.table, name)
        return memoryview(column)[self.begin : self.begin + _BATCH]

    def column(self, name: str) -> list[int]:
        return list(self.memory(name))

    def times(self, name: str) -> list[int]:
        """Since the recording began. Those of a damaged file may be 64 bits and more from it."""
        shifted = [time - self.writer.origin for time in self.memory(name)]
        if shifted and (min(shifted) < -(1 << 63) or max(shifted) >= 1 << 63):
            shifted = list(map(signed, shifted))
        return shifted

    def columns(self) -> Columns:
        """The columns that have a value in any row."""
        writer = self.writer
        names, types = self.column("name"), self.column("message_type")
        columns: Columns = {
            "globalTid": list(map(writer.tids.__getitem__, self.memory("thread"))),
            "domainId": list(map(writer.domains.__getitem__, self.memory("domain"))),
        }
        if self.table == "ranges":
            columns["start"] = self.times("start")
            columns.update(self.ends())
        else:
            columns["start"] = self.times("time")
            columns["eventType"] = [MARK] * len(names)
        if _REGISTERED in types:
            columns["textId"] = [
                name if type == _REGISTERED and name >= 0 else None
                for name, type in zip(names, types, strict=True)
            ]
        if set(types) != {_REGISTERED}:
            columns["text"] = [
                None if type == _REGISTERED or name < 0 else writer.strings[name]
                for name, type in zip(names, types, strict=True)
            ]
        categories = self.column("category")
        if any(categories):
            columns["category"] = _where(categories, categories)
        given = writer.reader.column(self.table, "color").valid(self.begin, self.begin + _BATCH)
        if any(given):
            columns["color"] = _where(self.memory("color").cast("B").cast("i"), given)
        columns.update(self.payloads())
        return columns

    def ends(self) -> Columns:
        reasons, kinds = self.memory("end_reason"), self.column("kind")
        columns: Columns = {
            "end": _where(self.times("end"), map(not_, reasons)),
            "eventType": list(map(_KINDS.__getitem__, kinds)),
        }
        if any(kinds):
            # SQLite's integers have a sign.
            columns["rangeId"] = _where(self.memory("range_id").cast("B").cast("q"), kinds)
            threads = zip(self.memory("end_thread"), self.memory("thread"), kinds, strict=True)
            columns["endGlobalTid"] = [
                self.writer.tids[ender] if kind and ender != thread else None
                for ender, thread, kind in threads
            ]
        return columns

    def payloads(self) -> Columns:
        types = self.column("payload_type")
        words = self.memory("payload").cast("B")
        columns: Columns = {}
        for type, (column, form, step) in _NUMBERS.items():
            if type in types:
                values = words.cast(form)[::step]  # type: ignore[call-overload]
                columns[column] = _where(values, map(type.__eq__, types))
        if _EXTENDED in types:
            columns["jsonText"] = [
                self.json(self.begin + at) if of == _EXTENDED else None
                for at, of in enumerate(types)
            ]
        return columns

    def json(self, row: int) -> str:
        fields = self.writer.reader.row_json(self.table, row)
        if fields is not None:
            return str(fields)
        pieces = self.writer.recording.payload(row, self.table)
        return json.dumps([{"schema": schema, "hex": data.hex()} for schema, _, data in pieces])
