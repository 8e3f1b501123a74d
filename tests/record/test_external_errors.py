# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of events from elsewhere: clear errors, no half-written files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

import nvspan
from helpers.disks import small_disk
from helpers.external import NOT_ENDED, File
from nvspan._reader import ExternalWriter


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path / "x.nvspan")


@pytest.mark.parametrize(
    ("arguments", "fields", "error", "text"),
    [
        ((np.array([1.5]), np.array([2])), {}, TypeError,
         "start must be an int or a 1-D buffer of integers, not a 1-D buffer of 'd'"),
        ((np.array([[1]]), 2), {}, TypeError,
         "start must be an int or a 1-D buffer of integers, not a 2-D buffer of 'l'"),
        (("1", 2), {}, TypeError, "start must be an int or a 1-D buffer of integers, not str"),
        (([1], [2]), {}, TypeError, "start must be an int or a 1-D buffer of integers, not list"),
        ((np.array([1]), None), {}, TypeError, "start and end must be given"),
        ((np.array([1, 5]), np.array([2, 4])), {}, ValueError,
         "end[1] must not be before its start, 5, but is 4"),
        ((np.array([1, 2]), np.array([3])), {}, ValueError, "start has 2 rows and end has 1"),
        ((np.array([2**63], dtype=np.uint64), 9), {}, ValueError,
         "start[0] must be a time in ns between -2**63 + 1 and 2**63 - 2, not 9223372036854775808"),
        ((NOT_ENDED, 9), {}, ValueError,
         "start must be a time in ns between -2**63 + 1 and 2**63 - 2, not -9223372036854775808"),
        ((1, 2), {"name": 50}, ValueError,
         "name must be a number that strings() returned, not 50"),
        ((1, 2), {"color": 2**32}, ValueError,
         "color must be an ARGB color of 0 to 2**32 - 1, not 4294967296"),
        ((1, 2), {"category": np.array([-2])}, ValueError,
         "category[0] must be a category of 0 to 2**32 - 1, not -2"),
        ((1, 2), {"payload": np.array([1, 2])}, ValueError,
         "payload has 2 rows and the times have 1"),
        ((1, 2), {"payload": "x"}, TypeError,
         "payload must be a number or a 1-D buffer of integers, float32 or float64, not str"),
        ((1, 2), {"kind": "x"}, ValueError, "kind must be 'push_pop' or 'start_end', not 'x'"),
        ((1, 2), {"colour": 1}, TypeError, "unexpected keyword argument 'colour'"),
        ((1, 2), {"clock": 3}, ValueError, "clock must be a number that clock() returned, not 3"),
        ((2**70, 2), {}, ValueError, "start must fit into 64 bits, not 1180591620717411303424"),
    ],
)  # fmt: skip
def test_bad_columns_raise_and_leave_nothing(file: File, arguments, fields, error, text) -> None:
    with pytest.raises(error) as raised:
        file.ranges(*arguments, **fields)
    assert str(raised.value) == text
    file.ranges(1, 2)
    assert len(file.read().ranges) == 1


def test_handles_of_others_are_refused(file: File) -> None:
    writer = file.writer
    process = writer.process(8)
    domain = writer.domain(process, None)
    with pytest.raises(ValueError, match="must be of one process, not of 1 and 0"):
        writer.ranges(file.thread, domain, 1, 2)
    with pytest.raises(ValueError, match=r"thread must be a number that thread\(\) returned"):
        writer.ranges(9, domain, 1, 2)
    with pytest.raises(ValueError, match="frequency must be more than 0 ticks a second, not 0"):
        writer.clock([(1, 1)], frequency=0)
    with pytest.raises(ValueError, match="points must be in the order of their times"):
        writer.clock([(1, 1), (1, 2)])


def test_nothing_is_at_the_path_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "x.nvspan"
    path.write_bytes(b"older")
    writer = ExternalWriter(os.fsencode(path), 1000)
    process = writer.process(1)
    thread, domain = writer.thread(process, 1), writer.domain(process, None)
    writer.ranges(thread, domain, np.arange(10000), np.arange(10000))
    with pytest.raises(ZeroDivisionError), writer:
        raise ZeroDivisionError
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match="the writer is closed"):
        writer.ranges(thread, domain, 1, 2)
    writer.close()
    assert path.read_bytes() == b"older"
    missing = ExternalWriter(os.fsencode(tmp_path / "no" / "x.nvspan"))
    with pytest.raises(FileNotFoundError) as raised:
        missing.close()
    assert raised.value.filename == str(tmp_path / "no" / "x.nvspan")


@pytest.mark.parametrize("memory", [100_000, 100_000_000])
def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path, memory: int) -> None:
    with small_disk(tmp_path / "disk", 1_000_000) as disk:
        file = File(disk / "x.nvspan", memory)
        times = np.arange(200_000)
        with pytest.raises(OSError, match="No space left on device") as raised:  # noqa: PT012
            file.ranges(times, times)
            file.writer.close()
        assert raised.value.errno == errno.ENOSPC
        assert raised.value.filename == str(file.path)
        file.writer.abort()
        assert list(disk.iterdir()) == []


def test_a_file_that_is_cut_names_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.nvspan"
    with ExternalWriter(os.fsencode(path)) as writer:
        for pid in (1, 2):
            process = writer.process(pid)
            thread, domain = writer.thread(process, pid), writer.domain(process, None)
            times = np.arange(100_000) * 10
            writer.ranges(thread, domain, times, times + 5)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4])
    recording = nvspan.read(path)
    kept = np.bincount(np.asarray(recording.ranges["process"]), minlength=2)
    assert kept[0] == 100_000
    assert 0 < kept[1] < 100_000
    assert any("cut off" in problem for problem in recording.problems)
    missing = sum(row["count"] for row in recording.losses.rows())
    assert missing == 200_000 - 2 * (kept[1] - 1) - 1 or missing == 200_000 - 2 * kept[1]
    flipped = bytearray(data)
    flipped[len(data) // 4] ^= 1
    path.write_bytes(bytes(flipped))
    recording = nvspan.read(path)
    assert "1 chunk does not match its checksum and is left out" in recording.problems[0]
    assert np.bincount(np.asarray(recording.ranges["process"]), minlength=2)[1] == 100_000


def test_recordings_put_behind_one_another_are_read_together(tmp_path: Path) -> None:
    parts = []
    for i in range(3):
        file = File(tmp_path / f"{i}.nvspan")
        file.ranges(i, i + 1, name=file.names(f"r{i}")[0])
        file.writer.close()
        parts.append(file.path.read_bytes())
    path = tmp_path / "all.nvspan"
    path.write_bytes(b"".join(parts))
    recording = nvspan.read(path)
    assert recording.problems == []
    assert recording.ranges.text("name") == ["r0", "r1", "r2"]
    assert repr(recording) == f"<nvspan Recording of {path}>"
    path.write_bytes(b"".join(parts) + b"surplus" * 100)
    assert nvspan.read(path).problems == [f"{path}: 700 bytes follow the end of the recording"]
