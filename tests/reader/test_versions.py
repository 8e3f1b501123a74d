# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of every version of the format: those in the corpus are read as they were written."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import nvspan

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
    "kernels": (2, 40, 0, 0, 40),
    "lines": (2, 302, 0, 0, 301),
    "live-lines": (2, 3, 0, 0, 2),
    "sealed-full": (2, 241, 2, 80, 241),
    "sealed-ring": (2, 241, 2, 80, 241),
    "sealed-stats": (2, 0, 0, 0, 241),
}
LOST = {
    "kernels": ["dropped by CUPTI", "GPU work before its launch"],
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
