# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions that write a recording."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nvspan._reader import ExternalWriter
from nvspan._runtime.enums import BatchOrdering, EventKind, TimestampType
from nvspan.writer.layout import Layout
from nvspan.writer.options import NO_FIELDS, NOT_SUPPORTED, WriterError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np

    from nvspan._runtime.semantics import CounterSemantics
    from nvspan.writer.layout import EventSchema
    from nvspan.writer.options import (
        CounterOptions,
        EventColumns,
        EventFields,
        Message,
        StreamOptions,
    )

_FIRST_SCHEMA = 1 << 24
_FIRST_CLOCK = 1 << 32  # the ids of a session's clocks, as of time domains that a tool creates
_FIRST_SCOPE = 1 << 32
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


class Process(NamedTuple):
    """A process in a recording."""

    pid: int
    host: str
    command: Sequence[str]
    rank: int | None
    boot_id: str = ""


def _text(text: str | bytes) -> str:
    return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text


def _unit(semantics: CounterSemantics | None) -> str | None:
    return None if semantics is None or semantics.unit is None else _text(semantics.unit)


def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


class RecordingSession:
    """A session whose events go into a recording."""

    def __init__(self, path: str, process: Process, unix_offset: int, memory: int) -> None:
        self.writer = ExternalWriter(os.fsencode(path), memory)
        self._own = process
        self._unix_offset = unix_offset
        self._process: int | None = None
        self._streams = 0
        self._realtime: int | None = None
        self._clocks: list[int] = []

    def add_process(self, process: Process) -> int:
        """Adds a process to the recording: its number."""
        boot_id = process.boot_id or (_boot_id() if process.pid == os.getpid() else "")
        return self.writer.process(
            process.pid,
            host=process.host,
            boot_id=boot_id,
            command=list(process.command),
            unix_offset=self._unix_offset,
            rank=-1 if process.rank is None else process.rank,
        )

    def add_clock(self, points: list[tuple[int, int]], frequency: float) -> int:
        """Adds a clock by points of its own time and the recording's: its time domain."""
        self._clocks.append(self.writer.clock(points, frequency))
        return _FIRST_CLOCK + len(self._clocks) - 1

    def _clock(self, time_domain: int) -> int | None:
        if time_domain in _MONOTONIC:
            return None
        if time_domain in _REALTIME:
            if self._realtime is None:
                self._realtime = self.writer.clock([(self._unix_offset, 0)])
            return self._realtime
        if _FIRST_CLOCK <= time_domain < _FIRST_CLOCK + len(self._clocks):
            return self._clocks[time_domain - _FIRST_CLOCK]
        raise ValueError(
            f"a recording cannot place times of time domain {time_domain}; "
            "Session.create_clock() says how a clock runs"
        )

    def domain(self, name: str | None) -> RecordingDomain:
        """A domain, which is in the file once a process uses it."""
        return RecordingDomain(self.writer, name)

    def stream(self, options: StreamOptions, domain: Any) -> RecordingStream:
        """Opens a stream: a thread of a process, or a queue of a device.

        Raises:
            ValueError: nobody knows how the clock of its time domain runs.
        """
        self._streams += 1
        process = options.process
        if process is None:
            if self._process is None:
                self._process = self.add_process(self._own)
            process = self._process
        name = options.name
        if options.scope_path:
            name = f"{name} ({options.scope_path})" if name else options.scope_path
        clock = self._clock(options.time_domain)
        thread = None
        if options.device is None:
            tid = self._streams if options.tid is None else options.tid
            thread = self.writer.thread(process, tid, name)
        elif name:
            self.writer.stream_name(process, options.queue or 0, name)
        return RecordingStream(domain, process, thread, clock, options)

    def end(self, complete: bool) -> None:
        """Closes the file, or leaves it as that of a process that was killed."""
        if complete:
            self.writer.close()
        else:
            self.writer.abort()


class RecordingDomain:
    """A domain, in whichever processes of the recording it is used."""

    def __init__(self, writer: ExternalWriter, name: str | None) -> None:
        self.writer = writer
        self._name = name
        self._handles: dict[int, int] = {}
        self._categories: dict[int, str] = {}
        self._scopes = 0
        self._numbers: dict[Layout, int] = {}
        self._schemas: dict[tuple[int, Layout], int] = {}
        self._counters: list[CounterOptions] = []
        self._counter_handles: dict[tuple[int, int], int] = {}

    def handle(self, process: int) -> int:
        """The domain's number in a process, where it gets the categories named so far."""
        handle = self._handles.get(process)
        if handle is None:
            handle = self._handles[process] = self.writer.domain(process, self._name)
            for number, name in self._categories.items():
                self.writer.category(handle, number, name)
        return handle

    def string(self, text: str) -> int:
        """Adds a string: its handle, never 0."""
        return self.writer.strings([text])[0] + 1  # 0 is no handle

    def category(self, number: int, name: str) -> None:
        """Names a category in all processes, those to come included."""
        self._categories[number] = name
        for handle in self._handles.values():
            self.writer.category(handle, number, name)

    def scope(self, path: str | None, parent: int) -> int:
        """A number for a scope. Recordings have none: its path goes into the names of streams."""
        self._scopes += 1
        return _FIRST_SCOPE + self._scopes - 1

    def schema(self, layout: Layout) -> int:
        """A number for a layout; `schema_in` puts it into the file."""
        return self._numbers.setdefault(layout, _FIRST_SCHEMA + len(self._numbers))

    def schema_in(self, process: int, layout: Layout) -> int:
        """The number of a layout's schema in a process, with those nested in it."""
        known = self._schemas.get((process, layout))
        if known is not None:
            return known
        entries: list[Any] = []
        for name, kind, flags, detail, offset, semantics in layout.fields:
            number = self.schema_in(process, kind) if isinstance(kind, Layout) else kind
            entries.append((name, number, flags, detail, offset, _unit(semantics)))
        known = self.writer.schema(self.handle(process), None, layout.size, entries)
        self._schemas[process, layout] = known
        return known

    def counter(self, options: CounterOptions) -> int:
        """A number for a counter; `counter_in` puts it into the file."""
        self._counters.append(options)
        return len(self._counters)

    def counter_in(self, process: int, number: int) -> tuple[int, bool]:
        """The handle of a counter in a process, and whether it is a group."""
        options = self._counters[number - 1]
        layout = options.layout if isinstance(options.layout, Layout) else None
        group = layout is not None and layout.flags != 0
        handle = self._counter_handles.get((process, number))
        if handle is None:
            name, path = options.name, options.scope_path
            handle = self._counter_handles[process, number] = self.writer.counter(
                process,
                self.handle(process),
                f"{name} ({path})" if path else name,
                unit=_unit(options.semantics),
                description=options.description,
                schema=self.schema_in(process, layout) if layout and group else None,
            )
        return handle, group


class RecordingStream:
    """A stream into a recording: a thread, or a queue of a device."""

    def __init__(
        self,
        domain: RecordingDomain,
        process: int,
        thread: int | None,
        clock: int | None,
        options: StreamOptions,
    ) -> None:
        self._writer = domain.writer
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
        return self._writer.strings([message])[0] if message else None

    def single(
        self,
        kind: EventKind,
        times: tuple[int, ...],
        fields: EventFields = NO_FIELDS,
        range_id: int = 0,
    ) -> None:
        """Writes an event of the usual fields.

        Raises:
            WriterError: a device has no such events.
        """
        name = self._name(fields.message)
        given = {"name": name, "color": fields.color or None, "category": fields.category or None}
        self._put(kind, times[0], times[-1], range_id, given)

    def _put(self, kind: EventKind, time: Any, end: Any, ids: Any, fields: dict[str, Any]) -> None:
        writer, clock = self._writer, self._clock
        at: tuple[Any, int, Any] = self._thread, self._handle, time
        if self._thread is None:
            if kind not in _KINDS or "schema" in fields:
                raise WriterError(NOT_SUPPORTED, f"{kind} on a stream of a device")
            fields |= {"device": self._device, "stream": self._queue}
            writer.device_ranges(self._process, *at[1:], end, clock=clock, **fields)
        elif kind in _KINDS:
            writer.ranges(*at, end, kind=_KINDS[kind], clock=clock, **fields)
        elif kind is EventKind.MARK:
            writer.marks(*at, clock=clock, **fields)
        elif kind is EventKind.RANGE_PUSH:
            writer.pushes(*at, clock=clock, **fields)
        elif kind is EventKind.RANGE_POP:
            writer.pops(*at, clock=clock)
        elif kind is EventKind.RANGE_START:
            writer.starts(*at, ids, clock=clock, **fields)
        else:
            writer.ends(*at, ids, clock=clock)

    def _names(self, rows: np.ndarray[Any, Any], roles: dict[str, str]) -> Any:
        import numpy as np

        if "registered" in roles:
            return rows[roles["registered"]].astype(np.int64) - 1  # no handle becomes -1: none
        column = rows[roles["message"]] if "message" in roles else None
        if column is None or column.dtype.kind not in "SU":
            return None
        texts, places = np.unique(column, return_inverse=True)
        ids = self._writer.strings([_text(text) or None for text in texts.tolist()])
        return np.asarray(ids)[places.reshape(-1)]

    def batch(
        self, schema: EventSchema, rows: np.ndarray[Any, Any], ordering: BatchOrdering
    ) -> None:
        """Writes rows of the user's schema; fields without a role are the payload."""
        import numpy as np

        roles = schema.roles
        assert schema.kind is not None
        fields: dict[str, Any] = {"name": self._names(rows, roles)}
        if "color" in roles:
            colors = rows[roles["color"]].astype(np.int64)
            colors[colors == 0] = -1
            fields["color"] = colors
        if "category" in roles:
            fields["category"] = rows[roles["category"]]
        if len(roles) < len(schema.layout.fields):
            fields["payload"] = rows.view(f"V{rows.dtype.itemsize}")
            fields["schema"] = self._domain.schema_in(self._process, schema.layout)
        end, ids = (rows[roles[role]] if role in roles else None for role in ("end", "range_id"))
        self._put(schema.kind, rows[roles["begin"]], end, ids, fields)

    def event(self, schema: EventSchema, row: np.ndarray[Any, Any]) -> None:
        """Writes an event of the user's schema."""
        self.batch(schema, row.reshape(1), BatchOrdering.UNSORTED)

    def columns(self, kind: EventKind, columns: EventColumns) -> None:
        """Writes events given as columns."""
        import numpy as np

        start, end, message, color, category = columns
        single = message is None or isinstance(message, (str, int))
        name = self._name(message) if single else np.asarray(message).astype(np.int64) - 1
        fields = {"name": name, "color": color, "category": category}
        self._put(kind, np.asarray(start), None if end is None else np.asarray(end), None, fields)

    def _lane(self) -> int:
        if self._thread is None:
            raise WriterError(NOT_SUPPORTED, "counters on a stream of a device")
        return self._thread

    def sample(self, counter: int, time: int, value: Any) -> None:
        """Writes a counter's value.

        Raises:
            WriterError: a device has no counters.
        """
        handle, group = self._domain.counter_in(self._process, counter)
        if not isinstance(value, (int, float)):
            value = _values(value.reshape(1), group)
        self._writer.samples(self._lane(), handle, time, value, clock=self._clock)

    def no_value(self, counter: int, time: int, reason: int) -> None:
        """Writes that a counter has no value, and why."""
        handle, _ = self._domain.counter_in(self._process, counter)
        self._writer.absent(self._lane(), handle, time, reason, clock=self._clock)

    def samples(
        self,
        counter: int,
        rows: np.ndarray[Any, Any],
        times: np.ndarray[Any, Any] | str,
        ordering: BatchOrdering,
    ) -> None:
        """Writes a counter's values; `times` are theirs, or the field of the rows that has them."""
        handle, group = self._domain.counter_in(self._process, counter)
        at: Any = rows[times] if isinstance(times, str) else times
        self._writer.samples(self._lane(), handle, at, _values(rows, group), clock=self._clock)

    def close(self) -> None:
        """Does nothing: the session closes the file."""


def _values(rows: np.ndarray[Any, Any], group: bool) -> Any:
    """Samples as columns of a recording: the bytes of a group's rows, or numbers."""
    if group:
        return rows.view(f"V{rows.dtype.itemsize}")
    if rows.dtype.kind == "f" and rows.dtype.itemsize not in (4, 8):
        return rows.astype("f4" if rows.dtype.itemsize == 2 else "f8")
    return rows
