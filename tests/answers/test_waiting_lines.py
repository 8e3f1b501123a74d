# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The lines of a wait: where it waits, and where the thread was that it waited for."""

from __future__ import annotations

import os

import pytest

import nvspan
from helpers.sampled import RUNNING, WAITING, SampleChunk, SampledFile
from nvspan.answers.findings import analyze

LOAD, TRAIN, OTHER = 43, 44, 45  # threads
ROUND, WAIT = 20_000, 12_000  # units


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("batch = batches.get()\ntrain(batch)\nImage.open(path)\nheartbeat()\n")
    os.utime(path, ns=(0, 0))
    return str(path)


def findings(path, source, *, ranges: bool, loads: int = RUNNING, idle: bool = False, rounds=60):
    """Rounds of 20 ms in which the main thread waits 12 ms for a batch that another thread loads,
    from the middle of the round before on; `ranges`: whether that has ranges as well."""
    file = SampledFile()
    stacks = [file.stack(file.frame(source, name, line, first_line=line))
              for line, name in enumerate(("get", "train", "load", "beat"), 1)]  # fmt: skip
    main, loader = file.thread(), file.thread(LOAD)
    beat = file.thread(OTHER) if idle else 0
    samples = SampleChunk(0, 1024)
    names, of_loader = [], []
    for number in range(rounds):
        at = number * ROUND
        names += [(at, at + ROUND - 10, "step"), (at + 1, at + WAIT, "wait for batch"),
                  (at + WAIT + 1, at + ROUND - 11, "train")]  # fmt: skip
        of_loader.append((at + 2, at + WAIT - 5, "load"))
        for look in range(500, ROUND, 1000):
            waits = look < WAIT
            samples.sample(at + look, main, stacks[0 if waits else 1],
                           WAITING if waits else RUNNING)  # fmt: skip
            samples.sample(at + look, loader, stacks[2], loads if waits else WAITING)
            if idle:
                samples.sample(at + look, beat, stacks[3], WAITING)
    file.ranges(names)
    if ranges:
        file.ranges(of_loader, tid=LOAD)
    file.samples(samples)
    found = analyze(nvspan.read(file.write(path))).findings
    return [finding for finding in found if finding.kind == "wait"]


def test_a_wait_has_its_line_and_that_of_the_thread_that_it_waits_for(tmp_path, source):
    (finding,) = findings(tmp_path / "a.nvspan", source, ranges=True)
    assert finding.evidence[1:] == [
        f"meanwhile thread 'thread {LOAD}' runs 'load' (100% of the wait)",
        "the wait ends when 'load' ends",
        "line  train.py:1  batch = batches.get()  100% ±0.4% of 'wait for batch', waiting",
        f"line  train.py:3  Image.open(path)  100% ±0.4% of the wait in thread 'thread {LOAD}'",
    ]


def test_a_thread_without_ranges_that_ran_meanwhile_is_named(tmp_path, source):
    path = tmp_path / "a.nvspan"
    (finding,) = findings(path, source, ranges=False, idle=True)
    assert finding.evidence[1:] == [
        "line  train.py:1  batch = batches.get()  100% ±0.4% of 'wait for batch', waiting",
        f"line  train.py:3  Image.open(path)  100% ±0.4% of the wait in thread 'thread {LOAD}'",
    ]
    assert finding.next == f"nvspan view {path}"


def test_threads_that_only_wait_are_not_what_is_waited_for(tmp_path, source):
    path = tmp_path / "a.nvspan"
    (finding,) = findings(path, source, ranges=False, loads=WAITING, idle=True)
    assert finding.evidence[1:] == [
        "no other thread has a range meanwhile",
        "line  train.py:1  batch = batches.get()  100% ±0.4% of 'wait for batch', waiting",
    ]
    assert finding.next == f"nvspan stats --lines 'wait for batch' {path}"


def test_no_ranges_are_advised_where_there_are_samples(tmp_path, source):
    file = SampledFile()
    thread = file.thread()
    stack = file.stack(file.frame(source, "run", 2, first_line=1))
    samples = SampleChunk(0, 1024)
    for look in range(500, 300_000, 1000):
        samples.sample(look, thread, stack)
    file.ranges((at, at + 9_000, "step") for at in range(0, 300_000, 10_000))
    file.ranges((at + 8_999, at + 9_000, "load") for at in range(0, 300_000, 10_000))
    file.samples(samples)
    path = file.write(tmp_path / "a.nvspan")
    (finding,) = analyze(nvspan.read(path)).findings
    assert (finding.kind, finding.next) == ("unnamed", f"nvspan stats --lines {path}")


def test_a_wait_with_few_samples_has_no_line(tmp_path, source):
    (finding,) = findings(tmp_path / "a.nvspan", source, ranges=True, rounds=2)
    assert [text for text in finding.evidence if text.startswith("line")] == []
