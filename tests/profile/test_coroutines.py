# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Coroutines and generators under a Profile: the call of each stretch, and what readers add up."""

from __future__ import annotations

import os
import sys
from array import array

import pytest

import nvspan
from helpers.packages import needs
from helpers.recorded import record_command
from helpers.reported import nvspan_done
from helpers.traced import needs_library, run_traced
from nvspan import _reader
from nvspan.answers.findings import analyze
from nvspan.report import render, tree
from nvspan.report.summary import Summary, call_tree

HEADER = """
import asyncio, sys
import nvspan
def plain(): pass
async def sleeper(count):
    for _ in range(count): await asyncio.sleep(0)
async def instant(): plain()
async def fails(): await asyncio.sleep(0); raise KeyError
async def outer(): await sleeper(1); await instant()
async def stream():
    yield 1
    await asyncio.sleep(0)
    yield 2
def generator(): yield 1; yield 2
P = nvspan.Profile(linenos=False, include="__main__")
"""


def stretches(events):
    """Each stretch as `name kind number`, where calls are numbered as they begin, from 1."""
    numbers, calls, shown = {}, 0, []
    for event in events:
        if event["kind"] != "push":
            continue
        kind = event.get("category_name")
        if kind is None:
            assert event["payload_type"] == "none"
            shown.append(event["message"])
            continue
        assert event["payload_type"] == "u64"
        if not kind.endswith((" resumed", " unfinished")):
            calls += 1
            numbers[event["payload"]] = calls
        shown.append(f"{event['message']} {kind} {numbers[event['payload']]}")
    return shown


@needs_library
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("asyncio.run(sleeper(2))",
         ["sleeper coroutine 1", "sleeper coroutine resumed 1", "sleeper coroutine resumed 1"]),
        ("asyncio.run(instant())", ["instant coroutine 1", "plain"]),
        ("asyncio.run(outer())",
         ["outer coroutine 1", "sleeper coroutine 2", "outer coroutine resumed 1",
          "sleeper coroutine resumed 2", "instant coroutine 3", "plain"]),
        ("list(generator())",
         ["generator generator 1", "generator generator resumed 1",
          "generator generator resumed 1"]),
        # Two tasks in turn.
        ("async def both(): await asyncio.gather(sleeper(1), sleeper(1))\n    asyncio.run(both())",
         ["both coroutine 1", "sleeper coroutine 2", "sleeper coroutine 3",
          "sleeper coroutine resumed 2", "sleeper coroutine resumed 3",
          "both coroutine resumed 1"]),
        ("async def use():\n        async for x in stream(): plain()\n    asyncio.run(use())",
         ["use coroutine 1", "stream async generator 2", "plain",
          "stream async generator resumed 2", "use coroutine resumed 1",
          "stream async generator resumed 2", "plain", "stream async generator resumed 2"]),
        # An exception, and cancellation: of one that was suspended, of one that had not begun.
        ("try: asyncio.run(fails())\n    except KeyError: pass",
         ["fails coroutine 1", "fails coroutine resumed 1"]),
        ("async def cancels():\n"
         "        task = asyncio.ensure_future(sleeper(9)); await asyncio.sleep(0)\n"
         "        task.cancel()\n"
         "        try: await task\n"
         "        except asyncio.CancelledError: pass\n"
         "    asyncio.run(cancels())",
         ["cancels coroutine 1", "sleeper coroutine 2", "cancels coroutine resumed 1",
          "sleeper coroutine resumed 2", "cancels coroutine resumed 1"]),
        ("async def cancels():\n"
         "        task = asyncio.ensure_future(sleeper(9)); task.cancel()\n"
         "        try: await task\n"
         "        except asyncio.CancelledError: pass\n"
         "    asyncio.run(cancels())",
         ["cancels coroutine 1", "sleeper coroutine 2", "cancels coroutine resumed 1"]),
        ("try: generator().throw(KeyError)\n    except KeyError: pass", ["generator generator 1"]),
        # Never finished: one that the profile sees, one that it saw, one that is closed in time.
        ("c = sleeper(1)\n    c.send(None)",
         ["sleeper coroutine 1", "sleeper coroutine unfinished 1"]),
        ("c = sleeper(2)\n    c.send(None); c.send(None)",
         ["sleeper coroutine 1", "sleeper coroutine resumed 1", "sleeper coroutine unfinished 1"]),
        ("c = sleeper(1)\n    c.send(None); c.close()",
         ["sleeper coroutine 1", "sleeper coroutine resumed 1"]),
        ("c = sleeper(1)\n    c.send(None); del c",
         ["sleeper coroutine 1", "sleeper coroutine resumed 1"]),
        ("g = generator(); next(g)\n    with nvspan.paused(): list(g)", ["generator generator 1"]),
    ],
)  # fmt: skip
def test_stretches_tell_their_call(code, expected):
    traced = run_traced(HEADER + f"with P:\n    {code}\n")
    assert traced.stderr == ""
    assert stretches(traced.events) == expected


@needs_library
def test_a_call_that_began_unseen_is_none_of_before():
    """Its address may be that of an earlier call; what it is called must not be."""
    code = (
        "with P:\n"
        "    a = generator(); next(a); next(a); next(a, 0); del a\n"
        "    with nvspan.paused(): b = generator(); next(b)\n"
        "    next(b)\n"
    )
    pushes = [e for e in run_traced(HEADER + code).events if e["kind"] == "push"]
    *first, last, left = [(event["category_name"], event["payload"]) for event in pushes]
    assert [kind for kind, _ in first] == ["generator", "generator resumed", "generator resumed"]
    assert len({call for _, call in first}) == 1
    assert last[0] == "generator resumed"
    assert last[1] != first[0][1]
    assert left == ("generator unfinished", last[1])


@needs_library
def test_what_a_recording_counts():
    code = (
        "async def main():\n"
        "    await asyncio.gather(*map(sleeper, [3] * 200), instant(), instant())\n"
        "    await asyncio.gather(fails(), return_exceptions=True)\n"
        "    async for x in stream(): plain()\n"
        "with P: asyncio.run(main()); list(generator())\n"
    )
    made = record_command([sys.executable, "-c", HEADER + code])
    rows = {row.name: (row.calls, row.resumptions) for row in made.recording.stats().rows}
    assert rows == {
        "main": (1, 3), "sleeper": (200, 600), "instant": (2, 0), "fails": (1, 1),
        "stream": (1, 3), "generator": (1, 2), "plain": (4, None),
    }  # fmt: skip


# Coroutines that know how long they are suspended: `low` is from after each suspension to before
# what follows it, `high` from before to after.
KNOWN = (
    HEADER
    + """
import time
from time import monotonic_ns as now
low = high = 0
class Suspend:
    def __await__(self): yield
async def waits(count):
    global high
    for _ in range(count):
        before = now()
        try: await Suspend()
        finally: high += now() - before
async def leaves():
    global left
    left = now()
    await Suspend()
def pause():
    global low
    before = now(); time.sleep(0.01); low += now() - before
def go_on(coroutine, times):
    for _ in range(times):
        pause()
        try: coroutine.send(None)
        except StopIteration: pass
def profiled(code):
    global high
    with P: exec(code, globals())
    if "left" in globals(): high += now() - left
    print(low, high)
"""
)


@needs_library
@pytest.mark.parametrize("mode", ["full", "stats"])
@pytest.mark.parametrize(
    ("code", "name", "calls", "resumptions"),
    [
        ("c = waits(4); c.send(None); go_on(c, 4)", "waits", 1, 4),
        ("a = waits(2); b = waits(2); a.send(None); b.send(None); go_on(a, 2); go_on(b, 2)",
         "waits", 2, 4),
        # Goes on in another thread.
        ("import threading; c = waits(3); c.send(None)\n"
         "t = threading.Thread(target=go_on, args=(c, 3)); t.start(); t.join()", "waits", 1, 3),
        # Closed, cancelled, dropped.
        ("c = waits(9); c.send(None); go_on(c, 2); pause(); c.close()", "waits", 1, 3),
        ("c = waits(9); c.send(None); pause()\ntry: c.throw(KeyError)\nexcept KeyError: pass",
         "waits", 1, 1),
        ("c = waits(9); c.send(None); pause(); del c", "waits", 1, 1),
        # Never goes on, and goes on before that.
        ("c = leaves(); c.send(None); pause()", "leaves", 1, 0),
        ("cs = [leaves() for _ in range(3)]; cs[0].send(None); pause(); del cs", "leaves", 1, 1),
    ],
)  # fmt: skip
def test_awaited_time_is_what_the_program_measured(code, name, calls, resumptions, mode):
    command = [sys.executable, "-c", f"{KNOWN}profiled({code!r})\n"]
    made = record_command(command, mode=mode)
    low, high = map(int, made.stdout.split())
    (row,) = [row for row in made.recording.stats().rows if row.name == name]
    assert (row.calls, row.resumptions) == (calls, resumptions)
    assert low <= row.awaited <= high


@needs_library
def test_awaited_time_is_that_between_the_stretches_of_a_call():
    code = "with P: asyncio.run(sleeper(5))\n"
    recording = record_command([sys.executable, "-c", HEADER + code]).recording
    ranges = recording.ranges
    start, end = ranges["start"].tolist(), ranges["end"].tolist()
    (row,) = recording.stats().rows
    assert (row.calls, row.resumptions) == (1, 5)
    assert row.awaited == sum(b - a for a, b in zip(end, start[1:], strict=False))
    assert row.total == row.min == row.max == sum(ranges["duration"])


@needs_library
@pytest.mark.parametrize("mode", ["full", "stats"])
def test_calls_that_have_no_number_have_no_awaited_time(mode):
    """There are 262,144 numbers; of one call it is not known for how long it was suspended."""
    code = (
        "with P:\n"
        "    made = [generator() for _ in range(262_145)]\n"
        "    for _ in range(2):\n"
        "        for each in made: next(each)\n"
    )
    recording = record_command([sys.executable, "-c", HEADER + code], mode=mode).recording
    (row,) = [row for row in recording.stats().rows if row.name == "generator"]
    assert (row.calls, row.resumptions, row.awaited) == (262_145, 262_145, None)


@needs("trio")
@needs_library
def test_trio():
    code = (
        "import trio\n"
        "async def child():\n"
        "    for _ in range(2): await trio.lowlevel.checkpoint()\n"
        "async def main():\n"
        "    async with trio.open_nursery() as nursery:\n"
        "        for _ in range(10): nursery.start_soon(child)\n"
        "with P: trio.run(main)\n"
    )
    recording = record_command([sys.executable, "-c", HEADER + code]).recording
    rows = {row.name: (row.calls, row.resumptions) for row in recording.stats().rows}
    assert rows["child"] == (10, 20)
    assert rows["main"][0] == 1


C, R, U = "coroutine", "coroutine resumed", "coroutine unfinished"


def written(path, ranges, domain="nvtx.py"):
    """`ranges`: (thread, start, end, name, category or None, call), in us."""
    with _reader.ExternalWriter(os.fsencode(path)) as output:
        process = output.process(77)
        threads = [output.thread(process, number) for number in (1, 2)]
        of = output.domain(process, domain)
        names = ["", "generator", "generator resumed", C, R, U]
        for number, name in enumerate(names[1:], 1):
            output.category(of, number, name)
        for thread, start, end, name, category, call in ranges:
            more = {} if category is None else {
                "category": names.index(category), "payload": array("Q", [call]),
            }  # fmt: skip
            output.ranges(
                threads[thread], of, array("q", [1000 * start]), array("q", [1000 * end]),
                kind="push_pop", name=output.strings([name]), **more,
            )  # fmt: skip
    return nvspan.read(path)


def figures(recording):
    """Of each name calls, resumptions, running and awaited us, shortest and longest call."""
    return {
        row.name: (row.calls, row.resumptions, row.total / 1000,
                   None if row.awaited is None else row.awaited / 1000,
                   row.min / 1000, row.max / 1000)
        for row in recording.stats().rows
    }  # fmt: skip


TWO_TASKS = [
    (0, 0, 10, "f", C, 1), (0, 10, 30, "f", C, 2), (0, 40, 41, "f", R, 1), (0, 50, 53, "f", R, 2),
    (0, 60, 62, "f", R, 1), (0, 100, 101, "plain", None, 0),
]  # fmt: skip


def test_calls_of_tasks_in_turn(tmp_path):
    recording = written(tmp_path / "a.nvspan", TWO_TASKS)
    awaited = (40 - 10) + (60 - 41) + (50 - 30)
    assert figures(recording) == {
        "f": (2, 3, 36, awaited, 13, 23),
        "plain": (1, None, 1, None, 1, 1),
    }


def test_a_call_that_goes_on_in_another_thread(tmp_path):
    """And one that begins there at the same address, after it ended."""
    recording = written(tmp_path / "a.nvspan", [
        (0, 0, 10, "f", C, 1), (1, 20, 22, "f", R, 1), (0, 30, 31, "f", R, 1),
        (1, 40, 41, "f", C, 1), (0, 50, 51, "f", R, 1),
    ])  # fmt: skip
    assert figures(recording) == {"f": (2, 3, 15, 10 + 8 + 9, 2, 13)}


def test_calls_that_began_before_the_recording_or_did_not_go_on(tmp_path):
    recording = written(tmp_path / "a.nvspan", [
        (0, 0, 10, "f", R, 1), (0, 20, 25, "f", R, 1), (0, 30, 31, "f", C, 1),
    ])  # fmt: skip
    assert figures(recording) == {"f": (1, 2, 16, 10, 1, 1)}


def test_other_ranges_of_such_categories_are_calls_each(tmp_path):
    recording = written(tmp_path / "a.nvspan", TWO_TASKS[:5], domain="app")
    assert figures(recording) == {"f": (5, None, 36, None, 1, 20)}


def test_a_filter_counts_what_it_takes(tmp_path):
    recording = written(tmp_path / "a.nvspan", TWO_TASKS)
    assert figures(recording.filter(start=35_000)) == {
        "f": (0, 3, 6, 30 + 19 + 20, 0, 0),
        "plain": (1, None, 1, None, 1, 1),
    }


def test_figures_of_many_files_add_up(tmp_path):
    paths = [tmp_path / f"{number}.nvspan" for number in range(2)]
    for path in paths:
        written(path, TWO_TASKS)
    job = nvspan.read_many(paths)
    awaited = 2 * (40 - 10 + 60 - 41 + 50 - 30)
    rows = [(row.name, row.calls, row.resumptions, row.awaited) for row in job.stats().rows]
    assert rows == [("f", 4, 6, 1000 * awaited), ("plain", 2, None, None)]
    done = nvspan_done("stats", *paths)
    assert done.stdout.splitlines()[1].split()[:4] == ["4", "6", "138", "us"]


def test_many_files_of_which_one_does_not_know_what_was_awaited(tmp_path):
    paths = [tmp_path / f"{number}.nvspan" for number in range(2)]
    unknown, known = (
        written(path, [(0, 0, 10, "f", C, call), (0, 20, 30, "f", R, call)])
        for call, path in enumerate(paths)
    )
    assert figures(known) == {"f": (1, 1, 20, 10, 20, 20)}
    assert figures(unknown) == {"f": (1, 1, 20, None, 10, 10)}
    (row,) = nvspan.read_many(paths).stats().rows
    assert (row.calls, row.resumptions, row.awaited) == (2, 2, None)


def test_the_last_suspension_of_a_call_that_does_not_go_on(tmp_path):
    recording = written(tmp_path / "a.nvspan", [
        (0, 0, 10, "f", C, 1), (0, 10, 30, "f", C, 2), (0, 40, 41, "f", R, 1),
        (1, 100, 101, "f", U, 1), (1, 101, 102, "f", U, 2), (1, 102, 103, "f", U, 3),
    ])  # fmt: skip
    assert figures(recording) == {"f": (2, 1, 31, 30 + 59 + 71, 11, 20)}
    (node,) = tree.rows(call_tree(recording), Summary(recording).wall)
    assert (node.calls, node.resumptions, node.awaited) == (2, 1, 160_000)


def test_the_table_and_the_tree(tmp_path):
    recording = written(tmp_path / "a.nvspan", TWO_TASKS)
    summary = Summary(recording)
    table = render.plain(summary).splitlines()
    assert [line.split()[:4] for line in table[:3]] == [
        ["calls", "resumptions", "awaited", "total"],
        ["2", "3", "69.0", "us"],
        ["1", "1.00", "us", "1.00"],
    ]
    assert "resumptions: how often a generator or coroutine went on" in "\n".join(table)
    rows = render.raw_rows(summary)
    assert [(row["name"], row["resumptions"], row["awaited"]) for row in rows] == [
        ("f", 3, 69_000), ("plain", None, None),
    ]  # fmt: skip
    lines = tree.lines(tree.rows(call_tree(recording), summary.wall)).splitlines()
    assert [line.split()[:4] for line in lines] == [
        ["calls", "resumptions", "awaited", "total"],
        ["2", "3", "69.0", "us"],
        ["1", "1.00", "us", "1.00"],
    ]


def test_without_coroutines_there_are_no_such_columns(tmp_path):
    recording = written(tmp_path / "a.nvspan", TWO_TASKS[5:])
    summary = Summary(recording)
    shown = render.plain(summary) + render.as_json(summary)
    shown += tree.lines(tree.rows(call_tree(recording), summary.wall))
    for word in ("resum", "awaited"):
        assert word not in shown


def test_explain_says_how_often_it_went_on(tmp_path):
    ranges = [(0, at, at + 10, "app.py:1(f)", R if at else C, 1) for at in range(0, 200, 20)]
    findings = analyze(written(tmp_path / "a.nvspan", ranges)).findings
    (evidence,) = [finding.evidence for finding in findings if finding.kind == "self"]
    assert evidence == ["100 us of self time in 1 call, resumed 9 times, suspended for 90.0 us"]
