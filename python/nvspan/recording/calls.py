# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every range and mark call of a recording, in the order of their times."""

from __future__ import annotations

import heapq
import json

from nvspan.recording.payload import TYPES, is_scalar, pieces, scalar
from nvspan.recording.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from nvspan.recording.opened import OpenedFiles

_MESSAGES = ("none", "ascii", "unicode", "registered")


def calls_of(recording: OpenedFiles) -> Iterator[dict[str, Any]]:
    """What `Recording.calls` gives."""
    reader = recording._reader
    threads = Table(recording, "threads")
    sites: dict[int, tuple[Any, ...]] = {}
    messages: dict[tuple[int, int], tuple[str | None, int]] = {}

    def of_thread(thread: int) -> Iterator[tuple[int, int, int, dict[str, Any]]]:
        process = threads["process"][thread]
        where = {"process": process, "thread": thread, "pid": threads["pid"][thread],
                 "tid": threads["tid"][thread]}  # fmt: skip
        for order, row in enumerate(reader.calls(thread)):
            kind, time, site, depth, number, payload = row
            call: dict[str, Any] = {"kind": kind, **where, "ts": time}
            if site < 0:
                call["domain"] = reader.domains()[-1 - site]
                call["message"], call["message_type"] = None, "none"
            else:
                if site not in sites:
                    sites[site] = reader.site(site)
                fields = None
                if isinstance(payload, bytes):
                    fields = reader.payload_json(process, site, payload)
                _describe(call, sites[site], payload, fields)
            if kind in ("push", "pop"):
                call["depth"] = depth
            elif kind in ("start", "end"):
                call["id"] = number
                call["_site"] = site
            yield time, thread, order, call

    for _, _, _, call in heapq.merge(*(of_thread(i) for i in range(len(threads)))):
        if "_site" in call:
            key = (call["process"], call["id"])
            if call["kind"] == "start":
                messages[key] = (call["message"], call["message_type"])
            elif key in messages:
                call["message"], call["message_type"] = messages.pop(key)
            del call["_site"]
        yield call


def _describe(
    call: dict[str, Any], site: tuple[Any, ...], payload: int | bytes | None, fields: str | None
) -> None:
    domain, message, message_type, color, category, category_name, payload_type = site
    call.update(domain=domain, message=message, message_type=_MESSAGES[message_type])
    if call["kind"] == "pop":
        return
    call.update(color=color, category=category, category_name=category_name,
                payload_type=TYPES[payload_type], payload=None)  # fmt: skip
    if isinstance(payload, bytes):
        call["payload_data"] = [
            {"schema": schema, "hex": data.hex()} for schema, _, data in pieces(payload)
        ]
        if fields is not None:
            call["payload_fields"] = json.loads(fields)
    elif payload is not None and is_scalar(payload_type):
        call["payload"] = scalar(payload_type, payload)
