# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of several shared objects, processes and threads, and signal handlers that annotate."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest

from helpers.compile import build
from helpers.essence import essence
from helpers.length import length
from helpers.traced import needs_library, read_events, run_command

pytestmark = needs_library
PROGRAMS = Path(__file__).parents[1] / "programs"


def run(name, *arguments, **options):
    return run_command([str(build(PROGRAMS / f"{name}.cpp")), *map(str, arguments)], **options)


def brief(events, *keys):
    keys = keys or ("kind", "message", "depth")
    return [tuple(event.get(key) for key in keys) for event in events]


def plugin(name):
    flags = ["-shared", "-fPIC", "-fvisibility=hidden", f'-DPLUGIN_NAME="{name}"']
    return build(PROGRAMS / "plugin.cpp", *flags, name=f"plugin_{name}.so")


def test_each_shared_object_connects_and_their_handles_differ():
    done = run("two_objects", plugin("a"), plugin("b"))
    objects = [Path(event.pop("object")).name for event in done.of_kind("init")]
    assert objects == ["two_objects", "plugin_a.so", "plugin_b.so"]
    shared = {"domain": "shared name", "message_type": "registered"}
    main = {"domain": None, "message": "main", "message_type": "ascii", "depth": 0}
    domain = {"kind": "domain_create", "domain": "shared name"}

    def string(name):
        return {"kind": "register_string", "domain": "shared name", "message": name}

    def mark(name):
        return {"kind": "mark", "domain": None, "message": f"{name}: loaded",
                "message_type": "ascii"}  # fmt: skip

    assert essence(done.events) == [
        {"kind": "init", "nvtx_version": 3}, {"kind": "push", **main},
        {"kind": "init", "nvtx_version": 3}, mark("a"),
        {"kind": "init", "nvtx_version": 3}, mark("b"),
        domain, string("a"), {"kind": "push", "message": "a", **shared, "depth": 0},
        domain, string("b"), {"kind": "push", "message": "b", **shared, "depth": 0},
        string("a"), string("b"),
        string("a"), {"kind": "mark", "message": "a", **shared},
        {"kind": "pop", "message": "a", **shared, "depth": 0, "dur": True},
        {"kind": "pop", "message": "b", **shared, "depth": 0, "dur": True},
        {"kind": "pop", **main, "dur": True},
    ]  # fmt: skip


def by_pid(events):
    processes = {}
    for event in events:
        processes.setdefault(event["pid"], []).append(event)
    return list(processes.values())


def test_a_forked_child_goes_on_inside_the_open_ranges():
    parent, child = by_pid(run("processes", "inside").events)
    assert brief(parent) == [
        ("init", None, None), ("push", "parent", 0), ("start", "started", None),
        ("end", "started", None), ("pop", "parent", 0),
    ]  # fmt: skip
    assert brief(child) == [
        ("push", "child", 1), ("pop", "child", 1), ("end", "started", None), ("pop", "parent", 0),
    ]  # fmt: skip
    assert all(event["dur"] > 0 for event in child if event["kind"] in ("pop", "end"))
    assert {event["tid"] for event in child} == {child[0]["pid"]}


def test_forks_while_other_threads_write():
    forks = length(50, 10)
    events = run("processes", "threads", forks).events
    children = [process for process in by_pid(events) if process[0]["kind"] != "init"]
    assert len(children) == forks
    for child in children:
        assert brief(child) == [("push", "in the child", 0), ("pop", "in the child", 0)]


def test_a_forked_child_that_exits_reports_its_own_open_ranges():
    parent, child = by_pid(run("processes", "exit").events)
    assert brief(parent) == [
        ("init", None, None), ("push", "the parent's", 0), ("pop", "the parent's", 0),
    ]  # fmt: skip
    assert brief(child, "kind", "message", "reason") == [
        ("push", "the child's", None), ("start", "the child's too", None),
        ("unclosed", "the child's", "process_exit"),
        ("unclosed", "the child's too", "process_exit"),
    ]  # fmt: skip


def test_fork_handlers_that_annotate():
    parent, child = by_pid(run("processes", "handlers").events)
    assert brief(parent, "kind", "message", "count") == [
        ("init", None, None), ("mark", "first", None), ("mark", "parent", None), ("lost", None, 2),
    ]  # fmt: skip
    assert brief(child, "kind", "message", "count") == [("mark", "child", None), ("lost", None, 2)]


def test_a_spawned_program_writes_into_the_same_file():
    events = run("processes", "spawn").events
    assert brief(events, "kind", "message") == [
        ("init", None), ("mark", "before"), ("init", None), ("mark", "spawned"), ("mark", "after"),
    ]  # fmt: skip
    assert len(by_pid(events)) == 2


def test_a_program_that_closes_and_reuses_every_descriptor(tmp_path):
    own = tmp_path / "own.txt"
    events = run("processes", "close", own).events
    assert brief(events, "kind", "message") == [
        ("init", None), ("mark", "before"), ("mark", "after"), ("mark", "at the end"),
    ]  # fmt: skip
    assert own.read_bytes() == b""


def test_64_threads_race_for_the_first_call():
    events = run("threads", "race").events
    assert brief(events[:1], "kind") == [("init",)]
    threads = {}
    for event in events[1:]:
        threads.setdefault(event["tid"], []).append(event)
    names = set()
    for calls in threads.values():
        name = calls[0]["message"]
        names.add(name)
        assert brief(calls) == [
            ("push", name, 0), ("push", "inner", 1), ("start", name, None),
            ("pop", "inner", 1), ("end", name, None), ("pop", name, 0),
        ] * 20  # fmt: skip
    assert names == {str(number) for number in range(64)}
    times = [event["ts"] for event in events]
    assert times == sorted(times)


def test_the_end_of_a_thread():
    events = run("threads", "end").events[1:]
    assert brief(events, "kind", "message", "depth", "reason") == [
        ("push", "never popped", 0, None),
        ("push", "nor this", 1, None),
        ("mark", "in a thread-local destructor", None, None),
        ("push", "in a key's destructor", 2, None),
        ("unclosed", "in a key's destructor", None, "thread_exit"),
        ("unclosed", "nor this", None, "thread_exit"),
        ("unclosed", "never popped", None, "thread_exit"),
        ("start", "started in a thread that is gone", None, None),
        ("end", "started in a thread that is gone", None, None),
    ]
    assert events[-1]["dur"] > 0
    assert events[-1]["tid"] != events[-2]["tid"]


def test_thousands_of_short_threads():
    events = run("threads", "short").events[1:]
    assert brief(events, "kind", "message") == [("mark", "short")] * 2000


def test_cancelled_threads():
    events = run("threads", "cancel").events[1:]
    assert brief(events[-1:], "message") == [("all cancelled",)]
    assert {event["message"] for event in events[:-1]} == {"until cancelled"}


def test_ten_thousand_levels():
    events = run("threads", "deep").events[1:]
    levels = [*(("push", n) for n in range(10000)), *(("pop", n) for n in reversed(range(10000)))]
    assert brief(events, "kind", "depth") == levels


@pytest.mark.parametrize("where", ["calls", "malloc"])
def test_signal_handlers(where):
    done = run("signals", where)
    assert not done.of_kind("lost", "unclosed")
    counts = Counter(brief(done.events, "kind", "message"))
    handled = int(done.stdout)
    assert handled >= 100
    # What a late signal did comes after the number was printed.
    assert counts["push", "handler"] == counts["pop", "handler"] >= handled
    assert counts["push", "program"] == counts["pop", "program"]
    assert sum(counts.values()) == 1 + 2 * (counts["push", "handler"] + counts["push", "program"])
    assert (counts["push", "program"] > 0) == (where == "calls")
    depth = 0
    for event in done.events[1:]:
        depth += 1 if event["kind"] == "push" else -1
        assert depth in (0, 1, 2)
    assert depth == 0


def test_a_killed_program_leaves_whole_lines():
    done = run("signals", "kill", check=False)
    assert done.returncode == -signal.SIGKILL
    assert brief(done.events, "kind", "message") == [("init", None), ("push", "open")]


def test_only_the_chosen_domains():
    program = build(PROGRAMS / "every_core_call.cpp", f"-I{PROGRAMS / 'stubs'}")
    # The program checks what push and pop return, which is not a depth where nothing is shown.
    done = run_command([str(program)], domains=["NVTX", "domain a", "domain w"])
    everything = run_command([str(program)])
    assert essence(done.events) == essence(everything.events)
    done = run_command([str(program)], domains=["domain a"], check=False)
    assert {event["domain"] for event in done.events if "domain" in event} <= {"domain a"}


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("format=xml", "format must be text, jsonl or record"),
        ("nonsense", "each part must have an '='"),
        ("file=%zz", "bad percent encoding in file"),
        ("file=%00", "file contains a null byte"),
        ("domains=%", "bad percent encoding in domains"),
        ("origin=now", "origin must be a number"),
        ("file=/no/such/folder/trace", "No such file or directory"),
    ],
)
def test_a_bad_configuration_is_reported_once_and_harmless(config, problem):
    done = run("threads", "race", env={"NVSPAN_TRACE": config}, check=False)
    # Nothing listens, so pushes do not return depths: the program notices, and says so.
    assert done.returncode == 2
    assert done.stderr.startswith("nvspan: cannot trace")
    assert done.stderr.endswith(f"{problem}\n")
    assert done.stderr.count("\n") == 1


def test_unknown_configuration_is_ignored(tmp_path):
    file = tmp_path / "trace.jsonl"
    config = f"later=1;format=jsonl;;file={file};"
    run("threads", "deep", env={"NVSPAN_TRACE": config})
    assert len(read_events(file)) == 20001
