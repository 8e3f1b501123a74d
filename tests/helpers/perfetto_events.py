# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The track events of a Perfetto trace by Perfetto's own messages: what an import must find."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
_BOOTTIME, _MONOTONIC, _FIRST_OWN = 6, 3, 64
_CLEARED, _NEEDS = 1, 2


@dataclass
class Events:
    """Ranges are (category, name, start, end or None), marks (category, name, time), samples (name
    of the counter, time, value)."""

    ranges: list[tuple[str, str, int, int | None]] = field(default_factory=list)
    spans: list[tuple[str, str, int]] = field(default_factory=list)  # asynchronous begins
    marks: list[tuple[str, str, int]] = field(default_factory=list)
    samples: list[tuple[str, int, float]] = field(default_factory=list)
    threads: dict[tuple[int, int], str] = field(default_factory=dict)
    ends_alone: int = 0
    flows: int = 0
    beside: int = 0  # values of counters beside an event


class _Sequence:
    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.categories: dict[int, str] = {}
        self.track = self.clock = 0
        self.clocks: dict[int, list[int]] = {}  # last stamp, offset, unit, whether incremental
        self.is_whole = False

    def clear(self) -> None:
        self.names, self.categories = {}, {}
        self.track = self.clock = 0
        self.is_whole = True


def read(data: bytes) -> Events:
    """All events of a trace, put in the order of their times."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

    trace = messages.Trace()
    trace.ParseFromString(data)
    found, sequences, offset = Events(), defaultdict(_Sequence), None
    tracks: dict[int, Any] = {}
    placed = []
    for number, packet in enumerate(trace.packet):
        of = sequences[packet.trusted_packet_sequence_id]
        if packet.sequence_flags & _CLEARED or packet.incremental_state_cleared:
            of.clear()
        elif packet.previous_packet_dropped:
            of.is_whole = False
        if packet.HasField("track_descriptor"):
            made = packet.track_descriptor
            tracks[made.uuid] = made
            if made.HasField("thread") and made.thread.thread_name:
                found.threads[made.thread.pid, made.thread.tid] = made.thread.thread_name
        if packet.HasField("clock_snapshot"):
            clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
            if offset is None and {_BOOTTIME, _MONOTONIC} <= clocks.keys():
                offset = clocks[_BOOTTIME].timestamp - clocks[_MONOTONIC].timestamp
            moment = (clocks[_BOOTTIME].timestamp if _BOOTTIME in clocks
                      else clocks[_MONOTONIC].timestamp + offset)  # fmt: skip
            for clock in clocks.values():
                if clock.clock_id >= _FIRST_OWN:
                    unit = clock.unit_multiplier_ns or 1
                    of.clocks[clock.clock_id] = [
                        clock.timestamp, moment - clock.timestamp * unit, unit,
                        clock.is_incremental,
                    ]  # fmt: skip
        if packet.HasField("trace_packet_defaults"):
            of.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
            of.clock = packet.trace_packet_defaults.timestamp_clock_id
        of.names |= {each.iid: each.name for each in packet.interned_data.event_names}
        of.categories |= {each.iid: each.name for each in packet.interned_data.event_categories}
        if not packet.HasField("track_event"):
            continue
        assert of.is_whole or not packet.sequence_flags & _NEEDS
        time = _time(packet.timestamp, of, packet.timestamp_clock_id or of.clock, offset or 0)
        event = packet.track_event
        iids = list(event.category_iids)
        category = [*event.categories, *(of.categories[iid] for iid in iids), ""][0]
        name = event.name or of.names.get(event.name_iid or event.legacy_event.name_iid, "")
        track = event.track_uuid if event.HasField("track_uuid") else of.track
        placed.append((time, number, track, category, name, event))
        for ids in (event.flow_ids, event.flow_ids_old, event.terminating_flow_ids,
                    event.terminating_flow_ids_old):  # fmt: skip
            found.flows += len(ids)
        found.beside += len(event.extra_counter_values) + len(event.extra_double_counter_values)
    _pair(sorted(placed, key=lambda row: row[:2]), tracks, found)
    return found


def _time(stamp: int, of: _Sequence, clock: int, offset: int) -> int:
    if clock < _FIRST_OWN:
        return stamp + (offset if clock == _MONOTONIC else 0)
    last, start, unit, is_incremental = of.clocks[clock]
    if is_incremental:
        of.clocks[clock][0] = stamp = last + stamp
    return stamp * unit + start


def _pair(placed: list[Any], tracks: dict[int, Any], found: Events) -> None:
    opened: defaultdict[int, list[tuple[str, str, int]]] = defaultdict(list)
    sums: defaultdict[int, int] = defaultdict(int)
    for time, _, track, category, name, event in placed:
        phase = chr(event.legacy_event.phase) if event.HasField("legacy_event") else ""
        if event.type == BEGIN:
            opened[track].append((category, name, time))
        elif event.type == END and opened[track]:
            found.ranges.append((*opened[track].pop(), time))
        elif event.type == END:
            found.ends_alone += 1
        elif event.type == COUNTER:
            of = tracks[track]
            value = event.counter_value or event.double_counter_value
            if of.counter.is_incremental:
                value = sums[track] = sums[track] + value
            found.samples.append(
                (of.name or of.static_name, time, value * (of.counter.unit_multiplier or 1))
            )
        elif event.type == INSTANT or phase in "RIin":
            found.marks.append((category, name, time))
        elif phase == "b":
            found.spans.append((category, name, time))
    found.ranges += [(*each, None) for stack in opened.values() for each in stack]
