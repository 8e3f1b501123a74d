# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges and marks in a report of Nsight Systems, as those of a recording."""

from __future__ import annotations

import itertools
from array import array
from typing import TypedDict

from nvspan import _reader
from nvspan.nsight.nsys.payloads import PayloadSchemas
from nvspan.nsight.nsys.report import NO_NAME, Report, process_of

CATEGORY, MARK, THREAD, PUSH_POP, START_END, DOMAIN = 33, 34, 39, 59, 60, 75
# What came from NVTX's text files is of the same kinds.
_OF_TEXT_FILES: dict[int | None, int] = {64: CATEGORY, 65: MARK, 70: PUSH_POP, 71: START_END}
NOT_ENDED = -(2**63)
_PAYLOADS = ("uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue")
_REAL = ("doubleValue", "floatValue")
_FIELDS = "binaryData"  # payloads with fields
_PIECE_WORDS = 3  # of a piece, before its bytes: schema, size, size kept
_COLUMNS = (
    *("start", "end", "eventType", "rangeId", "category", "color"),
    *("globalTid", "endGlobalTid", "textId", "domainId"),
)
_GIVEN = (*_PAYLOADS, _FIELDS, "color", "category", "textId", "text", "rangeId")


Pieces = tuple[memoryview, memoryview]


class Attributes(TypedDict, total=False):
    """Columns of the events' arguments, those that are given."""

    name: memoryview
    color: memoryview
    category: memoryview | array[int]
    payload: memoryview | array[int] | array[float]
    pieces: Pieces


class Group:
    """Rows of NVTX_EVENTS of one thread, domain and kind, all of which have the same fields."""

    def __init__(
        self, table: _reader.ImportTable, begin: int, end: int, given: int, pieces: Pieces | None
    ) -> None:
        self._table = table
        self._pieces = pieces
        self.begin, self.end = begin, end
        self.fields = {name for at, name in enumerate(_GIVEN) if given >> at & 1}

    def column(self, name: str) -> memoryview:
        """Their values of a column that they have."""
        found = self._table.column(name)
        assert found is not None
        return memoryview(found)[self.begin : self.end]

    def attributes(self) -> Attributes:
        """The arguments that an event's row gives."""
        found: Attributes = {}
        if "textId" in self.fields:
            found["name"] = self.column("name")
        elif "text" in self.fields:
            found["name"] = self.column("own name")
        if "color" in self.fields:
            found["color"] = self.column("color")
        if "category" in self.fields:
            found["category"] = self.column("category")
        for name in _PAYLOADS:
            if name in self.fields:
                found["payload"] = _typed(self.column(name), name)
        if _FIELDS in self.fields and self._pieces is not None:
            words, begins = self._pieces
            found["pieces"] = words, begins[self.begin : self.end + 1]
        return found


def _typed(values: memoryview, name: str) -> memoryview | array[int] | array[float]:
    """The values of a payload in the type that it has."""
    if name == "uint64Value":
        return values.cast("B").cast("Q")
    if name == "uint32Value":
        return array("I", (value & 0xFFFFFFFF for value in values))
    if name == "int32Value":
        return array("i", values)
    return array("f", values) if name == "floatValue" else values


def _fields(pieces: Pieces, places: dict[int, int]) -> array[int]:
    """A field of 32 bits of each row's first piece, 0 where it has none.

    `places`: the bytes before the field, by schema.
    """
    words, begins = pieces
    found = array("q", bytes(8 * (len(begins) - 1)))
    for row, (begin, end) in enumerate(itertools.pairwise(begins)):
        if end - begin < _PIECE_WORDS or (place := places.get(words[begin])) is None:
            continue
        if place + 4 <= words[begin + 2]:  # the bytes that were kept
            word = words[begin + _PIECE_WORDS + place // 8]
            found[row] = word >> place % 8 * 8 & 0xFFFFFFFF
    return found


class Nvtx:
    """The events of NVTX_EVENTS on their way into a recording."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._writer = report.writer
        self._ids = 0  # of ranges that another thread ended
        self._names: dict[tuple[int, int], str] = {}
        self._unnamed: dict[tuple[int, int], int] = {}  # domains
        self._schemas = PayloadSchemas(report)
        self._table = _reader.ImportTable()

    def write(self) -> None:
        """Writes all of them."""
        kinds = [
            *((name, "i") for name in _COLUMNS),
            *((name, "r" if name in _REAL else "i") for name in _PAYLOADS),
            *(("text", "t"), (_FIELDS, "b")),
        ]
        for table in self._report.tables.blocks("NVTX_EVENTS", kinds):
            if len(table):
                self._table = table
                self._block(table)

    def _block(self, table: _reader.ImportTable) -> None:
        report = self._report
        report.name_column(table, "name", "textId")
        texts = table.texts("text") if "text" in table.names() else []
        table.look_up(
            "own name", "text", array("q", range(len(texts))), report.writer.strings(texts), NO_NAME
        )
        table.replace("end", NOT_ENDED if report.end is None else report.end, NOT_ENDED)
        keys = ["globalTid", "domainId", "eventType", "endGlobalTid"]
        groups = table.group(keys, list(_GIVEN))  # puts the rows in order, before any is looked at
        pieces = None
        if _FIELDS in table.names() and table.column(_FIELDS) is not None:
            pieces = table.payloads(_FIELDS)
        rows = []
        for begin, end, (tid, domain, kind, end_tid), given in groups:
            if tid is not None:
                group = Group(table, begin, end, given, pieces)
                rows.append((tid, domain or 0, _OF_TEXT_FILES.get(kind) or kind, end_tid, group))
        # Domains have names before what is in them, if they can.
        names = {DOMAIN: self._name_domains, THREAD: self._thread_names, CATEGORY: self._categories}
        for named, name in names.items():
            for tid, domain, kind, _, group in rows:
                if kind == named:
                    name(tid, domain, group)
        for row in rows:
            self._events(*row)

    def _events(
        self, tid: int, domain: int, kind: int | None, end_tid: int | None, group: Group
    ) -> None:
        thread, handle = self._report.thread(tid), self._domain(tid, domain)
        if kind == MARK:
            self._writer.marks(thread, handle, group.column("start"), **group.attributes())
        elif kind == PUSH_POP:
            self._ranges(thread, handle, group, "push_pop")
        elif kind == START_END:
            if end_tid is not None and end_tid != tid:
                self._across(thread, self._report.thread(end_tid), handle, group)
            elif "rangeId" not in group.fields and domain in self._schemas.of_devices:
                self._of_device(tid, handle, group, self._schemas.categories(domain))
            else:
                self._ranges(thread, handle, group, "start_end")

    def _ranges(self, thread: int, domain: int, group: Group, kind: str) -> None:
        start, end = group.column("start"), group.column("end")
        self._writer.ranges(thread, domain, start, end, kind=kind, **group.attributes())

    def _across(self, thread: int, end_thread: int, domain: int, group: Group) -> None:
        """Ranges that another thread ended."""
        first = self._ids + 1
        self._ids += group.end - group.begin
        ids = array("q", range(first, self._ids + 1))
        self._writer.starts(thread, domain, group.column("start"), ids, **group.attributes())
        self._writer.ends(end_thread, domain, group.column("end"), ids)

    def _of_device(self, tid: int, domain: int, group: Group, categories: dict[int, int]) -> None:
        """Device ranges, whose device, stream and category are fields of their payloads.

        `categories`: where that is in the payloads of each schema.
        """
        process, thread = self._report.process(tid), self._report.thread(tid)
        start, end = group.column("start"), group.column("end")
        given = group.attributes()
        if "category" not in given and "pieces" in given:
            given["category"] = _fields(given["pieces"], categories)
        self._writer.device_ranges(
            process, domain, start, end, device=-1, stream=0, thread=thread, **given
        )

    def _text(self, group: Group, at: int) -> str | None:
        if "textId" in group.fields:
            return self._report.string.get(group.column("textId")[at])
        if "text" in group.fields:
            return self._table.texts("text")[group.column("text")[at]]
        return None

    def _domain(self, tid: int, domain: int) -> int:
        """The recording's number for a domain of a process."""
        key = process_of(tid), domain
        name = self._names.get(key)
        if name is not None or domain == 0:
            handle = self._report.domain(tid, name)
        else:
            if key not in self._unnamed:
                self._unnamed[key] = self._report.domain(tid, f"domain {domain}")
            handle = self._unnamed[key]
        self._schemas.define(self._report.process(tid), handle, domain)
        return handle

    def _name_domains(self, tid: int, domain: int, group: Group) -> None:
        name, key = self._text(group, 0), (process_of(tid), domain)
        if name is None or key in self._names:
            return
        self._names[key] = name
        if key in self._unnamed:
            self._report.name_domain(self._unnamed.pop(key), tid, name)

    def _thread_names(self, tid: int, domain: int, group: Group) -> None:
        name = self._text(group, group.end - group.begin - 1)
        if name is not None:
            self._report.name_thread(tid, name)

    def _categories(self, tid: int, domain: int, group: Group) -> None:
        handle = self._domain(tid, domain)
        if "category" not in group.fields:
            return
        for at, number in enumerate(group.column("category")):
            name = self._text(group, at)
            if name is not None:
                self._writer.category(handle, number, name)
