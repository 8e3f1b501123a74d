# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording survives its process: kills, forks, full disks, rings, many threads."""

from __future__ import annotations

import os
import random
import resource
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
from helpers.traced import LIBRARY, clean_environment, needs_library
from nvspan import launch, recorder

pytestmark = needs_library
PROGRAM = Path(__file__).parents[1] / "programs" / "counting.cpp"
KILLS = int(os.environ.get("NVSPAN_TEST_KILLS", "20"))


def marks_by_thread(recording):
    threads: dict[int, list[int]] = {}
    for thread, payload in zip(recording.marks["thread"], recording.marks["payload"], strict=True):
        threads.setdefault(thread, []).append(payload)
    return list(threads.values())


def start(folder, *arguments, mode="full"):
    environment = clean_environment()
    environment[launch.INJECTION_VARIABLE] = LIBRARY
    environment[launch.CONFIG_VARIABLE] = recorder.config_string(folder / "run.nvspan", mode)
    return subprocess.Popen([str(build(PROGRAM)), *map(str, arguments)], env=environment)


@pytest.mark.parametrize("seed", range(KILLS))
def test_what_was_committed_survives_a_kill(tmp_path, seed):
    chance = random.Random(seed)
    process = start(tmp_path, tmp_path / "progress", 2, 0, "ranges")
    time.sleep(chance.uniform(0.002, 0.03))
    process.send_signal(signal.SIGKILL)
    process.wait()
    counts = [0, 0]
    if (tmp_path / "progress").exists():
        raw = (tmp_path / "progress").read_bytes().ljust(4096, b"\0")
        counts = [struct.unpack_from("<Q", raw, 64 * i)[0] for i in range(2)]
    path = tmp_path / "run.nvspan"
    if not path.exists():
        assert counts == [0, 0]
        return
    try:
        recording = nvspan.read(path)
    except ValueError:
        recording = None  # killed while the file was made
    if recording is None:
        assert counts == [0, 0]
        return
    assert recording.problems == []
    found = marks_by_thread(recording)
    assert all(numbers == list(range(len(numbers))) for numbers in found)
    lengths = sorted(map(len, found)) or [0]
    assert all(have >= count for have, count in zip(
        [0] * (2 - len(lengths)) + lengths, sorted(counts), strict=True))  # fmt: skip
    assert recording.processes[0].closed is False
    unclosed = [reason for reason in recording.ranges["end_reason"] if reason != 0]
    assert unclosed in ([], [3], [3, 3])


def test_short_threads_share_chunks(tmp_path):
    done = record_command([str(build(PROGRAM)), str(tmp_path / "p"), "1", "20000", "short"],
                          folder=tmp_path, timeout=120)  # fmt: skip
    assert sorted(x for thread in marks_by_thread(done.recording) for x in thread) == list(
        range(20000)
    )
    assert len(done.recording.threads) == 20000
    assert all(exited == 1 for exited in done.recording.threads["exited"])
    assert os.path.getsize(done.files[0]) < 20000 * 300


def events_and_overwritten(recording, thread):
    """How many events of a thread a ring has kept, and how many it says that it has not."""
    (loss,) = [row for row in recording.losses.rows() if row["thread"] == thread]
    # A range that was open where the ring begins anew is told again, and was counted before.
    kept = [call for call in recording.calls()
            if call["thread"] == thread and call["ts"] >= loss["to"]]  # fmt: skip
    assert (loss["count"] is None) == (not kept)
    return len(kept), loss["count"] or 0


def test_a_ring_keeps_the_newest_in_bounded_space(tmp_path):
    done = record_command([str(build(PROGRAM)), str(tmp_path / "p"), "2", "300000", "ranges"],
                          mode="ring=1", folder=tmp_path)  # fmt: skip
    assert os.path.getsize(done.files[0]) < 1_200_000
    found = marks_by_thread(done.recording)
    # A thread that ended well before the other has nothing left.
    assert {numbers[-1] for numbers in found} == {299999}
    assert all(n == list(range(n[0], 300000)) and n[0] > 0 for n in found)
    assert {row["reason"] for row in done.recording.losses.rows()} == {"overwritten"}
    assert done.recording.problems == []
    closed = [row for row in done.recording.ranges.rows() if row["end_reason"] == 0]
    assert all(row["level"] == 0 and row["parent"] is None for row in closed)
    stats = done.recording.stats()
    assert stats.gaps == 2
    # Every event is there or counted, unless nothing at all is left of its thread.
    counts = [events_and_overwritten(done.recording, i) for i in range(len(done.recording.threads))]
    made = [kept + lost for kept, lost in counts if kept]
    assert made == [900_000] * len(made) != []
    assert stats.overwritten == sum(lost for _, lost in counts)


def test_statistics_alone_equal_those_of_a_whole_recording(tmp_path):
    code = """
import nvspan
for i in range(5000):
    with nvspan.annotate("a"):
        with nvspan.annotate("b"):
            pass
    nvspan.end_range(nvspan.start_range("r"))
"""
    done = record_command([sys.executable, "-c", code], mode="stats", folder=tmp_path)
    rows = {row.name: row for row in done.recording.stats().rows}
    assert {name: row.calls for name, row in rows.items()} == {"a": 5000, "b": 5000, "r": 5000}
    assert all(row.min <= row.p50 <= row.p99 <= row.max for row in rows.values())
    a, b = rows["a"], rows["b"]
    assert abs(a.self - (a.total - b.total)) < 1e-6 * a.total + 1
    assert os.path.getsize(done.files[0]) < 400_000
    more = record_command([sys.executable, "-c", code.replace("5000", "20000")], mode="stats",
                          folder=tmp_path)  # fmt: skip
    assert os.path.getsize(more.files[-1]) < 500_000


def test_started_ranges_in_statistics_alone(tmp_path):
    """More than have a place in their thread's block, ended by any thread, once, and late."""
    code = """
import threading
import nvspan

def in_thread(call, *arguments):
    results = []
    thread = threading.Thread(target=lambda: results.append(call(*arguments)))
    thread.start()
    thread.join()
    return results[0]

def starts(name, count):
    return [nvspan.start_range(name) for _ in range(count)]

def ends(handles):
    for handle in handles:
        nvspan.end_range(handle)

for _ in range(2):
    ends(starts("own", 100))
    ends(reversed(starts("reversed", 100)))
    in_thread(ends, starts("other", 40))
    ends(in_thread(starts, "ended thread", 40))
left = starts("left", 40)
kept = in_thread(starts, "kept", 3)
for _ in range(1100):  # more threads than the recorder can find by their number
    in_thread(starts, "left", 1)
ends(kept)
domain = nvspan.get_domain("d")
range_id = domain.start_range(message="by id")
for _ in range(3):
    domain.end_range(range_id)
"""
    done = record_command([sys.executable, "-c", code], mode="stats", folder=tmp_path)
    calls = {row.name: row.calls for row in done.recording.stats().rows}
    assert calls == {
        "own": 200, "reversed": 200, "other": 80, "ended thread": 80, "kept": 3, "by id": 1,
    }  # fmt: skip


def test_short_ranges_are_left_out():
    code = """
import time
import nvspan
with nvspan.annotate("outer"):
    for i in range(3):
        with nvspan.annotate("short"):
            pass
    with nvspan.annotate("long"):
        time.sleep(0.3)
    with nvspan.annotate("holds a mark", payload=1):
        nvspan.mark("mark")
"""
    done = record_command([sys.executable, "-c", code], min_duration=250_000_000)
    rows = [(r["name"], r["level"], r["parent"]) for r in done.recording.ranges.rows()]
    assert rows == [("outer", 0, None), ("long", 1, 0), ("holds a mark", 1, 0)]
    assert done.recording.orphan_ends == 0


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_every_process_has_a_file(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(f"""
import multiprocessing
import nvspan

def work(number):
    with nvspan.annotate("child", payload=number):
        pass

if __name__ == "__main__":
    with nvspan.annotate("parent"):
        context = multiprocessing.get_context({method!r})
        children = [context.Process(target=work, args=(i,)) for i in range(3)]
        for child in children:
            child.start()
        for child in children:
            child.join()
""")
    done = record_command([sys.executable, str(script)], folder=tmp_path)
    assert done.recording.problems == []
    rows = [(row["name"], row["payload"]) for row in done.recording.ranges.rows()]
    expected = [("child", 0), ("child", 1), ("child", 2), ("parent", 0)]
    assert sorted(rows) == expected
    assert len({row["process"] for row in done.recording.ranges.rows()}) == 4
    pids = {process.pid for process in done.recording.processes}
    assert {Path(path).name for path in done.files} == {f"run-{pid}.nvspan" for pid in pids}
    assert sum(row.calls for row in done.recording.stats().rows) == 4


def limited(size):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return set_limit


def test_a_limit_of_file_size_is_said_once_and_counted(tmp_path):
    (tmp_path / "p").write_bytes(b"\0" * 4096)
    done = record_command(
        [str(build(PROGRAM)), str(tmp_path / "p"), "2", "200000", "marks"],
        folder=tmp_path, preexec_fn=limited(600_000),
    )  # fmt: skip
    assert done.stdout.split()[0] == "done"
    assert done.stderr.count("\n") == 1
    assert "cut short: File too large" in done.stderr
    found = marks_by_thread(done.recording)
    assert all(numbers == list(range(len(numbers))) for numbers in found)
    losses = list(done.recording.losses.rows())
    assert {row["reason"] for row in losses} == {"no space"}
    assert sum(map(len, found)) + sum(row["count"] for row in losses) == 400000
    assert done.recording.stats().lost == sum(row["count"] for row in losses)
    assert all(row["from"] <= row["to"] for row in losses)


def test_a_file_that_cannot_be_made_is_said_once(tmp_path):
    environment = {launch.CONFIG_VARIABLE: f"format=record;file={tmp_path}/no/such/run.nvspan"}
    done = record_command([sys.executable, "-c", "import nvspan; nvspan.mark('x'); print('on')"],
                          env=environment)  # fmt: skip
    assert (done.stdout, done.files) == ("on\n", [])
    assert done.stderr == (
        f"nvspan: cannot record into {tmp_path}/no/such/run.nvspan: No such file or directory\n"
    )


def test_a_file_that_exists_is_left_alone(tmp_path):
    target = tmp_path / "run.nvspan"
    target.write_text("precious")
    code = f"""
import nvspan
for i in range(2):
    with nvspan.record({str(target)!r}) as recorder:
        nvspan.mark(f"m{{i}}")
    print(*recorder.paths)
"""
    environment = {launch.CONFIG_VARIABLE: None, launch.INJECTION_VARIABLE: None}
    done = record_command([sys.executable, "-c", code], env=environment)
    assert target.read_text() == "precious"
    assert done.stdout.split() == [str(tmp_path / f"run-{i}.nvspan") for i in (1, 2)]
    for i in range(2):
        recording = nvspan.read(tmp_path / f"run-{i + 1}.nvspan")
        assert [row["name"] for row in recording.marks.rows()] == [f"m{i}"]
        assert recording.processes[0].closed is True


def test_the_environment_alone_records(tmp_path):
    environment = {
        launch.CONFIG_VARIABLE: None, launch.INJECTION_VARIABLE: None,
        "NVSPAN_RECORD": str(tmp_path / "r{rank}.nvspan"), "RANK": "3",
    }  # fmt: skip
    record_command([sys.executable, "-c", "import nvspan; nvspan.mark('x')"], env=environment)
    recording = nvspan.read(tmp_path / "r3.nvspan")
    assert [row["name"] for row in recording.marks.rows()] == ["x"]
    assert recording.processes[0].rank == 3


def test_events_of_signal_handlers_are_kept_or_counted():
    program = Path(__file__).parents[1] / "programs" / "signals.cpp"
    done = record_command([str(build(program)), "calls"])
    assert done.recording.problems == []
    assert {row["reason"] for row in done.recording.losses.rows()} <= {"signal handler"}


def test_threads_that_race_for_the_first_call_are_recorded_whole():
    program = Path(__file__).parents[1] / "programs" / "threads.cpp"
    done = record_command([str(build(program)), "race"])
    assert done.recording.problems == []
    assert done.recording.orphan_ends == 0
    assert len(done.recording.ranges) == 64 * 20 * 3


def test_a_program_that_forks_while_its_threads_record_is_whole():
    """Its threads never rest, so there are millions of events: columns alone are looked at."""
    program = Path(__file__).parents[1] / "programs" / "processes.cpp"
    forks = length(50, 10)
    done = record_command([str(build(program)), "threads", str(forks)])
    recording = done.recording
    assert (done.stderr, recording.problems, len(recording.losses)) == ("", [], 0)
    assert len(recording.processes) == forks + 1
    assert recording.ranges.text("name") == ["in the child"] * forks
    assert sorted(recording.ranges["process"]) == sorted(set(recording.ranges["process"]))
    assert set(recording.ranges["end_reason"]) == {0}
    assert len(set(recording.marks["process"])) == 1
    assert set(recording.ranges["process"]).isdisjoint(set(recording.marks["process"][:1]))
    names = set(recording.marks["name"])
    assert {recording.strings[name] for name in names} == {"first", "busy"}
