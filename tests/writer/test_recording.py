# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan.writer without a backend: what is written is a recording."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import nvspan
from nvspan import writer
from nvspan.payloads import EntryKind, EventKind, PayloadEntryType, numpy_dtype

BEGIN = numpy_dtype("i8", entry_kind=EntryKind.RANGE_BEGIN)
END = numpy_dtype("i8", entry_kind=EntryKind.RANGE_END)
MARK = numpy_dtype("u8", entry_kind=EntryKind.MARK)


def rows_of(recording: nvspan.Recording, *names: str) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in names) for row in recording.ranges.rows()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.nvspan"


def test_single_events_of_every_kind(path: Path) -> None:
    with writer.Session("x", output=path) as session:
        domain = session.get_domain("app")
        text = domain.get_registered_string("text")
        with session.create_stream("core 0", domain=domain) as stream:
            stream.write_pushpop(10, 50, message="outer", color="red", category="io")
            stream.write_pushpop(20, 30, message=text, color=0xFF00FF00, category=9)
            stream.write_startend(15, 60, message="lasting")
            stream.write_push(100, message="pushed")
            stream.write_push(110)
            stream.write_pop(120)
            stream.write_pop(130)
            stream.write_start(200, 2**64 - 1, message="started")
            stream.write_end(220, 2**64 - 1)
            stream.write_mark(7, message=b"mark", category="io")
    recording = nvspan.read(path)
    assert recording.problems == []
    assert rows_of(
        recording, "kind", "name", "start", "end", "depth", "color", "category_name"
    ) == [
        (0, "outer", 10, 50, 0, 0xFF0000, "io"),
        (1, "lasting", 15, 60, 0, None, None),
        (0, "text", 20, 30, 1, 0xFF00FF00, None),
        (0, "pushed", 100, 130, 0, None, None),
        (0, None, 110, 120, 1, None, None),
        (1, "started", 200, 220, 0, None, None),
    ]
    (mark,) = recording.marks.rows()
    assert (mark["name"], mark["time"], mark["category_name"], mark["domain"]) == (
        "mark", 7, "io", "app",
    )  # fmt: skip
    (process,) = recording.processes
    assert (process.pid, process.host) == (os.getpid(), socket.gethostname())
    assert abs(recording.unix_offset - (time.time_ns() - time.monotonic_ns())) < 60e9
    (thread,) = recording.threads.rows()
    assert (thread["tid"], thread["name"]) == (1, "core 0")


def test_batches_of_structured_rows(path: Path) -> None:
    layout = np.dtype([
        ("begin", BEGIN), ("end", END),
        ("color", numpy_dtype("u4", entry_type=PayloadEntryType.COLOR_ARGB)),
        ("category", numpy_dtype("u4", entry_type=PayloadEntryType.CATEGORY)),
        ("name", numpy_dtype(np.uintp, entry_kind=EntryKind.MESSAGE,
                             entry_type=PayloadEntryType.REGISTERED_STRING)),
        ("size", "u4"), ("inner", [("a", "f8"), ("b", "i2", 2)]),
    ])  # fmt: skip
    rows = np.zeros(3, layout)
    rows["begin"], rows["end"] = [30, 10, 20], [35, 40, 25]
    rows["color"], rows["category"] = [0xFF123456, 0, 0], [0, 5, 0]
    rows["size"], rows["inner"]["a"], rows["inner"]["b"] = [1, 2, 3], 0.5, [4, 5]
    with writer.Session("x", output=path) as session:
        domain = session.get_domain("app")
        rows["name"] = [domain.get_registered_string(name).handle for name in "abc"]
        rows["name"][2] = 0
        schema = domain.get_schema(layout, kind=EventKind.RANGE_PUSHPOP)
        marks = domain.get_schema(
            [("at", MARK), ("text", numpy_dtype("S3", entry_kind=EntryKind.MESSAGE))],
            kind=EventKind.MARK,
        )
        with session.create_stream("s", domain=domain) as stream:
            stream.write_event_batch(schema, rows)
            stream.write_event(schema, rows[0].tolist()[:0] or rows[0])
            stream.write_event_batch(marks, [(1, b"one"), (2, b"two"), (3, b"one"), (4, b"")])
    recording = nvspan.read(path)
    assert recording.problems == []
    wanted = ("name", "start", "end", "color", "category", "payload.size", "payload.inner.a")
    assert rows_of(recording, *wanted) == [
        ("b", 10, 40, None, 5, 2, 0.5),
        (None, 20, 25, None, 0, 3, 0.5),
        ("a", 30, 35, 0xFF123456, 0, 1, 0.5),
        ("a", 30, 35, 0xFF123456, 0, 1, 0.5),
    ]
    assert [(row["name"], row["time"]) for row in recording.marks.rows()] == [
        ("one", 1), ("two", 2), ("one", 3), (None, 4),
    ]  # fmt: skip


def test_columns_and_data_frames(path: Path) -> None:
    with writer.Session("x", output=path) as session:
        domain = session.get_domain()
        a, b = (domain.get_registered_string(name).handle for name in "ab")
        with session.create_stream("s") as stream:
            starts = np.arange(4) * 10
            stream.write_ranges(starts, starts + 5, message=np.array([a, b, 0, a]), color="red")
            stream.write_ranges(starts + 100, starts + 200, message="long",
                                kind=EventKind.RANGE_STARTEND, category=7)  # fmt: skip
            stream.write_marks(np.array([1], dtype=np.uint64), message="mark")
            frame = pytest.importorskip("pandas").DataFrame(
                {"end": [7, 9], "begin": [6, 8], "other": ["x", "y"]}
            )
            schema = domain.get_schema([("begin", BEGIN), ("end", END)],
                                       kind=EventKind.RANGE_STARTEND)  # fmt: skip
            stream.write_event_batch(schema, frame)
    recording = nvspan.read(path)
    assert sorted(rows_of(recording, "start", "end", "kind", "color", "category")) == [
        (0, 5, 0, 0xFF0000, 0), (6, 7, 1, None, 0), (8, 9, 1, None, 0), (10, 15, 0, 0xFF0000, 0),
        (20, 25, 0, 0xFF0000, 0), (30, 35, 0, 0xFF0000, 0), (100, 200, 1, None, 7),
        (110, 210, 1, None, 7), (120, 220, 1, None, 7), (130, 230, 1, None, 7),
    ]  # fmt: skip
    assert len(recording.marks) == 1


def test_counters_and_groups(path: Path) -> None:
    stamp = numpy_dtype("i8", entry_kind=EntryKind.COUNTER_TIMESTAMP)
    watts = numpy_dtype("f8", counter_semantics=nvspan.CounterSemantics(unit="W"))
    with writer.Session("x", output=path) as session:
        domain = session.get_domain("app")
        ints = domain.get_counter("ints", int, semantics=nvspan.CounterSemantics(unit="B"))
        reals = domain.get_counter("reals", float, scope=domain.get_scope("GPU[0]"))
        small = domain.get_counter("small", "f2")
        group = domain.get_counter("group", [("t", stamp), ("power", watts), ("n", "u1")])
        with session.create_stream("s", domain=domain) as stream:
            stream.write_counter_sample(ints, 1, -5)
            stream.write_counter_sample_no_value(ints, 2, nvspan.CounterNoValueReason.UNAVAILABLE)
            stream.write_counter_batch(reals, [0.5, 1.5], timestamps=[3, 4])
            stream.write_counter_sample(small, 5, 2.5)
            stream.write_counter_batch(group, [(6, 70.0, 1), (7, 80.0, 2)])
    rows = [
        tuple(row[key] for key in ("name", "field", "time", "value", "unit"))
        for row in nvspan.read(path).counters.rows()
    ]
    assert rows == [
        ("ints", None, 1, -5.0, "B"),
        ("ints", None, 2, None, "B"),
        ("reals (GPU[0])", None, 3, 0.5, None),
        ("reals (GPU[0])", None, 4, 1.5, None),
        ("small", None, 5, 2.5, None),
        ("group", "power", 6, 70.0, "W"),
        ("group", "n", 6, 1.0, None),
        ("group", "power", 7, 80.0, "W"),
        ("group", "n", 7, 2.0, None),
    ]


def test_processes_queues_devices_and_clocks(path: Path) -> None:
    with writer.Session("x", output=path, unix_offset=10**18, pid=1, host="a", rank=3) as session:
        other = session.create_process(2, host="b", command=["serve"])
        cycles = session.create_clock([(0, 1000), (10, 1020)])
        domain = session.get_domain("hw")
        streams = {
            "main": session.create_stream("main", domain=domain, tid=70),
            "of b": session.create_stream("worker", domain=domain, process=other, tid=80),
            "gpu": session.create_stream("copies", domain=domain, device=1, queue=7,
                                         time_domain_id=cycles),
            "wall": session.create_stream(
                "wall", domain=domain,
                time_domain_id=nvspan.TimestampType.CPU_CLOCK_GETTIME_REALTIME,
                scope=domain.get_scope("Queue[3]"),
            ),
        }  # fmt: skip
        for stream in streams.values():
            stream.open()
        streams["main"].write_pushpop(1, 2, message="m", category="io")
        streams["of b"].write_pushpop(3, 4, message="b", category="io")
        streams["gpu"].write_pushpop(5, 20, message="copy")
        streams["gpu"].write_ranges([30, 40], [35, 45], message="more")
        streams["wall"].write_pushpop(10**18 + 7, 10**18 + 9, message="w")
        with pytest.raises(writer.WriterError, match="not supported"):
            streams["gpu"].write_mark(5)
        odd = session.create_stream("odd", time_domain_id=nvspan.TimestampType.CPU_TSC)
        with pytest.raises(ValueError, match="a recording cannot place times of time domain"):
            odd.open()
    recording = nvspan.read(path)
    processes = {p.pid: (p.host, p.rank) for p in recording.processes}
    assert processes == {1: ("a", 3), 2: ("b", None)}
    assert {(t["pid"], t["tid"], t["name"]) for t in recording.threads.rows()} >= {
        (1, 70, "main"), (2, 80, "worker"), (1, 4, "wall (Queue[3])"),
    }  # fmt: skip
    wanted = ("name", "start", "end", "kind", "device", "stream", "category_name")
    assert sorted(rows_of(recording, *wanted), key=lambda row: row[1]) == [
        ("m", 1, 2, 0, None, None, "io"),
        ("b", 3, 4, 0, None, None, "io"),
        ("w", 7, 9, 0, None, None, None),
        ("copy", 1010, 1040, 2, 1, 7, None),
        ("more", 1060, 1070, 2, 1, 7, None),
        ("more", 1080, 1090, 2, 1, 7, None),
    ]


def test_a_body_that_raises_writes_nothing(tmp_path: Path) -> None:
    session = writer.Session("x", output=tmp_path / "x.nvspan")
    with pytest.raises(ZeroDivisionError), session, session.create_stream("s"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    session.begin()
    session.end()
    assert nvspan.read(tmp_path / "x.nvspan").problems == []
    missing = writer.Session("x", output=tmp_path / "no" / "x.nvspan")
    missing.begin()
    with pytest.raises(FileNotFoundError):
        missing.end()


def test_the_name_is_the_path_where_there_is_none(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with writer.Session("run 1"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["run 1.nvspan"]


def test_threads_write_to_different_streams_at_once(path: Path) -> None:
    count, threads = 2000, 8
    with writer.Session("x", output=path, memory=100_000) as session:
        streams = [session.create_stream(f"s{i}") for i in range(threads)]

        def work(stream: writer.Stream) -> None:
            with stream:
                for i in range(count):
                    stream.write_pushpop(i * 10, i * 10 + 5, message=f"n{i % 7}")
                stream.write_ranges(np.arange(count) + 10**6, np.arange(count) + 10**6)

        workers = [threading.Thread(target=work, args=(stream,)) for stream in streams]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    recording = nvspan.read(path)
    assert recording.problems == []
    counts = np.bincount(np.asarray(recording.ranges["thread"]))
    assert counts.tolist() == [2 * count] * threads


@pytest.mark.parametrize("ordered", [True, False])
def test_what_goes_into_a_file_is_what_was_given(tmp_path: Path, ordered: bool) -> None:
    longest = 2**24 - 1  # ns that are held in the short form
    lengths = np.array([0, 1, longest - 1, longest, longest + 1, 2**40])
    count = 60_000
    starts = np.arange(count, dtype=np.int64) * 2**41 - 2**50
    ends = starts + lengths[np.arange(count) % len(lengths)]
    if not ordered:
        order = np.random.default_rng(1).permutation(count)
        starts, ends = starts[order], ends[order]
    of = []
    for memory in (10_000, 2_000_000_000):
        path = tmp_path / f"{memory}.nvspan"
        with writer.Session("x", output=path, memory=memory) as session:
            text = session.get_domain("app").get_registered_string("step")
            with session.create_stream("core", domain=session.get_domain("app")) as stream:
                stream.write_ranges(starts, ends, message=text)
                stream.write_marks(starts + 2**40 + 1, message="mark")
                stream.write_pushpop(2**62, 2**62 + 5, message="late")
        recording = nvspan.read(path)
        columns = [list(recording.ranges[name]) for name in ("start", "end", "name")]
        of.append([*columns, list(recording.marks["time"])])
    assert of[0] == of[1]
    assert of[0][0][:-1] == sorted(starts.tolist())
    assert of[0][1][:-1] == sorted(ends.tolist())
