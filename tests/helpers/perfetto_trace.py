# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a Perfetto trace with Perfetto's own messages, the way that its processor resolves them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Slice:
    track: tuple[str, ...]  # names from the process down
    name: str | None
    start: int
    end: int
    depth: int
    categories: list[str]
    arguments: dict[str, Any]
    leaves: list[int] = field(default_factory=list)  # numbers of arrows
    arrives: list[int] = field(default_factory=list)


@dataclass
class Trace:
    slices: list[Slice] = field(default_factory=list)
    instants: list[tuple[tuple[str, ...], str | None, int, dict[str, Any]]] = field(
        default_factory=list
    )
    counters: list[tuple[tuple[str, ...], int, float]] = field(default_factory=list)
    units: dict[tuple[str, ...], str] = field(default_factory=dict)  # of counters
    commands: list[list[str]] = field(default_factory=list)
    packets: int = 0


class _Sequence:
    def __init__(self) -> None:
        self.clock = None
        self.track = None
        self.clock_id = None
        self.names: dict[str, dict[int, Any]] = {}


def _value(annotation, sequence):
    kind = annotation.WhichOneof("value")
    if kind is None and annotation.dict_entries:
        return {entry.name: _value(entry, sequence) for entry in annotation.dict_entries}
    if kind is None:
        return [_value(entry, sequence) for entry in annotation.array_values]
    if kind == "string_value_iid":
        return sequence.names["debug_annotation_string_values"][annotation.string_value_iid]
    return getattr(annotation, kind)


def read(path) -> Trace:
    """Everything in the trace; slices are matched and must nest within their track."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

    found = messages.Trace()
    with open(path, "rb") as file:
        found.ParseFromString(file.read())
    made = Trace(packets=len(found.packet))
    sequences: dict[int, _Sequence] = {}
    tracks: dict[int, Any] = {}
    opened: dict[int, list[Slice]] = {}
    last: dict[int, int] = {}

    def path_of(uuid):
        track = tracks[uuid]
        name = track.name
        if track.parent_uuid and tracks[track.parent_uuid].HasField("thread"):
            # A lane says which thread it is of; that of the default domain is called as the thread.
            above = tracks[track.parent_uuid]
            thread = above.thread.thread_name
            if name == (thread or "thread"):
                return path_of(above.uuid)
            assert not thread or name.startswith(f"{thread} · ")
            return (*path_of(above.uuid), name.removeprefix(f"{thread} · "))
        if track.HasField("process"):
            name = track.process.process_name
        elif track.HasField("thread"):
            name = track.thread.thread_name or str(track.thread.tid)
            pid = track.thread.pid
            owners = (t for t in tracks.values() if t.HasField("process"))
            return (*path_of(next(t.uuid for t in owners if t.process.pid == pid)), name)
        return (*(path_of(track.parent_uuid) if track.parent_uuid else ()), name)

    for packet in found.packet:
        number = packet.trusted_packet_sequence_id
        if packet.sequence_flags & 1 or number not in sequences:
            sequences[number] = _Sequence()
        sequence = sequences[number]
        if packet.sequence_flags & 2:
            assert sequence.track is not None, "an event before its sequence's defaults"
        if packet.HasField("trace_packet_defaults"):
            sequence.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
            sequence.clock_id = packet.trace_packet_defaults.timestamp_clock_id
        for entry in packet.clock_snapshot.clocks:
            if entry.is_incremental:
                assert entry.clock_id == sequence.clock_id
                sequence.clock = entry.timestamp
        for kind, _ in packet.interned_data.ListFields():
            names = sequence.names.setdefault(kind.name, {})
            for item in getattr(packet.interned_data, kind.name):
                is_text = kind.name.endswith(("string_values", "_str"))
                text = item.str.decode() if is_text else item.name
                names[item.iid] = text
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            assert descriptor.uuid not in tracks
            tracks[descriptor.uuid] = descriptor
            if descriptor.HasField("process"):
                made.commands.append(list(descriptor.process.cmdline))
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        if sequence.track is not None:
            sequence.clock += packet.timestamp
            now, uuid = sequence.clock, sequence.track
        else:
            now, uuid = packet.timestamp, event.track_uuid
        if event.type != 4:
            assert now >= last.get(uuid, 0), "time goes back on a track"
            last[uuid] = now
        arguments = {
            sequence.names["debug_annotation_names"][a.name_iid]: _value(a, sequence)
            for a in event.debug_annotations
        }
        name = event.name or sequence.names.get("event_names", {}).get(event.name_iid)
        categories = [sequence.names["event_categories"][i] for i in event.category_iids]
        stack = opened.setdefault(uuid, [])
        if event.type == 1:
            stack.append(Slice(path_of(uuid), name, now, -1, len(stack), categories, arguments,
                               list(event.flow_ids), list(event.terminating_flow_ids)))  # fmt: skip
            made.slices.append(stack[-1])
        elif event.type == 2:
            closed = stack.pop()
            closed.end = now
            closed.arguments.update(arguments)
        elif event.type == 3:
            made.instants.append((path_of(uuid), name, now, arguments))
        elif event.type == 4:
            value = (
                event.double_counter_value
                if event.HasField("double_counter_value")
                else event.counter_value
            )
            made.counters.append((path_of(uuid), now, value))
            if tracks[uuid].counter.unit_name:
                made.units[path_of(uuid)] = tracks[uuid].counter.unit_name
    assert not any(opened.values()), "a slice has no end"
    return made
