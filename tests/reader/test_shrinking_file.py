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
from pathlib import Path

import pytest

import nvspan
from helpers.compile import build
from helpers.length import length
from helpers.lines import expect_line
from helpers.recorded import record_command
from helpers.reported import run_nvspan
from helpers.traced import needs_library
from nvspan.export import perfetto

pytestmark = needs_library
MARKS = 20_000
PAGE = 4096
SHRINK = Path(__file__).parents[1] / "programs" / "shrink_while_read.cpp"

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
    unchecked = any(one.open_chunks and not one.closed for one in recording.processes)
    if unchecked and payloads[1:] and payloads[-1] < payloads[-2]:
        payloads.pop()  # the zeros began within this event, maybe within its payload
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
        expect_line(other)
        until = time.monotonic() + length(60, 0.3)
        while time.monotonic() < until or not found["damaged"]:
            found[check_contents(path)] += 1
    finally:
        other.communicate(b"\n")
    assert other.returncode == 0
    assert set(found) <= {"whole", "refused", "damaged"} | ({"open"} if end == "kill" else set())
    assert check_contents(path) == "whole"


def events_of(path):
    """The marks of a file, which are the first ones, how many are lost, and its problems."""
    recording = nvspan.read(path)
    payloads = list(recording.marks["payload_value"])
    assert payloads == list(range(len(payloads)))
    return len(payloads), sum(row["count"] or 0 for row in recording.losses.rows()), [
        problem.removeprefix(f"{path}: ") for problem in recording.problems
    ]  # fmt: skip


@pytest.mark.parametrize("end", [20 * PAGE, 20 * PAGE + 512, 20 * PAGE + 104])
def test_zeros_in_front_of_the_end_are_no_events(tmp_path, end):
    """What is left after a power failure, or of a copy of a file while another cut it."""
    path = record(tmp_path, "exit")
    with open(path, "rb") as file:
        data = file.read()
    for size in range(end - 40, end):
        Path(path).write_bytes(data[:size] + bytes(end - size))
        kept, lost, problems = events_of(path)
        assert kept + lost == MARKS
        assert problems[0] == f"cut off: {end:,} of {len(data):,} bytes are left"
        assert f"{lost:,} recorded events are missing" in problems
    Path(path).write_bytes(data[: end - 40])
    before, _, _ = events_of(path)
    assert before <= kept + 1
    assert kept <= before + 5


STATS = """
import nvspan
for i in range(300):
    for name in ("a", "b", "c", "d"):
        with nvspan.annotate(name):
            pass
"""


def test_zeros_in_front_of_the_end_are_no_figures(tmp_path):
    done = record_command([sys.executable, "-c", STATS], mode="stats", folder=tmp_path)
    path = Path(done.files[0])
    data = path.read_bytes()

    def figures():
        return {row.name: (row.calls, row.total, row.max)
                for row in nvspan.read(path).stats().rows}  # fmt: skip

    whole = figures()
    assert [calls for calls, *_ in whole.values()] == [300] * 4
    kept = set()
    for end in range(PAGE + 512, len(data), 512):
        for size in range(end - 512, end, 28):
            path.write_bytes(data[:size] + bytes(end - size))
            found = figures()
            assert found.items() <= whole.items()
            kept.add(len(found))
    assert kept == {0, 1, 2, 3, 4}


READ = """
import json, sys
import nvspan
recording = nvspan.read(sys.argv[1])
lost = sum(row["count"] or 0 for row in recording.losses.rows())
print(json.dumps([list(recording.marks["payload_value"]), lost, recording.problems]))
"""


def read_while_it_shrinks(path, sizes, back=None):
    library = str(build(SHRINK, "-shared", "-fPIC"))
    environment = {**os.environ, "SHRINK_FILE": os.path.realpath(path),
                   "SHRINK_TO": ",".join(map(str, sizes))}  # fmt: skip
    if back is not None:
        environment["SHRINK_BACK"] = str(back)
    # behind a sanitizer that must be the first
    environment["LD_PRELOAD"] = " ".join(filter(None, [os.environ.get("LD_PRELOAD"), library]))
    done = subprocess.run([sys.executable, "-c", READ, path], env=environment, check=True,
                          stdout=subprocess.PIPE, text=True)  # fmt: skip
    payloads, lost, problems = json.loads(done.stdout)
    assert payloads == list(range(len(payloads)))
    assert len(payloads) + lost == MARKS
    return payloads, [problem.removeprefix(f"{path}: ") for problem in problems]


def test_a_file_that_is_cut_within_a_page_while_it_is_read_has_its_first_events(tmp_path):
    path = record(tmp_path, "exit")
    with open(path, "rb") as file:
        data = file.read()
    for size in range(30 * PAGE - 12, 30 * PAGE - 4, length(1, 3)):
        Path(path).write_bytes(data)
        payloads, problems = read_while_it_shrinks(path, [size])
        assert os.path.getsize(path) == size
        assert problems[0] == f"cut off: {size:,} of {len(data):,} bytes are left"
        assert events_of(path)[0] == len(payloads)  # as of the file that it has become


def test_a_file_that_is_written_again_while_it_is_read_is_read_again(tmp_path):
    path = record(tmp_path, "exit")
    whole = tmp_path / "whole"
    whole.write_bytes(Path(path).read_bytes())
    sizes = [PAGE * 30 - 10, PAGE * 40 - 11, PAGE * 20 - 5, PAGE * 25 - 12, PAGE * 30 - 13]
    assert read_while_it_shrinks(path, sizes[:4], whole) == (list(range(MARKS)), [])
    payloads, problems = read_while_it_shrinks(path, sizes, whole)
    assert len(payloads) < MARKS
    assert "another process shortened it while it was read" in problems
    assert events_of(path) == (MARKS, 0, [])


def test_what_was_read_stays_when_the_file_shrinks(tmp_path):
    path = record(tmp_path, "exit")
    recording = nvspan.read(path)
    os.truncate(path, 5000)
    assert list(recording.marks["payload_value"]) == list(range(MARKS))
    assert [mark.calls for mark in recording.stats().marks] == [MARKS // 10] * 10
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
