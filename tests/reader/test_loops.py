# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of a run: what a step is, and the time in, between and around steps."""

from __future__ import annotations

import os
from array import array
from pathlib import Path

import pytest

import nvspan
from nvspan import _reader
from nvspan.loops.loop import Loop
from nvspan.recording.loop import read_loop

MS = 1_000_000
Range = tuple[float, float, str]  # start and end, ms, and name


def written(
    path: Path,
    threads: dict[str, list[Range]],
    kind: str = "push_pop",
    processes: dict[str, int] | None = None,
) -> nvspan.Recording:
    """The threads by name, the first one's number is its process's; `processes` by thread."""
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        known: dict[int, int] = {}
        for tid, (name, ranges) in enumerate(threads.items(), 77):
            pid = (processes or {}).get(name, 77)
            process = known.setdefault(pid, writer.process(pid) if pid not in known else 0)
            thread = writer.thread(process, tid, name)
            domain = writer.domain(process, None)
            for start, end, text in sorted(ranges, key=lambda each: (each[0], -each[1])):
                writer.ranges(
                    thread,
                    domain,
                    array("q", [round(start * MS)]),
                    array("q", [round(end * MS)]),
                    name=writer.strings([text]),
                    kind=kind,
                )
    return nvspan.read(path)


def chosen(loop: Loop) -> tuple[str, int, str] | None:
    choice = loop.choice
    return choice and (choice.label, choice.count, choice.unit)


def rounds(count: int, length: float, parts: list[Range], step: str = "") -> list[Range]:
    """The parts again and again; `step` is around each round, `#` in it its number."""
    ranges: list[Range] = []
    for i in range(count):
        at = i * length
        if step:
            ranges.append((at, at + length, step.replace("#", str(i))))
        ranges += [(at + a, at + b, name) for a, b, name in parts]
    return ranges


LOAD_TRAIN: list[Range] = [(0.5, 3, "load"), (3, 9.5, "train")]


def parts_of(loop: Loop) -> dict[str, tuple[int, int, int]]:
    """By path: calls, total and self time in us."""
    parts, paths, found = loop.tree.parts, [], {}
    for part in parts:
        paths.append(f"{paths[part.parent]} > {part.name}" if part.parent >= 0 else part.name)
        found[paths[-1]] = (part.calls, part.total // 1000, part.self // 1000)
    return found


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        # Known names; nested loops go down to what still holds different parts.
        (rounds(20, 10, LOAD_TRAIN, "train_step"), ("train_step", 20, "step")),
        (rounds(20, 10, LOAD_TRAIN, "batch #"), ("batch", 20, "step")),
        (
            [*rounds(2, 100, [], "epoch #"), *rounds(20, 10, LOAD_TRAIN, "batch")],
            ("batch", 20, "step"),
        ),
        # No name says it: the innermost range with different parts.
        ([(0, 200, "main"), *rounds(20, 10, LOAD_TRAIN, "turn")], ("turn", 20, "step")),
        # No range is around a round.
        ([(0, 200, "main"), *rounds(20, 10, LOAD_TRAIN)], ("load -> train", 20, "step")),
        # One range repeats.
        (rounds(20, 10, [(0.5, 9.5, "work")]), ("work", 20, "step")),
        # Evaluation, backward passes, waits and layers are no steps.
        (rounds(20, 10, [(0.5, 9.5, "validation")]), None),
        (rounds(20, 10, [(0.5, 9.5, "queue.get")]), None),
        ([(0, 200, "main"), (0, 90, "setup"), (90, 200, "solve")], None),
        ([], None),
    ],
)
def test_what_a_step_is(tmp_path, ranges, expected):
    ranges = ranges or [(0, 1, "once")]
    assert chosen(read_loop(written(tmp_path / "a.nvspan", {"main": ranges}))) == expected


def test_evaluation_is_left_out(tmp_path):
    ranges = rounds(20, 10, LOAD_TRAIN, "batch")
    ranges += [(210, 320, "evaluate"), *((211 + 10 * i, 220 + 10 * i, "batch") for i in range(10))]
    choice = read_loop(written(tmp_path / "a.nvspan", {"main": ranges})).choice
    assert choice is not None
    assert (choice.count, choice.evaluation, choice.pattern) == (20, 10, "batch")
    # Each step has `load` and `train` once: they are its parts.
    assert choice.next_best is None


def test_the_pattern_of_the_next_best_chooses_it(tmp_path):
    ranges = [*rounds(4, 100, [], "epoch #"), *rounds(40, 10, LOAD_TRAIN, "batch")]
    recording = written(tmp_path / "a.nvspan", {"main": ranges})
    choice = read_loop(recording).choice
    assert choice is not None
    assert choice.next_best is not None
    assert (choice.label, choice.next_best.label) == ("batch", "epoch")
    assert chosen(read_loop(recording, choice.next_best.pattern)) == ("epoch *", 4, "step")


def test_a_pattern_takes_numbered_names(tmp_path):
    recording = written(tmp_path / "a.nvspan", {"main": rounds(20, 10, LOAD_TRAIN, "batch #")})
    choice = read_loop(recording).choice
    assert choice is not None
    assert choice.pattern == "batch *"
    assert chosen(read_loop(recording, choice.pattern)) == ("batch *", 20, "step")
    with pytest.raises(ValueError, match="no range is called 'batches'"):
        read_loop(recording, "batches")


def test_each_nanosecond_of_a_step_is_in_one_part(tmp_path):
    parts = [(1, 8, "forward"), (2, 4, "attn"), (5, 7, "mlp"), (5.5, 6, "mlp")]
    loop = read_loop(written(tmp_path / "a.nvspan", {"main": rounds(10, 10, parts, "step")}))
    # `mlp` directly within `mlp` counts once.
    assert parts_of(loop) == {
        "forward": (10, 70_000, 30_000),
        "forward > attn": (10, 20_000, 20_000),
        "forward > mlp": (20, 20_000, 20_000),
    }
    assert (loop.tree.total, loop.tree.unnamed) == (100 * MS, 30 * MS)
    assert (loop.tree.unnamed_after, loop.tree.unnamed_before) == ("forward", "")
    assert memoryview(loop.tree.steps).tolist() == [10 * MS] * 10
    assert [memoryview(part.series).tolist() for part in loop.tree.parts if part.series] == [
        [7 * MS] * 10,
        [2 * MS] * 10,
        [2 * MS] * 10,
    ]


def test_means_of_two_sets_of_steps(tmp_path):
    slow = [
        (0, 10, "step"),
        (1, 8, "load"),
        *((a + 10, b + 10, n) for a, b, n in rounds(9, 5, [(1, 3, "load")], "step")),
    ]
    loop = read_loop(written(tmp_path / "a.nvspan", {"main": slow}))
    means = loop.steps.means([0], range(1, 10))
    assert means.steps == (10 * MS, 5 * MS)
    assert means.self == (3 * MS, 3 * MS)
    assert means.parts == [(7 * MS, 2 * MS)]
    with pytest.raises(IndexError):
        loop.steps.means([10], [])


def test_time_between_and_around_steps(tmp_path):
    # Between steps: a fetch in each pause, and a checkpoint in one of them.
    ranges: list[Range] = [(0, 20, "setup")]
    for i in range(10):
        at = 20 + 10 * i + (15 if i > 4 else 0)
        ranges += [(at, at + 6, "step"), (at + 1, at + 5, "train"), (at + 6.5, at + 9, "fetch")]
    ranges += [(70, 84, "checkpoint"), (140, 150, "save")]
    gaps = read_loop(written(tmp_path / "a.nvspan", {"main": ranges})).gaps
    assert (gaps.loop, gaps.total, gaps.lead, gaps.tail) == (111 * MS, 51 * MS, 20 * MS, 19 * MS)
    found = [(part.name, part.calls, part.total // MS) for part in gaps.parts]
    assert found == [("fetch", 9, 22), ("checkpoint", 1, 14)]
    assert memoryview(gaps.parts[1].pauses).tolist() == [4]
    assert memoryview(gaps.parts[1].series).tolist() == [0, 0, 0, 0, 14 * MS, 0, 0, 0, 0]
    assert [part.name for part in gaps.before] == ["setup"]
    assert [part.name for part in gaps.after] == ["save", "fetch"]


def test_the_outer_level_of_nested_loops_is_told_by_range(tmp_path):
    ranges = []
    for i in range(3):
        at = 200 * i
        ranges += [(at, at + 190, "epoch"), (at + 150, at + 180, "shuffle")]
        ranges += [(at + a, at + b, name) for a, b, name in rounds(15, 10, LOAD_TRAIN, "batch")]
    loop = read_loop(written(tmp_path / "a.nvspan", {"main": ranges}))
    assert chosen(loop) == ("batch", 45, "step")
    assert [(part.name, part.calls) for part in loop.gaps.parts] == [("shuffle", 2)]
    assert [(part.name, part.calls) for part in loop.gaps.after] == [("shuffle", 1)]


def test_a_wait_and_what_the_other_thread_did(tmp_path):
    main = rounds(20, 10, [(0.5, 6, "queue.get"), (6, 9.5, "train")], "step")
    loader = [(10 * i + 0.2, 10 * i + 6, "decode") for i in range(20)]
    [wait] = read_loop(written(tmp_path / "a.nvspan", {"main": main, "loader": loader})).waits
    assert (wait.name, wait.calls, wait.total) == ("queue.get", 20, 110 * MS)
    assert wait.share == pytest.approx(0.55)
    assert wait.thread == 1
    assert [(each.name, each.ends_it) for each in wait.meanwhile] == [("decode", True)]
    assert wait.meanwhile[0].share == pytest.approx(1.0)
    alone = read_loop(written(tmp_path / "b.nvspan", {"main": main})).waits
    assert [(each.thread, each.others) for each in alone] == [(None, False)]


def test_requests_overlap(tmp_path):
    ranges = []
    for i in range(30):
        ranges += [
            (4 * i, 4 * i + 10, "request"),
            (4 * i + 1, 4 * i + 3, "parse"),
            (4 * i + 6.5, 4 * i + 9, "render"),
        ]
    recording = written(tmp_path / "a.nvspan", {"main": ranges}, "start_end")
    loop = read_loop(recording)
    assert chosen(loop) == ("request", 30, "request")
    assert loop.choice is not None
    assert loop.choice.overlapping
    assert loop.steps.peak == 3
    assert {name: part[:2] for name, part in parts_of(loop).items()} == {
        "parse": (30, 60_000),
        "render": (30, 75_000),
    }
    found = recording.steps()
    assert (len(found), found.phases) == (30, ["render", "parse", "other"])
    assert set(found["duration"]) == {10 * MS}


def test_start_end_ranges_that_end_in_another_thread_are_requests(tmp_path):
    path = tmp_path / "a.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        first, second = writer.thread(process, 77, "main"), writer.thread(process, 78, "worker")
        domain, name = writer.domain(process, None), writer.strings(["job"])
        for i in range(12):
            writer.starts(first, domain, array("q", [i * MS]), array("Q", [i + 1]), name=name)
            writer.ends(second, domain, array("q", [(i + 3) * MS]), array("Q", [i + 1]))
    loop = read_loop(nvspan.read(path))
    assert chosen(loop) == ("job", 12, "request")
    assert memoryview(loop.tree.steps).tolist() == [3 * MS] * 12


def test_a_payload_that_is_a_size_is_no_number(tmp_path):
    path = tmp_path / "a.nvspan"
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        thread, domain = writer.thread(process, 77), writer.domain(process, None)
        for i in range(8):
            writer.ranges(
                thread,
                domain,
                array("q", [i * MS]),
                array("q", [i * MS + MS // 2]),
                name=writer.strings(["batch"]),
                payload=array("q", [4096]),
            )
    assert [row["number"] for row in nvspan.read(path).steps().rows()] == [None] * 8


def test_each_process_has_a_loop_of_its_own(tmp_path):
    ranges = rounds(10, 10, LOAD_TRAIN, "iteration")
    threads = {"main": ranges, "other main": ranges, "helper": rounds(5, 10, [], "iteration")}
    recording = written(tmp_path / "a.nvspan", threads, processes={"other main": 78, "helper": 78})
    loop = read_loop(recording)
    assert chosen(loop) == ("iteration", 20, "step")
    assert sorted(set(memoryview(loop.steps.thread))) == [0, 1]


def test_a_program_without_steps(tmp_path):
    ranges = [(0, 100, "main"), (0, 60, "read"), (10, 30, "parse"), (60, 95, "solve")]
    loop = read_loop(written(tmp_path / "a.nvspan", {"main": ranges}))
    assert loop.choice is None
    assert parts_of(loop) == {
        "main": (1, 100_000, 5_000),
        "main > read": (1, 60_000, 40_000),
        "main > solve": (1, 35_000, 35_000),
        "main > read > parse": (1, 20_000, 20_000),
    }
    assert [(each.name, each.self // MS) for each in loop.self_times] == [
        ("read", 40),
        ("solve", 35),
        ("parse", 20),
        ("main", 5),
    ]
    assert loop.tiny == []
