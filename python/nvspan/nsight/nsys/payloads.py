# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Payload schemas in a report of Nsight Systems.

nsys exports the payloads themselves from 2025 on, with ``--include-blobs=true``. Schemas keep their
ids. nsys does not say of which process a schema is: processes share those of a domain's number.
"""

from __future__ import annotations

from typing import Any

from nvspan.nsight.nsys.report import Report

DEVICE_RANGE = "nvspan device range"
_REGISTERED_STRING = 80  # the type of an entry
_STATIC = 1  # the type of a schema

Rows = dict[tuple[int, int], dict[int, dict[str, Any]]]


class PayloadSchemas:
    """What the programs registered, by domain."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._schemas = report.rows(
            "NVTX_PAYLOAD_SCHEMAS", domainId="i", schemaId="i", name="t", type="i", payloadSize="i"
        )
        self._entries = self._by_schema(
            "NVTX_PAYLOAD_SCHEMA_ENTRIES", flags="i", type="i", name="t",
            arrayOrUnionDetail="i", offset="i",
        )  # fmt: skip
        self._enums = report.rows(
            "NVTX_PAYLOAD_ENUMS", domainId="i", schemaId="i", name="t", size="i"
        )
        self._values = self._by_schema("NVTX_PAYLOAD_ENUM_ENTRIES", name="t", value="i", isFlag="i")
        self._defined: set[int] = set()
        self._cited: set[int] = set()
        self.of_devices = {
            schema["domainId"] for schema in self._schemas if schema["name"] == DEVICE_RANGE
        }

    def _by_schema(self, table: str, **columns: str) -> Rows:
        """The parts of each, the first of their number."""
        found: Rows = {}
        rows = self._report.rows(table, domainId="i", schemaId="i", idx="i", **columns)
        for row in rows:
            parts = found.setdefault((row["domainId"], row["schemaId"]), {})
            parts.setdefault(row["idx"] or 0, row)
        return found

    def define(self, process: int, handle: int, domain: int) -> None:
        """Writes those of nsys's domain, once for each domain of the recording."""
        if handle in self._defined:
            return
        self._defined.add(handle)
        writer = self._report.writer
        for schema in self._schemas:
            if schema["domainId"] != domain or schema["schemaId"] is None:
                continue
            parts = self._entries.get((domain, schema["schemaId"]), {})
            entries = [
                (
                    part["name"] or "", _unsigned(part["type"]), _unsigned(part["flags"]),
                    _unsigned(part["arrayOrUnionDetail"]), _unsigned(part["offset"]),
                )
                for _, part in sorted(parts.items())
            ]  # fmt: skip
            writer.known_schema(
                handle, _unsigned(schema["schemaId"]), schema["name"],
                _unsigned(schema["payloadSize"]), _unsigned(schema["type"] or _STATIC), entries,
            )  # fmt: skip
            if schema["name"] != DEVICE_RANGE and any(
                kind == _REGISTERED_STRING for _, kind, *_ in entries
            ):
                self._cite(process)
        for enum in self._enums:
            if enum["domainId"] != domain or enum["schemaId"] is None:
                continue
            values = self._values.get((domain, enum["schemaId"]), {})
            writer.enumeration(
                handle, _unsigned(enum["schemaId"]), enum["name"], _unsigned(enum["size"]),
                [(value["name"] or "", _unsigned(value["value"]), bool(value["isFlag"]))
                 for _, value in sorted(values.items())],
            )  # fmt: skip

    def _cite(self, process: int) -> None:
        """Handles of registered strings are rows of StringIds."""
        if process not in self._cited:
            self._cited.add(process)
            for handle, text in self._report.text_numbers():
                self._report.writer.cite(process, handle, text)


def _unsigned(value: int | None) -> int:
    return (value or 0) & (1 << 64) - 1
