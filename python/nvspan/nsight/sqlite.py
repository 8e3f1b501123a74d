# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording as the SQLite database that ``nsys export`` writes, so that its scripts work.

Times are ns since the recording began, as there. What nsys has no place for stands in tables of our
own: NVSPAN_LOSSES, NVSPAN_COUNTERS. The end of a range that did not end is NULL.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain, islice
from typing import Any

from nvspan import _core
from nvspan.nsight.sqlite_events import MARK, PUSH_POP, START_END, Events, signed
from nvspan.recording import Recording
from nvspan.recording.clock import zero
from nvspan.recording.time_text import moment

CATEGORY, THREAD, DOMAIN = 33, 39, 75
_EVENT_TYPES = {
    CATEGORY: "NvtxCategory", MARK: "NvtxMark", THREAD: "NvtxThread",
    PUSH_POP: "NvtxPushPopRange", START_END: "NvtxStartEndRange", DOMAIN: "NvtxDomainCreate",
}  # fmt: skip
_SCHEMA = """
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
"""
_COLUMNS = 19
_PARAMETERS = 400  # of a statement; an old SQLite takes 999


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
            connection.executescript(
                "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
            )
            connection.executescript(_SCHEMA)
            _Writer(recording, connection, progress or (lambda part: None)).write()
            connection.commit()
        os.replace(part, path)
    except sqlite3.Error as error:
        raise OSError(f"cannot write {os.fspath(path)!r}: {error}") from None
    finally:
        if os.path.exists(part):
            os.unlink(part)


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
        self.connection = connection
        self.progress = progress
        self.origin = zero(recording)
        # Processes of one number, of two machines or containers, are those of two machines.
        machines: dict[int, int] = {}
        self.pids = []
        for process in recording.processes:
            pid = process["pid"]
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
        self.done = 0
        self.rows = max(len(recording.ranges) + len(recording.marks), 1)

    def write(self) -> None:
        self.insert("StringIds", 2, enumerate(self.strings))
        self.insert("ENUM_NSYS_EVENT_TYPE", 3, ((k, v, v) for k, v in _EVENT_TYPES.items()))
        self.information()
        self.insert("NVTX_EVENTS", _COLUMNS, self.domain_rows())
        self.events("ranges")
        self.events("marks")
        self.insert("NVSPAN_LOSSES", 5, self.losses())
        self.insert("NVSPAN_COUNTERS", 9, self.counters())

    def insert(self, table: str, columns: int, rows: Any) -> None:
        places = ",".join("?" * columns)
        self.connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)

    def information(self) -> None:
        processes = self.recording.processes
        begin = self.origin + self.recording.unix_offset
        form = "%Y-%m-%dT%H:%M:%S"
        stamp = (signed(begin), moment(begin, form), moment(begin, form, local=True))
        self.insert("TARGET_INFO_SESSION_START_TIME", 3, [stamp])
        last = max(process["end"] for process in processes)
        duration = signed(last - self.origin)
        self.insert("ANALYSIS_DETAILS", 4, [(1 << 48, duration, 0, duration)])
        self.insert("META_DATA_EXPORT", 2, [
            ("EXPORT_PRODUCT_NAME", "nvspan"), ("EXPORT_PRODUCT_VERSION", _core.__version__),
            ("EXPORT_SCHEMA_VERSION", "3.7.2"), ("EXPORT_SCHEMA_VERSION_MAJOR", "3"),
            ("EXPORT_SCHEMA_VERSION_MINOR", "7"), ("EXPORT_SCHEMA_VERSION_MICRO", "2"),
        ])  # fmt: skip
        self.insert("PROCESSES", 3, (
            (number, process["pid"], _clean(" ".join(process["command"])))
            for number, process in zip(self.pids, processes, strict=True)
        ))  # fmt: skip
        names = self.recording.threads["name"]
        self.insert("ThreadNames", 3, (
            (name, 0, tid) for name, tid in zip(names, self.tids, strict=True) if name >= 0
        ))  # fmt: skip

    def row(self, start: int, kind: int, **values: Any) -> tuple[Any, ...]:
        names = ("end", "rangeId", "category", "color", "text", "globalTid", "endGlobalTid",
                 "textId", "domainId")  # fmt: skip
        found = [values.get(name) for name in names]
        return (signed(start), found[0], kind, *found[1:], *[None] * (_COLUMNS - 11))

    def domain_rows(self) -> Iterator[tuple[Any, ...]]:
        """What names the domains, categories and threads of each process."""
        recording = self.recording
        processes = recording.processes
        main: dict[int, int] = {}
        for process, tid in zip(recording.threads["process"], self.tids, strict=True):
            main.setdefault(process, tid)
        categories: set[tuple[int, int, int, int]] = set()
        for table in (recording.ranges, recording.marks):
            of = [table[name] for name in ("process", "domain", "category", "category_name")]
            categories.update(zip(*of, strict=True))
        for process, domain in sorted({named[:2] for named in categories}):
            if domain >= 0:
                start = processes[process]["start"] - self.origin
                yield self.row(start, DOMAIN, text=self.strings[domain], globalTid=main[process],
                               domainId=self.domains[domain])  # fmt: skip
        for process, domain, category, name in sorted(categories):
            if name >= 0:
                start = processes[process]["start"] - self.origin
                yield self.row(start, CATEGORY, category=category, text=self.strings[name],
                               globalTid=main[process], domainId=self.domains[domain])  # fmt: skip
        threads = recording.threads
        for name, start, tid in zip(threads["name"], threads["start"], self.tids, strict=True):
            if name >= 0:
                yield self.row(start - self.origin, THREAD, text=self.strings[name], globalTid=tid)

    def events(self, table: str) -> None:
        found = Events(self.recording, table, self.origin, self.tids, self.strings, self.domains)
        for columns in found.batches():
            rows = len(columns["start"])
            # One statement takes many rows, and what is the same in all of them is in its text.
            same = {
                name
                for name, values in columns.items()
                if name != "start"
                and isinstance(values[0], int)
                and values.count(values[0]) == rows
            }
            free = [values for name, values in columns.items() if name not in same]
            places = ",".join(str(columns[name][0]) if name in same else "?" for name in columns)
            many = _PARAMETERS // len(free)
            flat = chain.from_iterable(zip(*free, strict=True))
            whole = islice(flat, rows // many * many * len(free))
            for count, values in ((many, whole), (rows % many, flat)):
                if count:
                    self.connection.executemany(
                        f"INSERT INTO NVTX_EVENTS ({','.join(columns)})"
                        f" VALUES {','.join([f'({places})'] * count)}",
                        zip(*[values] * (count * len(free)), strict=True),
                    )
            self.done += rows
            self.progress(min(self.done / self.rows, 1))

    def losses(self) -> Iterator[tuple[Any, ...]]:
        for row in self.recording.losses.rows():
            tid = None if row["thread"] is None else self.tids[row["thread"]]
            yield (signed(row["from"] - self.origin), signed(row["to"] - self.origin), tid,
                   _count(row["count"]), row["reason"])  # fmt: skip

    def counters(self) -> Iterator[tuple[Any, ...]]:
        numbers = {None if k < 0 else self.recording.strings[k]: v for k, v in self.domains.items()}
        for row in self.recording.counters.rows():
            name, field, unit = (
                None if row[key] is None else _clean(row[key]) for key in ("name", "field", "unit")
            )
            yield (
                signed(row["time"] - self.origin), self.tids[row["thread"]],
                numbers[row["domain"]], name, signed(row["counter"]), row["value"], row["integer"],
                field, unit,
            )  # fmt: skip
