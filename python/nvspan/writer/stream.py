# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Streams, which take events and counter samples."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from nvspan._runtime.enums import BatchOrdering, CounterNoValueReason, EventKind
from nvspan.colors import color_to_hex
from nvspan.writer.domain import (
    Counter,
    Domain,
    RegisteredString,
    Schema,
    resolve_category,
    resolve_counter,
    resolve_message,
    resolve_schema,
    target_of,
)
from nvspan.writer.layout import COMPLETE_KINDS, batch_rows
from nvspan.writer.options import EventColumns, EventFields

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from typing_extensions import Self

    from nvspan.writer.domain import Category, Text
    from nvspan.writer.options import StreamOptions
    from nvspan.writer.run import Run, StreamTarget


class Stream:
    """The events of a thread, a queue or a device, from :meth:`Session.create_stream`.

    Times are ints in the stream's time domain, ns where it has none. For one thread at a time.

    Raises:
        RuntimeError: In every method that writes: the stream is not open.
        WriterError: In every method: the backend refused it.
    """

    def __init__(self, run: Run, domain: Domain, options: StreamOptions) -> None:
        self._run = run
        self._domain = domain
        self._options = options
        self._target: StreamTarget | None = None

    def __repr__(self) -> str:
        name = self._options.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return f"<nvspan.writer.Stream {name!r}>"

    def open(self) -> None:
        """Open it for writing.

        Raises:
            RuntimeError: It is open already, or the session has ended.
            ValueError: A recording does not know its time domain.
        """
        with self._run.lock:
            if self._target is not None:
                raise RuntimeError("stream is already open")
            if self._run.ended:
                raise RuntimeError("session is not active")
            self._target = self._run.target.stream(self._options, target_of(self._domain))
            self._run.closes.add(self.close)

    def close(self) -> None:
        """Close it; the session stays active.

        Raises:
            RuntimeError: It is not open, or the backend is closed.
        """
        with self._run.lock:
            target = self._open()
            self._target = None
            self._run.closes.discard(self.close)
            target.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._run.lock:
            if self._target is not None:
                self.close()

    def _open(self) -> StreamTarget:
        if self._target is None:
            raise RuntimeError("stream is not open")
        return self._target

    def _fields(self, message: Text, color: Any, category: Category) -> EventFields:
        domain = self._domain
        text, number = resolve_message(domain, message), _color(color)
        return EventFields(text, number, resolve_category(domain, category))

    def write_mark(
        self, timestamp: int, *, message: Text = None, color: Any = None, category: Category = None
    ) -> None:
        """Write a mark.

        Args:
            timestamp: Its time.
            message: Its text.
            color: Any argument of :func:`nvspan.colors.color_to_hex`; None: none.
            category: A number, or a name.

        Raises:
            TypeError, ValueError: The message, color or category is not valid.
        """
        target = self._open()
        target.single(EventKind.MARK, _time(timestamp), self._fields(message, color, category))

    def write_pushpop(
        self,
        start: int,
        end: int,
        *,
        message: Text = None,
        color: Any = None,
        category: Category = None,
    ) -> None:
        """Write a push/pop range; arguments and errors as for :meth:`write_mark`."""
        target = self._open()
        target.single(
            EventKind.RANGE_PUSHPOP, _span(start, end), self._fields(message, color, category)
        )

    def write_startend(
        self,
        start: int,
        end: int,
        *,
        message: Text = None,
        color: Any = None,
        category: Category = None,
    ) -> None:
        """Write a start/end range; arguments and errors as for :meth:`write_mark`."""
        target = self._open()
        target.single(
            EventKind.RANGE_STARTEND, _span(start, end), self._fields(message, color, category)
        )

    def write_push(
        self, timestamp: int, *, message: Text = None, color: Any = None, category: Category = None
    ) -> None:
        """Write the beginning of a push/pop range; as for :meth:`write_mark`."""
        target = self._open()
        target.single(
            EventKind.RANGE_PUSH, _time(timestamp), self._fields(message, color, category)
        )

    def write_pop(self, timestamp: int) -> None:
        """Write the end of the push/pop range that was begun last."""
        self._open().single(EventKind.RANGE_POP, _time(timestamp))

    def write_start(
        self,
        timestamp: int,
        range_id: int,
        *,
        message: Text = None,
        color: Any = None,
        category: Category = None,
    ) -> None:
        """Write the beginning of a start/end range; as for :meth:`write_mark`.

        Args:
            timestamp: When it began.
            range_id: Any number but 0; :meth:`write_end` takes the same.
            message, color, category: As for :meth:`write_mark`.
        """
        number, target = _id(range_id), self._open()
        fields = self._fields(message, color, category)
        target.single(EventKind.RANGE_START, _time(timestamp), fields, number)

    def write_end(self, timestamp: int, range_id: int) -> None:
        """Write the end of the start/end range with that id.

        Raises:
            ValueError: The id is 0.
        """
        number = _id(range_id)
        self._open().single(EventKind.RANGE_END, _time(timestamp), range_id=number)

    def write_ranges(
        self,
        starts: Any,
        ends: Any,
        *,
        message: Any = None,
        color: Any = None,
        category: Any = None,
        kind: EventKind = EventKind.RANGE_PUSHPOP,
    ) -> None:
        """Write ranges from columns, without a loop.

        Args:
            starts, ends: Integer arrays of one length.
            message: One for all, or an array of :attr:`RegisteredString.handle`, 0 for none.
            color: One for all, or an array of ARGB numbers.
            category: One for all, or an array of numbers.
            kind: ``RANGE_PUSHPOP`` or ``RANGE_STARTEND``.

        Raises:
            TypeError, ValueError: Arrays of another type or length, a range that ends before it
                begins, or an unknown handle; then none of them is written.

        >>> stream.write_ranges(starts, ends, message="execute")             # doctest: +SKIP
        """
        if kind not in COMPLETE_KINDS[1:]:
            raise ValueError(f"kind must be RANGE_PUSHPOP or RANGE_STARTEND, not {kind}")
        self._columns(kind, EventColumns(starts, ends, message, color, category))

    def write_marks(
        self, timestamps: Any, *, message: Any = None, color: Any = None, category: Any = None
    ) -> None:
        """Write marks from columns; as :meth:`write_ranges`."""
        self._columns(EventKind.MARK, EventColumns(timestamps, None, message, color, category))

    def _columns(self, kind: EventKind, columns: EventColumns) -> None:
        target = self._open()
        start, end, message, color, category = columns
        if message is None or isinstance(message, (str, bytes, RegisteredString)):
            message = resolve_message(self._domain, message)
        if not hasattr(color, "__array__"):
            color = _color(color) or None
        if not hasattr(category, "__array__"):
            category = resolve_category(self._domain, category) or None
        target.columns(kind, EventColumns(start, end, message, color, category))

    def write_event(self, schema: Schema, row: Any) -> None:
        """Write one event of any kind.

        Args:
            schema: Of :meth:`Domain.get_schema`, with a kind.
            row: One row: a tuple, or a scalar of NumPy's.

        Raises:
            TypeError: `schema` is not a schema.
            ValueError: It belongs to another domain or has no kind, or there is not one row.
        """
        import numpy as np

        event = resolve_schema(self._domain, schema)
        if event.kind is None:
            raise ValueError(
                "write_event requires an event schema; pass kind= to Domain.get_schema"
            )
        target = self._open()
        rows = np.ascontiguousarray(row, event.dtype)
        if rows.size != 1:
            raise ValueError(f"write_event expects one row of dtype {event.dtype}; got {rows.size}")
        target.event(event, rows)

    def write_event_batch(
        self, schema: Schema, rows: Any, *, ordering: BatchOrdering = BatchOrdering.SORTED
    ) -> None:
        """Write many events at once.

        Args:
            schema: Of :meth:`Domain.get_schema`, with the kind MARK, RANGE_PUSHPOP or
                RANGE_STARTEND.
            rows: A structured array, a data frame whose columns have the names of the fields, or
                an iterable of rows.
            ordering: A guarantee for a backend; recordings sort.

        Raises:
            TypeError: The schema or the ordering is of another type.
            ValueError: The schema belongs to another domain or kind, or there are no rows.
        """
        if not isinstance(ordering, BatchOrdering):
            raise TypeError(f"ordering must be a nvspan.BatchOrdering, not {ordering!r}")
        event = resolve_schema(self._domain, schema)
        if event.kind not in COMPLETE_KINDS:
            raise ValueError(
                "write_event_batch accepts only complete-event schemas; pass kind=EventKind.MARK, "
                "EventKind.RANGE_PUSHPOP, or EventKind.RANGE_STARTEND to Domain.get_schema"
            )
        target = self._open()
        events = batch_rows(rows, event.dtype)
        if events.size == 0:
            raise ValueError("batch rows must contain at least one event")
        target.batch(event, events, ordering)

    def write_counter_sample(self, counter: Counter, timestamp: int, value: Any) -> None:
        """Write one sample: a number, or for a group one row.

        Raises:
            TypeError: `counter` is not a counter.
            ValueError: It belongs to another domain, its rows hold their time, or there is not one
                sample.
        """
        number, embedded = resolve_counter(self._domain, counter)
        target = self._open()
        if embedded is not None:
            raise ValueError(
                "write_counter_sample does not support a counter layout that embeds an "
                "EntryKind.COUNTER_TIMESTAMP field; use write_counter_batch instead"
            )
        dtype = counter.dtype
        time = _int64(timestamp, "timestamp")
        if dtype is int or dtype == "i8":
            return target.sample(number, time, _int64(value, "a sample of an integer counter"))
        if dtype is float or dtype == "f8":
            return target.sample(number, time, float(value))
        import numpy as np

        rows = np.ascontiguousarray(value, dtype)
        if rows.size != 1:
            raise ValueError(
                f"write_counter_sample expects one sample of dtype {dtype}; got {rows.size}"
            )
        return target.sample(number, time, rows)

    def write_counter_sample_no_value(
        self, counter: Counter, timestamp: int, reason: CounterNoValueReason
    ) -> None:
        """Write that the counter has no value at a time, and why.

        Raises:
            TypeError: The counter or the reason is of another type.
            ValueError: The counter belongs to another domain.
        """
        number, _ = resolve_counter(self._domain, counter)
        target = self._open()
        if not isinstance(reason, CounterNoValueReason):
            raise TypeError(f"reason must be a nvspan.CounterNoValueReason, not {reason!r}")
        target.no_value(number, _int64(timestamp, "timestamp"), reason.value)

    def write_counter_batch(
        self,
        counter: Counter,
        data: Any,
        *,
        timestamps: Any = None,
        ordering: BatchOrdering = BatchOrdering.SORTED,
    ) -> None:
        """Write many samples at once.

        Args:
            counter: A counter of the stream's domain.
            data: An array, a data frame or an iterable of samples.
            timestamps: The time of each, unless the rows have it.
            ordering: A guarantee for a backend; recordings sort.

        Raises:
            RuntimeError: NumPy is not installed.
            TypeError: The counter or the ordering is of another type.
            ValueError: No samples, times missing or given twice, or another number of them.
        """
        if not isinstance(ordering, BatchOrdering):
            raise TypeError(f"ordering must be a nvspan.BatchOrdering, not {ordering!r}")
        number, embedded = resolve_counter(self._domain, counter)
        target = self._open()
        try:
            import numpy as np
        except ImportError:
            raise RuntimeError("write_counter_batch needs numpy: pip install numpy") from None
        if embedded is not None and timestamps is not None:
            raise ValueError(
                "timestamps is mutually exclusive with a counter layout that embeds an "
                "EntryKind.COUNTER_TIMESTAMP field"
            )
        if embedded is None and timestamps is None:
            raise ValueError(
                "write_counter_batch requires timestamps unless the counter layout embeds an "
                "EntryKind.COUNTER_TIMESTAMP field"
            )
        dtype = np.dtype({int: "i8", float: "f8"}.get(counter.dtype, counter.dtype))
        rows = batch_rows(data, dtype)
        if rows.size == 0:
            raise ValueError("batch data must contain at least one sample")
        times: Any = embedded
        if embedded is None:
            if isinstance(timestamps, np.ndarray):
                times = np.ascontiguousarray(timestamps, dtype=np.int64)
            else:
                times = np.fromiter(timestamps, dtype=np.int64)
            if times.ndim != 1:
                raise ValueError("timestamps must be one-dimensional")
            if times.size != rows.size:
                raise ValueError("data and timestamps must have the same length")
        target.samples(number, rows, times, ordering)


def _color(color: Any) -> int:
    return 0 if color is None else color_to_hex(color)


def _time(timestamp: Any) -> tuple[int]:
    return (_int64(timestamp, "timestamp"),)


def _span(start: Any, end: Any) -> tuple[int, int]:
    return _int64(start, "start"), _int64(end, "end")


def _index(value: Any, what: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an int, not {value!r}") from None


def _int64(value: Any, what: str) -> int:
    number = value if type(value) is int else _index(value, what)
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"{what} must fit into 64 bits, not {number}")
    return number


def _id(range_id: Any) -> int:
    if range_id == 0:
        raise ValueError("range_id must be non-zero")
    number = _index(range_id, "range_id")
    if not 0 < number < 2**64:
        raise OverflowError(f"range_id must be 0 to 2**64 - 1, not {number}")
    return number
