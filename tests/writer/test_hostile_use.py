# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan.writer with arguments that make no sense, folders that go and disks that are full."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nvspan
from helpers.disks import small_disk
from helpers.traced import clean_environment
from nvspan import writer
from nvspan.payloads import EntryKind, EventKind, numpy_dtype

MOST = 2**64 - 1


@contextlib.contextmanager
def writing(folder):
    """A stream into x.nvspan."""
    with (
        writer.Session("x", output=folder / "x.nvspan") as session,
        session.create_stream("s") as stream,
    ):
        yield stream


@pytest.mark.parametrize(
    "times",
    [(0, 0), (5, 3), (-1, 4), (-(2**63), 2**63 - 1), (2**62, 2**62 + 1), (2**63 - 2, 2**63 - 1)],
)
def test_times_at_the_ends_of_their_numbers(times, tmp_path):
    """Each is recorded, or refused with its reason, and the file is whole."""
    refused = False
    with writing(tmp_path) as stream:
        try:
            stream.write_pushpop(*times, message="a")
        except (ValueError, OverflowError, writer.WriterError) as error:
            refused = bool(str(error))
        stream.write_mark(1, message="b")
    recording = nvspan.read(tmp_path / "x.nvspan")
    assert recording.problems == []
    assert [row["name"] for row in recording.marks.rows()] == ["b"]
    assert len(recording.ranges) == (0 if refused else 1)


@pytest.mark.parametrize("time", [2**63, MOST, 2**64, 10**30, -(2**63) - 1, "1", None, 1.5, [1]])
def test_what_is_no_time_is_refused(time, tmp_path):
    with writing(tmp_path) as stream:
        with pytest.raises((TypeError, ValueError, OverflowError)) as raised:
            stream.write_mark(time, message="a")
        assert str(raised.value)
        stream.write_mark(1, message="b")
    assert [row["name"] for row in nvspan.read(tmp_path / "x.nvspan").marks.rows()] == ["b"]


NAMES = ["", "a\nb", "\x1b[31m", "a\0b", "\udcff", "x" * 1_000_000, "größe ☃"]


def test_names_of_any_text(tmp_path):
    with writer.Session("x", output=tmp_path / "x.nvspan") as session:
        for number, name in enumerate(NAMES):
            with session.create_stream(f"{number}{name}", domain=name) as stream:
                stream.write_mark(number, message=f"{number}{name}", category=f"c{name}")
    recording = nvspan.read(tmp_path / "x.nvspan")
    assert recording.problems == []
    found = [(row["name"], row["domain"]) for row in recording.marks.rows()]
    assert found == [(f"{number}{name}", name or None) for number, name in enumerate(NAMES)]


def test_rows_that_do_not_fit_their_schema_are_refused(tmp_path):
    layout = [("at", numpy_dtype("u8", entry_kind=EntryKind.MARK)), ("n", "u4")]
    with writer.Session("x", output=tmp_path / "x.nvspan") as session:
        domain = session.get_domain("app")
        schema = domain.get_schema(layout, kind=EventKind.MARK)
        with session.create_stream("s", domain=domain) as stream:
            for rows in (np.zeros((2, 2), "u8"), [(1, 2, 3)], [("x", 2)], 5,
                         np.zeros(2, [("at", "u8")]), np.zeros(0, schema.dtype), []):  # fmt: skip
                with pytest.raises((TypeError, ValueError)) as raised:
                    stream.write_event_batch(schema, rows)
                assert str(raised.value)
            stream.write_event_batch(schema, [(7, 8)])
    (mark,) = nvspan.read(tmp_path / "x.nvspan").marks.rows()
    assert (mark["time"], mark["payload.n"]) == (7, 8)


def test_a_folder_that_goes_is_named_and_nothing_is_left(tmp_path):
    (folder := tmp_path / "folder").mkdir()
    session = writer.Session("x", output=folder / "x.nvspan", memory=1000)
    session.begin()
    stream = session.create_stream("s")
    stream.open()
    stream.write_mark(1, message="a")
    folder.rmdir()

    def write():
        for at in range(1000):
            stream.write_mark(at, message="a")
        session.end()

    with pytest.raises(FileNotFoundError):
        write()
    assert list(tmp_path.iterdir()) == []


def test_what_is_in_the_place_of_the_output_stays_until_the_end(tmp_path):
    output = tmp_path / "x.nvspan"
    output.write_text("of somebody")
    session = writer.Session("x", output=output)
    session.begin()
    with session.create_stream("s") as stream:
        stream.write_mark(1, message="a")
        assert output.read_text() == "of somebody"
        output.unlink()
    session.end()
    assert [row["name"] for row in nvspan.read(output).marks.rows()] == ["a"]
    (tmp_path / "folder.nvspan").mkdir()
    session = writer.Session("x", output=tmp_path / "folder.nvspan")
    session.begin()
    with pytest.raises(IsADirectoryError):
        session.end()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.nvspan", "x.nvspan"]


@pytest.mark.parametrize("memory", [1000, 256_000_000])
def test_a_full_disk_is_said_and_nothing_is_left(memory, tmp_path):

    def write(output):
        starts = np.arange(100_000) * 10
        with (
            writer.Session("x", output=output, memory=memory) as session,
            session.create_stream("s") as stream,
        ):
            for _ in range(5):
                stream.write_ranges(starts, starts + 5, message="a")

    with small_disk(tmp_path / "disk", 1 << 20) as disk:
        with pytest.raises(OSError, match="No space left on device"):
            write(disk / "x.nvspan")
        assert os.listdir(disk) == []


def test_a_program_that_is_killed_leaves_no_recording(tmp_path):
    code = """
import os, signal
from nvspan import writer
session = writer.Session("x", memory=1000)
session.begin()
stream = session.create_stream("s")
stream.open()
for at in range(100_000):
    stream.write_mark(at, message="a")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=clean_environment())
    assert done.returncode == -9
    assert [path.name for path in Path(tmp_path).iterdir()] == []
