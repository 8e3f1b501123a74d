# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Payload schemas in a report of Nsight Systems.

nsys exports the payloads themselves from 2025 on, with ``--include-blobs=true``. Schemas keep their
ids. nsys does not say of which process a schema is: processes share those of a domain's number.
"""

from __future__ import annotations

from nvspan.nsight.nsys.report import Report

DEVICE_RANGE = "nvspan device range"
_REGISTERED_STRING = 80  # the type of an entry
_CATEGORY = 68  # likewise
_STATIC = 1  # the type of a schema

# The integers and the name of each part of a schema, by domain, schema and place in it.
Parts = dict[tuple[int | None, int | None], dict[int, tuple[list[int | None], str | None]]]


class PayloadSchemas:
    """What the programs registered, by domain."""

    def __init__(self, report: Report) -> None:
        self._report = report
        columns = ["domainId", "schemaId", "type", "payloadSize"]
        self._schemas = report.tables.rows("NVTX_PAYLOAD_SCHEMAS", columns, ["name"])
        self._entries = self._by_schema(
            "NVTX_PAYLOAD_SCHEMA_ENTRIES", "type", "flags", "arrayOrUnionDetail", "offset"
        )
        columns = ["domainId", "schemaId", "size"]
        self._enums = report.tables.rows("NVTX_PAYLOAD_ENUMS", columns, ["name"])
        self._values = self._by_schema("NVTX_PAYLOAD_ENUM_ENTRIES", "value", "isFlag")
        self._defined: set[int] = set()
        self._cited: set[int] = set()
        self.of_devices = {of for (of, *_), (name,) in self._schemas if name == DEVICE_RANGE}

    def categories(self, domain: int) -> dict[int, int]:
        """Where the category is in the payload of a device range of a domain, by schema.

        nsys leaves the column of categories empty for events that were submitted with their times.
        """
        return {
            _unsigned(schema): _unsigned(offset)
            for (of, schema), entries in self._entries.items()
            if of == domain
            for (kind, _, _, offset), _ in entries.values()
            if kind == _CATEGORY and offset is not None and offset % 4 == 0
        }

    def _by_schema(self, table: str, *integers: str) -> Parts:
        """The parts of each, the first of their number."""
        found: Parts = {}
        columns = ["domainId", "schemaId", "idx", *integers]
        rows = self._report.tables.rows(table, columns, ["name"])
        for (domain, schema, place, *numbers), (name,) in rows:
            found.setdefault((domain, schema), {}).setdefault(place or 0, (numbers, name))
        return found

    def define(self, process: int, handle: int, domain: int) -> None:
        """Writes those of nsys's domain, once for each domain of the recording."""
        if handle in self._defined:
            return
        self._defined.add(handle)
        writer = self._report.writer
        for (of, schema, kind, size), (name,) in self._schemas:
            if of != domain or schema is None:
                continue
            parts = sorted(self._entries.get((domain, schema), {}).items())
            entries = [
                (text or "", _unsigned(type), _unsigned(flags), _unsigned(detail), _unsigned(at))
                for _, ((type, flags, detail, at), text) in parts
            ]
            writer.known_schema(
                handle,
                _unsigned(schema),
                name,
                _unsigned(size),
                _unsigned(kind or _STATIC),
                entries,
            )
            if name != DEVICE_RANGE and any(kind == _REGISTERED_STRING for _, kind, *_ in entries):
                self._cite(process)
        for (of, schema, size), (name,) in self._enums:
            if of != domain or schema is None:
                continue
            parts = sorted(self._values.get((domain, schema), {}).items())
            values = [
                (text or "", _unsigned(value), bool(is_flag))
                for _, ((value, is_flag), text) in parts
            ]
            writer.enumeration(handle, _unsigned(schema), name, _unsigned(size), values)

    def _cite(self, process: int) -> None:
        """Handles of registered strings are rows of StringIds."""
        if process not in self._cited:
            self._cited.add(process)
            for handle, text in self._report.text_numbers():
                self._report.writer.cite(process, handle, text)


def _unsigned(value: int | None) -> int:
    return (value or 0) & (1 << 64) - 1
