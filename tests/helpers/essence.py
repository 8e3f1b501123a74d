# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Whole events in a form that a test can state: without what differs from run to run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_VOLATILE = ("pid", "tid", "ts")
# What most events have: left out of the essence where an event has just this.
_USUAL = {
    "color": None, "category": 0, "category_name": None, "payload": None, "payload_type": "none",
}  # fmt: skip
_HANDLE_TAG = 0x4E56
_DYNAMIC_IDS = range(2**32, 2**33)


def essence(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each event with its kind, and every field that is not the usual one.

    Handles and ids that the tool made are numbered in the order in which they appear ("#1"), and a
    duration is True when there is one.
    """
    numbers: dict[int, str] = {}

    def stable(value: Any) -> Any:
        if isinstance(value, list):
            return [stable(item) for item in value]
        if isinstance(value, dict):
            return {key: stable(item) for key, item in value.items()}
        made_by_tool = type(value) is int and (value >> 48 == _HANDLE_TAG or value in _DYNAMIC_IDS)
        return numbers.setdefault(value, f"#{len(numbers) + 1}") if made_by_tool else value

    result = []
    for event in events:
        kept = {}
        for key, value in event.items():
            if key in _VOLATILE or (event.get("message_type") and _USUAL.get(key, ...) == value):
                continue
            kept[key] = value is not None if key == "dur" else stable(value)
        result.append(kept)
    return result


def short(event: dict[str, Any]) -> tuple[Any, ...]:
    """The essence of one event as a tuple: kind first, then (key, value) pairs."""
    return (event["kind"], *((key, value) for key, value in event.items() if key != "kind"))


def event(
    kind: str, domain: str | None, message: str | None, message_type: str, **fields: Any
) -> dict[str, Any]:
    """A call as `essence` has it."""
    common = {"kind": kind, "domain": domain, "message": message, "message_type": message_type}
    return {**common, **fields}
