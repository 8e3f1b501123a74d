# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that were cut or written over say what is missing; killed processes do no damage."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nvspan
from helpers.compile import build
from helpers.length import length
from helpers.recorded import record_command
from helpers.reported import run_nvspan
from helpers.traced import LIBRARY, clean_environment, crashed_at_its_end, needs_library
from nvspan import launch, recorder

pytestmark = needs_library
SEEDS = length(400, 40)
COUNTING = Path(__file__).parents[1] / "programs" / "counting.cpp"
HEADER = 4096
CHUNK = struct.Struct("<8sIIIIQQQQIIQQIIII")  # ChunkHeader
NO_THREAD = 0xFFFFFFFF
CHUNK_MAGIC = b"\xfeNVSCHN2"
DAMAGE = ("damaged", "cut off")

PROGRAM = """
import os, signal, sys, threading
import nvspan

def work(count):
    for i in range(count):
        with nvspan.annotate(f"outer {i % 7}", domain="data", category="io", payload=i):
            with nvspan.annotate("inner", payload={"step": i, "loss": i / 2}):
                nvspan.mark("tick")

how = sys.argv[1]
threads = [threading.Thread(target=work, args=(170,)) for _ in range(2)]
for thread in threads:
    thread.start()
work(340)
for thread in threads:
    thread.join()
if how == "fork":
    child = os.fork()
    work(20)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
if how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""
KINDS = {
    "full": ("", "full"), "ring": ("", "ring=1"), "stats": ("", "stats"),
    "fork": ("fork", "full"), "child": ("fork", "full"), "kill": ("kill", "full"),
    "killed ring": ("kill", "ring=1"), "killed stats": ("kill", "stats"),
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    made: dict[str, bytes] = {}

    def one(kind):
        if kind not in made:
            how, mode = KINDS[kind]
            folder = tmp_path_factory.mktemp("damage")
            done = record_command(
                [sys.executable, "-c", PROGRAM, how], mode=mode, folder=folder,
                check=not kind.startswith("kill"),
            )  # fmt: skip
            for file in done.files:
                is_child = nvspan.read(file).processes[0].parent_pid != os.getpid()
                if is_child == (kind == "child"):
                    made[kind] = Path(file).read_bytes()
        return made[kind]

    return one


def contents(recording):
    """All that a recording shows."""
    tables = [recording.ranges, recording.marks, recording.counters, recording.threads]
    return [
        *[list(table.rows()) for table in tables], recording.events, recording.orphan_ends,
        recording.stats().rows,
    ]  # fmt: skip


def said(recording):
    return recording.problems, list(recording.losses.rows())


def chunks(data):
    """(offset, fields of ChunkHeader) of each chunk, in a file that is whole."""
    at = HEADER
    while at + CHUNK.size <= len(data) and data[at : at + 8] == CHUNK_MAGIC:
        fields = CHUNK.unpack_from(data, at)
        yield at, fields
        at += fields[9]


def open_parts(data):
    """The bytes of events and statistics that no checksum protects."""
    return [(at + CHUNK.size, at + fields[9]) for at, fields in chunks(data)
            if fields[1] != 2 and fields[2] != NO_THREAD and fields[15] == 0]  # fmt: skip


def attack(data, chance):
    """Cuts it, or writes over a part of it; the result and the part."""
    made = bytearray(data)
    kind = chance.randrange(4)
    at = chance.randrange(len(made))
    size = min(chance.choice((1, 8, 24, 64, 500, 5000)), len(made) - at)
    if kind == 0:
        del made[at:]
        return made, at, len(data)
    if kind == 1:
        made[at : at + size] = chance.randbytes(size)
    elif kind == 2:
        made[at : at + size] = bytes(size)
    else:
        source = chance.randrange(len(made) - size)
        made[at : at + size] = data[source : source + size]
    return made, at, at + size


@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_is_silent(kind, recorded, tmp_path):
    data = recorded(kind)
    path = tmp_path / "damaged.nvspan"
    path.write_bytes(data)
    whole = nvspan.read(path)
    expected, expected_said = contents(whole), said(whole)
    assert whole.problems == []
    unprotected = open_parts(data)
    assert bool(unprotected) == (kind == "child" or kind.startswith("kill"))
    assert (whole.processes[0].open_chunks > 0) == bool(unprotected)
    noticed = 0
    for seed in range(SEEDS):
        made, begin, end = attack(data, random.Random(f"{kind} {seed}"))
        path.write_bytes(made)
        try:
            found = nvspan.read(path)
        except ValueError:  # the header says that it is no recording
            noticed += 1
            continue
        if said(found) != expected_said:
            noticed += 1
            continue
        if any(begin < last and end > first for first, last in unprotected):
            continue
        assert contents(found) == expected, f"seed {seed}: {begin} to {end}"
    assert noticed > SEEDS / 8


def test_a_cut_file_says_which_events_of_which_threads_are_missing(recorded, tmp_path):
    data = recorded("full")
    path = tmp_path / "run.nvspan"
    path.write_bytes(data)
    whole = nvspan.read(path)
    all_events = sum(1 for call in whole.calls() if call["kind"] in ("push", "pop", "mark"))
    assert all_events == (170 + 170 + 340) * 5
    cut = tmp_path / "cut.nvspan"
    for size in (HEADER, 9000, 30_000, 50_000, len(data) - 64):
        cut.write_bytes(data[:size])
        found = nvspan.read(cut)
        have = sum(1 for call in found.calls() if call["kind"] in ("push", "pop", "mark"))
        losses = [row for row in found.losses.rows() if row["reason"] in DAMAGE]
        assert losses or have == all_events
        assert have + sum(row["count"] or 0 for row in losses) == all_events
        start, end = whole.processes[0].start, whole.processes[0].end
        assert all(start <= row["from"] <= row["to"] <= end for row in losses)
        text = f"cut off: {size:,} of {len(data):,} bytes are left"
        assert any(problem.endswith(text) for problem in found.problems)
        if have != all_events:
            missing = f"{all_events - have:,} recorded event"
            assert any(missing in problem for problem in found.problems)
        assert found.stats().lost == all_events - have


def test_commands_name_what_is_missing(recorded, tmp_path):
    data = recorded("full")
    path = tmp_path / "cut.nvspan"
    path.write_bytes(data[:30_000])
    recording = nvspan.read(path)
    text = f"cut off: 30,000 of {len(data):,} bytes are left"
    window = next(row for row in recording.losses.rows() if row["reason"] == "cut off")
    names = [row["name"] or f"thread {row['tid']}" for row in recording.threads.rows()]
    line = f"of {names[window['thread']]}" if window["thread"] is not None else "together"
    for form in ("table", "csv", "json", "markdown"):
        done = run_nvspan("stats", path, "--format", form)
        shown = done.stdout + done.stderr
        assert text in shown
        assert "missing" in shown
    assert line in run_nvspan("stats", path).stdout
    assert text in run_nvspan("stats", path, "--compat", "nsys").stderr
    for form in ("perfetto", "sqlite", "csv"):
        done = run_nvspan("export", path, "--format", form, "-o", tmp_path / f"out.{form}")
        assert text in done.stderr
        assert line in done.stderr
    found = json.loads(run_nvspan("doctor", path, "--json", check=None).stdout)
    (finding,) = [f for f in found["findings"] if f["name"] == "recording"]
    assert finding["status"] == "problem"
    assert text in finding["text"]
    assert line in finding["text"]


def test_junk_in_definitions_is_said_and_the_other_definitions_are_kept(recorded, tmp_path):
    for kind in ("full", "kill"):
        data = bytearray(recorded(kind))
        at = data.index(b"outer 3")
        data[at - 8 : at + 16] = b"\xa5" * 24
        path = tmp_path / "junk.nvspan"
        path.write_bytes(data)
        found = nvspan.read(path)
        assert any("definitions" in problem for problem in found.problems)
        names = {row.name for row in found.stats().rows}
        assert {"inner", "outer 2", "outer 4"} <= names
        assert sum(row.calls for row in found.stats().rows if row.kind == "push_pop") == 1360


def test_zeros_in_an_open_chunk_are_said(recorded, tmp_path):
    data = bytearray(recorded("kill"))
    first, _ = max(open_parts(bytes(data)), key=lambda part: part[1] - part[0])
    data[first + 400 : first + 480] = bytes(80)
    path = tmp_path / "zeros.nvspan"
    path.write_bytes(data)
    found = nvspan.read(path)
    assert found.problems
    assert [row["reason"] for row in found.losses.rows()] == ["damaged"]


@pytest.mark.parametrize("kind", ["kill", "killed ring", "killed stats", "child"])
def test_a_process_that_did_not_end_its_file_has_not_damaged_it(kind, recorded, tmp_path):
    path = tmp_path / "open.nvspan"
    path.write_bytes(recorded(kind))
    recording = nvspan.read(path)
    assert recording.problems == []
    assert all(row["reason"] not in DAMAGE for row in recording.losses.rows())
    (process,) = recording.processes
    assert process.closed is False
    assert "still runs" not in run_nvspan("stats", path).stdout
    found = json.loads(run_nvspan("doctor", path, "--json", check=None).stdout)
    (finding,) = [f for f in found["findings"] if f["name"] == "recording"]
    assert finding["status"] in ("ok", "note")
    assert "still runs" not in finding["text"]


def start(path, *arguments, mode):
    environment = clean_environment()
    environment[launch.INJECTION_VARIABLE] = LIBRARY
    environment[launch.CONFIG_VARIABLE] = recorder.config_string(path, mode)
    return subprocess.Popen([str(build(COUNTING)), *map(str, arguments)], env=environment)


def wait_for_header(path):
    deadline = time.monotonic() + 30
    while not path.exists() or path.stat().st_size < HEADER:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def wait_for_events(progress, count):
    """Until the first thread of counting.cpp has made so many."""
    deadline = time.monotonic() + 30
    while not progress.exists() or int.from_bytes(progress.read_bytes()[:8], "little") < count:
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.parametrize("mode", ["full", "ring=1", "stats"])
@pytest.mark.parametrize("what", ["ranges", "short"])
def test_kills_at_any_moment_are_no_damage(mode, what, tmp_path):
    chance = random.Random(f"{mode} {what}")
    read = number = 0
    while read < length(30, 3):
        number += 1
        path = tmp_path / f"{number}.nvspan"
        often = (2, 0) if what == "ranges" else (1, 100_000)
        process = start(path, tmp_path / "progress", *often, what, mode=mode)
        if number % 4:  # the others are killed while they start, too
            wait_for_header(path)
        time.sleep(chance.uniform(0.003, 0.06))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if not path.exists():
            continue
        try:
            recording = nvspan.read(path)
        except ValueError:
            continue  # killed while the file was made
        read += 1
        assert recording.problems == []
        assert all(row["reason"] not in DAMAGE for row in recording.losses.rows())


@pytest.mark.parametrize("mode", ["full", "ring=1", "stats"])
def test_a_recording_in_progress_is_not_damaged(mode, tmp_path):
    path = tmp_path / "live.nvspan"
    process = start(path, tmp_path / "progress", 2, 0, "slow", mode=mode)
    try:
        wait_for_events(tmp_path / "progress", 5_000)
        for _ in range(length(10, 3)):
            recording = nvspan.read(path)
            assert recording.problems == []
            assert recording.processes[0].open_chunks > 0
    finally:
        process.kill()
        process.wait()


AFTER = """
import threading, time
import nvspan

ready = threading.Event()
def forever():
    while True:
        with nvspan.annotate("daemon"):
            ready.set()

for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
ready.wait()
"""


@pytest.mark.parametrize("mode", ["full", "ring=1", "stats"])
def test_threads_that_outlive_the_exit_do_no_damage(mode, tmp_path):
    for number in range(length(20, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = record_command([sys.executable, "-c", AFTER], mode=mode, folder=folder, check=False)
        assert done.recording.problems == []
        assert all(row["reason"] not in DAMAGE for row in done.recording.losses.rows())
        assert crashed_at_its_end(done) or done.recording.processes[0].closed is True


def test_a_file_that_was_ended_is_sealed_to_its_last_byte(recorded):
    for kind in ("full", "ring", "stats", "fork"):
        data = recorded(kind)
        found = list(chunks(data))
        assert sorted(fields[5] for _, fields in found) == list(range(1, len(found) + 1))
        last, fields = found[-1]
        assert last + fields[9] == len(data)
        of_threads = [fields for _, fields in found if fields[2] != NO_THREAD]
        assert all(fields[15] != 0 for fields in of_threads)
