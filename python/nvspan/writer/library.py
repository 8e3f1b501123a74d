# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions that write into a backend's library, through NVTX's writer interface."""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import TYPE_CHECKING

from nvspan._runtime.enums import EntryKind, EventKind, PayloadEntryType
from nvspan.writer import abi
from nvspan.writer.layout import INT64, KINDS_WITH_ID, TIMES, Field, Layout
from nvspan.writer.options import NO_FIELDS

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from nvspan._runtime.enums import BatchOrdering
    from nvspan._runtime.semantics import CounterSemantics
    from nvspan.writer.layout import EventSchema
    from nvspan.writer.options import CounterOptions, EventColumns, EventFields, StreamOptions

_STATIC, _DYNAMIC = 1, 2
_UTF8 = 76
_RANGE_ID, _COLOR = PayloadEntryType.RANGE_ID.value, PayloadEntryType.COLOR_ARGB.value
_CATEGORY, _STRING = PayloadEntryType.CATEGORY.value, PayloadEntryType.REGISTERED_STRING.value
_FORMATS = {_RANGE_ID: "Q", INT64: "q", _COLOR: "I", _CATEGORY: "I", _STRING: "Q"}
_MESSAGE = EntryKind.MESSAGE.value
_ZERO_TERMINATED = 2 << 4
_LIMIT_MIN, _LIMIT_MAX = 1 << 2, 1 << 3
_VALUE_TYPES = {"ABSOLUTE": 1, "DELTA": 2, "DELTA_SINCE_START": 3}
_INTERPOLATIONS = {"POINT": 1, "SINCE_LAST": 2, "UNTIL_NEXT": 3, "LINEAR": 4}
_LIMITS = {1: "q", 2: "Q", 3: "d"}
_BARE = (EventKind.RANGE_POP, EventKind.RANGE_END)
_UNSORTED = 3 << 1
_SEMANTICS_ID, _SEMANTICS_VERSION = 5, 2


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _semantics(semantics: CounterSemantics) -> ctypes.Structure:
    flags = _VALUE_TYPES[semantics.value_type.name] << 4
    flags |= _INTERPOLATIONS[semantics.interpolation.name] << 8
    kind = semantics._limit_type
    limits = []
    for limit, flag in ((semantics.min, _LIMIT_MIN), (semantics.max, _LIMIT_MAX)):
        flags |= 0 if limit is None else flag
        packed = bytes(8) if limit is None else struct.pack(_LIMITS[kind], limit)
        limits.append(int.from_bytes(packed, sys.byteorder))
    scale = semantics.unit_scale_numerator, semantics.unit_scale_denominator
    header = (_SEMANTICS_ID, _SEMANTICS_VERSION, None)
    return abi.sized(abi.CounterSemantics, *header, flags, semantics.unit, *scale, kind, *limits)


class LibrarySession:
    """A session of a library with NVTX's writer interface."""

    def __init__(self, interface: abi.Interface, name: str | None, config: str | None) -> None:
        self._interface = interface
        attributes = abi.sized(abi.SessionAttributes, _bytes(name), _bytes(config))
        self._handle = self._interface.register("SessionBegin", attributes)

    def domain(self, name: str | None) -> LibraryDomain:
        """Registers a domain; None: the default one."""
        attributes = abi.sized(abi.DomainAttributes, _bytes(name))
        handle = self._interface.register("DomainRegister", self._handle, attributes)
        return LibraryDomain(self._interface, handle)

    def stream(self, options: StreamOptions, domain: Any) -> LibraryStream:
        """Opens a stream of events of a domain."""
        attributes = abi.sized(
            abi.StreamAttributes,
            _bytes(options.name),
            domain.handle,
            options.scope,
            options.time_domain,
            options.interleaving,
            options.ordering,
            options.skid,
            options.skid_amount,
        )
        handle = self._interface.register("StreamOpen", self._handle, attributes)
        return LibraryStream(self._interface, handle, domain, options.scope)

    def end(self, complete: bool) -> None:
        """Ends the session. A library is not told whether it is complete."""
        self._interface.call("SessionEnd", self._handle)


class LibraryDomain:
    """A domain of a library's session, and what is registered in it."""

    def __init__(self, interface: abi.Interface, handle: int) -> None:
        self._interface = interface
        self.handle = handle
        self._schemas: dict[Layout, int] = {}
        self._events: dict[tuple[EventKind, bool], tuple[int, struct.Struct]] = {}
        self._message: int | None = None

    def string(self, text: str) -> int:
        """Registers a string: its handle."""
        return self._interface.register("StringRegister", self.handle, _bytes(text))

    def category(self, number: int, name: str) -> None:
        """Names a category."""
        self._interface.call("CategoryRegister", self.handle, number, _bytes(name))

    def scope(self, path: str | None, parent: int) -> int:
        """Registers a scope within another: its number."""
        attributes = abi.sized(abi.ScopeAttributes, _bytes(path), parent, 0)
        return self._interface.register("ScopeRegister", self.handle, attributes)

    def _register(self, entries: list[ctypes.Structure], flags: int, size: int | None) -> int:
        """A schema of that size; None: of payloads of any size."""
        attributes = abi.SchemaAttributes()
        attributes.fields = abi.TYPE | abi.FLAGS | abi.ENTRIES | abi.COUNT
        attributes.type, attributes.flags = _DYNAMIC, flags
        array = (abi.SchemaEntry * len(entries))(*entries)
        attributes.entries, attributes.count = ctypes.addressof(array), len(entries)
        if size is not None:
            attributes.fields |= abi.STATIC_SIZE
            attributes.type, attributes.static_size = _STATIC, size
        return self._interface.register("SchemaRegister", self.handle, attributes)

    def schema(self, layout: Layout) -> int:
        """The number of a layout's schema, which is registered once, with those nested in it."""
        known = self._schemas.get(layout)
        if known is not None:
            return known
        entries, kept = [], []
        for name, kind, flags, detail, offset, semantics in layout.fields:
            number = self.schema(kind) if isinstance(kind, Layout) else kind
            entry = abi.SchemaEntry(flags, number, name.encode(), None, detail, offset)
            if semantics is not None:
                kept.append(_semantics(semantics))
                entry.semantics = ctypes.addressof(kept[-1])
            entries.append(entry)
        self._schemas[layout] = number = self._register(entries, layout.flags, layout.size)
        return number

    def event_schema(self, kind: EventKind, registered: bool) -> tuple[int, struct.Struct]:
        """The schema of single events and their form: id, times, color, category, message."""
        known = self._events.get((kind, registered))
        if known is not None:
            return known
        entries = [("rangeId", _RANGE_ID, 0)] if kind in KINDS_WITH_ID else []
        entries += [(role.name.lower(), INT64, role.value) for role in TIMES[kind]]
        if kind not in _BARE:
            entries += [("color", _COLOR, 0), ("category", _CATEGORY, 0)]
        if registered:
            entries.append(("message", _STRING, _MESSAGE))
        fields, form = [], "="
        for name, number, flags in entries:
            fields.append(Field(name, number, flags, 0, struct.calcsize(form), None))
            form += _FORMATS[number]
        layout = Layout(struct.calcsize(form), kind.value, tuple(fields))
        self._events[kind, registered] = known = self.schema(layout), struct.Struct(form)
        return known

    def message_schema(self) -> int:
        """The schema of a message that is not registered, registered once."""
        if self._message is None:
            entry = abi.SchemaEntry(_MESSAGE | _ZERO_TERMINATED, _UTF8, b"message")
            self._message = self._register([entry], 0, None)
        return self._message

    def counter(self, options: CounterOptions) -> int:
        """Registers a counter: its number."""
        layout = options.layout
        schema = layout if isinstance(layout, int) else self.schema(layout)
        name, description = _bytes(options.name), _bytes(options.description)
        attributes = abi.sized(
            abi.CounterAttributes, schema, name, description, options.scope, None, 0
        )
        filled = None if options.semantics is None else _semantics(options.semantics)
        if filled is not None:
            attributes.semantics = ctypes.addressof(filled)
        return self._interface.register("CounterRegister", self.handle, attributes)


class LibraryStream:
    """A stream of a library's session. One thread at a time writes to it."""

    def __init__(
        self, interface: abi.Interface, handle: int, domain: LibraryDomain, scope: int
    ) -> None:
        self._interface = interface
        self._handle = handle
        self._domain = domain
        self._scope = scope
        # The buffers of a single event: one thread at a time writes to a stream.
        self._head = ctypes.create_string_buffer(48)
        self._data = (abi.PayloadData * 2)()
        self._first = self._data[0]
        self._first.data = ctypes.addressof(self._head)
        self._event_write = interface.EventWrite

    def single(
        self,
        kind: EventKind,
        times: tuple[int, ...],
        fields: EventFields = NO_FIELDS,
        range_id: int = 0,
    ) -> None:
        """Writes an event of the usual fields."""
        message, color, category = fields
        values = (range_id, *times) if kind in KINDS_WITH_ID else times
        if kind not in _BARE:
            values += (color, category)
        count, registered = 1, False
        if isinstance(message, int):
            registered, values = True, (*values, message)
        elif kind not in _BARE:
            # Payloads without bytes are ignored: an empty message is its terminating zero.
            text = _bytes(message) or b"\0"
            count, second = 2, self._data[1]
            second.schema, second.size = self._domain.message_schema(), len(text)
            second.data = ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p)
        first = self._first
        first.schema, form = self._domain.event_schema(kind, registered)
        first.size = form.size
        form.pack_into(self._head, 0, *values)
        code = self._event_write(self._handle, self._data, count)
        if code:
            abi.check(code, "EventWrite")

    def event(self, schema: EventSchema, row: np.ndarray[Any, Any]) -> None:
        """Writes an event of the user's schema."""
        data = abi.PayloadData(schema.id, row.nbytes, row.ctypes.data)
        self._interface.call("EventWrite", self._handle, data, 1)

    def _batch(self, schema: int, rows: np.ndarray[Any, Any], ordering: int) -> None:
        batch = abi.EventBatch(schema, rows.nbytes, rows.ctypes.data, self._scope, ordering)
        self._interface.call("EventBatchWrite", self._handle, batch)

    def batch(
        self, schema: EventSchema, rows: np.ndarray[Any, Any], ordering: BatchOrdering
    ) -> None:
        """Writes rows of the user's schema at once."""
        self._batch(schema.id, rows, ordering.value)

    def columns(self, kind: EventKind, columns: EventColumns) -> None:
        """Writes events given as columns, as one batch; a message for all is registered first."""
        import numpy as np

        message = columns.message
        if isinstance(message, str):
            columns = columns._replace(message=self._domain.string(message))
        fields = [(name, "i8") for name in ("start", "end")[: len(TIMES[kind])]]
        fields += [("color", "u4"), ("category", "u4"), ("message", "u8")]
        rows = np.zeros(len(columns.start), fields)
        for name, _ in fields:
            column = getattr(columns, name)
            rows[name] = 0 if column is None else column
        self._batch(self._domain.event_schema(kind, True)[0], rows, _UNSORTED)

    def sample(self, counter: int, time: int, value: int | float | np.ndarray[Any, Any]) -> None:
        """Writes a counter's value."""
        if isinstance(value, (int, float)):
            data = struct.pack("q" if isinstance(value, int) else "d", value)
        else:
            data = value.tobytes()
        self._interface.call("CounterWrite", self._handle, time, counter, data, len(data))

    def no_value(self, counter: int, time: int, reason: int) -> None:
        """Writes that a counter has no value, and why."""
        self._interface.call("CounterNoValueWrite", self._handle, time, counter, reason)

    def samples(
        self,
        counter: int,
        rows: np.ndarray[Any, Any],
        times: np.ndarray[Any, Any] | str,
        ordering: BatchOrdering,
    ) -> None:
        """Writes a counter's values at once; `times` are theirs, or the field that has them."""
        batch = abi.CounterBatch(counter, rows.ctypes.data, rows.nbytes, ordering.value)
        if not isinstance(times, str):
            batch.timestamps, batch.timestamps_size = times.ctypes.data, times.nbytes
        self._interface.call("CounterBatchWrite", self._handle, batch)

    def close(self) -> None:
        """Closes the stream."""
        self._interface.call("StreamClose", self._handle)
