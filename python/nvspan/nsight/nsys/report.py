# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Processes, threads, domains and strings of a report of Nsight Systems.

Processes, threads, domains and names are those of the report; times are ns since its collection
began.
"""

from __future__ import annotations

from array import array

from nvspan import _reader
from nvspan.nsight.nsys.tables import Database, integers_of, texts_of

NO_NAME = 0xFFFFFFFF
_THREAD_BITS = 0xFFFFFF


def process_of(tid: int) -> int:
    """The process of a globalTid, as globalPid has it."""
    return tid & ~_THREAD_BITS


class Report:
    """A recording in the making: its processes and threads, and the numbers of its texts."""

    def __init__(self, tables: Database, writer: _reader.ExternalWriter) -> None:
        self.tables = tables
        self.writer = writer
        # When the collection ended, which nsys gives to every range that did not.
        self.end = self._first("ANALYSIS_DETAILS", "duration")
        self._start = self._first("TARGET_INFO_SESSION_START_TIME", "utcEpochNs") or 0
        self._host_names = self._hosts()
        self._process_names = {
            pid: name for (pid,), (name,) in tables.rows("PROCESSES", ["globalPid"], ["name"])
        }
        self._processes: dict[int, int] = {}
        self._threads: dict[int, int] = {}
        self._domains: dict[tuple[int, str | None], int] = {}
        strings = tables.read("StringIds", [("id", "i"), ("value", "t")])
        texts = texts_of(strings, "value")
        self._text_ids = array("q", integers_of(strings, "id"))
        self.string: dict[int | None, str | None] = dict(zip(self._text_ids, texts, strict=True))
        self._written = writer.strings(texts)
        self.thread_names = self._thread_names()

    def text_numbers(self) -> list[tuple[int, int]]:
        """The ids of StringIds and the recording's numbers for their texts."""
        return [
            (id, number)
            for id, number in zip(self._text_ids, self._written, strict=True)
            if number != NO_NAME
        ]

    def _first(self, table: str, column: str) -> int | None:
        rows = self.tables.rows(table, [column])
        return rows[0][0][0] if rows else None

    def _hosts(self) -> dict[int | None, str]:
        """The name of each machine."""
        facts = self.tables.rows("TARGET_INFO_SYSTEM_ENV", ["globalVid"], ["name", "value"])
        return {
            machine: value for (machine,), (name, value) in facts if name == "Hostname" and value
        }

    def _thread_names(self) -> dict[int | None, str]:
        """The names that the system and the programs gave, those of the highest priority."""
        rows = self.tables.rows("ThreadNames", ["nameId", "priority", "globalTid"])
        rows.sort(key=lambda row: row[0][1] or 0)
        names = ((tid, self.string.get(name)) for (name, _, tid), _ in rows)
        return {tid: text for tid, text in names if text is not None}

    def process(self, pid: int) -> int:
        """The recording's number for a globalPid."""
        pid = process_of(pid)
        if pid not in self._processes:
            name = self._process_names.get(pid)
            self._processes[pid] = self.writer.process(
                pid >> 24 & _THREAD_BITS,
                host=self._host_names.get(pid & ~((1 << 48) - 1), ""),
                command=[name] if name else [],
                unix_offset=self._start,
            )
        return self._processes[pid]

    def process_if_none(self) -> None:
        """A report without events has one process, so that there is a recording of it."""
        if not self._processes:
            self.process(0)

    def knows(self, pid: int) -> bool:
        """Whether there is anything of the process of a globalPid."""
        return pid in self._processes

    def processes_of(self, number: int) -> list[int]:
        """The processes with a number of the system's, on any machine."""
        return [of for pid, of in self._processes.items() if pid >> 24 & _THREAD_BITS == number]

    def thread(self, tid: int) -> int:
        """The recording's number for a globalTid."""
        if tid not in self._threads:
            self._threads[tid] = self.writer.thread(
                self.process(tid), tid & _THREAD_BITS, self.thread_names.get(tid)
            )
        return self._threads[tid]

    def name_thread(self, tid: int, name: str) -> None:
        """The name that the program gave, before or after the thread's events."""
        self.thread_names[tid] = name
        if tid in self._threads:
            self.writer.name_thread(self._threads[tid], name)

    def domain(self, pid: int, name: str | None) -> int:
        """The recording's number for a domain of a process."""
        key = self.process(pid), name
        if key not in self._domains:
            self._domains[key] = self.writer.domain(*key)
        return self._domains[key]

    def name_domain(self, domain: int, pid: int, name: str) -> None:
        """A name that came after the domain's events."""
        self._domains.setdefault((self.process(pid), name), domain)
        self.writer.name_domain(domain, name)

    def name_column(self, table: _reader.ImportTable, name: str, ids: str) -> None:
        """Adds the column `name`: the recording's numbers for the texts that `ids` refers to."""
        table.look_up(name, ids, self._text_ids, self._written, NO_NAME)
