# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a table as events of a recording."""

from __future__ import annotations

from array import array
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from nvspan._reader import ExternalWriter
    from nvspan.imports.imported import Imported

COLUMNS = (
    "start", "end", "duration", "time", "name", "domain", "kind", "category", "category_name",
    "color", "process", "pid", "process_name", "host", "thread", "tid", "thread_name", "device",
    "stream", "value", "integer", "field", "unit", "payload", "payload_type",
)  # fmt: skip
_NOT_ENDED = -(2**63)
_KINDS = {"push_pop": "push_pop", "start_end": "start_end", "device": "device", "0": "push_pop",
          "1": "start_end", "2": "device", "": "push_pop"}  # fmt: skip
_PAYLOADS = {"u64": "Q", "i64": "q", "f64": "d", "u32": "I", "i32": "i", "f32": "f",
             "1": "Q", "2": "q", "3": "d", "4": "I", "5": "i", "6": "f"}  # fmt: skip


class TableError(Exception):
    """A table that is not what it should be: the row, and what is wrong."""


class _Lane(NamedTuple):
    """Rows that go into one call."""

    what: str
    thread: int
    domain: int
    payload: str
    key: tuple[Any, ...]


class _Rows:
    __slots__ = ("categories", "colors", "ends", "names", "payloads", "starts")

    def __init__(self, payload: str) -> None:
        self.starts = array("q")
        self.ends = array("q")
        self.names: list[str | None] = []
        self.categories = array("q")
        self.colors = array("q")
        self.payloads: Any = array(payload) if payload else None


class TableRows:
    """Takes a table's rows, batch by batch."""

    def __init__(
        self, writer: ExternalWriter, places: dict[str, int], digits: int, done: Imported
    ) -> None:
        self._writer = writer
        self._places = places
        self._digits = digits
        self._done = done
        self._row = 1  # the heading is row 1
        self._processes: dict[Any, int] = {}
        self._threads: dict[Any, int] = {}
        self._domains: dict[Any, int] = {}
        self._categories: set[tuple[int, int]] = set()
        self._counters: dict[Any, int] = {}

    def _time(self, value: Any, column: str) -> int:
        if isinstance(value, int):
            scale: int = 10**self._digits
            return value * scale
        text = str(value).strip()
        try:
            if self._digits == 0 and text.lstrip("-").isdigit():
                return int(text)
            exact = Decimal(text).scaleb(self._digits)
            return int(exact.to_integral_value())
        except (InvalidOperation, ValueError, OverflowError):
            raise TableError(f"row {self._row}: {column} is {value!r}, not a number") from None

    def _number(self, value: Any, column: str, default: int = -1) -> int:
        if value is None or value == "":
            return default
        try:
            return int(value) if isinstance(value, int) else int(str(value), 0)
        except ValueError:
            raise TableError(f"row {self._row}: {column} is {value!r}, not an integer") from None

    def add(self, batch: Sequence[Sequence[Any]]) -> None:
        """Takes rows.

        Raises:
            TableError: A row is none of the table.
        """
        lanes: dict[_Lane, _Rows] = {}
        places = self._places
        ranges = "start" in places
        samples = not ranges and ("value" in places or "integer" in places)
        try:
            for row in batch:
                self._row += 1
                if ranges:
                    self._range(lanes, row)
                else:
                    self._instant(lanes, row, samples)
        finally:
            # What was read before a damaged row counts where that is asked for.
            self._flush(lanes)

    def finish(self) -> None:
        """All rows were taken."""

    def _get(self, row: Sequence[Any], column: str) -> Any:
        place = self._places.get(column)
        return None if place is None else row[place]

    def _process(self, row: Sequence[Any]) -> int:
        key = (self._get(row, "process"), self._get(row, "pid"), self._get(row, "host"))
        handle = self._processes.get(key)
        if handle is None:
            pid = self._number_or_text(key[1] if key[1] not in (None, "") else key[0])
            name = self._get(row, "process_name")
            handle = self._processes[key] = self._writer.process(
                pid[0], host=str(key[2] or ""), command=[str(name)] if name else []
            )
        return handle

    def _number_or_text(self, value: Any) -> tuple[int, str | None]:
        """A number of 32 bits; of what is none a new one, and what it was."""
        if value in (None, ""):
            return 0, None
        try:
            number = int(value)
        except (TypeError, ValueError):
            number = -1
        if 0 <= number < 1 << 32:
            return number, None
        return 0x40000000 + len(self._threads) + len(self._processes), str(value)

    def _thread(self, process: int, row: Sequence[Any]) -> int:
        key = (process, self._get(row, "thread"), self._get(row, "tid"))
        handle = self._threads.get(key)
        if handle is None:
            number, text = self._number_or_text(key[2] if key[2] not in (None, "") else key[1])
            name = self._get(row, "thread_name") or text
            handle = self._writer.thread(process, number, None if name is None else str(name))
            self._threads[key] = handle
        return handle

    def _domain(self, process: int, row: Sequence[Any]) -> int:
        name = self._get(row, "domain") or None
        handle = self._domains.get((process, name))
        if handle is None:
            handle = self._writer.domain(process, None if name is None else str(name))
            self._domains[process, name] = handle
        return handle

    def _add(self, lanes: dict[_Lane, _Rows], lane: _Lane, row: Sequence[Any], start: int,
             end: int) -> None:  # fmt: skip
        rows = lanes.get(lane)
        if rows is None:
            rows = lanes[lane] = _Rows(lane.payload)
        name = self._get(row, "name")
        category = self._number(self._get(row, "category"), "category", 0)
        given = self._get(row, "category_name")
        if given and (lane.domain, category) not in self._categories:
            self._categories.add((lane.domain, category))
            self._writer.category(lane.domain, category, str(given))
        color = self._number(self._get(row, "color"), "color")
        if not 0 <= category < 1 << 32 or not -1 <= color < 1 << 32:
            raise TableError(f"row {self._row}: category or color is no number of 32 bits")
        payload: int | float = 0
        if lane.payload:
            bits = self._number(self._get(row, "payload"), "payload", 0)
            payload = _from_bits(bits, lane.payload)
        rows.starts.append(start)
        rows.ends.append(end)
        rows.names.append(None if name in (None, "") else str(name))
        rows.categories.append(category)
        rows.colors.append(color)
        if rows.payloads is not None:
            rows.payloads.append(payload)

    def _moment(self, value: Any, column: str) -> int:
        if value is None or value == "":
            raise TableError(f"row {self._row}: {column} is empty")
        time = self._time(value, column)
        if not -(2**63) < time < 2**63 - 1:
            raise TableError(f"row {self._row}: {column} is {value!r}, beyond 64 bits")
        return time

    def _range(self, lanes: dict[_Lane, _Rows], row: Sequence[Any]) -> None:
        start = self._moment(self._get(row, "start"), "start")
        given = self._get(row, "end")
        if given in (None, "") and self._get(row, "duration") not in (None, ""):
            end = start + self._moment(self._get(row, "duration"), "duration")
        else:
            end = _NOT_ENDED if given in (None, "") else self._moment(given, "end")
        if end != _NOT_ENDED and not start <= end < 2**63 - 1:
            raise TableError(f"row {self._row}: the range ends before it begins, or never")
        kind = str(self._get(row, "kind") if self._get(row, "kind") is not None else "")
        what = _KINDS.get(kind)
        if what is None:
            raise TableError(
                f"row {self._row}: kind is {kind!r}, not push_pop, start_end or device"
            )
        process = self._process(row)
        domain = self._domain(process, row)
        payload = _PAYLOADS.get(str(self._get(row, "payload_type")), "")
        if what == "device":
            device = self._number(self._get(row, "device"), "device")
            stream = self._number(self._get(row, "stream"), "stream", 0)
            lane = _Lane(what, process, domain, payload, (device, stream))
            self._done.device_ranges += 1
        else:
            lane = _Lane(what, self._thread(process, row), domain, payload, ())
            self._done.ranges += 1
        self._add(lanes, lane, row, start, end)

    def _instant(self, lanes: dict[_Lane, _Rows], row: Sequence[Any], samples: bool) -> None:
        time = self._moment(self._get(row, "time"), "time")
        process = self._process(row)
        thread = self._thread(process, row)
        domain = self._domain(process, row)
        if not samples:
            payload = _PAYLOADS.get(str(self._get(row, "payload_type")), "")
            self._add(lanes, _Lane("mark", thread, domain, payload, ()), row, time, 0)
            self._done.marks += 1
            return
        name, field = self._get(row, "name"), self._get(row, "field")
        unit = self._get(row, "unit")
        key = (process, domain, name, field)
        counter = self._counters.get(key)
        if counter is None:
            shown = f"{name or ''}.{field}" if field else str(name or "")
            counter = self._counters[key] = self._writer.counter(
                process, domain, shown, unit=str(unit) if unit else None
            )
        integer, value = self._get(row, "integer"), self._get(row, "value")
        if integer not in (None, ""):
            self._writer.samples(thread, counter, time, self._number(integer, "integer"))
        elif value in (None, ""):
            self._writer.absent(thread, counter, time, 0)
        else:
            try:
                number = value if isinstance(value, int) else float(value)
            except ValueError:
                raise TableError(f"row {self._row}: value is {value!r}, not a number") from None
            self._writer.samples(thread, counter, time, number)
        self._done.samples += 1

    def _flush(self, lanes: dict[_Lane, _Rows]) -> None:
        for lane, rows in lanes.items():
            if not rows.starts:
                continue
            fields: dict[str, Any] = {
                "name": self._writer.strings(rows.names),
                "category": rows.categories,
                "color": rows.colors,
                "payload": rows.payloads,
            }
            if lane.what == "mark":
                self._writer.marks(lane.thread, lane.domain, rows.starts, **fields)
            elif lane.what == "device":
                self._writer.device_ranges(
                    lane.thread, lane.domain, rows.starts, rows.ends, device=lane.key[0],
                    stream=lane.key[1], **fields,
                )  # fmt: skip
            else:
                self._writer.ranges(
                    lane.thread, lane.domain, rows.starts, rows.ends, kind=lane.what, **fields
                )


def _from_bits(bits: int, code: str) -> int | float:
    """The number whose bits, as an unsigned one, are given."""
    size = 8 if code in "Qqd" else 4
    data = (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    number: int | float = array(code, data)[0]
    return number
