# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan import of Perfetto traces: one that Chromium wrote, and what its writers may do."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import nvspan
from helpers import perfetto_events
from helpers.packages import needs
from helpers.tree import ROOT
from nvspan.imports import import_file

DATA = ROOT / "tests" / "data" / "imports"
pytestmark = needs("perfetto")
OPEN, PUSH_POP, START_END = 1, 0, 1


def imported(data: bytes, folder: Path) -> tuple[nvspan.Recording, Any]:
    (folder / "x.pftrace").write_bytes(data)
    done = import_file(folder / "x.pftrace", folder / "x.nvspan")
    recording = nvspan.read(folder / "x.nvspan")
    assert recording.problems == []
    return recording, done


def test_a_trace_of_chromium(tmp_path):
    data = lzma.decompress((DATA / "chrome.pftrace.xz").read_bytes())
    wanted = perfetto_events.read(data)
    recording, done = imported(data, tmp_path)
    rows = list(recording.ranges.rows())
    pushed = [row for row in rows if row["kind"] == PUSH_POP]
    assert sorted(
        (row["domain"] or "", row["name"], row["start"],
         None if row["end_reason"] else row["end"]) for row in pushed
    ) == sorted(wanted.ranges, key=lambda row: (*row[:3], row[3] or 0))  # fmt: skip
    spans = [row for row in rows if row["kind"] == START_END]
    assert sorted((row["domain"], row["name"], row["start"]) for row in spans) == sorted(
        wanted.spans
    )
    marks = [(row["domain"] or "", row["name"], row["time"]) for row in recording.marks.rows()]
    assert sorted(marks) == sorted(wanted.marks)
    samples = [(row["name"], row["time"], row["value"]) for row in recording.counters.rows()]
    assert sorted(samples) == sorted(wanted.samples)
    names = {(row["pid"], row["tid"]): row["name"] for row in _threads(recording)}
    assert {key: names[key] for key in wanted.threads if key in names} == {
        key: name for key, name in wanted.threads.items() if key in names
    }
    assert len(wanted.threads.keys() & names.keys()) > 10
    assert done.left_out == {
        "counter beside an event": wanted.beside, "flow": wanted.flows,
        "end of a slice that did not begin": wanted.ends_alone,
    }  # fmt: skip
    assert (len(wanted.ranges), len(spans), len(marks), len(samples)) == (1356, 2, 259, 33)


def _threads(recording):
    for row in recording.threads.rows():
        yield {**row, "pid": recording.processes[row["process"]]["pid"]}


class Trace:
    """Packets by Perfetto's own messages."""

    def __init__(self) -> None:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2

        self.messages = perfetto_trace_pb2
        self.trace = self.messages.Trace()

    def packet(self, time: int | None = None, sequence: int = 1, **fields: Any) -> Any:
        packet = self.trace.packet.add(trusted_packet_sequence_id=sequence, **fields)
        if time is not None:
            packet.timestamp = time
        return packet

    def event(self, kind: int, time: int, track: int = 1, sequence: int = 1, **fields: Any) -> Any:
        packet = self.packet(time, sequence)
        packet.track_event.type = kind
        packet.track_event.track_uuid = track
        for name, value in fields.items():
            setattr(packet.track_event, name, value)
        return packet

    def read(self, folder: Path) -> tuple[nvspan.Recording, Any]:
        return imported(self.trace.SerializeToString(), folder)


def spans_of(recording):
    return [(row["name"], row["start"], row["end"]) for row in recording.ranges.rows()]


def test_a_track_that_several_threads_write_by_parts(tmp_path):
    trace = Trace()
    trace.event(2, 50, sequence=2)  # of "b", which the other thread began
    trace.event(1, 60, sequence=2, name="c")
    trace.event(2, 70, sequence=2)
    trace.event(1, 10, name="a")
    trace.event(1, 20, name="b")
    trace.event(2, 90)
    recording, done = trace.read(tmp_path)
    assert spans_of(recording) == [("a", 10, 90), ("b", 20, 50), ("c", 60, 70)]
    assert done.left_out == {}


def test_names_that_were_lost(tmp_path):
    trace = Trace()
    for flags, is_lost, name in ((3, False, "a"), (2, True, "b"), (2, False, ""), (3, True, "d")):
        packet = trace.event(3, len(trace.trace.packet))
        packet.sequence_flags, packet.previous_packet_dropped = flags, int(is_lost)
        packet.track_event.name_iid = 7
        if name:
            packet.interned_data.event_names.add(iid=7, name=name)
    recording, done = trace.read(tmp_path)
    assert [(row["name"], row["time"]) for row in recording.marks.rows()] == [("a", 0), ("d", 3)]
    assert done.left_out == {"packet whose names were lost": 2}


def test_clocks(tmp_path):
    trace = Trace()
    system = trace.packet().clock_snapshot
    system.clocks.add(clock_id=6, timestamp=1_000)
    system.clocks.add(clock_id=3, timestamp=400)
    system.clocks.add(clock_id=1, timestamp=5_000_000)
    own = trace.packet().clock_snapshot
    own.clocks.add(clock_id=3, timestamp=2_400)  # 3,000 of the trace's
    own.clocks.add(clock_id=64, timestamp=10, unit_multiplier_ns=100, is_incremental=True)
    own.clocks.add(clock_id=65, timestamp=10, unit_multiplier_ns=100)
    for clock, stamp in ((6, 1), (3, 1), (65, 20), (64, 3), (64, 4), (66, 9)):
        trace.event(3, stamp, name="m").timestamp_clock_id = clock
    recording, done = trace.read(tmp_path)
    assert sorted(recording.marks["time"]) == [1, 601, 3_300, 3_700, 4_000]
    assert recording.unix_offset == 4_999_000
    assert done.left_out == {"event of a clock that no snapshot has": 1}


def test_counters_of_differences_and_of_units(tmp_path):
    trace = Trace()
    descriptor = trace.packet().track_descriptor
    descriptor.uuid, descriptor.name = 1, "memory"
    descriptor.counter.unit_multiplier, descriptor.counter.is_incremental = 1024, True
    for time, value in enumerate((5, 2, -3)):
        trace.event(4, time, counter_value=value)
    recording, _ = trace.read(tmp_path)
    assert list(recording.counters["value"]) == [5 * 1024, 7 * 1024, 4 * 1024]


def test_events_of_the_program_itself(tmp_path):
    trace = Trace()
    for phase, time, more in (
        ("B", 10, {}), ("b", 15, {"unscoped_id": 5}), ("X", 20, {"duration_us": 3}),
        ("b", 30, {"unscoped_id": 6}), ("e", 40, {"unscoped_id": 5}), ("E", 50_000, {}),
        ("R", 60_000, {}), ("e", 70_000, {"unscoped_id": 6}), ("N", 1, {}),
    ):  # fmt: skip
        packet = trace.event(0, time, name=f"{phase}{more.get('unscoped_id', '')}")
        packet.track_event.legacy_event.phase = ord(phase)
        for name, value in more.items():
            setattr(packet.track_event.legacy_event, name, value)
    recording, done = trace.read(tmp_path)
    assert sorted(spans_of(recording)) == [
        ("B", 10, 50_000), ("X", 20, 3_020), ("b5", 15, 40), ("b6", 30, 70_000),
    ]  # fmt: skip
    assert list(recording.marks["time"]) == [60_000]
    assert done.left_out == {"other": 1}
