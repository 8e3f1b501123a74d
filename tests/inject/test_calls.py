# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every function that the NVTX headers define is accepted, and shown with all that it was told."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.compile import build
from helpers.essence import essence, event
from helpers.traced import needs_library, run_command

pytestmark = needs_library
PROGRAMS = Path(__file__).parents[1] / "programs"
STUBS = f"-I{PROGRAMS / 'stubs'}"


def events_of(name, *arguments):
    program = build(PROGRAMS / f"{name}.cpp", STUBS)
    events = run_command([str(program), *arguments]).events
    first, rest = essence(events)[0], essence(events)[1:]
    assert first == {"kind": "init", "nvtx_version": 3, "object": str(program)}
    return rest


def ranges(kind, message, message_type="ascii", **fields):
    return event(kind, None, message, message_type, **fields)


def payload(value, type_):
    return ranges("mark", "payload", payload=value, payload_type=type_)


CORE = [
    {"kind": "name_category", "domain": None, "category": 7, "name": "seven"},
    {"kind": "name_category", "domain": None, "category": 8, "name": "acht é"},
    ranges("mark", "mark ex", color=0x8012ABCD, category=7, category_name="seven",
           payload=2**64 - 1, payload_type="u64"),
    ranges("mark", "mark a"),
    ranges("mark", "mark w € \U0001f600", "unicode"),
    ranges("start", "start ex", "unicode", category=8, category_name="acht é", id=1),
    ranges("start", "start a", id=2),
    ranges("start", "start w", "unicode", id=3),
    ranges("end", "start a", id=2, dur=True),
    ranges("end", "start ex", "unicode", id=1, dur=True),
    ranges("end", "start w", "unicode", id=3, dur=True),
    ranges("push", "push ex", payload=-(2**63), payload_type="i64", depth=0),
    ranges("push", "push a", depth=1),
    ranges("push", "push w", "unicode", depth=2),
    ranges("pop", "push w", "unicode", depth=2, dur=True),
    ranges("pop", "push a", depth=1, dur=True),
    ranges("pop", "push ex", depth=0, dur=True),
    ranges("pop", None, "none", depth=-1, dur=False),
    {"kind": "name_thread", "thread": 4000001, "name": "thread a"},
    {"kind": "name_thread", "thread": 4000002, "name": "thread w"},
    *(payload(value, "f64") for value in (0.1, -2.0, 1e300, "inf", "-inf", "nan")),
    payload(2**32 - 1, "u32"),
    payload(-5, "i32"),
    payload(0.1, "f32"),
]  # fmt: skip

A, W = "domain a", "domain w"
IN_A = {"category": 7, "category_name": "a's seven"}
IN_W = {"category": 7, "category_name": "w's seven"}
DOMAINS = [
    {"kind": "domain_create", "domain": A},
    {"kind": "domain_create", "domain": W},
    {"kind": "name_category", "domain": A, "category": 7, "name": "a's seven"},
    {"kind": "name_category", "domain": W, "category": 7, "name": "w's seven"},
    {"kind": "register_string", "domain": A, "message": "registered a"},
    {"kind": "register_string", "domain": W, "message": "registered w"},
    {"kind": "register_string", "domain": A, "message": "registered a"},
    event("mark", A, "registered a", "registered", **IN_A),
    event("push", A, "registered a", "registered", **IN_A, depth=0),
    event("push", W, "registered w", "registered", **IN_W, depth=0),
    event("push", A, "registered a", "registered", **IN_A, depth=1),
    event("start", W, "registered w", "registered", **IN_W, id=4),
    event("pop", W, "registered w", "registered", depth=0, dur=True),
    event("pop", A, "registered a", "registered", depth=1, dur=True),
    event("pop", A, "registered a", "registered", depth=0, dur=True),
    event("end", W, "registered w", "registered", id=4, dur=True),
    {"kind": "resource_create", "domain": A, "resource": "#1", "name": "resource", "type": 65537,
     "identifier": 0x1234},
    {"kind": "resource_destroy", "domain": A, "resource": "#1", "name": "resource"},
    {"kind": "domain_destroy", "domain": W},
    {"kind": "domain_destroy", "domain": A},
]  # fmt: skip


def names(kind, first, *whats):
    """What an A and a W function each name, with consecutive handles."""
    for index, (what, text) in enumerate(whats):
        for offset, suffix in enumerate("aw"):
            yield {"kind": kind, "what": what, "handle": first + 2 * index + offset,
                   "name": f"{text} {suffix}"}  # fmt: skip


def same(prefix, *words):
    return [(f"{prefix}_{word}", f"{prefix} {word}") for word in words]


NAMES = [
    *names("name_cuda", 0, *same("cu", "device")),
    *names("name_cuda", 16, *same("cu", "context", "stream", "event")),
    *names("name_cuda", 2, *same("cuda", "device")),
    *names("name_cuda", 22, *same("cuda", "stream", "event")),
    *names("name_opencl", 32, ("cl_device", "cl device"), ("cl_context", "cl context"),
           ("cl_command_queue", "cl queue"), ("cl_mem_object", "cl mem"),
           ("cl_sampler", "cl sampler"), ("cl_program", "cl program"), ("cl_event", "cl event")),
]  # fmt: skip
SYNC = [
    {"kind": f"sync_{what}", "domain": None, "handle": "#2", "name": "lock"}
    for what in ("create", "acquire_start", "acquire_failed", "acquire_success", "releasing",
                 "destroy")
]  # fmt: skip


def test_every_core_call():
    assert events_of("every_core_call") == [*CORE, *DOMAINS, *NAMES, *SYNC]


POINT = {"schema": "#1", "hex": "ffffffff00ff00ff"}
EXT = {"payload_type": "ext", "payload_data": [POINT], "payload_fields": {"x": -1}}
GREEN = {"color": 0xFF00FF00}  # the payload says so


def ext(kind, **fields):
    return {"kind": kind, "domain": "ext", **fields}


def ext_range(kind, **fields):
    return event(kind, "ext", None, "none", **fields)


PAYLOAD = [
    ext("domain_create"),
    ext("enum_register", id=2**24 + 5, name="Switch", size=1,
        entries=[{"name": "off", "value": 0, "is_flag": False},
                 {"name": "on", "value": 1, "is_flag": True}]),
    ext("scope_register", id="#2", name="rack/node", parent=1),
    ext_range("mark", **EXT, **GREEN),
    ext_range("push", payload_type="ext",
              payload_data=[POINT, {"schema": 75, "hex": b"inline\0".hex()}],
              payload_fields={"x": -1, "value": "inline"}, **GREEN, depth=0),
    ext_range("pop", **EXT, depth=0, dur=True),
    ext_range("start", **EXT, **GREEN, id=1),
    ext_range("end", payload_type="ext", payload_data=[], id=1, dur=True),
    event("mark", "ext", "classic", "ascii", **EXT, **GREEN),
    ext("time_domain_register", id="#3", scope=21, timestamp_type=10, flags=4, resolution=10,
        start=1),
    ext("timer_source", time_domain=10, flags=0),
    ext("timer_source", time_domain=10, flags=1, data=0),
    ext("time_sync_point", time_domain_1=1, time_domain_2=10, timestamp_1=-5, timestamp_2=6),
    ext("time_sync_table", time_domain_src=1, time_domain_dst=10, points=[[1, 2], [3, 4]]),
    ext("time_conversion", time_domain_src=1, time_domain_dst=10, slope=0.5, timestamp_src=7,
        timestamp_dst=8),
    ext("event_submit", payload_data=[POINT], payload_fields={"x": -1}),
    ext("event_batch", schema="#1", scope=0, flags=6, size=8, hex=POINT["hex"],
        events=[{"x": -1}]),
]  # fmt: skip

SAMPLE = {"counter": "#4", "name": "queue"}
COUNTERS = [
    ext("counter_register", id="#4", name="queue", description="its length", schema=17, scope=22),
    ext("counter_sample", **SAMPLE, value=-3),
    ext("counter_sample", **SAMPLE, value=0.25),
    ext(
        "counter_sample", **SAMPLE, size=2, hex="0102", values=[], payload_error="size does not fit"
    ),
    ext("counter_sample", **SAMPLE, no_value=2),
    ext(
        "counter_batch",
        **SAMPLE,
        flags=0,
        size=2,
        hex="0102",
        timestamps=[10, 20],
        values=[],
        payload_error="size does not fit",
    ),
]


def test_every_extension_call():
    events = events_of("every_extension_call")
    for found in events:
        if found["kind"] == "timer_source":
            assert found.pop("provider") > 0
    # Semantics and schema entries hold pointers of the program's: stated by themselves.
    (counter,) = [found for found in events if found["kind"] == "counter_register"]
    (semantics,) = counter.pop("semantics")
    assert (semantics["id"], semantics["version"], len(semantics["hex"])) == (5, 2, 2 * 72)
    schema = events.pop(1)
    x, color = schema.pop("entries")
    assert len(schema.pop("hex")) == 2 * 2 * 64
    (semantics,) = x.pop("semantics")
    assert semantics == {"id": 9, "version": 1, "hex": "1000000009000100" + "00" * 8}
    assert x == {"flags": 0, "type": 15, "name": "x", "description": "across",
                 "array_or_union_detail": 0, "offset": 0}  # fmt: skip
    assert color == {"flags": 1 << 9, "type": 69, "name": "color", "description": None,
                     "array_or_union_detail": 0, "offset": 4, "semantics": []}  # fmt: skip
    assert schema == ext("schema_register", id="#1", name="Point", type=1, flags=0, static_size=8,
                         pack_align=0)  # fmt: skip
    assert events == [*PAYLOAD, *COUNTERS]  # none of the memory extension, which nobody calls


@pytest.mark.parametrize("program", ["every_core_call", "every_extension_call"])
def test_every_call_in_text(program):
    path = build(PROGRAMS / f"{program}.cpp", STUBS)
    done = run_command([str(path)], env={"NVSPAN_TRACE": "format=text"})
    assert done.events == []
    assert done.stderr.count("\n") > {"every_core_call": 20, "every_extension_call": 13}[program]
