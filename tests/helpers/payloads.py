# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Binary payloads of a trace with their schemas spelled out, so that two packages can be compared.

A schema's id is the tool's, in the order of registrations; what it stands for is written instead.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

_IDS = 2**24  # smaller ones are predefined types
ENTRY = ("flags", "name", "array_or_union_detail", "offset")


def _semantics(semantics: dict[str, Any]) -> tuple[Any, ...]:
    """Id, version and what is neither an address nor left unset."""
    raw = bytes.fromhex(semantics["hex"] or "")
    if semantics["id"] != 5:
        return semantics["id"], semantics["version"], raw[16:].hex()
    flags, _, numerator, denominator, limit, low, high = struct.unpack("<QQQQqQQ", raw[16:])
    return (
        5, semantics["version"], flags, numerator, denominator, limit,
        low if flags & 4 else None, high if flags & 8 else None,
    )  # fmt: skip


class Schemas:
    """The schemas of one trace by domain and id."""

    def __init__(self, events: Iterable[dict[str, Any]]) -> None:
        self._known: dict[tuple[Any, int], Any] = {}
        for event in events:
            if event["kind"] == "schema_register":
                self._known[event["domain"], event["id"]] = self._spelled(event)

    def __call__(self, domain: str | None, schema: int) -> Any:
        return schema if schema < _IDS else self._known[domain, schema]

    def _spelled(self, event: dict[str, Any]) -> tuple[Any, ...]:
        entries = tuple(
            (
                self(event["domain"], entry["type"]),
                *(entry[key] for key in ENTRY),
                tuple(map(_semantics, entry["semantics"])),
            )
            for entry in event["entries"]
        )
        return event["type"], event["flags"], event["static_size"], entries


def payloads(events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Each mark and range start with its payload: a number, or (schema, bytes) pairs."""
    schemas = Schemas(events)
    result: list[tuple[Any, ...]] = []
    for event in events:
        if event["kind"] not in ("mark", "push", "start"):
            continue
        data = event["payload"]
        if event["payload_type"] == "ext":
            data = [
                (schemas(event["domain"], piece["schema"]), piece["hex"])
                for piece in event["payload_data"]
            ]
        result.append((event["kind"], event["message"], event["payload_type"], data))
    return result


def counters(events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Scopes, counters and samples in their order; ids numbered as they appear."""
    schemas = Schemas(events)
    numbers: dict[tuple[str, int], int] = {}
    result: list[tuple[Any, ...]] = []

    def number(kind: str, value: int) -> int:
        return numbers.setdefault((kind, value), len(numbers)) if value >= _IDS else value

    for event in events:
        kind = event["kind"]
        if kind == "scope_register":
            result.append((kind, event["domain"], number("scope", event["id"]), event["name"],
                           number("scope", event["parent"])))  # fmt: skip
        elif kind == "counter_register":
            result.append((
                kind, event["domain"], number("counter", event["id"]), event["name"],
                event["description"], schemas(event["domain"], event["schema"]),
                number("scope", event["scope"]), tuple(map(_semantics, event["semantics"])),
            ))  # fmt: skip
        elif kind in ("counter_sample", "counter_batch"):
            keys = ("value", "hex", "no_value", "size", "flags", "timestamps", "error")
            values = {key: event.get(key) for key in keys}
            result.append((kind, number("counter", event["counter"]), event["name"], values))
    return result
