# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Samples in the Perfetto trace: functions of a thread as slices, and their lines."""

from __future__ import annotations

import pytest

from helpers.packages import needs
from helpers.perfetto_trace import read
from helpers.reported import run_nvspan
from helpers.sampled import BEGIN, UNIT, WAITING, SampleChunk, SampledFile


@pytest.fixture
def path(tmp_path):
    """A range of the main thread around the second half of what it was sampled at; a thread that
    changes its stack, and one that only waits."""
    file = SampledFile()
    main = file.frame("/p/app.py", "main", 50, first_line=40)
    ten, eleven = (file.stack(main, file.frame("/p/app.py", "load", line, first_line=9))
                   for line in (10, 11))  # fmt: skip
    library = file.stack(
        main, file.frame("/usr/lib/python3.11/json/decoder.py", "decode", 7, first_line=6)
    )
    idle = file.stack(file.frame("/p/pool.py", "wait", 3, first_line=1))
    thread, other, pool = file.thread(), file.thread(7), file.thread(8)
    samples = SampleChunk(0, 1024)
    for at, stack in ((1000, ten), (2000, ten), (3000, eleven), (4000, library)):
        samples.sample(at, thread, stack)
        samples.sample(at, other, ten if at < 3000 else idle)
        samples.sample(at, pool, idle, WAITING)
    file.ranges([(2000, 4000, "step")])
    file.samples(samples)
    return file.write(tmp_path / "a.nvspan")


def exported(path, tmp_path, *words):
    out = tmp_path / "out.pftrace"
    run_nvspan("export", path, *words, "-o", out)
    return read(out).slices


def units(slices, thread):
    return [
        (each.name, (each.start - BEGIN) / UNIT, (each.end - BEGIN) / UNIT, each.depth,
         each.arguments["source"])
        for each in slices
        if each.track[1:] == (thread, "samples")
    ]  # fmt: skip


@needs("perfetto")
def test_functions_are_slices_below_the_ranges_with_the_line_at_the_bottom(path, tmp_path):
    slices = exported(path, tmp_path)
    assert units(slices, "42") == [
        ("main", 1000, 4000, 0, "/p/app.py:40"),
        ("load", 1000, 3500, 1, "/p/app.py:9"),
        ("app.py:10", 1000, 2500, 2, "/p/app.py:10"),
        ("app.py:11", 2500, 3500, 2, "/p/app.py:11"),
        ("app.py:50", 3500, 4000, 1, "/p/app.py:50"),  # in the standard library
    ]
    assert units(slices, "7") == [
        ("main", 1000, 2500, 0, "/p/app.py:40"),
        ("load", 1000, 2500, 1, "/p/app.py:9"),
        ("app.py:10", 1000, 2500, 2, "/p/app.py:10"),
        ("wait", 2500, 4000, 0, "/p/pool.py:1"),
        ("pool.py:3", 2500, 4000, 1, "/p/pool.py:3"),
    ]
    others = [(each.track[1:], each.name) for each in slices if each.track[-1] != "samples"]
    assert others == [(("42",), "step")]
    assert {each.track[1] for each in slices} == {"42", "7"}  # not the pool's


@needs("perfetto")
def test_a_recording_without_ranges_has_its_samples(tmp_path):
    file = SampledFile()
    stack = file.stack(file.frame("/p/app.py", "main", 2, first_line=1))
    samples = SampleChunk(0, 1024)
    for at in (1000, 2000):
        samples.sample(at, file.thread() if at == 1000 else 1, stack)
    file.samples(samples)
    slices = exported(file.write(tmp_path / "a.nvspan"), tmp_path)
    assert units(slices, "42") == [
        ("main", 1000, 2000, 0, "/p/app.py:1"), ("app.py:2", 1000, 2000, 1, "/p/app.py:2"),
    ]  # fmt: skip


@needs("perfetto")
def test_a_part_by_name_has_its_ranges_alone(path, tmp_path):
    slices = exported(path, tmp_path, "--filter", "step")
    assert [each.name for each in slices] == ["step"]
