# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the GPU did for each range: against the definition, applied to every pair."""

from __future__ import annotations

import os
import random
from array import array
from pathlib import Path
from typing import Any

import pytest

import nvspan
from nvspan import _reader
from nvspan.recording.projection import CALL_DOMAIN, WORK_DOMAIN

Range = tuple[int, int, str, str, str | None]  # start, end, kind, name, domain
Op = tuple[int, int, int, int, int]  # called, returned, start, end, number of the call


def written(path: Path, threads: dict[int, tuple[list[Range], list[Op]]]) -> nvspan.Recording:
    """A recording of threads, by their numbers, with their ranges and what they launched."""
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        calls, work = writer.domain(process, CALL_DOMAIN), writer.domain(process, WORK_DOMAIN)
        writer.category(work, 1, "kernel")
        for tid, (ranges, ops) in threads.items():
            thread = writer.thread(process, tid)
            for start, end, kind, name, domain in ranges:
                names = writer.strings([name])
                writer.ranges(thread, writer.domain(process, domain), array("q", [start]),
                              array("q", [end]), name=names, kind=kind)  # fmt: skip
            seen = {(op[0], op[1], op[4]) for op in ops}
            for called, returned, number in sorted(seen):
                writer.ranges(thread, calls, array("q", [called]), array("q", [returned]),
                              payload=array("Q", [number]), kind="start_end")  # fmt: skip
            if ops:
                columns = [array("q", column) for column in zip(*ops, strict=True)]
                writer.device_ranges(
                    process, work, columns[2], columns[3], device=0, stream=7, category=1,
                    correlation=columns[4], launched=columns[0], tid=tid,
                )  # fmt: skip
    return nvspan.read(path)


def union(spans: list[tuple[int, int]]) -> int:
    busy, until = 0, -(2**63)
    for start, end in sorted(spans):
        busy += max(0, end - max(start, until))
        until = max(until, end)
    return busy


def nested(rng: random.Random, start: int, end: int, depth: int) -> list[Range]:
    """Push/pop ranges within a time, in two domains that do not nest in each other."""
    found: list[Range] = []
    at = start
    while at < end - 20 and rng.random() < 0.9:
        begin = rng.randint(at, end - 10)
        stop = rng.randint(begin + 1, end)
        found.append((begin, stop, "push_pop", f"n{rng.randint(0, 5)}", None))
        if depth:
            found += nested(rng, begin + 1, stop, depth - 1)
        at = stop + 1
    return found


@pytest.mark.parametrize("seed", range(12))
def test_every_figure_is_that_of_the_definition(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    threads: dict[int, tuple[list[Range], list[Op]]] = {}
    number = 0
    for tid in (11, 12, 13):
        ranges = nested(rng, 0, 10_000, 4)
        ranges += [(a, b, k, n, "other") for a, b, k, n, _ in nested(rng, 3, 9_000, 2)]
        for _ in range(4):
            a, b = sorted(rng.sample(range(10_000), 2))
            ranges.append((a, b, "start_end", "span", None))
        ops: list[Op] = []
        at = 0
        while at < 9_900 and len(ops) < 150:
            at += rng.randint(1, 120)
            returned = at + rng.randint(1, 40)
            number += 1
            for _ in range(rng.choice([1, 1, 1, 3])):
                start = at + rng.randint(0, 2_000)
                ops.append((at, returned, start, start + rng.randint(1, 300), number))
            at = returned
        threads[tid] = ranges, ops
    recording = written(tmp_path / "x.nvspan", threads)
    found = recording.projection()
    tids = recording.threads["tid"]
    columns = ("thread", "start", "end", "kind", "first", "last", "sum", "busy", "exclusive", "ops",
               "launches")  # fmt: skip
    rows = sorted(
        (tids[thread], name, start, end, kind, *rest)
        for (thread, start, end, kind, *rest), name in zip(
            zip(*(found[column] for column in columns), strict=True), found.text("name"),
            strict=True,
        )
    )  # fmt: skip
    expected: list[tuple[Any, ...]] = []
    outside = 0
    for tid, (ranges, ops) in threads.items():

        def holds(range: Range, op: Op) -> bool:
            return range[0] <= op[0] <= range[1]

        innermost: dict[int, list[Op]] = {}
        for op in ops:
            around = [i for i, each in enumerate(ranges) if holds(each, op)]
            if not around:
                outside += 1
            else:
                last = max(ranges[i][0] for i in around)
                within = [i for i in around if ranges[i][0] == last]
                innermost.setdefault(min(within, key=lambda i: ranges[i][1]), []).append(op)
        for i, (start, end, kind, name, _) in enumerate(ranges):
            own = [op for op in ops if holds(ranges[i], op)]
            if own:
                expected.append((
                    tid, name, start, end, int(kind == "start_end"), min(op[2] for op in own),
                    max(op[3] for op in own), sum(op[3] - op[2] for op in own),
                    union([(op[2], op[3]) for op in own]),
                    sum(op[3] - op[2] for op in innermost.get(i, [])), len(own),
                    len({op[4] for op in own}),
                ))  # fmt: skip
    kinds = {(r[0], r[2], r[3], r[4]): r for r in rows}
    assert found.outside == outside
    assert found.work == sum(len(ops) for _, ops in threads.values())
    assert len(rows) == len(expected)
    if len(kinds) == len(rows):
        assert rows == sorted(expected)
    parts = sum(row["sum"] for row in found.rows), sum(row["exclusive"] for row in found.rows)
    assert parts[0] == sum(row[7] for row in expected)
    assert parts[1] == sum(row[9] for row in expected)


def test_backward_work_is_that_of_the_forward_range_with_its_number(tmp_path: Path) -> None:
    forward: list[Range] = [
        (0, 1000, "push_pop", "forward", "train"),
        (100, 300, "push_pop", "aten::linear, seq = 7, op_id = 1", None),
        (150, 250, "push_pop", "aten::addmm, seq = 8, op_id = 2", None),
        (400, 500, "push_pop", "aten::relu, seq = 9, op_id = 3", None),
        (2000, 3000, "push_pop", "later", "train"),
    ]
    autograd: list[Range] = [
        (2100, 2300, "push_pop", "autograd::engine::evaluate_function: ReluBackward0", None),
        (2110, 2290, "push_pop", "ReluBackward0, seq = 9, op_id = 4", None),
        (2400, 2600, "push_pop", "AddmmBackward0, stashed seq = 8", None),
        (2700, 2800, "push_pop", "Unknown Backward, seq = 99", None),
    ]
    recording = written(tmp_path / "x.nvspan", {
        1: (forward, [(160, 170, 200, 240, 1)]),
        2: (autograd, [(2150, 2160, 5000, 5100, 2), (2450, 2460, 5050, 5250, 3),
                       (2470, 2480, 5300, 5400, 4), (2750, 2760, 5500, 5600, 5)]),
    })  # fmt: skip
    rows = {row["name"]: row for row in recording.projection().rows}

    def backward(name: str) -> tuple[int, int, int]:
        row = rows[name]
        return row["backward_ops"], row["backward_sum"], row["backward_busy"]

    assert backward("forward") == (3, 400, 350)
    assert backward("aten::linear, seq = 7, op_id = 1") == (2, 300, 300)
    assert backward("aten::addmm, seq = 8, op_id = 2") == (2, 300, 300)
    assert backward("aten::relu, seq = 9, op_id = 3") == (1, 100, 100)
    assert "later" not in rows
    assert backward("ReluBackward0, seq = 9, op_id = 4") == (0, 0, 0)
    assert rows["forward"]["ops"] == 1
    assert (rows["aten::relu, seq = 9, op_id = 3"]["ops"], rows["forward"]["sum"]) == (0, 40)


def test_a_part_has_the_ranges_that_it_takes(tmp_path: Path) -> None:
    ranges: list[Range] = [(0, 100, "push_pop", "a", None), (10, 50, "push_pop", "b", "d")]
    recording = written(tmp_path / "x.nvspan", {1: (ranges, [(20, 25, 30, 60, 1)])})
    assert [row["name"] for row in recording.projection().rows] == ["a", "b"]
    part = recording.filter(domains=["d"]).projection()
    assert [(row["name"], row["levels"], row["sum"]) for row in part.rows] == [("b", 1, 30)]


def test_without_kernels_device_ranges_are_the_work(tmp_path: Path) -> None:
    path = tmp_path / "x.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(1)
        thread, domain = writer.thread(process, 5), writer.domain(process, "train")
        writer.ranges(thread, domain, array("q", [0, 10]), array("q", [100, 50]),
                      name=writer.strings(["step", "forward"]))  # fmt: skip
        writer.device_ranges(process, domain, array("q", [70, 90]), array("q", [95, 130]), device=0,
                             stream=7, name=writer.strings(["f", "g"]),
                             correlation=array("q", [1, 2]), launched=array("q", [20, 60]),
                             tid=5)  # fmt: skip
    found = nvspan.read(path).projection()
    assert found.of_device_ranges
    keys = ("name", "ops", "sum", "busy", "exclusive")
    assert [tuple(row[key] for key in keys) for row in found.rows] == [
        ("step", 2, 65, 60, 40), ("forward", 1, 25, 25, 25),
    ]  # fmt: skip
