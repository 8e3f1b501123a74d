# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of every version of the format: those in the corpus are read as they were written."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import nvspan
from helpers.traced import nvspan_command

CORPUS = Path(__file__).parents[1] / "corpus"
# The version of the format; ranges, marks, samples of counters, and the calls in the statistics.
WRITTEN = {
    "calls": (1, 10, 13, 0, 10),
    "device": (1, 68, 0, 0, 68),
    "extensions": (1, 2, 2, 3, 2),
    "payloads": (1, 2, 8, 2, 2),
    "ring": (1, 1928, 1928, 0, 1928),
    "stats": (1, 0, 0, 0, 200),
    "threads": (1, 4, 1, 0, 1),
    "graphs": (2, 31, 0, 0, 31),
    "kernels": (2, 40, 0, 0, 40),
    "kernels-all": (2, 48, 12, 0, 48),
    "lines": (2, 302, 0, 0, 301),
    "live-lines": (2, 3, 0, 0, 2),
    "packed-lines": (2, 1, 0, 0, 1),
    "sealed-full": (2, 241, 2, 80, 241),
    "sealed-ring": (2, 241, 2, 80, 241),
    "sealed-stats": (2, 0, 0, 0, 241),
}
LOST = {
    "kernels": ["dropped by CUPTI", "GPU work before its launch"],
    "kernels-all": ["dropped by CUPTI"],
    "payloads": ["payload not kept"],
    "ring": ["overwritten", "overwritten"],
}


def test_every_file_of_the_corpus_is_known():
    assert sorted(WRITTEN) == sorted(path.stem for path in CORPUS.glob("*.nvspan"))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_recording_is_read_as_it_was_written(name):
    path = CORPUS / f"{name}.nvspan"
    (version,) = struct.unpack_from("<I", path.read_bytes(), 8)
    recording = nvspan.read(path)
    calls = sum(row.calls for row in recording.stats().rows)
    found = (len(recording.ranges), len(recording.marks), len(recording.counters), calls)
    assert (version, *found) == WRITTEN[name]
    assert recording.problems == []
    assert [process.open_chunks for process in recording.processes] == [0]
    assert [loss["reason"] for loss in recording.losses.rows()] == LOST.get(name, [])


NEWER = "recorded by a newer version of nvspan"
OLDER = "recorded by an incompatible version of nvspan"
UNPUBLISHED = "it does not say what is open: an earlier nvspan wrote it, or it is an import"


def with_version(folder, version):
    """A whole recording whose header names another version of the format."""
    path = folder / "other.nvspan"
    data = bytearray((CORPUS / "calls.nvspan").read_bytes())
    struct.pack_into("<I", data, 8, version)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("version", "why"), [(0, OLDER), (3, NEWER), (2**32 - 1, NEWER)])
@pytest.mark.parametrize("command", ["stats", "explain", "report"])
def test_a_recording_of_another_version_is_refused_by_name(tmp_path, command, version, why):
    path = with_version(tmp_path, version)
    done = nvspan_command(command, path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"nvspan {command}: {path}: {why}\n"
    with pytest.raises(ValueError, match=why):
        nvspan.read(path)


@pytest.mark.parametrize(("version", "why"), [(1, UNPUBLISHED), (3, NEWER)])
def test_open_ranges_of_another_version_are_refused_by_name(tmp_path, version, why):
    path = with_version(tmp_path, version)
    done = nvspan_command("where", path)
    assert (done.returncode, done.stdout, done.stderr) == (1, f"{path}: {why}\n", "")
