# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Records of samples: their short forms, and looks without a record."""

from __future__ import annotations

import pytest

import nvspan
from helpers.sampled import UNIT, WAITING, SampleChunk, SampledFile


@pytest.fixture(params=[True, False], ids=["packed", "before"], autouse=True)
def form(request, monkeypatch):
    """How records are written now, and as files of before have them."""
    monkeypatch.setattr(SampleChunk, "packs", request.param)


def stacks(names: str) -> tuple[SampledFile, list[int]]:
    """A recording of one thread, and a stack for each name."""
    file = SampledFile()
    file.thread()
    return file, [file.stack(file.frame("/p/app.py", name, 1)) for name in names]


def test_stacks_that_a_thread_had_before_are_said_by_their_place(tmp_path):
    file, found = stacks("abcdefgh")
    a, b, *_, h = found
    samples = SampleChunk(0, 1024).sample(1000, 1, a).again(2000).again(2700)
    samples.sample(4000, 1, b, WAITING).again(5000)
    samples.recent(6000, 1, a, 2).again(7000, b, 2).again(9000)
    for at, stack in enumerate(found[2:], 10):
        samples.again(at * 1000, stack) if at % 2 else samples.sample(at * 1000, 1, stack)
    samples.again(16000, b, 7).recent(17000, 1, h, 2).again(18000)
    file.samples(samples)
    rows = nvspan.read(file.write(tmp_path / "a.nvspan")).lines("function").rows
    times = {row.function: (row.samples, row.running / UNIT, row.waiting / UNIT) for row in rows}
    assert times == {
        "a": (4, 3700, 0), "b": (5, 0, 6300), "c": (1, 1500, 0), "d": (1, 1000, 0),
        "e": (1, 1000, 0), "f": (1, 1000, 0), "g": (1, 1000, 0), "h": (3, 2500, 0),
    }  # fmt: skip


def test_a_place_that_a_thread_has_not_is_no_stack(tmp_path):
    file, (f,) = stacks("f")
    file.samples(SampleChunk(0, 1024).sample(1000, 1, f).again(2000, f, 2))
    rows = nvspan.read(file.write(tmp_path / "a.nvspan")).lines("function").rows
    assert [(row.function, row.samples) for row in rows] == [(None, 1), ("f", 1)]


def test_looks_before_a_chunk_count_at_its_beginning(tmp_path):
    file, (f, g) = stacks("fg")
    file.samples(SampleChunk(0, 1024).sample(1000, 1, f).sample(2000, 1, g, WAITING))
    # In g until 9,000.
    file.samples(SampleChunk(10_000, 1024).sample(10_000, 1, f, part=25, still=(7, 1000)))
    rows = nvspan.read(file.write(tmp_path / "a.nvspan")).lines("function").rows
    found = [(row.function, row.samples, row.running / UNIT, row.waiting / UNIT) for row in rows]
    assert found == [("g", 8, 0, 8800), ("f", 2, 1200, 0)]
