# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of stacks: the time that each stands for, its range, and sums by line and function."""

from __future__ import annotations

import os
import random
import time

import pytest

import nvspan
from helpers.sampled import BEGIN, READY, UNIT, WAITING, SampleChunk, SampledFile, number, times
from nvspan import _reader
from nvspan.recording import Recording
from nvspan.recording.source import is_library, short_names
from nvspan.report.lines import missed_lines

PERIOD = 1024  # us: 1,000 units


def chunk(at: int = 0, period: int | None = PERIOD) -> SampleChunk:
    return SampleChunk(at, period)


class Program:
    """A main thread with functions that main() calls, each on a line of its own."""

    def __init__(self, mode: int = 0) -> None:
        self.file = SampledFile(mode=mode)
        self.main = self.file.frame("/p/app.py", "main", 50, first_line=40)
        self.thread = self.file.thread()
        self.stacks: dict[str, int] = {}

    def stack(self, name: str, file: str = "/p/app.py") -> int:
        if name not in self.stacks:
            line = 10 + len(self.stacks)
            frame = self.file.frame(file, name, line, first_line=line - 1)
            self.stacks[name] = self.file.stack(self.main, frame)
        return self.stacks[name]


@pytest.fixture
def program() -> Program:
    return Program()


def read(tmp_path, program: Program, *chunks: SampleChunk, closed: bool = True) -> Recording:
    for one in chunks:
        program.file.samples(one)
    return nvspan.read(program.file.write(tmp_path / "a.nvspan", closed))


def test_cpu_time_goes_to_stacks_that_ran_and_the_rest_to_those_that_did_not(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    samples = chunk()
    samples.sample(1000, 1, f)  # a period
    samples.sample(2000, 1, f)
    samples.sample(3000, 1, g, WAITING, part=25)  # a fifth, in f
    samples.sample(4000, 1, g, WAITING)
    samples.sample(10000, 1, f, still=(5, 1000))  # in g until 9,000
    lines = read(tmp_path, program, samples).lines("function")
    assert times(lines.rows) == [
        ("g", 7, 0, 0, 6800, 6800),
        ("f", 3, 3200, 0, 0, 3200),
        ("main", 0, 0, 0, 0, 10000),
    ]
    assert (lines.samples, lines.total / UNIT) == (10, 10000)
    assert [round(row.share, 3) for row in lines.rows] == [0.68, 0.32, 0]


def test_a_thread_that_waits_for_a_core_is_ready(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    samples = chunk()
    samples.sample(1000, 1, f, READY)
    samples.sample(2000, 1, f, READY, part=25)  # a fifth ran: in f, at both ends
    samples.sample(3000, 1, g)
    samples.sample(4000, 1, g, part=25)  # the rest waited for a core, in the stack that it is in
    lines = read(tmp_path, program, samples).lines("function")
    assert times(lines.rows) == [
        ("f", 2, 700, 1800, 0, 2500),
        ("g", 2, 700, 800, 0, 1500),
        ("main", 0, 0, 0, 0, 4000),
    ]


def test_time_between_a_wait_and_a_stack_that_waits_for_a_core_is_rather_a_wait(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    samples = chunk().sample(1000, 1, f, WAITING).sample(2000, 1, g, READY)
    lines = read(tmp_path, program, samples).lines("function")
    assert times(lines.rows) == [("f", 1, 0, 0, 2000, 2000), ("main", 0, 0, 0, 0, 2000),
                                 ("g", 1, 0, 0, 0, 0)]  # fmt: skip


def test_cpu_time_between_waits_belongs_to_the_stack_that_ran_last(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    samples = chunk().sample(1000, 1, f)
    samples.sample(2000, 1, g, WAITING)
    samples.sample(3000, 1, g, WAITING, part=25)
    lines = read(tmp_path, program, samples).lines("function")
    assert times(lines.rows) == [
        ("g", 2, 0, 0, 1800, 1800),
        ("f", 1, 1200, 0, 0, 1200),
        ("main", 0, 0, 0, 0, 3000),
    ]


def test_a_thread_has_no_time_after_its_end_and_a_period_before_its_first_sample(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    other = program.file.thread(43, at=5000)
    samples = chunk().sample(1000, 1, f)
    samples.sample(5000, other, g, WAITING)
    samples.note(3, other, at=9000)  # it stood still until a period before
    samples.sample(20000, 1, f)
    lines = read(tmp_path, program, samples).lines("function", idle=True)
    assert times(lines.rows) == [
        ("f", 2, 20000, 0, 0, 20000),
        ("g", 4, 0, 0, 4000, 4000),
        ("main", 0, 0, 0, 0, 24000),
    ]


def test_a_thread_that_stands_still_at_the_end_has_the_time_until_the_last_look(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    other = program.file.thread(43)
    samples = chunk().sample(1000, other, g, WAITING).sample(1000, 1, f).sample(9000, 1, f)
    lines = read(tmp_path, program, samples).lines("function", idle=True)
    assert times(lines.rows)[:2] == [("f", 2, 9000, 0, 0, 9000), ("g", 8, 0, 0, 8000, 8000)]


def test_threads_that_only_wait_are_left_out_outside_of_ranges(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    other, in_range = program.file.thread(43), program.file.thread(44)
    program.file.ranges([(0, 9000, "wait")], tid=44)
    samples = chunk().sample(1000, other, g, WAITING).sample(1000, in_range, g, WAITING)
    samples.sample(1000, 1, f).sample(4000, 1, f)
    lines = read(tmp_path, program, samples).lines("function")
    assert times(lines.rows)[:2] == [("f", 2, 4000, 0, 0, 4000), ("g", 3, 0, 0, 3000, 3000)]
    assert (lines.idle_threads, lines.idle / UNIT) == (2, 3000)


def test_a_sample_is_in_the_innermost_range_of_its_thread(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    other = program.file.thread(43)
    program.file.ranges([(1500, 9500, "step"), (2500, 5500, "load"), (9700, None, "save")])
    program.file.ranges([(0, 4500, "load")], tid=43)
    samples = chunk()
    for at in range(1000, 11000, 1000):
        samples.sample(at, 1, f if at < 6000 else g)
        samples.sample(at, other, g)
    recording = read(tmp_path, program, samples)
    lines = recording.lines("function")
    assert [(path.parent, path.name, path.samples, path.running / UNIT)
            for path in lines.ranges] == [
        (None, None, 20, 20000),
        (0, "load", 4, 4500),
        (0, "step", 8, 8000),
        (2, "load", 3, 3000),
        (0, "save", 1, 500),
    ]  # fmt: skip
    assert times(lines.within("step").rows) == [
        ("f", 4, 4000, 0, 0, 4000),
        ("g", 4, 4000, 0, 0, 4000),
        ("main", 0, 0, 0, 0, 8000),
    ]
    assert times(lines.within("load").rows) == [
        ("g", 4, 4500, 0, 0, 4500),
        ("f", 3, 3000, 0, 0, 3000),
        ("main", 0, 0, 0, 0, 7500),
    ]
    assert times(recording.lines("function", match=["load"]).rows) == times(
        lines.within("load").rows
    )


def test_a_range_within_one_of_its_name_counts_there(tmp_path, program):
    f = program.stack("f")
    program.file.ranges([(0, 9000, "a"), (500, 8000, "b"), (1500, 7000, "a"), (2500, 6000, "c")])
    samples = chunk().sample(1000, 1, f).sample(2000, 1, f).sample(3000, 1, f)
    ranges = read(tmp_path, program, samples).lines().ranges
    assert [(path.parent, path.name, path.samples) for path in ranges] == [
        (None, None, 3), (0, "a", 3), (1, "b", 1), (1, "c", 1),
    ]  # fmt: skip


def test_a_later_thread_with_the_same_number_is_not_in_the_ranges_of_the_first(tmp_path, program):
    f = program.stack("f")
    first, second = program.file.thread(43), program.file.thread(43, at=5000)
    program.file.ranges([(0, None, "forever")], tid=43)
    samples = chunk().sample(1000, first, f).note(3, first, at=2000).sample(5000, second, f)
    ranges = read(tmp_path, program, samples).lines().ranges
    assert [(path.name, path.samples) for path in ranges] == [(None, 2), ("forever", 1)]


def test_a_recursive_function_counts_once_in_its_total(tmp_path, program):
    file = program.file
    f = file.frame("/p/app.py", "f", 10, first_line=9)
    g = file.frame("/p/app.py", "g", 20, first_line=19)
    samples = chunk().sample(1000, 1, file.stack(program.main, f, g, f))
    samples.sample(2000, 1, file.stack(program.main, f, g))
    lines = read(tmp_path, program, samples).lines("function")
    assert times(lines.rows) == [
        ("f", 1, 1500, 0, 0, 2000),
        ("g", 1, 500, 0, 0, 2000),
        ("main", 0, 0, 0, 0, 2000),
    ]


def test_the_standard_library_counts_where_it_is_called(tmp_path, program):
    file = program.file
    base = file.frame("/usr/lib/python3.11/threading.py", "Thread._bootstrap", 30)
    inner = file.frame("/usr/lib/python3.11/json/decoder.py", "JSONDecoder.decode", 40)
    own = file.frame("/p/app.py", "f", 10, first_line=9)
    samples = chunk().sample(1000, 1, file.stack(base, own, inner))
    samples.sample(2000, 1, file.stack(base, own))
    samples.sample(3000, 1, file.stack(base, inner))  # nobody's but the library's
    recording = read(tmp_path, program, samples)
    assert times(recording.lines("function").rows) == [
        ("f", 2, 2500, 0, 0, 2500),
        ("JSONDecoder.decode", 1, 500, 0, 0, 500),
        ("Thread._bootstrap", 0, 0, 0, 0, 500),
    ]
    assert times(recording.lines("function", show_stdlib=True).rows) == [
        ("JSONDecoder.decode", 2, 2000, 0, 0, 2000),
        ("f", 1, 1000, 0, 0, 2500),
        ("Thread._bootstrap", 0, 0, 0, 0, 3000),
    ]
    assert {stack: ns / UNIT for stack, ns in recording.lines().stacks().items()} == {
        ("f",): 2500,
        ("Thread._bootstrap", "JSONDecoder.decode"): 500,
    }


def test_a_comprehension_counts_in_its_function(tmp_path, program):
    file = program.file
    f = file.frame("/p/app.py", "f", 10, first_line=9)
    inner = file.frame("/p/app.py", "f.<locals>.<listcomp>", 11, first_line=11)
    samples = chunk().sample(1000, 1, file.stack(f, inner)).sample(2000, 1, file.stack(f))
    recording = read(tmp_path, program, samples)
    assert times(recording.lines("function").rows) == [("f", 2, 2000, 0, 0, 2000)]
    assert [(row.line, row.self / UNIT) for row in recording.lines().rows] == [
        (11, 1500), (10, 500),
    ]  # fmt: skip


def test_a_line_is_one_whatever_functions_are_in_it(tmp_path, program):
    file = program.file
    samples = chunk()
    for at, name in enumerate(("/p/app.py", "<string>"), 1):
        f = file.frame(name, "f", 10, first_line=9)
        inner = file.frame(name, "f.<locals>.<listcomp>", 10, first_line=10)
        samples.sample(2000 * at - 1000, 1, file.stack(f, inner))
        samples.sample(2000 * at, 1, file.stack(f))
    rows = read(tmp_path, program, samples).lines().rows
    assert [(row.file, row.function, row.self / UNIT, row.total / UNIT) for row in rows] == [
        ("/p/app.py", "f", 2500, 2500),
        ("<string>", "f.<locals>.<listcomp>", 1000, 1000),
        ("<string>", "f", 500, 1500),
    ]


def test_lines_and_expressions_have_their_places_and_texts(tmp_path, program):
    file = program.file
    source = tmp_path / "app.py"
    source.write_text("def f(x):\n    return g(x) + \u00e9(x)\n")
    frames = [file.frame(str(source), "f", 2, columns) for columns in ((11, 15), (18, 23), None)]
    samples = chunk()
    for at, frame in enumerate((0, 0, 0, 1, 1, 2), 1):
        samples.sample(1000 * at, 1, file.stack(frames[frame]))
    recording = read(tmp_path, program, samples)
    (row,) = recording.lines().rows
    assert (row.line, row.end_line, row.column, row.self / UNIT) == (2, None, None, 6000)
    lines = recording.lines("expression")
    assert [(row.column, row.end_column, row.self / UNIT) for row in lines.rows] == [
        (11, 15, 3500), (18, 23, 2000), (None, None, 500),
    ]  # fmt: skip
    assert [lines.text(row) for row in lines.rows] == [""] * 3  # written after the recording began
    os.utime(source, ns=(0, 0))
    lines = recording.lines("expression")
    assert [lines.text(row) for row in lines.rows] == [
        "g(x)",
        "\u00e9(x)",
        "return g(x) + \u00e9(x)",
    ]
    assert recording.lines().text(row) == "return g(x) + \u00e9(x)"


def test_samples_of_some_times_and_threads(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    other = program.file.thread(43)
    program.file.ranges([(0, 9000, "a")], tid=43)
    samples = chunk()
    for at in range(1000, 5000, 1000):
        samples.sample(at, 1, f).sample(at, other, g)
    recording = read(tmp_path, program, samples)
    begin = recording.processes[0].start
    part = recording.lines("function", start=begin + 2000 * UNIT, stop=begin + 4000 * UNIT)
    assert times(part.rows)[:2] == [("f", 2, 2000, 0, 0, 2000), ("g", 2, 2000, 0, 0, 2000)]
    (row,) = [row for row, thread in enumerate(recording.threads.rows()) if thread["tid"] == 43]
    assert times(recording.lines("function", threads=[row]).rows)[:1] == [
        ("g", 4, 4000, 0, 0, 4000)
    ]


def test_files_of_several_processes_are_added_up(tmp_path):
    paths = []
    for pid, name in ((42, "f"), (43, "g"), (44, "f")):
        program = Program()
        program.file.pid = pid
        program.file = SampledFile(pid)
        program.main = program.file.frame("/p/app.py", "main", 50, first_line=40)
        thread = program.file.thread()
        program.file.samples(chunk().sample(1000, thread, program.stack(name)))
        paths.append(program.file.write(tmp_path / f"{pid}.nvspan"))
    lines = nvspan.read(*paths).lines("function")
    assert times(lines.rows) == [
        ("f", 2, 2000, 0, 0, 2000),
        ("g", 1, 1000, 0, 0, 1000),
        ("main", 0, 0, 0, 0, 3000),
    ]
    assert (lines.facts.processes, lines.facts.threads) == (3, 3)


@pytest.mark.parametrize("mode", range(4))
def test_chunks_go_on_from_one_another_but_for_those_that_newer_ones_replaced(tmp_path, mode):
    """As they do in every mode but "full", and in the others that the process was in later."""
    program = Program(mode=mode)
    f = program.stack("f")
    chunks = [chunk(at).sample(at + 1000, 1, f).sample(at + 2000, 1, f) for at in (0, 5000, 10000)]
    for one, place, skipped in zip(chunks, (7, 8, 10), (40, 0, 2), strict=True):
        program.file.samples(one, place, skipped=skipped)
    recording = nvspan.read(program.file.write(tmp_path / "a.nvspan"))
    # 2,000 in the first, 5,000 from there to the end of the second, 2,000 in the last.
    assert times(recording.lines("function").rows)[0] == ("f", 6, 9000, 0, 0, 9000)
    facts = recording.lines().facts
    assert (facts.overwritten, facts.missing, facts.has_gap) == (42, 0, False)
    assert recording.problems == []
    assert missed_lines(facts) == ["42 older samples overwritten"]


def test_a_damaged_chunk_is_left_out_and_counted(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    chunks = [chunk(0).sample(1000, 1, f), chunk(2000).sample(3000, 1, g).sample(4000, 1, g),
              chunk(5000).sample(6000, 1, f)]  # fmt: skip
    for one in chunks:
        program.file.samples(one)
    data = bytearray(program.file.data())
    place = data.index(bytes(chunks[1].data), data.index(bytes(chunks[0].data)) + 1)
    data[place + 3] ^= 1
    path = tmp_path / "a.nvspan"
    path.write_bytes(data)
    recording = nvspan.read(path)
    assert times(recording.lines("function").rows)[0] == ("f", 2, 2000, 0, 0, 2000)
    assert recording.lines().facts.missing == 2
    assert recording.problems == [
        f"{path}: 1 chunk does not match its checksum and is left out",
        f"{path}: 2 samples of where its threads were are missing",
    ]


def test_a_chunk_that_its_process_did_not_seal_is_read_up_to_its_last_record(tmp_path, program):
    f = program.stack("f")
    samples = chunk().sample(1000, 1, f).sample(2000, 1, f)
    samples.raw(b"\0\x85\x85")  # of a record whose first byte was not written
    program.file.samples(samples, seal=False)
    recording = nvspan.read(program.file.write(tmp_path / "a.nvspan", closed=False))
    assert times(recording.lines("function").rows)[0] == ("f", 2, 2000, 0, 0, 2000)
    assert recording.problems == []


def test_a_file_that_ends_within_a_chunk_is_read_up_to_there(tmp_path, program):
    f = program.stack("f")
    samples = chunk()
    for at in range(1000, 500_000, 1000):
        samples.sample(at, 1, f)
    program.file.samples(samples)
    path = program.file.write(tmp_path / "a.nvspan")
    data = path.read_bytes()
    begin = data.index(bytes(samples.data[:64]))
    path.write_bytes(data[: begin + 300])
    recording = nvspan.read(path)
    found = recording.lines("function").rows[0].samples
    assert 50 <= found <= 100
    assert recording.problems[-1] == (
        f"{path}: {499 - found} samples of where its threads were are missing"
    )


IMPOSSIBLE = {  # as records are written now, and as they were before
    "number": [b"\xff" * 20] * 2,  # without an end
    "state": [number(head) + number(3 << 2) for head in (96, 32)],  # that there is not
    "note": [number(head) + number(0) + number(9) for head in (97, 34)],  # likewise
    "time": [number(1 << 60)] * 2,  # beyond any
    # Before the one before.
    "past": [number((1 << 14) + ((1 << 40) - 31 << 7)), number(((1 << 40) + 1) << 2 | 1)],
    # More than all of a look's time.
    "part": [number(head) + number(1 << 2 | 2) + number(126) for head in (96, 32)],
}


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "before"])
@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_records_after_one_that_cannot_be_are_left_out(
    tmp_path, program, what, packed, monkeypatch
):
    monkeypatch.setattr(SampleChunk, "packs", packed)
    raw = IMPOSSIBLE[what][not packed]
    f = program.stack("f")
    samples = chunk().sample(1000, 1, f).raw(raw)
    samples.sample(3000, 1, f)
    recording = read(tmp_path, program, samples)
    assert times(recording.lines("function").rows)[0] == ("f", 1, 1000, 0, 0, 1000)
    assert recording.problems == [
        f"{tmp_path}/a.nvspan: 1 sample of where its threads were is missing"
    ]


def test_samples_that_cite_nothing_have_no_name_and_those_of_no_thread_are_counted(
    tmp_path, program
):
    samples = chunk().sample(1000, 1, 999).sample(2000, 77, program.stack("f"))
    recording = read(tmp_path, program, samples)
    lines = recording.lines("function")
    assert times(lines.rows) == [(None, 1, 1000, 0, 0, 1000)]
    assert (lines.rows[0].file, lines.facts.missing) == (None, 1)


def test_times_of_a_later_chunk_never_go_back(tmp_path, program):
    f = program.stack("f")
    chunks = [chunk(0).sample(9000, 1, f), chunk(0).sample(1000, 1, f).sample(9500, 1, f)]
    lines = read(tmp_path, program, *chunks).lines("function")
    assert times(lines.rows)[0] == ("f", 3, 1500, 0, 0, 1500)


def test_what_the_sampler_missed_is_told(tmp_path, program):
    samples = chunk(period=500).note(2, 1, 2, 3, 4, 5, 6, 7).note(1, PERIOD)
    samples.sample(1000, 1, program.stack("f")).note(2, 10, 20, 30, 40, 50, 60, 70)
    facts = read(tmp_path, program, samples).lines().facts
    assert facts.as_dict() == {
        "processes": 1, "threads": 1, "period": PERIOD * 1000, "looks": 10, "samples": 20,
        "torn": 30, "unnamed": 40, "cut": 50, "unlisted": 60, "sampler": 70_000,
        "overwritten": 0, "missing": 0, "has_gap": False,
    }  # fmt: skip


def test_a_recording_without_samples_has_no_lines(tmp_path, program):
    program.file.ranges([(0, 1000, "a")])
    lines = read(tmp_path, program).lines()
    assert (lines.rows, lines.samples, lines.facts.processes) == ([], 0, 0)
    assert [path.name for path in lines.ranges] == [None]


def test_the_margin_of_a_share_is_that_of_blocks_of_time_where_samples_are_alike(tmp_path):
    """Runs of one function, ten times as long as the period: blocks of time differ by more than
    samples that know nothing of one another would."""
    margins = []
    for length in (1, 50):
        program = Program()
        f, g = program.stack("f"), program.stack("g")
        random.seed(length)
        samples = chunk()
        at = 1000
        for _ in range(2000 // length):
            stack = random.choice((f, g))
            for _ in range(length):
                samples.sample(at, 1, stack)
                at += 1000
        margins.append(read(tmp_path, program, samples).lines("function").rows[0].margin)
    assert 0.021 < margins[0] < 0.03
    assert 0.1 < margins[1] < 0.2


def test_by_must_be_a_group(tmp_path, program):
    with pytest.raises(ValueError, match="by must be line, function or expression, not 'file'"):
        read(tmp_path, program).lines("file")


def test_library_files_and_short_names():
    assert is_library("C:\\Python\\python3.11\\json\\__init__.py")
    assert not is_library("/usr/lib/python3/dist-packages/numpy/core.py")
    assert short_names(["a.py", "/x/a.py", "/x/y/b.py"]) == {
        "a.py": "a.py", "/x/a.py": "x/a.py", "/x/y/b.py": "b.py",
    }  # fmt: skip


def test_a_frozen_copy_has_the_latest_chunks_of_samples(tmp_path, program):
    f, g = program.stack("f"), program.stack("g")
    program.file.samples(chunk(0).sample(1000, 1, f))
    program.file.samples(chunk(900_000).sample(901_000, 1, g), seal=False)
    path = program.file.write(tmp_path / "a.nvspan", closed=False)
    copy = tmp_path / "copy.nvspan"
    window = time.monotonic_ns() - (BEGIN + 500_000 * UNIT)
    assert _reader.freeze(bytes(path), bytes(copy), window) == b""
    recording = nvspan.read(copy)
    assert recording.problems == []
    assert times(recording.lines("function").rows)[0] == ("g", 1, 1000, 0, 0, 1000)
    assert _reader.freeze(bytes(path), bytes(copy), 0) == b""
    assert nvspan.read(copy).lines().samples == 2
