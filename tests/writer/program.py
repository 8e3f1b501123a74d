# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Uses every part of the writer of a package: of nvtx, or of nvspan.

program.py PACKAGE BACKEND OUTPUT prints what each call returned or raised.
"""

from __future__ import annotations

import importlib
import pickle
import sys

import numpy as np

package, library, output = sys.argv[1:4]
nvtx = importlib.import_module(package)
writer = importlib.import_module(f"{package}.writer")
dtype, Role, Type, Kind = nvtx.numpy_dtype, nvtx.EntryKind, nvtx.PayloadEntryType, nvtx.EventKind
BEGIN, END = dtype("i8", entry_kind=Role.RANGE_BEGIN), dtype("i8", entry_kind=Role.RANGE_END)
MARK = dtype("u8", entry_kind=Role.MARK)
STAMP = dtype("i8", entry_kind=Role.COUNTER_TIMESTAMP)
ID = dtype("u8", entry_type=Type.RANGE_ID)
RANGE = np.dtype([
    ("begin", BEGIN), ("end", END), ("color", dtype("u4", entry_type=Type.COLOR_ARGB)),
    ("category", dtype("u4", entry_type=Type.CATEGORY)),
    ("message", dtype(np.uintp, entry_type=Type.REGISTERED_STRING)), ("n", "i2"), ("x", "f4", 3),
])  # fmt: skip


def attempt(call, *arguments, **named):
    try:
        result = call(*arguments, **named)
    except Exception as error:
        print("  raised", type(error).__name__)
        return None
    print("  gave", type(result).__name__)
    return result


def rows(count):
    made = np.zeros(count, RANGE)
    made["begin"] = np.arange(count) * 10
    made["end"] = made["begin"] + 5
    made["color"], made["category"], made["n"] = 0xFF00FF00, 3, np.arange(count)
    return made


backend = writer.load_backend(library)
again = writer.load_backend(library)
config = f"file={output}\nother=1"
with writer.Session("run ✓", backend=backend, config=config) as session:
    domain = session.get_domain("app")
    assert domain is session.get_domain(b"app")
    default = session.get_domain("")
    assert default is session.get_domain(None)
    text = domain.get_registered_string("text")
    assert text is domain.get_registered_string(b"text")
    print(repr(text), isinstance(text.handle, int))
    scope = domain.get_scope("GPU[0]")
    inner = domain.get_scope("Queue[1]", parent=scope)
    domain.get_scope("below", parent=writer.PredefinedScope.CURRENT_HW_MACHINE)
    print(inner.path, repr(scope).startswith("Scope(scope_id="))
    attempt(domain.get_scope, "x", parent=writer.PredefinedScope.CURRENT_SW_THREAD)
    attempt(default.get_scope, "x", parent=scope)
    attempt(domain.get_scope, "x", parent=5)
    print(domain.get_category_id("io"), domain.get_category_id(b"io"))
    with session.create_stream(
        "stream", domain=domain, scope=inner, time_domain_id=nvtx.TimestampType.CPU_TSC,
        interleaving=writer.StreamInterleaving.SCOPE,
        ordering=writer.StreamOrdering.PACKED_RANGE_END,
        skid=writer.StreamSkid.TIME_NS, skid_amount=7,
    ) as stream:  # fmt: skip
        stream.write_mark(1)
        stream.write_mark(-2, message="é", color="red", category="io")
        stream.write_mark(3, message=text, color=0x11223344, category=2)
        print(domain.get_category_id("next"))
        stream.write_pushpop(5, 9, message=b"bytes")
        stream.write_pushpop(5, 9, message=text)
        stream.write_startend(6, 8, message="se", category=0)
        stream.write_startend(6, 8, message=text, color=7)
        stream.write_push(10, message="")
        stream.write_push(11, message=text)
        stream.write_pop(12)
        stream.write_start(13, 77, message="started")
        stream.write_start(14, 2**64 - 1, message=text)
        stream.write_end(15, 77)
        for call, arguments in (
            (stream.write_mark, ("x",)), (stream.write_start, (1, 0)), (stream.write_end, (1, 0)),
            (stream.open, ()),
        ):  # fmt: skip
            attempt(call, *arguments)
        attempt(stream.write_mark, 1, message=5)
        attempt(stream.write_mark, 1, category=1.5)
        attempt(stream.write_mark, 1, category=-1)
        attempt(stream.write_mark, 1, message=default.get_registered_string("other"))
        schema = domain.get_schema(RANGE, kind=Kind.RANGE_PUSHPOP)
        assert schema is domain.get_schema(RANGE, kind=Kind.RANGE_PUSHPOP)
        print(schema.dtype == RANGE, schema.kind is Kind.RANGE_PUSHPOP)
        batch = rows(5)
        batch["message"] = text.handle
        stream.write_event_batch(schema, batch)
        stream.write_event_batch(schema, batch[::2], ordering=nvtx.BatchOrdering.UNSORTED)
        stream.write_event_batch(schema, [tuple(row) for row in rows(2)])
        stream.write_event(schema, tuple(batch[1]))
        stream.write_event(schema, batch[2])
        marks = domain.get_schema(np.dtype([("t", MARK), ("note", "S4"), ("u", "U2")]),
                                  kind=Kind.MARK)  # fmt: skip
        stream.write_event_batch(marks, [(1, b"ab", "é")])
        start = domain.get_schema(np.dtype([("t", BEGIN), ("i", ID)]), kind=Kind.RANGE_START)
        stream.write_event(start, (20, 5))
        end = domain.get_schema(np.dtype([("i", ID), ("t", END)]), kind=Kind.RANGE_END)
        stream.write_event(end, (5, 30))
        try:
            import pandas as pd
        except ImportError:
            pass
        else:
            frame = pd.DataFrame({"t": [5, 6], "note": [b"x", b"y"], "u": ["a", "b"], "z": [0, 0]})
            stream.write_event_batch(marks, frame)
            attempt(stream.write_event_batch, marks, frame.drop(columns="u"))
        plain = domain.get_schema([("a", "i4"), ("inner", [("b", "f8"), ("c", "u1", (2, 2))])])
        print(plain.kind)
        attempt(stream.write_event, plain, (1, (2, [[1, 2], [3, 4]])))
        attempt(stream.write_event_batch, start, [(1, 2)])
        attempt(stream.write_event_batch, marks, [])
        attempt(stream.write_event_batch, marks, [(1, b"", "")], ordering=3)
        attempt(stream.write_event_batch, marks, np.zeros((2, 2), marks.dtype))
        attempt(stream.write_event_batch, None, [])
        attempt(domain.get_schema, "i4", kind=Kind.MARK)
        attempt(domain.get_schema, [("t", BEGIN)], kind=Kind.MARK)
        attempt(domain.get_schema, [("t", MARK), ("i", ID)], kind=Kind.MARK)
        attempt(
            domain.get_schema, [("t", BEGIN), ("e", END), ("o", object)], kind=Kind.RANGE_PUSHPOP
        )
        attempt(domain.get_schema, [("t", MARK), ("n", ">i4")], kind=Kind.MARK)
        attempt(domain.get_schema, [("t", MARK)], kind=5)
    attempt(stream.write_mark, 1)
    attempt(stream.close)
    counters = session.create_stream("counters", domain=domain)
    attempt(counters.write_mark, 1)
    counters.open()
    unit = nvtx.CounterSemantics(unit="bytes", min=0, max=2**63, unit_scale_numerator=1024)
    ints = domain.get_counter("ints", int, description="of ints", semantics=unit, scope=inner)
    assert ints is domain.get_counter(b"ints", int, description="of ints", semantics=unit,
                                      scope=inner)  # fmt: skip
    print(repr(ints).startswith("Counter(name='ints', counter_id="), ints.name, ints.description,
          ints.semantics == unit, ints.dtype is int or ints.dtype)  # fmt: skip
    reals = domain.get_counter("reals", float, scope=1 << 24)
    small = domain.get_counter("small", "u2")
    group = domain.get_counter("group", [("a", dtype("i4", counter_semantics=unit)), ("b", "f8")])
    timed = domain.get_counter("timed", [("t", STAMP), ("v", "f4")])
    counters.write_counter_sample(ints, 1, 5)
    counters.write_counter_sample(reals, 2, 2)
    counters.write_counter_sample(small, 3, 9)
    counters.write_counter_sample(group, 4, (1, 2.5))
    for reason in nvtx.CounterNoValueReason:
        counters.write_counter_sample_no_value(ints, 5, reason)
    counters.write_counter_batch(ints, [1, 2, 3], timestamps=[1, 2, 3])
    counters.write_counter_batch(reals, np.arange(3), timestamps=np.arange(3, dtype="u4"))
    counters.write_counter_batch(group, [(1, 2.0), (3, 4.0)], timestamps=iter([5, 6]),
                                 ordering=nvtx.BatchOrdering.PARTIALLY_SORTED)  # fmt: skip
    counters.write_counter_batch(timed, [(1, 0.5), (2, 1.5)])
    attempt(counters.write_counter_sample, timed, 1, (1, 2))
    attempt(counters.write_counter_sample, group, 1, [(1, 2.0), (3, 4.0)])
    attempt(counters.write_counter_sample, ints, 1, "x")
    attempt(counters.write_counter_sample, None, 1, 2)
    attempt(counters.write_counter_sample_no_value, ints, 1, 2)
    attempt(counters.write_counter_batch, ints, [1])
    attempt(counters.write_counter_batch, timed, [(1, 2)], timestamps=[1])
    attempt(counters.write_counter_batch, ints, [1], timestamps=[1, 2])
    attempt(counters.write_counter_batch, ints, [], timestamps=[])
    attempt(counters.write_counter_batch, ints, [1], timestamps=[1], ordering=0)
    attempt(domain.get_counter, "array", ("i4", 3))
    attempt(domain.get_counter, "nested", [("a", [("b", "i4")])])
    attempt(domain.get_counter, "two", [("a", STAMP), ("b", STAMP)])
    attempt(domain.get_counter, "role", [("a", BEGIN)])
    attempt(domain.get_counter, "scope", int, scope=7)
    attempt(domain.get_counter, "scope", int, scope="x")
    attempt(default.get_counter, "scope", int, scope=scope)
    attempt(session.create_stream, "x", scope=writer.PredefinedScope.CURRENT_VM)
    attempt(session.create_stream, "x", scope=scope)
    attempt(session.create_stream, "x", ordering=1)
    attempt(session.create_stream, "x", time_domain_id="x")
    attempt(session.create_stream, "x", domain=3)
    attempt(session.get_domain, 5)
    attempt(session.begin)
    attempt(domain.get_registered_string, 5)
    attempt(domain.get_category_id, 5)
attempt(counters.write_counter_sample, ints, 1, 1)
attempt(domain.get_registered_string, "late")
attempt(session.end)
attempt(session.get_domain)
session.begin()
session.end()
for call in ("SessionBegin", "DomainRegister", "StringRegister", "StreamOpen", "EventWrite",
             "EventBatchWrite", "CounterRegister", "CounterBatchWrite", "StreamClose",
             "SessionEnd", "ScopeRegister", "SchemaRegister"):  # fmt: skip
    print(call)
    try:
        with writer.Session("f", backend=backend, config=f"file={output}\nfail={call}") as failing:
            domain = failing.get_domain("d")
            domain.get_registered_string("s")
            domain.get_scope("p")
            counter = domain.get_counter("c", int)
            with failing.create_stream("s", domain=domain) as stream:
                stream.write_mark(1, message="m")
                marks = domain.get_schema([("t", MARK)], kind=Kind.MARK)
                stream.write_event_batch(marks, [(1,)])
                stream.write_counter_batch(counter, [1], timestamps=[1])
    except writer.WriterError as error:
        print(" ", error.result_code)
open_session = writer.Session("open", backend=backend, config=f"file={output}")
open_session.begin()
left = open_session.create_stream("left")
left.open()
attempt(writer.Session, "x", backend=5)
attempt(writer.Backend, 5)
backend.close()
backend.close()
attempt(left.write_mark, 1)
attempt(writer.Session("x", backend=backend).begin)
again.close()
attempt(writer.load_backend, "/no/such/library.so")
attempt(writer.load_backend, sys.argv[4])
third = writer.load_backend(library)
with writer.Session("third", backend=third, config=f"file={output}"):
    pass
error = writer.WriterError(7, "X")
print(error, error.result_code, error.operation, writer.WriterError(99), sorted(writer.__all__))
print([(kind.__name__, [(m.name, m.value) for m in kind]) for kind in (
    writer.StreamInterleaving, writer.StreamOrdering, writer.StreamSkid)])  # fmt: skip
assert pickle.loads(pickle.dumps(writer.StreamOrdering.STRICT)) is writer.StreamOrdering.STRICT
