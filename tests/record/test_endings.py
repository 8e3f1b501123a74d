# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of programs that end badly, of full disks, of very many threads and events.

NVSPAN_SLOW=1 runs the last ones at their full size, which takes minutes.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from helpers.compile import build
from helpers.disks import small_disk
from helpers.length import length
from helpers.recorded import record_command
from helpers.traced import needs_library

pytestmark = [
    needs_library,
    pytest.mark.skipif(
        bool(os.environ.get("NVSPAN_SANITIZED")),
        reason="the programs replace malloc and signal handlers, as a sanitizer does",
    ),
]
PROGRAMS = Path(__file__).parents[1] / "programs"
KILLED, ENDED = 3, 1


@pytest.mark.parametrize(
    ("how", "status", "reason"),
    [
        ("segfault", -signal.SIGSEGV, KILLED), ("abort", -signal.SIGABRT, KILLED),
        ("_exit", 0, KILLED), ("quick_exit", 0, KILLED), ("return", 0, ENDED),
    ],
)  # fmt: skip
def test_everything_is_kept_however_the_program_ends(how, status, reason):
    done = record_command([str(build(PROGRAMS / "endings.cpp")), how], check=False)
    assert (done.returncode, done.stderr) == (status, "")
    recording = done.recording
    assert recording.problems == []
    assert list(recording.marks["payload"]) == list(range(10000))
    assert recording.ranges.text("name") == ["open"]
    assert list(recording.ranges["end_reason"]) == [reason]
    assert recording.processes[0].closed is (reason == ENDED)


def test_events_allocate_nothing():
    done = record_command([str(build(PROGRAMS / "endings.cpp")), "allocations"])
    assert done.stdout == "0\n"
    assert len(done.recording.ranges) == 200_000


def test_events_inside_malloc_are_recorded():
    done = record_command([str(build(PROGRAMS / "endings.cpp")), "hook"])
    names = done.recording.marks.text("name")
    lost = sum(row["count"] or 0 for row in done.recording.losses.rows())
    assert names[0] == "number"
    assert set(names[1:]) == {"malloc"}
    assert len(names) - 1 + lost >= 1000


@pytest.mark.parametrize("mode", ["full", "ring=8"])
def test_a_full_disk_is_said_once_and_counted(tmp_path, mode):
    (tmp_path / "p").write_bytes(b"\0" * 4096)
    with small_disk(tmp_path / "small", 2_097_152) as folder:
        program = str(build(PROGRAMS / "counting.cpp"))
        command = [program, str(tmp_path / "p"), "2", "200000", "marks"]
        done = record_command(command, mode=mode, folder=folder)
        recording = done.recording
        assert done.stdout.split()[0] == "done"
        assert recording.problems == []
        threads: dict[int, list[int]] = {}
        for thread, number in zip(recording.marks["thread"], recording.marks["payload"],
                                  strict=True):  # fmt: skip
            threads.setdefault(thread, []).append(number)
        reasons = {row["reason"] for row in recording.losses.rows()}
    if mode == "full":
        assert done.stderr.count("\n") == 1
        assert "cut short: No space left on device" in done.stderr
        assert reasons == {"no space"}
        assert all(numbers == list(range(len(numbers))) for numbers in threads.values())
        kept = sum(map(len, threads.values()))
        assert kept + sum(row["count"] for row in recording.losses.rows()) == 400_000
    else:
        # The ring is as large as the disk.
        assert reasons == {"overwritten"}
        assert all(numbers[-1] == 199_999 for numbers in threads.values() if numbers)


def test_two_objects_that_race_for_their_first_call():
    def plugin(name):
        flags = ["-shared", "-fPIC", "-fvisibility=hidden", f'-DPLUGIN_NAME="{name}"',
                 "-DPLUGIN_QUIET"]  # fmt: skip
        return str(build(PROGRAMS / "plugin.cpp", *flags, name=f"quiet_{name}.so"))

    command = [str(build(PROGRAMS / "two_objects.cpp")), plugin("a"), plugin("b"), "race"]
    for _ in range(length(5, 2)):
        recording = record_command(command).recording
        assert recording.problems == []
        assert recording.orphan_ends == 0
        assert sorted(recording.ranges.text("name")) == ["a"] * 16 + ["b"] * 16
        assert set(recording.ranges["end_reason"]) == {0}
        assert len(recording.threads) == 32


def test_very_many_short_threads(tmp_path):
    count = length(100_000, 10_000)
    command = [str(build(PROGRAMS / "counting.cpp")), str(tmp_path / "p"), "1", str(count), "short"]
    done = record_command(command, timeout=300)
    assert done.recording.problems == []
    assert sorted(done.recording.marks["payload"]) == list(range(count))
    assert len(done.recording.threads) == count


def test_very_many_events_through_a_ring(tmp_path):
    """Ranges that hold a mark: three events each."""
    count = length(33_333_334, 500_000)
    program = str(build(PROGRAMS / "counting.cpp"))
    command = [program, str(tmp_path / "p"), "1", str(count), "ranges"]
    done = record_command(command, mode="ring=4", timeout=300, folder=tmp_path)
    recording = done.recording
    assert recording.problems == []
    assert os.path.getsize(done.files[0]) < 4_500_000
    numbers = list(recording.marks["payload"])
    assert len(numbers) > 50_000
    assert numbers == list(range(count - len(numbers), count))
    assert set(recording.ranges["end_reason"]) == {0}
    (loss,) = recording.losses.rows()
    # A range that was open where the ring begins anew was counted as overwritten.
    opened = sum(start >= loss["to"] for start in recording.ranges["start"])
    assert loss["count"] + opened + len(numbers) + len(recording.ranges) == 3 * count
    _, _, kilobytes, _ = done.stdout.split()  # the most that was resident
    assert int(kilobytes) < 32 * 1024
