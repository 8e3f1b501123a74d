# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Another process truncates a recording while nvspan reads it, or between two reads."""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
import time

import pytest

import nvspan
from helpers.recorded import record_command
from helpers.reported import run_nvspan
from helpers.traced import needs_library
from nvspan.export import perfetto
from nvspan.recording.losses import open_lines

pytestmark = needs_library
SLOW = os.environ.get("NVSPAN_SLOW") == "1"
MARKS = 20_000

PROGRAM = """
import os, signal, sys
import nvspan
for i in range(int(sys.argv[1])):
    nvspan.mark(f"mark {i % 10}", payload=i)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""
# Truncates a file and writes it again, at ever new sizes, until its input ends.
TRUNCATE = """
import os, random, select, sys
path, seed, how = sys.argv[1:]
with open(path, "rb") as file:
    data = file.read()
chance = random.Random(seed)
print("ready", flush=True)
while not select.select([sys.stdin], [], [], chance.choice((0, 0.0002, 0.001)))[0]:
    size = chance.choice((0, 100, 4096, chance.randrange(len(data)), len(data) - 1))
    os.truncate(path, size)
    if how == "sparse":  # the length comes back, the contents do not
        os.truncate(path, len(data))
    with open(path, "r+b") as file:
        file.seek(size)
        file.write(data[size:])
"""


def record(folder, end):
    done = record_command([sys.executable, "-c", PROGRAM, str(MARKS), end], folder=folder,
                          check=end != "kill")  # fmt: skip
    return done.files[0]


def check_contents(path):
    """Reads a file once: "whole", "open", "refused" or "damaged". What is lost in silence fails.

    "open": zeros in a chunk that was never closed are what its thread has not written yet, so the
    last events are missing, and all that the file says is that the chunk has no checksum.
    """
    try:
        recording = nvspan.read(path)
    except ValueError as error:
        return "refused" if path in str(error) else f"an error without its file: {error}"
    payloads = list(recording.marks["payload_value"])
    lost = sum(row["count"] or 0 for row in recording.losses.rows())
    unchecked = any("killed, or still running" in line for line in open_lines(recording))
    if unchecked and payloads[1:] and payloads[-1] == 0:
        payloads.pop()  # the zeros began within this event
    assert payloads == sorted(set(payloads))
    if not recording.problems:
        assert lost == 0
        assert payloads == list(range(len(payloads)))
        assert len(payloads) == MARKS or unchecked
        return "whole" if len(payloads) == MARKS else "open"
    assert len(payloads) + lost <= MARKS
    return "damaged"


@pytest.mark.parametrize("how", ["cut", "sparse"])
@pytest.mark.parametrize("end", ["exit", "kill"])
def test_a_file_that_shrinks_while_it_is_read_is_whole_or_says_so(tmp_path, end, how):
    path = record(tmp_path, end)
    found = collections.Counter()
    command = [sys.executable, "-c", TRUNCATE, path, f"{end} {how}", how]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"ready\n"
        until = time.monotonic() + (60 if SLOW else 1.5)
        while time.monotonic() < until or not found["damaged"]:
            found[check_contents(path)] += 1
    finally:
        other.communicate(b"\n")
    assert other.returncode == 0
    assert set(found) <= {"whole", "refused", "damaged"} | ({"open"} if end == "kill" else set())
    assert check_contents(path) == "whole"


def test_what_was_read_stays_when_the_file_shrinks(tmp_path):
    path = record(tmp_path, "exit")
    recording = nvspan.read(path)
    os.truncate(path, 5000)
    assert list(recording.marks["payload_value"]) == list(range(MARKS))
    assert [mark["calls"] for mark in recording.stats().marks] == [MARKS // 10] * 10
    assert sum(call["kind"] == "mark" for call in recording.calls()) == MARKS
    perfetto.write(recording, str(tmp_path / "out.pftrace"))
    assert (tmp_path / "out.pftrace").stat().st_size > MARKS
    assert recording.problems == []
    again = nvspan.read(path)
    assert any("cut off: 5,000 of" in problem for problem in again.problems)
    assert sum(row["count"] or 0 for row in again.losses.rows()) + len(again.marks) == MARKS


@pytest.mark.parametrize("size", [0, 100, 4096])
def test_commands_refuse_or_report_a_file_that_shrank(tmp_path, size):
    path = record(tmp_path, "exit")
    os.truncate(path, size)
    for command in (["stats"], ["export", "--format", "csv", "-o", tmp_path / "out.csv"]):
        done = run_nvspan(command[0], path, *command[1:], check=None)
        assert "Traceback" not in done.stderr
        if size < 4096:
            assert done.returncode == 1
            said = "cut off in its header" if size else "empty: not an nvspan recording"
            assert said in done.stderr
        else:
            assert done.returncode == 0
            assert "cut off: 4,096 of" in done.stdout + done.stderr
    found = json.loads(run_nvspan("doctor", path, "--json", check=None).stdout)
    (finding,) = [f for f in found["findings"] if f["name"] == "recording"]
    assert finding["status"] == "problem"
