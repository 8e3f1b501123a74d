# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions that a library takes, through NVTX's writer interface."""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING

from nvspan._runtime.enums import EntryKind, EventKind
from nvspan.writer import abi
from nvspan.writer.backend import check
from nvspan.writer.layout import Layout

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from nvspan._runtime.enums import BatchOrdering
    from nvspan._runtime.semantics import CounterSemantics
    from nvspan.writer.backend import Connection
    from nvspan.writer.layout import EventSchema
    from nvspan.writer.options import Message, StreamOptions

_STATIC, _DYNAMIC = 1, 2
_INT64, _RANGE_ID, _CATEGORY, _COLOR, _UTF8, _STRING = 17, 67, 68, 69, 76, 80
_MESSAGE = EntryKind.MESSAGE.value
_ZERO_TERMINATED = 2 << 4
_LIMIT_MIN, _LIMIT_MAX = 1 << 2, 1 << 3
_VALUE_TYPES = {"ABSOLUTE": 1, "DELTA": 2, "DELTA_SINCE_START": 3}
_INTERPOLATIONS = {"POINT": 1, "SINCE_LAST": 2, "UNTIL_NEXT": 3, "LINEAR": 4}
_LIMITS = {1: "q", 2: "Q", 3: "d"}
# The times of each kind of event, in the order in which they are written.
_TIMES = {
    EventKind.MARK: (EntryKind.MARK,),
    EventKind.RANGE_PUSHPOP: (EntryKind.RANGE_BEGIN, EntryKind.RANGE_END),
    EventKind.RANGE_STARTEND: (EntryKind.RANGE_BEGIN, EntryKind.RANGE_END),
    EventKind.RANGE_PUSH: (EntryKind.RANGE_BEGIN,),
    EventKind.RANGE_POP: (EntryKind.RANGE_END,),
    EventKind.RANGE_START: (EntryKind.RANGE_BEGIN,),
    EventKind.RANGE_END: (EntryKind.RANGE_END,),
}
_TIME, _TIMES_OF = struct.Struct("q").pack, struct.Struct("qq").pack
_HANDLE, _FIELDS = struct.Struct("Q").pack, struct.Struct("II").pack
_WITH_ID = (EventKind.RANGE_START, EventKind.RANGE_END)
_BARE = (EventKind.RANGE_POP, EventKind.RANGE_END)


def _semantics(semantics: CounterSemantics) -> abi.CounterSemantics:
    filled = abi.CounterSemantics()
    filled.header.size = ctypes.sizeof(filled)
    filled.header.id, filled.header.version = 5, 2
    limit = semantics._limit_type
    filled.flags = (
        _VALUE_TYPES[semantics.value_type.name] << 4
        | _INTERPOLATIONS[semantics.interpolation.name] << 8
        | (_LIMIT_MIN if semantics.min is not None else 0)
        | (_LIMIT_MAX if semantics.max is not None else 0)
    )
    filled.unit = semantics.unit
    filled.scale_numerator = semantics.unit_scale_numerator
    filled.scale_denominator = semantics.unit_scale_denominator
    filled.limit_type = limit
    for name in ("min", "max"):
        value = getattr(semantics, name)
        if value is not None:
            bits = struct.unpack("Q", struct.pack(_LIMITS[limit], value))[0]
            setattr(filled, name, bits)
    return filled


class LibrarySession:
    def __init__(self, connection: Connection, name: bytes | None, config: bytes | None) -> None:
        self._interface = interface = connection.interface()
        self._handle = ctypes.c_void_p()
        attributes = abi.SessionAttributes(ctypes.sizeof(abi.SessionAttributes), name, config)
        code = interface.SessionBegin(ctypes.byref(attributes), ctypes.byref(self._handle))
        check(code, "SessionBegin")

    def domain(self, name: bytes | None) -> LibraryDomain:
        handle = ctypes.c_void_p()
        attributes = abi.DomainAttributes(ctypes.sizeof(abi.DomainAttributes), name)
        code = self._interface.DomainRegister(
            self._handle, ctypes.byref(attributes), ctypes.byref(handle)
        )
        check(code, "DomainRegister")
        return LibraryDomain(self._interface, handle)

    def stream(self, options: StreamOptions, domain: Any) -> LibraryStream:
        attributes = abi.StreamAttributes(
            ctypes.sizeof(abi.StreamAttributes), options.name, domain.handle, options.scope,
            options.time_domain, options.interleaving, options.ordering, options.skid,
            options.skid_amount,
        )  # fmt: skip
        handle = ctypes.c_void_p()
        code = self._interface.StreamOpen(
            self._handle, ctypes.byref(attributes), ctypes.byref(handle)
        )
        check(code, "StreamOpen")
        return LibraryStream(self._interface, handle, domain, options.scope)

    def end(self, complete: bool) -> None:
        check(self._interface.SessionEnd(self._handle), "SessionEnd")


class LibraryDomain:
    def __init__(self, interface: abi.Interface, handle: ctypes.c_void_p) -> None:
        self._interface = interface
        self.handle = handle
        self._schemas: dict[Layout, int] = {}
        self._events: dict[tuple[EventKind, bool], int] = {}
        self._message: int | None = None

    def string(self, text: bytes) -> int:
        handle = ctypes.c_void_p()
        code = self._interface.StringRegister(self.handle, text, ctypes.byref(handle))
        check(code, "StringRegister")
        return handle.value or 0

    def category(self, number: int, name: bytes) -> None:
        check(self._interface.CategoryRegister(self.handle, number, name), "CategoryRegister")

    def scope(self, path: bytes | None, parent: int) -> int:
        attributes = abi.ScopeAttributes(ctypes.sizeof(abi.ScopeAttributes), path, parent, 0)
        number = ctypes.c_uint64()
        code = self._interface.ScopeRegister(
            self.handle, ctypes.byref(attributes), ctypes.byref(number)
        )
        check(code, "ScopeRegister")
        return number.value

    def _register(
        self, entries: list[abi.SchemaEntry], size: int, flags: int, kind: int = _STATIC
    ) -> int:
        attributes = abi.SchemaAttributes()
        attributes.fields = abi.TYPE | abi.FLAGS | abi.ENTRIES | abi.COUNT
        attributes.type, attributes.flags = kind, flags
        attributes.entries = (abi.SchemaEntry * len(entries))(*entries)
        attributes.count = len(entries)
        if kind == _STATIC:
            attributes.fields |= abi.STATIC_SIZE
            attributes.static_size = size
        number = ctypes.c_uint64()
        code = self._interface.SchemaRegister(
            self.handle, ctypes.byref(attributes), ctypes.byref(number)
        )
        check(code, "SchemaRegister")
        return number.value

    def schema(self, layout: Layout) -> int:
        known = self._schemas.get(layout)
        if known is not None:
            return known
        entries, kept = [], []
        for field in layout.fields:
            number = self.schema(field.type) if isinstance(field.type, Layout) else field.type
            entry = abi.SchemaEntry(field.flags, number, field.name.encode(), None, field.detail,
                                    field.offset, None, None)  # fmt: skip
            if field.semantics is not None:
                kept.append(_semantics(field.semantics))
                entry.semantics = ctypes.addressof(kept[-1])
            entries.append(entry)
        number = self._schemas[layout] = self._register(entries, layout.size, layout.flags)
        return number

    def event_schema(self, kind: EventKind, registered: bool) -> int:
        """The schema of single events: times, color, category, and a registered message."""
        key = (kind, registered)
        known = self._events.get(key)
        if known is not None:
            return known
        entries = []
        offset = 0

        def add(flags: int, number: int, name: bytes, size: int) -> None:
            nonlocal offset
            entries.append(abi.SchemaEntry(flags, number, name, None, 0, offset, None, None))
            offset += size

        if kind in _WITH_ID:
            add(0, _RANGE_ID, b"rangeId", 8)
        for role in _TIMES[kind]:
            add(role.value, _INT64, role.name.lower().encode(), 8)
        if kind not in _BARE:
            add(0, _COLOR, b"color", 4)
            add(0, _CATEGORY, b"category", 4)
            if registered:
                add(_MESSAGE, _STRING, b"message", 8)
        number = self._events[key] = self._register(entries, offset, kind.value)
        return number

    def message_schema(self) -> int:
        if self._message is None:
            entry = abi.SchemaEntry(_MESSAGE | _ZERO_TERMINATED, _UTF8, b"message", None, 0, 0,
                                    None, None)  # fmt: skip
            self._message = self._register([entry], 0, 0, _DYNAMIC)
        return self._message

    def counter(
        self,
        name: bytes,
        description: bytes | None,
        schema: int,
        scope: int,
        scope_path: str | None,
        semantics: CounterSemantics | None,
    ) -> int:
        attributes = abi.CounterAttributes(
            ctypes.sizeof(abi.CounterAttributes), schema, name, description, scope, None, 0
        )
        filled = None if semantics is None else _semantics(semantics)
        if filled is not None:
            attributes.semantics = ctypes.addressof(filled)
        number = ctypes.c_uint64()
        code = self._interface.CounterRegister(
            self.handle, ctypes.byref(attributes), ctypes.byref(number)
        )
        check(code, "CounterRegister")
        return number.value


class LibraryStream:
    def __init__(
        self, interface: abi.Interface, handle: ctypes.c_void_p, domain: LibraryDomain, scope: int
    ) -> None:
        self._interface = interface
        self._handle = handle
        self._domain = domain
        self._scope = scope
        # What a single event is written from: a stream is written by one thread at a time.
        self._head = ctypes.create_string_buffer(48)
        self._data = (abi.PayloadData * 2)()
        self._first = self._data[0]
        self._first.data = ctypes.addressof(self._head)
        self._event_write = interface.EventWrite

    def single(
        self,
        kind: EventKind,
        times: tuple[int, ...],
        message: Message,
        color: int,
        category: int,
        range_id: int,
    ) -> None:
        domain, data = self._domain, self._data
        head = _TIME(*times) if len(times) == 1 else _TIMES_OF(*times)
        if kind in _WITH_ID:
            head = _HANDLE(range_id) + head
        count = 1
        if kind not in _BARE:
            head += _FIELDS(color, category)
            if isinstance(message, int):
                head += _HANDLE(message)
            else:
                # A payload without bytes is not looked at: an empty message is its terminating
                # zero.
                text = message or b"\0"
                count = 2
                data[1].schema, data[1].size = domain.message_schema(), len(text)
                data[1].data = ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p)
        self._head.raw = head
        first = self._first
        first.schema = domain.event_schema(kind, isinstance(message, int) and kind not in _BARE)
        first.size = len(head)
        code = self._event_write(self._handle, data, count)
        if code:
            check(code, "EventWrite")

    def event(self, schema: EventSchema, row: np.ndarray[Any, Any]) -> None:
        data = abi.PayloadData(schema.id, row.nbytes, row.ctypes.data)
        check(self._interface.EventWrite(self._handle, ctypes.byref(data), 1), "EventWrite")

    def _batch(self, schema: int, rows: np.ndarray[Any, Any], ordering: int) -> None:
        batch = abi.EventBatch(
            schema, rows.nbytes, rows.ctypes.data, self._scope, ordering, None, 0, 0
        )
        code = self._interface.EventBatchWrite(self._handle, ctypes.byref(batch))
        check(code, "EventBatchWrite")

    def batch(
        self, schema: EventSchema, rows: np.ndarray[Any, Any], ordering: BatchOrdering
    ) -> None:
        self._batch(schema.id, rows, ordering.value)

    def columns(self, kind: EventKind, columns: dict[str, Any], rows: int) -> None:
        import numpy as np

        times = [np.asarray(columns[name], np.int64) for name in ("start", "end")
                 if columns.get(name) is not None]  # fmt: skip
        fields = [(f"time{i}", "i8") for i in range(len(times))]
        fields += [("color", "u4"), ("category", "u4"), ("message", "u8")]
        events = np.zeros(rows, dtype=fields)
        for i, column in enumerate(times):
            events[f"time{i}"] = column
        for name in ("color", "category"):
            events[name] = columns[name] or 0
        message = columns["message"]
        events["message"] = (
            self._domain.string(message) if isinstance(message, bytes)
            else 0 if message is None else message
        )  # fmt: skip
        unsorted = 3 << 1
        self._batch(self._domain.event_schema(kind, True), events, unsorted)

    def sample(self, counter: int, time: int, value: Any) -> None:
        data: Any
        if isinstance(value, int):
            data, size = ctypes.c_int64(value), 8
        elif isinstance(value, float):
            data, size = ctypes.c_double(value), 8
        else:
            data, size = None, value.nbytes
        address = value.ctypes.data if data is None else ctypes.addressof(data)
        code = self._interface.CounterWrite(self._handle, time, counter, address, size)
        check(code, "CounterWrite")

    def no_value(self, counter: int, time: int, reason: int) -> None:
        code = self._interface.CounterNoValueWrite(self._handle, time, counter, reason)
        check(code, "CounterNoValueWrite")

    def samples(self, counter: int, rows: np.ndarray[Any, Any],
                times: np.ndarray[Any, Any] | None, timestamp: str | None,
                ordering: BatchOrdering) -> None:  # fmt: skip
        batch = abi.CounterBatch(counter, rows.ctypes.data, rows.nbytes, ordering.value, None, 0)
        if times is not None:
            batch.timestamps, batch.timestamps_size = times.ctypes.data, times.nbytes
        code = self._interface.CounterBatchWrite(self._handle, ctypes.byref(batch))
        check(code, "CounterBatchWrite")

    def close(self) -> None:
        check(self._interface.StreamClose(self._handle), "StreamClose")
