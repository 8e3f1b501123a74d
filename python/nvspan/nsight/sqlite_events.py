# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges and marks as rows of NVTX_EVENTS, column by column: no Python runs for a row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nvspan.recording import Recording

MARK, PUSH_POP, START_END = 34, 59, 60
_KINDS = (PUSH_POP, START_END, START_END)
_REGISTERED, _EXTENDED = 3, 7
# Of the types of payloads: their column, their format as a memoryview has it, and its step.
_NUMBERS = (
    None, ("uint64Value", "q", 1), ("int64Value", "q", 1), ("doubleValue", "d", 1),
    ("uint32Value", "I", 2), ("int32Value", "i", 2), ("floatValue", "f", 2),
)  # fmt: skip
BATCH = 1 << 16

Columns = dict[str, Sequence[Any]]


def signed(value: int) -> int:
    """The lowest 64 bits of a number as SQLite has them: its integers have a sign."""
    bits = value & (1 << 64) - 1
    return bits - (1 << 64) if bits >> 63 else bits


def _since(origin: int, times: Sequence[int]) -> list[int]:
    """The times from `origin` on. Those of a damaged file may be further from it than 64 bits."""
    shifted = [time - origin for time in times]
    if shifted and (min(shifted) < -(1 << 63) or max(shifted) >= 1 << 63):
        shifted = list(map(signed, shifted))
    return shifted


class Events:
    """What a table of a recording, "ranges" or "marks", gives NVTX_EVENTS."""

    def __init__(
        self,
        recording: Recording,
        table: str,
        origin: int,
        tids: Sequence[int],
        strings: Sequence[str],
        domains: Mapping[int, int],
    ) -> None:
        self._recording = recording
        self._table = table
        self._origin = origin
        self._tids = tids
        self._strings = strings
        self._domains = domains
        self._reader = recording._reader
        self._is_ranges = table == "ranges"

    def batches(self) -> Iterator[Columns]:
        """The columns that have a value in any row, for so many rows at a time."""
        for begin in range(0, self._reader.rows(self._table), BATCH):
            yield self._batch(begin, begin + BATCH)

    def _memory(self, name: str, begin: int, end: int) -> memoryview:
        return memoryview(self._reader.column(self._table, name))[begin:end]

    def _column(self, name: str, begin: int, end: int) -> list[Any]:
        values: list[Any] = self._memory(name, begin, end).tolist()
        return values

    def _batch(self, begin: int, end: int) -> Columns:
        origin, tids, strings = self._origin, self._tids, self._strings
        threads = self._column("thread", begin, end)
        names = self._column("name", begin, end)
        types = self._column("message_type", begin, end)
        starts = self._column("start" if self._is_ranges else "time", begin, end)
        columns: Columns = {
            "start": _since(origin, starts),
            "globalTid": list(map(tids.__getitem__, threads)),
            "domainId": list(map(self._domains.__getitem__, self._column("domain", begin, end))),
        }
        if self._is_ranges:
            columns.update(self._ends(begin, end, threads))
        else:
            columns["eventType"] = [MARK] * len(starts)
        styles = set(types)
        if _REGISTERED in styles:
            columns["textId"] = [
                name if type == _REGISTERED and name >= 0 else None
                for name, type in zip(names, types, strict=True)
            ]
        if styles != {_REGISTERED}:
            columns["text"] = [
                None if type == _REGISTERED or name < 0 else strings[name]
                for name, type in zip(names, types, strict=True)
            ]
        categories = self._column("category", begin, end)
        if any(categories):
            columns["category"] = [category or None for category in categories]
        columns.update(self._colors(begin, end))
        columns.update(self._payloads(begin, end))
        return columns

    def _ends(self, begin: int, end: int, threads: Sequence[int]) -> Columns:
        origin, tids = self._origin, self._tids
        kinds = self._column("kind", begin, end)
        columns: Columns = {
            "end": [
                None if reason else time
                for time, reason in zip(
                    _since(origin, self._column("end", begin, end)),
                    self._column("end_reason", begin, end), strict=True,
                )
            ],
            "eventType": list(map(_KINDS.__getitem__, kinds)),
        }  # fmt: skip
        if any(kinds):
            # SQLite's integers have a sign.
            ids = self._memory("range_id", begin, end).cast("B").cast("q").tolist()
            enders = self._column("end_thread", begin, end)
            columns["rangeId"] = [i if kind else None for i, kind in zip(ids, kinds, strict=True)]
            columns["endGlobalTid"] = [
                tids[ender] if kind and ender != thread else None
                for ender, thread, kind in zip(enders, threads, kinds, strict=True)
            ]
        return columns

    def _colors(self, begin: int, end: int) -> Columns:
        given = self._reader.column(self._table, "color").valid(begin, end)
        if not any(given):
            return {}
        signed = self._memory("color", begin, end).cast("B").cast("i").tolist()
        return {"color": [color if has else None for color, has in zip(signed, given, strict=True)]}

    def _payloads(self, begin: int, end: int) -> Columns:
        types = self._column("payload_type", begin, end)
        present = set(types)
        columns: Columns = {}
        words = self._memory("payload", begin, end).cast("B")
        for type, number in enumerate(_NUMBERS):
            if number is not None and type in present:
                column, form, step = number
                values = words.cast(form)[::step].tolist()  # type: ignore[call-overload]
                columns[column] = [
                    value if of == type else None for value, of in zip(values, types, strict=True)
                ]
        if _EXTENDED in present:
            columns["jsonText"] = [
                self._json(begin + at) if of == _EXTENDED else None for at, of in enumerate(types)
            ]
        return columns

    def _json(self, row: int) -> str:
        fields = self._reader.row_json(self._table, row)
        if fields is not None:
            return str(fields)
        pieces = self._recording.payload(row, self._table)
        return json.dumps([{"schema": schema, "hex": data.hex()} for schema, _, data in pieces])
