# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names take so much of a recording and no more; events past that are counted under one name."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import nvspan
from helpers.recorded import record_command
from helpers.traced import clean_environment, needs_library
from nvspan.report.summary import Summary

pytestmark = needs_library

OTHER = "(other names)"
BUDGET = 0.01  # MB

# Each name twice, so that the second time meets what is known, and what is past the budget.
PROGRAM = """
import nvspan, sys

count, limit = int(sys.argv[1]), int(sys.argv[2])
if limit:
    nvspan.set_message_limit(limit)

def work():
    for i in range(count):
        with nvspan.annotate(f"outer{i:05}", color="red", category=7, payload=i):
            with nvspan.annotate(f"inner{i:05}", domain="second"):
                nvspan.mark(f"mark{i:05}", payload=i / 2)
            nvspan.end_range(nvspan.start_range(f"started{i:05}"))

work()
work()
"""


def made(count):
    """What the program passes, in order: kind, domain, name, payload, color, category."""
    for i in [*range(count), *range(count)]:
        yield "push", None, f"outer{i:05}", i, 0xFF0000, 7
        yield "push", "second", f"inner{i:05}", None, 0x0000FF, 0
        yield "mark", None, f"mark{i:05}", i / 2, 0x0000FF, 0
        yield "pop", "second", f"inner{i:05}", None, None, 0
        yield "start", None, f"started{i:05}", None, 0x0000FF, 0
        yield "end", None, f"started{i:05}", None, None, 0
        yield "pop", None, f"outer{i:05}", None, None, 0


def run(count, limit=0, program=PROGRAM, **options):
    return record_command([sys.executable, "-W", "ignore", "-c", program, str(count), str(limit)],
                          **options)  # fmt: skip


def calls(recording):
    return [(call["kind"], call["domain"], call["message"], call.get("payload"), call.get("color"),
             call.get("category") or 0)
            for call in recording.calls()
            if call["kind"] in ("push", "pop", "mark", "start", "end")]  # fmt: skip


def merged(kept, event):
    """How an event is recorded, where only those names are."""
    kind, domain, name, payload, *_ = event
    if name in kept:
        return event
    return kind, domain, OTHER, payload, None, 0


@pytest.mark.parametrize("limit", [0, 1], ids=["registered", "plain"])
@pytest.mark.parametrize(("mode", "names"), [("ring=4", BUDGET), ("full", BUDGET)])
def test_every_event_is_there_with_its_name_or_under_one(mode, names, limit):
    done = run(300, limit, mode=mode, names=names)
    assert done.recording.problems == []
    recorded = calls(done.recording)
    kept = {name for _, _, name, *_ in recorded} - {OTHER}
    # A name costs 64 bytes at least, and where it is registered that call is in the file as well.
    assert 10 < len(kept) < BUDGET * 1e6 / 64
    expected = list(made(300))
    first = [name for kind, _, name, *_ in expected if kind in ("push", "mark", "start")]
    assert kept == set(first[: len(kept)])
    assert recorded == [merged(kept, event) for event in expected]
    stats = done.recording.stats()
    assert stats.others == 2 * (4 * 300 - len(kept))
    assert sum(row.calls for row in stats.rows) == 2 * 3 * 300
    ranges = {(row.domain, row.kind) for row in stats.rows if row.name == OTHER}
    assert ranges == {(None, "push_pop"), ("second", "push_pop"), (None, "start_end")}


@pytest.mark.parametrize("mode", ["ring=4", "full", "stats"])
def test_where_names_fit_none_is_left_out(mode):
    done = run(300, mode=mode)
    stats = done.recording.stats()
    assert {row.name for row in stats.rows} == {
        f"{kind}{i:05}" for kind in ("outer", "inner", "started") for i in range(300)
    }
    assert [row.calls for row in stats.rows] == [2] * 900
    assert (stats.others, stats.lost) == (0, 0)


def test_registrations_past_the_budget_are_counted():
    done = run(300, mode="ring=4", names=BUDGET)
    kept = [event for event in done.recording.events if event["kind"] == "register_string"]
    (loss,) = done.recording.losses.rows()
    assert loss["reason"] == "past the budget for names"
    # The message of a mark is registered, too.
    assert len(kept) + loss["count"] == 4 * 300


@pytest.mark.parametrize("limit", [0, 1], ids=["registered", "plain"])
def test_statistics_count_every_range_and_mark(limit):
    done = run(300, limit, mode="stats", names=0.1)
    stats = done.recording.stats()
    by_kind = {}
    for row in stats.rows:
        key = (row.domain, row.kind)
        by_kind[key] = by_kind.get(key, 0) + row.calls
    assert by_kind == {(None, "push_pop"): 600, ("second", "push_pop"): 600,
                       (None, "start_end"): 600}  # fmt: skip
    others = [row for row in stats.rows if row.name == OTHER]
    assert len(others) == 3
    assert all(0 < row.min <= row.p50 <= row.max <= row.total for row in others)
    assert sum(mark.calls for mark in stats.marks) == 600
    (marks,) = [mark for mark in stats.marks if mark.name == OTHER]
    own = [row.calls for row in [*stats.rows, *stats.marks] if row.name != OTHER]
    assert len(own) > 50
    assert set(own) <= {1, 2}
    assert stats.others == sum(row.calls for row in others) + marks.calls
    assert stats.others + sum(own) == 8 * 300
    assert [note for note in Summary(done.recording).notes if note.startswith("other names:")] == [
        f"other names: {stats.others:,} ranges and marks had new names after the space for "
        'names was full; they are counted under "(other names)" (see nvspan record --names)'
    ]


THREADS = """
import nvspan, sys, threading

count = int(sys.argv[1])

def work():
    for i in range(count):
        with nvspan.annotate(f"range{i:05}"):
            nvspan.mark("mark")

# All of them live until the end, so that none takes over what another counted.
done, over, threads = threading.Semaphore(0), threading.Event(), []

def run():
    work()
    done.release()
    over.wait()

for _ in range(4):
    threads.append(threading.Thread(target=run))
    threads[-1].start()
    done.acquire()
over.set()
for thread in threads:
    thread.join()
"""


def test_each_thread_counts_what_it_has_no_room_for_under_the_other_names():
    count = 60
    done = run(count, program=THREADS, mode="stats", names=0.08)
    stats = done.recording.stats("thread")
    of_threads = {}
    for row in stats.rows:
        calls = of_threads.setdefault(row.thread, {})
        calls[row.name] = row.calls
    names = [f"range{i:05}" for i in range(count)]
    first, *_, last = (of_threads[thread] for thread in sorted(of_threads))
    assert first == dict.fromkeys(names, 1)
    assert last == {OTHER: count}
    assert [sum(calls.values()) for calls in of_threads.values()] == [count] * 4
    assert sum(mark.calls for mark in stats.marks) == 4 * count


REPEATED = """
import nvspan, sys

nvspan.set_message_limit(1)
names = ["hot", "a" * 63, "b" * 64, "c" * 65]
nvspan.mark("known")
for i in range(int(sys.argv[1])):
    nvspan.mark(f"fill{i:05}")
for i in range(50):
    for name in names:
        nvspan.mark(name, payload=i)
        nvspan.mark(f"{name[:5]}{i:05}", payload=i)
    nvspan.mark("known")
"""


@pytest.mark.parametrize("mode", ["ring=4", "stats"])
def test_a_name_past_the_budget_that_comes_again_and_again(mode):
    done = run(500, program=REPEATED, mode=mode, names=BUDGET)
    if mode == "stats":
        calls_of = {mark.name: mark.calls for mark in done.recording.stats().marks}
        filled = [name for name in calls_of if name.startswith("fill")]
        assert calls_of == {"known": 51, **dict.fromkeys(filled, 1),
                            OTHER: 500 - len(filled) + 50 * 8}  # fmt: skip
        return
    marks = [(call[2], call[3]) for call in calls(done.recording)][501:]
    assert marks == [
        event for i in range(50) for event in [*[(OTHER, i)] * 8, ("known", None)]
    ]  # fmt: skip


FORK = """
import nvspan, os, sys

def work(prefix):
    for i in range(int(sys.argv[1])):
        with nvspan.annotate(f"{prefix}{i:05}"):
            pass

work("parent")
child = os.fork()
if child == 0:
    work("child")
    os._exit(0)
os.waitpid(child, 0)
work("parent")
"""


def test_a_forked_child_has_a_budget_of_its_own():
    done = run(500, program=FORK, mode="ring=4", names=BUDGET)
    rows = done.recording.stats("process").rows
    assert len(done.recording.processes) == 2
    processes = {row.name[:5]: row.process for row in rows if row.name != OTHER}
    for prefix, calls in (("parent", 1000), ("child", 500)):
        own = [row for row in rows if row.process == processes[prefix[:5]]]
        assert sum(row.calls for row in own) == calls
        kept = sorted(row.name for row in own if row.name != OTHER)
        assert 10 < len(kept) < BUDGET * 1e6 / 64
        assert kept == [f"{prefix}{i:05}" for i in range(len(kept))]


@pytest.mark.parametrize(("mode", "most"), [("ring=1", 1e6 + 0.5e6), ("stats", 0.5e6)])
def test_the_file_does_not_grow_with_names(mode, most, tmp_path):
    done = run(15000, program=THREADS, mode=mode, names=0.5, folder=tmp_path)
    stats = done.recording.stats()
    (path,) = done.files
    # Beside names there are the header and the last chunks of definitions and of each thread.
    assert os.path.getsize(path) < most + 0.3e6
    if mode == "stats":
        assert sum(row.calls for row in stats.rows) == 4 * 15000


LONG = """
import nvspan
with nvspan.annotate("short"):
    with nvspan.annotate("x" * 100_000):
        nvspan.mark("mark")
"""


def test_a_name_that_does_not_fit_leaves_the_budget_to_others():
    done = run(0, program=LONG, mode="ring=4", names=BUDGET)
    assert [event[:3] for event in calls(done.recording)] == [
        ("push", None, "short"), ("push", None, OTHER), ("mark", None, "mark"),
        ("pop", None, OTHER), ("pop", None, "short"),
    ]  # fmt: skip


@pytest.mark.parametrize("names", [None, 1000])
def test_the_variable_says_where_the_option_does_not(names):
    env = {"NVSPAN_RECORD_NAMES": "0.01"}
    done = run(300, mode="ring=4", names=names, env=env)
    assert (done.recording.stats().others == 0) == (names is not None)
    assert done.stderr == ""


@pytest.mark.parametrize("value", ["many", "0", "-1", "0.5 MB", "1e3", "1.2.3"])
def test_a_variable_that_is_no_number_is_told(value):
    done = run(3, mode="ring=4", env={"NVSPAN_RECORD_NAMES": value})
    assert done.stderr == (
        f"nvspan: NVSPAN_RECORD_NAMES must be a number of megabytes, not {value}; it is ignored\n"
    )
    assert done.recording.stats().others == 0


def test_names_is_a_number_above_zero():
    for wrong in (0, -1, float("nan"), 1e10):
        with pytest.raises(ValueError, match="names must be a number of megabytes above 0"):
            nvspan.record(names=wrong)
    for wrong in ("8", True, [1]):
        with pytest.raises(TypeError, match="names must be a number of megabytes, not"):
            nvspan.record(names=wrong)


def test_the_command_takes_the_budget_and_tells_of_it(tmp_path):
    command = [sys.executable, "-m", "nvspan", "record", "-o", str(tmp_path / "run.nvspan"),
               "--mode", "stats", "--names", "0.1", "-c", PROGRAM, "300", "0"]  # fmt: skip
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True,
                          check=True)  # fmt: skip
    others = nvspan.read(str(tmp_path / "run.nvspan")).stats().others
    assert others > 0
    assert f"other names: {others:,} ranges and marks had new names" in done.stderr
    wrong = subprocess.run([*command[:8], "--force", "--names", "0", "-c", "pass"],
                           env=clean_environment(), capture_output=True, text=True,
                           check=False)  # fmt: skip
    assert wrong.returncode == 2
    assert "names must be a number of megabytes above 0" in wrong.stderr
