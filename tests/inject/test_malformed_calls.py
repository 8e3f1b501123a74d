# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that no program should make: all that can be shown is shown, and the program goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.compile import build
from helpers.essence import essence, event
from helpers.traced import needs_library, run_command

pytestmark = needs_library
PROGRAM = Path(__file__).parents[1] / "programs" / "malformed_calls.cpp"
HUGE = 2**64 - 1


def events_of(part, **options):
    done = run_command([str(build(PROGRAM)), part], **options)
    assert done.stdout == "done\n"
    return essence(done.events)[1:]


def mark(message, message_type="ascii", domain=None, **fields):
    return event("mark", domain, message, message_type, **fields)


def pairs(opened, closed):
    """Two events of each kind of absent message, the second of each with the range's fields."""
    for index, message_type in enumerate(("ascii", "unicode", "none")):
        yield event(opened, None, None, message_type, id=index + 1)
        yield event(closed, None, None, message_type, id=index + 1, dur=True)


def test_nulls():
    assert events_of("nulls") == [
        mark(None), mark(None, "unicode"), mark(None, "none"),
        event("push", None, None, "ascii", depth=0),
        event("push", None, None, "unicode", depth=1),
        event("push", None, None, "none", depth=2),
        event("pop", None, None, "none", depth=2, dur=True),
        event("pop", None, None, "unicode", depth=1, dur=True),
        event("pop", None, None, "ascii", depth=0, dur=True),
        *pairs("start", "end"),
        mark(None), mark(None, "unicode"), mark(None, "registered", unknown_string=0),
        {"kind": "name_category", "domain": None, "category": 3, "name": None},
        {"kind": "name_thread", "thread": 3, "name": None},
        {"kind": "domain_create", "domain": ""},
        {"kind": "register_string", "domain": "", "message": None},
        mark(None, "registered", ""),
        {"kind": "resource_create", "domain": "", "resource": "#1", "name": None, "type": 0,
         "identifier": 0},
        {"kind": "resource_destroy", "domain": None, "resource": 0, "name": None},
        {"kind": "sync_create", "domain": "", "handle": "#2", "name": None},
        {"kind": "sync_destroy", "domain": None, "handle": 0, "name": None},
        {"kind": "domain_destroy", "domain": ""},
        {"kind": "domain_destroy", "domain": None},
        mark("the default domain cannot be destroyed"),
    ]  # fmt: skip


def test_attributes():
    assert events_of("attributes") == [
        mark(None, "none", category=5, malformed="size 8"),
        mark(None, "none", malformed="size 0"),
        mark("a later version", malformed="version 99"),
        mark("types", payload_type="unknown", malformed="color type 9, payload type 77"),
        mark(None, "none", malformed="message type -4"),
    ]


def test_handles():
    unknown = "<unknown domain>"
    assert events_of("handles") == [
        {"kind": "domain_create", "domain": "one"},
        {"kind": "domain_create", "domain": "two"},
        mark(None, "registered", "one", unknown_string=0xDEAD),
        {"kind": "register_string", "domain": "two", "message": "of two"},
        mark("of two", "registered", "one", string_of_domain="two"),
        mark("of two", "registered", string_of_domain="two"),
        mark("in no domain", domain=unknown),
        event("push", unknown, "in no domain", "ascii", depth=0),
        event("pop", unknown, "in no domain", "ascii", depth=0, dur=True),
        {"kind": "domain_destroy", "domain": unknown},
        {"kind": "register_string", "domain": unknown, "message": "s"},
        {"kind": "resource_destroy", "domain": None, "resource": 0xDEAD, "name": None},
        {"kind": "sync_releasing", "domain": None, "handle": 0xDEAD, "name": None},
        {"kind": "domain_destroy", "domain": "two"},
        {"kind": "domain_destroy", "domain": "two"},
        mark("after destroy", domain="two"),
        event("start", "one", "after destroy", "ascii", id=1),
        event("end", None, "after destroy", "ascii", id=1, dur=True, started_in="one"),
        event("end", None, None, "none", id=1, dur=False),
        event("end", "one", None, "none", id=0, dur=False),
        event("end", "one", None, "none", id=123456789, dur=False),
        event("pop", "one", None, "none", depth=-1, dur=False),
    ]


def test_text():
    def decoded(raw):
        return raw.decode("utf-8", "surrogateescape")

    assert events_of("text") == [
        mark(""),
        mark(decoded(b"\x80 \xc3( \xf0\x9f\x98\x80 \xed\xa0\x80 \xff")),
        mark('"quote" \\ \n\t\x01\x7f'),
        mark(decoded(b"\xed\xa0\x80 \xef\xbf\xbd"), "unicode"),
        mark("x" * 2**20),
    ]


def test_payloads():
    def refused(why):
        return mark("payload", payload_type="ext", payload_data=[], malformed=why)

    def bare(kind, data, **fields):
        return event(kind, None, None, "none", payload_type="ext", payload_data=data, **fields)

    def bad(schema, size, error):
        return {"schema": schema, "hex": None, "size": size, "error": error}

    assert events_of("payloads") == [
        refused("unreadable payload 0"),
        refused("unreadable payload 0"),
        refused("payload count -1"),
        refused("payload count 1073741824"),
        bare("mark", [
            bad(1, 4, "null"), {"schema": 2, "hex": ""}, bad(3, 16, "unreadable"),
            bad(4, HUGE - 1, "too large"), bad(5, 0, "size unknown"),
            bad(75, 0, "size unknown"), {"schema": 77, "hex": "610062000000"},
            {"schema": 6, "hex": b"ok".hex()},
        ], payload_error="size does not fit"),
        bare("mark", [], malformed="unreadable payload 0"),
        bare("mark", [], malformed="payload count -1"),
        {"kind": "event_submit", "domain": None, "payload_data": [],
         "malformed": "unreadable payload 0"},
        {"kind": "event_batch", "domain": None, "error": "null"},
        {"kind": "event_batch", "domain": None, "schema": 0, "scope": 0, "flags": 0, "size": HUGE,
         "hex": None, "error": "too large"},
        bare("pop", [], depth=-1, dur=False),
        bare("end", [], id=99, dur=False),
    ]  # fmt: skip


def test_registrations():
    def one(kind, **fields):
        return {"kind": kind, "domain": None, **fields}

    schema = {"type": 0, "flags": 0, "static_size": 0, "pack_align": 0, "entries": [], "hex": None}
    events = events_of("registrations")
    (circle,) = [found for found in events if len(found.get("semantics", [])) > 1]
    semantics = circle.pop("semantics")
    assert len(semantics) == 16
    assert all(item == semantics[0] for item in semantics)
    assert events == [
        one("schema_register", error="null", id="#1", name=None, **schema),
        one("schema_register", id="#2", name="<unreadable>", **schema, entries_given=HUGE,
            entries_error="too many"),
        one("schema_register", id=2**24, name="<unreadable>", **schema, entries_given=2,
            entries_error="null"),
        one("enum_register", error="null", id="#3", name=None, size=0, entries=[]),
        one("scope_register", error="null", id="#4", name=None, parent=0),
        one("time_domain_register", error="null", id="#5", scope=0, timestamp_type=0, flags=0,
            resolution=0, start=0),
        one("time_sync_table", time_domain_src=1, time_domain_dst=2, entries_given=3,
            entries_error="null", points=[]),
        one("timer_source", time_domain=0, flags=0, provider=0),
        one("counter_register", error="null", id="#6", name=None, description=None, schema=0,
            scope=0, semantics=[]),
        one("counter_register", id=2**24, name=None, description=None, schema=0, scope=0),
        one("counter_sample", counter=1, name=None, size=8, hex=None, error="null"),
        one("counter_sample", counter=1, name=None, size=HUGE, hex=None, error="too large"),
        one("counter_batch", counter=0, name=None, error="null"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "part", ["nulls", "attributes", "handles", "text", "payloads", "registrations"]
)
def test_in_text(part):
    done = run_command([str(build(PROGRAM)), part], env={"NVSPAN_TRACE": "format=text"})
    assert done.stdout == "done\n"
    assert all(ord(character) >= 32 for line in done.stderr.splitlines() for character in line)
