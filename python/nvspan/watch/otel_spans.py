# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A step or request and its ranges as spans, made by the SDK of OpenTelemetry after the fact."""

from __future__ import annotations

import bisect
import json

from nvspan.watch.tally import text
from nvspan.watch.window import DEVICE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from nvspan.recording import Recording
    from nvspan.watch.roots import Tree

#: The field of a payload that names the trace a root belongs to, as W3C's Trace Context writes it.
TRACEPARENT = "traceparent"
_SIGNED = {2: 64, 5: 32}  # payload types of the column "payload_type": bits
_UNSIGNED = (1, 4)
_EXTENDED = 7


def emit(trees: Iterable[Tree], tracer: Any) -> None:
    """Starts and ends the spans of roots and of all in them, with their own times.

    Args:
        trees: the roots.
        tracer: an SDK's ``opentelemetry.trace.Tracer``; its sampler decides about each root.
    """
    rows = None
    for tree in trees:
        if rows is None or rows.part is not tree.part:
            rows = _Rows(tree.part)
        _emit(tree, rows, tracer)


def _emit(tree: Tree, rows: _Rows, tracer: Any) -> None:
    from opentelemetry import trace

    root = rows.attributes(tree.root)
    if tree.beyond:
        root["nvspan.dropped_ranges"] = tree.beyond
    parent = _joined(rows.fields(tree.root).get(TRACEPARENT))
    begin, end = rows.times(tree.root)
    spans = {tree.root: tracer.start_span(rows.name(tree.root), parent, attributes=root,
                                          start_time=begin)}  # fmt: skip
    if not spans[tree.root].is_recording():
        return
    within = trace.set_span_in_context(spans[tree.root], parent)
    ends = {tree.root: end}
    for row in tree.rows[1:]:
        above = spans.get(rows.parent(row))
        context = within if above is None else trace.set_span_in_context(above, parent)
        begin, own_end = rows.times(row)
        spans[row] = tracer.start_span(rows.name(row), context, attributes=rows.attributes(row),
                                       start_time=begin)  # fmt: skip
        ends[row] = end if own_end is None else own_end
    for row in tree.devices:
        begin, own_end = rows.times(row)
        asked = spans.get(rows.launcher(row), spans[tree.root])
        device = tracer.start_span(
            rows.name(row), within, attributes=rows.attributes(row), start_time=begin,
            links=[trace.Link(asked.get_span_context(), {"nvspan.link": "launched by"})],
        )  # fmt: skip
        asked.add_link(device.get_span_context(), {"nvspan.link": "on the device"})
        device.end(own_end)
    for time, name, attributes in rows.marks(tree):
        inner = max((row for row in spans if rows.holds(row, time)), key=rows.level)
        spans[inner].add_event(name, attributes, time)
    for row in reversed(spans):
        spans[row].end(ends[row])


def _joined(traceparent: Any) -> Any:
    """The context of a trace that the program has already; an empty one where it has none."""
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier = {TRACEPARENT: traceparent} if isinstance(traceparent, str) else {}
    return TraceContextTextMapPropagator().extract(carrier, Context())


class _Rows:
    """The columns that spans are made of."""

    def __init__(self, part: Recording) -> None:
        self.part = part
        self._offset = part.unix_offset
        self._columns: dict[tuple[str, str], memoryview] = {}
        self._marks: dict[int, list[tuple[int, int]]] = {}  # time and row, by thread
        threads, times = self._column("thread", "marks"), self._column("time", "marks")
        for row, thread in enumerate(threads):
            self._marks.setdefault(thread, []).append((times[row], row))
        for found in self._marks.values():
            found.sort()

    def _column(self, name: str, table: str = "ranges") -> memoryview:
        column = self._columns.get((table, name))
        if column is None:
            column = self._columns[table, name] = getattr(self.part, table)[name]
        return column

    def _value(self, column: str, row: int, table: str = "ranges") -> Any:
        return self._column(column, table)[row]

    def _text(self, column: str, row: int, table: str = "ranges") -> str | None:
        found = self._column(column, table)[row]
        return None if found < 0 else text(self.part.strings[found])

    def name(self, row: int) -> str:
        return self._text("name", row) or "(no name)"

    def parent(self, row: int) -> int:
        return int(self._value("parent", row))

    def launcher(self, row: int) -> int:
        return int(self._value("launcher", row))

    def level(self, row: int) -> int:
        return int(self._value("level", row))

    def times(self, row: int) -> tuple[int, int | None]:
        """In ns since 1970; no end where it was never closed."""
        open_ = self._value("end_reason", row)
        end = None if open_ else self._value("end", row) + self._offset
        return self._value("start", row) + self._offset, end

    def holds(self, row: int, time: int) -> bool:
        begin, end = self.times(row)
        return begin <= time and (end is None or time <= end)

    def fields(self, row: int, table: str = "ranges") -> dict[str, Any]:
        """The fields of the payload; of a number the one field ""."""
        kind = self._value("payload_type", row, table)
        if kind == 0:
            return {}
        if kind == _EXTENDED:
            return self.part.payload_fields(row, table) or {}
        bits = int(self._value("payload", row, table))
        if kind in _SIGNED:
            half = 1 << (_SIGNED[kind] - 1)
            return {"": (bits & (2 * half - 1) ^ half) - half}
        return {"": bits if kind in _UNSIGNED else self._value("payload_value", row, table)}

    def attributes(self, row: int, table: str = "ranges") -> dict[str, Any]:
        """What a span or event carries of a row."""
        found: dict[str, Any] = {"nvspan.domain": self._text("domain", row, table) or "NVTX"}
        category = self._text("category_name", row, table)
        if category is not None:
            found["nvspan.category"] = category
        elif self._value("category", row, table):
            found["nvspan.category"] = str(self._value("category", row, table))
        if table == "ranges" and self._value("kind", row) == DEVICE:
            found["nvspan.device"] = int(self._value("device", row))
            found["nvspan.stream"] = int(self._value("stream", row))
        else:
            thread = int(self._value("thread", row, table))
            found["thread.id"] = int(self._value("tid", thread, "threads"))
            name = self._text("name", thread, "threads")
            if name is not None:
                found["thread.name"] = name
        if table == "ranges" and self._value("end_reason", row):
            found["nvspan.unclosed"] = True
        for field, value in _flat(self.fields(row, table)):
            if field != TRACEPARENT:
                found[f"nvspan.payload.{field}" if field else "nvspan.payload"] = value
        return found

    def marks(self, tree: Tree) -> list[tuple[int, str, dict[str, Any]]]:
        """(time, name, attributes) of the marks of the root's thread in its time."""
        marks = self._marks.get(self._value("thread", tree.root), [])
        begin, end = self._value("start", tree.root), self._value("end", tree.root)
        first = bisect.bisect_left(marks, (begin, -1))
        last = bisect.bisect_right(marks, (end, len(self._column("time", "marks"))))
        return [
            (time + self._offset, self._text("name", row, "marks") or "(no name)",
             self.attributes(row, "marks"))
            for time, row in marks[first:last]
        ]  # fmt: skip


def _flat(fields: dict[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Fields as OpenTelemetry takes them: scalars, and lists of one type of scalars."""
    found: list[tuple[str, Any]] = []
    for name, value in fields.items():
        field = before + text(name)
        if isinstance(value, dict):
            found += _flat(value, f"{field}.")
        elif isinstance(value, str):
            found.append((field, text(value)))
        elif (
            isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63
        ):
            found.append((field, str(value)))  # an attribute has 64 bits and a sign
        elif isinstance(value, (bool, int, float)):
            found.append((field, value))
        elif (
            isinstance(value, list)
            and len({type(one) for one in value}) == 1
            and isinstance(value[0], (bool, int, float, str))
        ):
            found.append((field, [text(one) if isinstance(one, str) else one for one in value]))
        elif value is not None:
            found.append((field, json.dumps(value)))
    return found
