# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Events of libnvspan_inject as lines of text, so that a test can state a whole list of them.

    push [lib] 'step' color=000000FF category=#1:loop payload=i64:7 depth=0

`[]` is the default domain, `-` no message, a quoted message a registered string and
`ascii:'...'` one that is not. A start and its end share a number: `start #1 ...`, `end #1 ...`.
`category=#1:loop` is the first of the ids that nvspan gives to names, `category=1:loop` id 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from helpers.traced import CALLS

NAMED_CATEGORIES = 1_000_000_000  # names given to events get ids above it


def _message(event: dict[str, Any]) -> str:
    if event["message_type"] == "none":
        return "-"
    text = repr(event["message"])
    return text if event["message_type"] == "registered" else f"{event['message_type']}:{text}"


def _number(category: int) -> str:
    above = category - NAMED_CATEGORIES
    return f"#{above}" if 0 < above <= NAMED_CATEGORIES else str(category)


def _domain(event: dict[str, Any]) -> str:
    return f"[{event['domain'] or ''}]" if event["domain"] != "" else "['']"


def render(event: dict[str, Any], ids: dict[tuple[int, int], int], *, color: bool) -> str:
    """One event; `ids` numbers the start/end ranges in their order."""
    kind = event["kind"]
    words = [kind]
    if kind in ("start", "end"):
        key = (event["pid"], event["id"])
        words.append(f"#{ids.setdefault(key, len(ids) + 1)}")
    words.append(_domain(event))
    words.append(_message(event))
    if kind in ("mark", "push", "start"):
        if color and event["color"] is not None:
            words.append(f"color={event['color'] & 0xFFFFFFFF:08X}")
        if event["category"]:
            name = event.get("category_name")
            words.append(f"category={_number(event['category'])}" + (f":{name}" if name else ""))
        if event["payload_type"] != "none":
            words.append(f"payload={event['payload_type']}:{event['payload']}")
    if kind in ("push", "pop"):
        words.append(f"depth={event['depth']}")
    return " ".join(words)


def lines(events: Iterable[dict[str, Any]], *, color: bool = True) -> list[str]:
    """The calls among `events` as text, in their order, of all threads and processes."""
    ids: dict[tuple[int, int], int] = {}
    return [render(event, ids, color=color) for event in events if event["kind"] in CALLS]


def plain(events: Iterable[dict[str, Any]]) -> list[str]:
    """Like `lines` without colors, for tests that are not about them."""
    return lines(events, color=False)


def by_thread(events: Iterable[dict[str, Any]]) -> list[list[str]]:
    """`plain` of each thread by itself, threads in the order of their first call."""
    threads: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in events:
        if event["kind"] in CALLS:
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    return [plain(of_thread) for of_thread in threads.values()]


def registrations(
    events: Iterable[dict[str, Any]], kind: str, *fields: str
) -> list[tuple[Any, ...]]:
    """The registrations of one kind as tuples of the named fields."""
    return [tuple(event[field] for field in fields) for event in events if event["kind"] == kind]
