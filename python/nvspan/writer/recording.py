# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions that become a recording."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nvspan._reader import ExternalWriter
from nvspan._runtime.enums import EventKind, TimestampType
from nvspan.writer.layout import Layout
from nvspan.writer.options import NOT_SUPPORTED, WriterError

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from nvspan._runtime.enums import BatchOrdering
    from nvspan._runtime.semantics import CounterSemantics
    from nvspan.writer.layout import EventSchema, Roles
    from nvspan.writer.options import Message, StreamOptions

_FIRST_SCHEMA = 1 << 24
FIRST_CLOCK = 1 << 32  # of the ids of a session's own clocks, as of time domains that a tool makes
_ROOT_SCOPES = 1 << 32
_MONOTONIC = {
    0,
    TimestampType.TOOL_PROVIDED.value,
    TimestampType.CPU_CLOCK_GETTIME_MONOTONIC.value,
    TimestampType.CPU_CLOCK_GETTIME_MONOTONIC_COARSE.value,
    TimestampType.CPP_STEADY_CLOCK.value,
}
_REALTIME = {
    TimestampType.CPU_CLOCK_GETTIME_REALTIME.value,
    TimestampType.CPU_CLOCK_GETTIME_REALTIME_COARSE.value,
    TimestampType.CPP_SYSTEM_CLOCK.value,
}
_KINDS = {EventKind.RANGE_PUSHPOP: "push_pop", EventKind.RANGE_STARTEND: "start_end"}


def _text(given: bytes | None) -> str | None:
    return None if given is None else given.decode("utf-8", "surrogateescape")


def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


class RecordingSession:
    def __init__(self, path: str, about: dict[str, Any], memory: int) -> None:
        self.writer = ExternalWriter(os.fsencode(path), memory)
        self.about = about
        self._process: int | None = None
        self._streams = 0
        self._realtime: int | None = None
        self.clocks: list[int] = []

    def process(self) -> int:
        """The process of streams that name none: this one."""
        if self._process is None:
            self._process = self.add_process(self.about)
        return self._process

    def add_process(self, about: dict[str, Any]) -> int:
        about = {"boot_id": "", "unix_offset": self.about["unix_offset"], **about}
        if about.get("pid") == os.getpid() and not about["boot_id"]:
            about["boot_id"] = _boot_id()
        return self.writer.process(**about)

    def add_clock(self, points: list[tuple[int, int]], frequency: float) -> int:
        self.clocks.append(self.writer.clock(points, frequency))
        return FIRST_CLOCK + len(self.clocks) - 1

    def clock(self, time_domain: int) -> int | None:
        if time_domain in _MONOTONIC:
            return None
        if time_domain in _REALTIME:
            if self._realtime is None:
                self._realtime = self.writer.clock([(self.about["unix_offset"], 0)])
            return self._realtime
        if FIRST_CLOCK <= time_domain < FIRST_CLOCK + len(self.clocks):
            return self.clocks[time_domain - FIRST_CLOCK]
        raise ValueError(
            f"a recording cannot place times of time domain {time_domain}; "
            "Session.create_clock() says how a clock runs"
        )

    def domain(self, name: bytes | None) -> RecordingDomain:
        return RecordingDomain(self, _text(name))

    def stream(self, options: StreamOptions, domain: Any) -> RecordingStream:
        self._streams += 1
        process = self.process() if options.process is None else options.process
        name = _text(options.name)
        if options.scope_path:
            name = options.scope_path if not name else f"{name} ({options.scope_path})"
        clock = self.clock(options.time_domain)
        tid = self._streams if options.tid is None else options.tid
        thread = None
        if options.device is None:
            thread = self.writer.thread(process, tid, name)
        elif name:
            self.writer.stream_name(process, options.queue or 0, name)
        return RecordingStream(self, domain, process, thread, clock, options)

    def end(self, complete: bool) -> None:
        if complete:
            self.writer.close()
        else:
            self.writer.abort()


class RecordingDomain:
    """A domain, in whichever processes of the recording it is used."""

    def __init__(self, session: RecordingSession, name: str | None) -> None:
        self._session = session
        self._name = name
        self._handles: dict[int, int] = {}
        self._categories: dict[int, str] = {}
        self._scopes: list[str | None] = []
        self._layouts: list[Layout] = []
        self._numbers: dict[Layout, int] = {}
        self._schemas: dict[tuple[int, int], int] = {}
        self._counters: list[dict[str, Any]] = []
        self._counter_handles: dict[tuple[int, int], int] = {}

    def handle(self, process: int) -> int:
        handle = self._handles.get(process)
        if handle is None:
            handle = self._handles[process] = self._session.writer.domain(process, self._name)
            for number, name in self._categories.items():
                self._session.writer.category(handle, number, name)
        return handle

    def string(self, text: bytes) -> int:
        # 0 is no handle.
        return self._session.writer.strings([_text(text)])[0] + 1

    def category(self, number: int, name: bytes) -> None:
        self._categories[number] = _text(name) or ""
        for handle in self._handles.values():
            self._session.writer.category(handle, number, self._categories[number])

    def scope(self, path: bytes | None, parent: int) -> int:
        own = _text(path)
        above = self.scope_path(parent)
        self._scopes.append(f"{above}/{own}" if above and own else own or above)
        return _ROOT_SCOPES + len(self._scopes) - 1

    def scope_path(self, scope: int) -> str | None:
        return None if scope < _ROOT_SCOPES else self._scopes[scope - _ROOT_SCOPES]

    def schema(self, layout: Layout) -> int:
        known = self._numbers.get(layout)
        if known is None:
            self._layouts.append(layout)
            known = self._numbers[layout] = _FIRST_SCHEMA + len(self._layouts) - 1
        return known

    def _schema_of(self, process: int, layout: Layout) -> int:
        key = (process, self.schema(layout))
        known = self._schemas.get(key)
        if known is not None:
            return known
        entries: list[Any] = []
        for field in layout.fields:
            number = (
                self._schema_of(process, field.type)
                if isinstance(field.type, Layout)
                else field.type
            )
            unit = None if field.semantics is None else _text(field.semantics.unit)
            entries.append((field.name, number, field.flags, field.detail, field.offset, unit))
        writer = self._session.writer
        known = writer.schema(self.handle(process), None, layout.size, entries)
        self._schemas[key] = known
        return known

    def schema_in(self, process: int, number: int) -> int:
        return self._schema_of(process, self._layouts[number - _FIRST_SCHEMA])

    def counter(
        self,
        name: bytes,
        description: bytes | None,
        schema: int,
        scope: int,
        scope_path: str | None,
        semantics: CounterSemantics | None,
    ) -> int:
        shown = _text(name) or ""
        layout = None if schema < _FIRST_SCHEMA else self._layouts[schema - _FIRST_SCHEMA]
        group = layout is not None and layout.flags != 0
        self._counters.append({
            "name": f"{shown} ({scope_path})" if scope_path else shown,
            "description": _text(description),
            "unit": None if semantics is None else _text(semantics.unit),
            "schema": schema if group else None,
        })  # fmt: skip
        return len(self._counters)

    def counter_in(self, process: int, number: int) -> tuple[int, bool]:
        """Its handle, and whether its samples are of several numbers."""
        about = self._counters[number - 1]
        handle = self._counter_handles.get((process, number))
        if handle is None:
            schema = about["schema"]
            handle = self._session.writer.counter(
                process, self.handle(process), about["name"], unit=about["unit"],
                description=about["description"],
                schema=None if schema is None else self.schema_in(process, schema),
            )  # fmt: skip
            self._counter_handles[process, number] = handle
        return handle, about["schema"] is not None


def _unsupported(what: str) -> WriterError:
    return WriterError(NOT_SUPPORTED, what)


class RecordingStream:
    def __init__(
        self,
        session: RecordingSession,
        domain: RecordingDomain,
        process: int,
        thread: int | None,
        clock: int | None,
        options: StreamOptions,
    ) -> None:
        self._writer = session.writer
        self._domain = domain
        self._process = process
        self._handle = domain.handle(process)
        self._thread = thread
        self._clock = clock
        self._device = options.device
        self._queue = options.queue or 0

    def _name(self, message: Message) -> int | None:
        if isinstance(message, int):
            return message - 1
        return self._writer.strings([_text(message)])[0] if message else None

    def single(
        self,
        kind: EventKind,
        times: tuple[int, ...],
        message: Message,
        color: int,
        category: int,
        range_id: int,
    ) -> None:
        fields = {"name": self._name(message), "color": color or None, "category": category or None}
        self._put(kind, times[0], times[-1], range_id, fields)

    def _put(self, kind: EventKind, time: Any, end: Any, ids: Any, fields: dict[str, Any]) -> None:
        writer, thread, domain = self._writer, self._thread, self._handle
        if thread is None:
            if kind not in _KINDS or "schema" in fields:
                raise _unsupported(f"{kind} on a stream of a device")
            writer.device_ranges(self._process, domain, time, end, device=self._device or 0,
                                 stream=self._queue, clock=self._clock, **fields)  # fmt: skip
        elif kind in _KINDS:
            writer.ranges(thread, domain, time, end, kind=_KINDS[kind], clock=self._clock,
                          **fields)  # fmt: skip
        elif kind is EventKind.MARK:
            writer.marks(thread, domain, time, clock=self._clock, **fields)
        elif kind is EventKind.RANGE_PUSH:
            writer.pushes(thread, domain, time, clock=self._clock, **fields)
        elif kind is EventKind.RANGE_POP:
            writer.pops(thread, domain, time, clock=self._clock)
        elif kind is EventKind.RANGE_START:
            writer.starts(thread, domain, time, ids, clock=self._clock, **fields)
        else:
            writer.ends(thread, domain, time, ids, clock=self._clock)

    def _names(self, rows: np.ndarray[Any, Any], roles: Roles) -> Any:
        import numpy as np

        if roles.registered is not None:
            return rows[roles.registered].astype(np.int64) - 1  # no handle becomes -1: none
        if roles.message is None:
            return None
        column = rows[roles.message]
        if column.dtype.kind not in "SU":
            return None
        texts, places = np.unique(column, return_inverse=True)
        ids = np.asarray(self._writer.strings([
            (text if isinstance(text, str) else _text(text)) or None for text in texts.tolist()
        ]))  # fmt: skip
        return ids[places.reshape(-1)]

    def batch(
        self, schema: EventSchema, rows: np.ndarray[Any, Any], ordering: BatchOrdering
    ) -> None:
        import numpy as np

        roles = schema.roles
        assert roles is not None
        assert schema.kind is not None
        fields: dict[str, Any] = {"name": self._names(rows, roles)}
        if roles.color is not None:
            colors = rows[roles.color].astype(np.int64)
            colors[colors == 0] = -1
            fields["color"] = colors
        if roles.category is not None:
            fields["category"] = rows[roles.category]
        if roles.others:
            fields["payload"] = rows.view(f"V{rows.dtype.itemsize}")
            fields["schema"] = self._domain.schema_in(self._process, schema.id)
        end = None if roles.end is None else rows[roles.end]
        ids = None if roles.range_id is None else rows[roles.range_id]
        self._put(schema.kind, rows[roles.begin], end, ids, fields)

    def event(self, schema: EventSchema, row: np.ndarray[Any, Any]) -> None:
        from nvspan._runtime.enums import BatchOrdering

        self.batch(schema, row.reshape(1), BatchOrdering.UNSORTED)

    def columns(self, kind: EventKind, columns: dict[str, Any], rows: int) -> None:
        import numpy as np

        message = columns["message"]
        name = message
        if message is None or isinstance(message, (bytes, int)):
            name = self._name(message)
        else:
            name = np.asarray(message).astype(np.int64) - 1
        fields = {"name": name, "color": columns["color"], "category": columns["category"]}
        end = columns.get("end")
        self._put(kind, np.asarray(columns["start"]), None if end is None else np.asarray(end),
                  None, fields)  # fmt: skip

    def _lane(self) -> int:
        if self._thread is None:
            raise _unsupported("counters on a stream of a device")
        return self._thread

    def sample(self, counter: int, time: int, value: Any) -> None:
        handle, group = self._domain.counter_in(self._process, counter)
        if not isinstance(value, (int, float)):
            value = value.reshape(1)
            value = value.view(f"V{value.dtype.itemsize}") if group else _numbers(value)
        self._writer.samples(self._lane(), handle, time, value, clock=self._clock)

    def no_value(self, counter: int, time: int, reason: int) -> None:
        handle, _ = self._domain.counter_in(self._process, counter)
        self._writer.absent(self._lane(), handle, time, reason, clock=self._clock)

    def samples(self, counter: int, rows: np.ndarray[Any, Any],
                times: np.ndarray[Any, Any] | None, timestamp: str | None,
                ordering: BatchOrdering) -> None:  # fmt: skip
        handle, group = self._domain.counter_in(self._process, counter)
        given: Any = rows[timestamp] if times is None else times
        values: Any = rows.view(f"V{rows.dtype.itemsize}") if group else _numbers(rows)
        self._writer.samples(self._lane(), handle, given, values, clock=self._clock)

    def close(self) -> None:
        pass


def _numbers(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """As a type that a column may have."""
    if rows.dtype.kind == "f" and rows.dtype.itemsize not in (4, 8):
        return rows.astype("f4" if rows.dtype.itemsize == 2 else "f8")
    return rows
