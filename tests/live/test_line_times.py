# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Since when a thread is at its line: recordings of known samples, whole and damaged."""

from __future__ import annotations

import os
import random

import pytest

import nvspan
from helpers.sampled import READY, RUNNING, UNIT, WAITING, SampleChunk, SampledFile
from nvspan import _reader
from nvspan.live.stacks import is_hidden

LIBRARY = "/usr/lib/python3.11/queue.py"


class Program:
    """A program of three lines, one of which calls the standard library."""

    def __init__(self) -> None:
        self.file = SampledFile(live=True)
        train = self.file.frame("/src/train.py", "train", 31)
        read = self.file.frame("/src/dataset.py", "read", 88)
        other = self.file.frame("/src/dataset.py", "read", 90)
        got, waited = (self.file.frame(LIBRARY, "get", line) for line in (171, 180))
        self.reading = self.file.stack(train, read)
        self.other = self.file.stack(train, other)
        self.getting = self.file.stack(train, read, got)
        self.waiting = self.file.stack(train, read, waited)
        self.library = self.file.stack(got)
        self.main = self.file.thread()

    def stacks(self, folder, data=None):
        """What is found of its threads, and the time that the sampler wrote last is no age: the
        machine is not known."""
        path = folder / "run.nvspan"
        path.write_bytes(self.file.data() if data is None else data)
        (found,) = _reader.LiveFiles([os.fsencode(path)]).stacks(is_hidden)
        assert found is None or found.looked is None
        return found

    def found(self, folder):
        """Of each thread: its id, its frames, the line and state, since when in units, at least."""
        return [
            (
                thread.tid,
                [(frame.function, frame.line) for frame in thread.frames],
                thread.frames[thread.shown].line,
                thread.state,
                thread.held / UNIT,
                thread.at_least,
            )
            for thread in self.stacks(folder).threads
        ]


@pytest.fixture(name="program")
def make_program():
    return Program()


READ = [("read", 88), ("train", 31)]


def test_since_the_first_of_the_newest_samples_at_the_line(program, tmp_path):
    chunk = SampleChunk()
    for at, stack in ((0, program.reading), (10, program.other), (20, program.reading)):
        chunk.sample(at, program.main, stack)
    chunk.sample(50, program.main, program.reading, WAITING).note(1, 1000, at=100)
    program.file.samples(chunk)
    assert program.found(tmp_path) == [(42, READ, 88, "waiting", 80.0, False)]


def test_calls_of_the_standard_library_are_at_the_line_that_makes_them(program, tmp_path):
    chunk = SampleChunk().sample(0, program.main, program.other)
    for at, stack in ((10, program.getting), (20, program.waiting), (30, program.getting)):
        chunk.sample(at, program.main, stack, READY)
    program.file.samples(chunk)
    assert program.found(tmp_path) == [(42, [("get", 171), *READ], 88, "ready", 20.0, False)]


def test_a_thread_in_the_standard_library_alone_is_at_its_innermost_line(program, tmp_path):
    program.file.samples(SampleChunk().sample(10, program.main, program.library))
    assert program.found(tmp_path) == [(42, [("get", 171)], 171, "running", 0.0, True)]


@pytest.mark.parametrize("chunks", [1, 2, 5, 23])
def test_the_line_is_followed_from_chunk_to_chunk(program, tmp_path, chunks):
    first = SampleChunk().sample(0, program.main, program.other)
    program.file.samples(first.sample(7, program.main, program.reading))
    for number in range(1, chunks + 1):
        program.file.samples(SampleChunk(100 * number).sample(100 * number, program.main,
                                                              program.reading))  # fmt: skip
    assert program.found(tmp_path) == [(42, READ, 88, "running", 100.0 * chunks - 7, False)]


def test_of_24_chunks_or_more_the_older_ones_are_not_read(program, tmp_path):
    for number in range(40):
        stack = program.other if number == 0 else program.reading
        program.file.samples(SampleChunk(100 * number).sample(100 * number, program.main, stack))
    assert program.found(tmp_path) == [(42, READ, 88, "running", 2300.0, True)]


def test_a_chunk_that_is_missing_ends_what_is_known(program, tmp_path):
    for number in (1, 2, 4, 5):
        stack = program.other if number == 1 else program.reading
        program.file.samples(
            SampleChunk(100 * number).sample(100 * number, program.main, stack), number
        )
    assert program.found(tmp_path) == [(42, READ, 88, "running", 100.0, True)]


def test_threads_of_which_the_newest_chunk_says_nothing_yet(program, tmp_path):
    others = [program.file.thread(tid) for tid in (50, 51, 52)]
    first = SampleChunk()
    for thread in (program.main, *others):
        first.sample(10, thread, program.reading, WAITING)
    program.file.samples(first.note(3, others[0]))  # ended
    second = SampleChunk(100).sample(100, program.main, program.other)
    program.file.samples(second.note(3, others[1]))
    assert program.found(tmp_path) == [
        (42, [("read", 90), ("train", 31)], 90, "running", 0.0, False),
        (52, READ, 88, "waiting", 90.0, True),
    ]


def test_a_thread_that_has_the_number_of_another_one_replaces_it(program, tmp_path):
    chunk = SampleChunk()
    first, second = program.file.thread(60), program.file.thread(60)
    chunk.sample(0, first, program.other).note(3, first).sample(5, second, program.reading, WAITING)
    program.file.samples(chunk)
    assert program.found(tmp_path) == [(60, READ, 88, "waiting", 0.0, True)]


def test_a_recording_without_samples_has_none(program, tmp_path):
    assert program.found(tmp_path) == []


def test_more_than_4_mib_of_samples_are_not_read(program, tmp_path):
    for number in range(6):
        chunk = SampleChunk(number * 1_000_000)
        chunk.sample(number * 1_000_000, program.main, program.reading, WAITING)
        program.file.samples(chunk.raw(b"\x06\x02" * 500_000))
    found = program.found(tmp_path)
    assert [(of[0], of[-1]) for of in found] == [(42, True)]


def test_damaged_samples_are_read_as_far_as_they_can_be(program, tmp_path):
    first = SampleChunk().sample(0, program.main, program.other)
    program.file.samples(first.sample(10, program.main, program.reading, WAITING))
    chunk = SampleChunk(100).sample(100, program.main, program.reading, WAITING)
    program.file.samples(chunk.raw(b"\xff" * 12))
    assert program.found(tmp_path) == [(42, READ, 88, "waiting", 90.0, False)]


def test_definitions_that_are_not_there(program, tmp_path):
    chunk = SampleChunk().sample(0, 77, program.reading).sample(1, program.main, 99)
    program.file.samples(chunk)
    assert program.found(tmp_path) == []


def test_any_bytes_in_place_of_some_are_answered(program, tmp_path):
    """Each mutation is read to its end, in whatever it says."""
    for number in range(4):
        chunk = SampleChunk(100 * number)
        for at in range(30):
            chunk.sample(100 * number + at, program.main,
                         (program.reading, program.waiting)[at % 2], RUNNING)  # fmt: skip
        program.file.samples(chunk)
    whole = program.file.data()
    choose = random.Random(0)
    path = tmp_path / "run.nvspan"
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(choose.choice((1, 1, 8, 64))):
            begin = choose.choice((3072, 4096, len(data) // 2))
            data[choose.randrange(begin, len(data))] = choose.choice((0, 1, 0x7F, 0x80, 0xFF))
        path.write_bytes(data[: choose.choice((len(data), choose.randrange(4096, len(data))))])
        text = str(nvspan.where(path, samples=1))
        assert text
