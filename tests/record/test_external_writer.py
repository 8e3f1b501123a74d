# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of events that no callback brought: given in arrays, in any order, read back whole."""

from __future__ import annotations

import array
import ctypes
import os
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import nvspan
from helpers.external import NOT_ENDED, File
from nvspan._reader import ExternalWriter


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path / "x.nvspan")


def shown(recording: nvspan.Recording) -> list[tuple[object, ...]]:
    """Kind, name, start, end, depth and the parent's name of each range."""
    rows = list(recording.ranges.rows())
    return [
        (
            row["kind"],
            row["name"],
            row["start"],
            row["end"] if row["end_reason"] == 0 else None,
            row["depth"],
            None if row["parent"] is None else rows[row["parent"]]["name"],
        )
        for row in rows
    ]


def test_ranges_in_any_order_nest_as_their_times_say(file: File) -> None:
    outer, inner, zero, after = file.names("outer", "inner", "zero", "after")
    file.ranges(
        np.array([50, 20, 10, 100, 20], dtype=np.int64),
        np.array([50, 60, 100, 110, 30], dtype=np.int64),
        name=np.array([zero, inner, outer, after, zero]),
    )
    assert shown(file.read()) == [
        (0, "outer", 10, 100, 0, None),
        (0, "inner", 20, 60, 1, "outer"),
        (0, "zero", 20, 30, 2, "inner"),
        (0, "zero", 50, 50, 2, "inner"),
        (0, "after", 100, 110, 0, None),
    ]


def test_every_field_of_a_range_is_read_back(file: File) -> None:
    writer = file.writer
    writer.category(file.domain, 3, "io")
    name = file.names("load")[0]
    file.ranges(5, 9, name=name, category=3, color=0xFF112233, payload=2.5)
    writer.marks(file.thread, file.domain, 6, name=name, payload=np.array([-4], dtype=np.int32))
    recording = file.read()
    (row,) = recording.ranges.rows()
    assert {key: row[key] for key in ("domain", "name", "category", "category_name", "color")} == {
        "domain": "app",
        "name": "load",
        "category": 3,
        "category_name": "io",
        "color": 0xFF112233,
    }
    assert (row["payload_type"], row["payload_value"]) == (3, 2.5)
    (mark,) = recording.marks.rows()
    assert (mark["name"], mark["time"], mark["payload_type"], mark["payload_value"]) == (
        "load",
        6,
        5,
        -4.0,
    )
    (process,) = recording.processes
    assert (process.pid, process.host, process.command, process.clock) == (
        7,
        "box",
        ["train", "--fast"],
        "given",
    )
    (thread,) = recording.threads.rows()
    assert (thread["tid"], thread["name"], thread["end"]) == (70, "main", None)


def test_overlapping_ranges_of_one_domain_become_start_end_ranges(file: File) -> None:
    a, b = file.names("a", "b")
    file.ranges(np.array([0, 5]), np.array([10, 15]), name=np.array([a, b]))
    assert shown(file.read()) == [(0, "a", 0, 10, 0, None), (1, "b", 5, 15, 0, None)]
    assert file.writer.overlapping == 1


def test_ranges_of_two_domains_may_overlap(file: File) -> None:
    other = file.writer.domain(file.process, "other")
    a, b, c = file.names("a", "b", "c")
    file.ranges(np.array([0, 2]), np.array([10, 9]), name=np.array([a, c]))
    file.writer.ranges(file.thread, other, 5, 15, name=b)
    assert shown(file.read()) == [
        (0, "a", 0, 10, 0, None),
        (0, "c", 2, 9, 1, "a"),
        (0, "b", 5, 15, 0, "c"),
    ]
    assert file.writer.overlapping == 0


def test_ranges_that_did_not_end(file: File) -> None:
    a, b, c = file.names("a", "b", "c")
    file.ranges(
        np.array([0, 10, 20]), np.array([NOT_ENDED, NOT_ENDED, 30]), name=np.array([a, b, c])
    )
    file.ranges(40, NOT_ENDED, name=a, kind="start_end")
    assert shown(file.read()) == [
        (0, "a", 0, None, 0, None),
        (0, "b", 10, None, 1, "a"),
        (0, "c", 20, 30, 2, "b"),
        (1, "a", 40, None, 0, None),
    ]


def test_pushes_and_pops_are_paired_by_their_times(file: File) -> None:
    writer, thread, domain = file.writer, file.thread, file.domain
    a, b = file.names("a", "b")
    writer.pushes(thread, domain, np.array([0, 40, 10]), name=np.array([a, a, b]), payload=7)
    writer.pops(thread, domain, np.array([50, 30, 20, 60]))
    file.ranges(12, 15, name=b)
    recording = file.read()
    assert shown(recording) == [
        (0, "a", 0, 30, 0, None),
        (0, "b", 10, 20, 1, "a"),
        (0, "b", 12, 15, 2, "b"),
        (0, "a", 40, 50, 0, None),
    ]
    assert list(recording.ranges["payload"]) == [7, 7, 0, 7]
    assert recording.orphan_ends == 1


def test_starts_and_ends_on_two_threads(file: File) -> None:
    writer, domain = file.writer, file.domain
    other = writer.thread(file.process, 71)
    name = file.names("copy")[0]
    writer.starts(file.thread, domain, np.array([1, 2]), np.array([5, 6]), name=name)
    writer.ends(other, domain, np.array([9, 4, 30]), np.array([5, 6, 99]))
    recording = file.read()
    rows = [
        (r["kind"], r["start"], r["end"], r["range_id"], r["thread"], r["end_thread"])
        for r in recording.ranges.rows()
    ]
    assert rows == [(1, 1, 9, 5, 0, 1), (1, 2, 4, 6, 0, 1)]
    assert recording.orphan_ends == 1


def test_device_ranges_know_their_stream_and_launcher(file: File) -> None:
    writer = file.writer
    step, kernel, copy = file.names("step", "gemm", "copy")
    file.ranges(np.array([0, 100]), np.array([50, 150]), name=step)
    writer.device_name(file.process, 1, "H200")
    writer.stream_name(file.process, 13, "side")
    writer.device_ranges(
        file.process,
        file.domain,
        np.array([1000, 1100, 990]),
        np.array([1050, 1200, 1400]),
        name=np.array([kernel, copy, kernel]),
        device=1,
        stream=np.array([7, 13, 7], dtype=np.uint64),
        correlation=np.array([11, 12, 0]),
        launched=np.array([10, 120, 0]),
        tid=np.array([70, 70, 0], dtype=np.uint32),
        payload=np.array([64, 128, 0], dtype=np.int64),
    )
    recording = file.read()
    rows = list(recording.ranges.rows())
    assert [
        tuple(r[key] for key in ("name", "start", "end", "device", "stream", "launcher"))
        for r in rows
        if r["kind"] == 2
    ] == [
        ("gemm", 990, 1400, 1, 7, None),
        ("gemm", 1000, 1050, 1, 7, 0),
        ("copy", 1100, 1200, 1, 13, 1),
    ]
    assert [r["payload_value"] for r in rows if r["kind"] == 2] == [0.0, 64.0, 128.0]
    rows = recording.stats(by="stream").rows
    assert sorted((row.lane, row.name, row.calls) for row in rows) == [
        ("GPU 1 (H200) · stream 13 (side)", "copy", 1),
        ("GPU 1 (H200) · stream 7", "gemm", 2),
    ]


def test_counters_of_one_number_and_of_several(file: File) -> None:
    writer, thread = file.writer, file.thread
    plain = writer.counter(file.process, file.domain, "bytes", unit="B")
    real = writer.counter(file.process, file.domain, "load")
    layout = np.dtype([("sent", "<i8"), ("rate", "<f8")])
    schema = writer.schema(
        file.domain, "net", layout.itemsize, [("sent", 17, 0, 0, 0), ("rate", 44, 0, 0, 8)]
    )
    group = writer.counter(file.process, file.domain, "net", schema=schema)
    writer.samples(thread, plain, np.array([3, 1]), np.array([30, 10]))
    writer.samples(thread, real, 2, np.array([0.5], dtype=np.float32))
    writer.samples(thread, group, np.array([4]), np.array([(9, 1.5)], dtype=layout))
    rows = [
        (r["name"], r["field"], r["time"], r["kind"], r["value"], r["unit"])
        for r in file.read().counters.rows()
    ]
    assert rows == [
        ("bytes", None, 1, 0, 10.0, "B"),
        ("load", None, 2, 1, 0.5, None),
        ("bytes", None, 3, 0, 30.0, "B"),
        ("net", "sent", 4, 0, 9.0, None),
        ("net", "rate", 4, 1, 1.5, None),
    ]


def test_payloads_of_a_schema_are_columns(file: File) -> None:
    layout = np.dtype([("size", "<u4"), ("ratio", "<f8")])
    schema = file.writer.schema(
        file.domain, "info", layout.itemsize, [("size", 16, 0, 0, 0), ("ratio", 44, 0, 0, 4)]
    )
    rows = np.array([(5, 0.25), (6, 0.5)], dtype=layout)
    file.ranges(np.array([0, 10]), np.array([5, 15]), payload=rows, schema=schema)
    recording = file.read()
    assert list(recording.ranges["payload.size"]) == [5, 6]
    assert list(recording.ranges["payload.ratio"]) == [0.25, 0.5]


def test_arrays_of_ctypes(file: File) -> None:
    class Info(ctypes.Structure):
        _fields_ = (("size", ctypes.c_uint32), ("other", ctypes.c_uint32))

    schema = file.writer.schema(file.domain, "info", 8, [("size", 16, 0, 0, 0)])
    times = ctypes.c_int64 * 2
    file.ranges(times(0, 10), times(5, 15), payload=(Info * 2)((5, 0), (6, 0)), schema=schema)
    file.ranges(times(20, 30), times(25, 35), payload=(ctypes.c_double * 2)(0.5, 1.5))
    rows = list(file.read().ranges.rows())
    assert [(r["start"], r["end"]) for r in rows] == [(0, 5), (10, 15), (20, 25), (30, 35)]
    assert [r["payload.size"] for r in rows] == [5, 6, None, None]
    assert [r["payload_value"] for r in rows] == [None, None, 0.5, 1.5]


def test_several_processes_hosts_and_clocks_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.nvspan"
    with ExternalWriter(os.fsencode(path)) as writer:
        for pid, host in ((1, "a"), (2, "b"), (2, "c")):
            process = writer.process(pid, host=host, boot_id=f"boot-{host}", unix_offset=1000)
            thread = writer.thread(process, 10 * pid, f"of {host}")
            domain = writer.domain(process, f"domain {host}")
            # Twice as fast as ns until 100, then as fast, and as between the last two beyond.
            clock = writer.clock([(0, 1000), (100, 1050), (200, 1150)])
            name = np.asarray(writer.strings([f"range {host}"]))
            times = np.array([-10, 50, 100, 150, 400])
            writer.ranges(thread, domain, times, times + 2, name=name[0], clock=clock)
        third = writer.clock([(5, 100)], frequency=1e6)
        writer.marks(thread, domain, 7, clock=third)
    recording = nvspan.read(path)
    assert recording.problems == []
    assert [(p.pid, p.host, p.boot_id) for p in recording.processes] == [
        (1, "a", "boot-a"),
        (2, "b", "boot-b"),
        (2, "c", "boot-c"),
    ]
    assert recording.unix_offset == 1000
    rows = list(recording.ranges.rows())
    assert len(rows) == 15
    assert [r["start"] for r in rows[:5]] == [995, 1025, 1050, 1100, 1350]
    assert [r["end"] - r["start"] for r in rows[:5]] == [1, 1, 2, 2, 2]
    assert {(r["process"], r["thread"], r["domain"], r["name"]) for r in rows} == {
        (0, 0, "domain a", "range a"),
        (1, 1, "domain b", "range b"),
        (2, 2, "domain c", "range c"),
    }
    assert [mark["time"] for mark in recording.marks.rows()] == [2100]


def random_ranges(random_: random.Random, count: int) -> list[tuple[int, int]]:
    """Ranges that nest: each within the one before, or after it."""
    ranges: list[tuple[int, int]] = []

    def fill(start: int, end: int, depth: int) -> None:
        at = start
        while at < end and len(ranges) < count:
            begin = random_.randint(at, min(end, at + 5))
            last = random_.randint(begin, end)
            ranges.append((begin, last))
            if depth < 6:
                fill(begin + 1, last - 1, depth + 1)
            at = last + 1

    fill(-(10**6), 10**6, 0)
    return ranges


def oracle(ranges: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    stack: list[int] = []
    for start, end in sorted(ranges, key=lambda r: (r[0], -r[1])):
        while stack and stack[-1] <= start:
            stack.pop()
        yield start, end, len(stack)
        stack.append(end)


@pytest.mark.parametrize("seed", range(6))
def test_random_batches_with_little_memory(tmp_path: Path, seed: int) -> None:
    """What is spilled to files and merged is what one array in order would have been."""
    random_ = random.Random(seed)
    file = File(tmp_path / "x.nvspan", memory=20_000)
    ranges = random_ranges(random_, 4000)
    given = ranges[:]
    random_.shuffle(given)
    texts = file.names(*(f"name {i % 50}" for i in range(len(given))))
    while given:
        batch, given = given[: random_.randint(1, 700)], given[len(given) :] or given[700:]
        starts, ends = (np.array(times, dtype=np.int64) for times in zip(*batch, strict=True))
        file.ranges(starts, ends, name=texts[: len(batch)], payload=starts)
    recording = file.read()
    kept = list(zip(recording.ranges["start"], recording.ranges["end"], strict=True))
    assert kept == sorted(kept, key=lambda r: (r[0], -r[1]))
    rows = zip(kept, recording.ranges["depth"], recording.ranges["payload"], strict=True)
    seen = [(start, end, depth) for (start, end), depth, _ in rows]
    assert seen == list(oracle([(start, end) for start, end, _ in seen]))
    payloads = np.asarray(recording.ranges["payload"]).astype(np.int64)
    assert (payloads == np.asarray(recording.ranges["start"])).all()
    assert list(tmp_path.iterdir()) == [file.path]


def test_all_of_a_large_unsorted_array_with_little_memory(tmp_path: Path) -> None:
    file = File(tmp_path / "x.nvspan", memory=1_000_000)
    count = 300_000
    order = np.random.default_rng(1).permutation(count)
    names = file.names(*(f"name {i}" for i in range(1000)))
    start = order.astype(np.int64) * 2_000_000_000  # far apart: deltas that do not fit
    file.ranges(start, start + 5, name=names[order % 1000])
    recording = file.read()
    assert np.array_equal(np.asarray(recording.ranges["start"]), np.arange(count) * 2_000_000_000)
    assert recording.ranges.text("name") == [f"name {i % 1000}" for i in range(count)]


def test_columns_of_every_integer_type_strides_and_arrays(file: File) -> None:
    names = file.names("a", "b")
    times = np.arange(6, dtype=np.uint64) * 10
    file.ranges(times[::2], times[1::2], name=names[np.array([0, 1, 0])].astype(np.int8))
    file.ranges(times[::-2][:1], times[::-2][:1] + np.uint64(5), name=array.array("h", [names[1]]))
    file.ranges(memoryview(array.array("q", [70])), 75, name=np.int16(names[0]))
    file.ranges(80, 85, name=np.array([-1]), color=np.array([-1]), category=np.array([-1]))
    rows = [(r["start"], r["end"], r["name"], r["color"]) for r in file.read().ranges.rows()]
    assert rows == [
        (0, 10, "a", None),
        (20, 30, "b", None),
        (40, 50, "a", None),
        (50, 55, "b", None),
        (70, 75, "a", None),
        (80, 85, None, None),
    ]


def test_nothing_at_all_and_empty_arrays(file: File, tmp_path: Path) -> None:
    empty = np.array([], dtype=np.int64)
    file.ranges(empty, empty)
    file.writer.marks(file.thread, file.domain, empty)
    recording = file.read()
    assert len(recording.ranges) == len(recording.marks) == 0
    assert recording.stats().rows == []
    nothing = tmp_path / "nothing.nvspan"
    ExternalWriter(os.fsencode(nothing)).close()
    assert nvspan.read(nothing).problems == []


def test_names_of_any_length_and_bytes(file: File) -> None:
    texts = ["", "x" * 100_000, "x" * 3_000_000, "a\0b", "é\n☃", "\udcff"]
    file.ranges(np.arange(6) * 10, np.arange(6) * 10 + 5, name=file.names(*texts))
    assert file.read().ranges.text("name") == texts


def test_times_at_the_edge_of_what_fits(file: File) -> None:
    low, high = -(2**63) + 1, 2**63 - 2
    file.ranges(np.array([low, 0]), np.array([low, high]), name=file.names("a")[0])
    rows = [(row["start"], row["end"]) for row in file.read().ranges.rows()]
    assert rows == [(low, low), (0, high)]
