# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording holds the same events as the JSON trace of the same program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.compile import build
from helpers.recorded import essential, record_command
from helpers.traced import needs_library, run_command

pytestmark = needs_library
PROGRAMS = Path(__file__).parents[1] / "programs"
STUBS = f"-I{PROGRAMS / 'stubs'}"

PYTHON = """
import os, threading, time
import nvspan

nvspan.push_range("outer", color="red", payload=-7, category="loop")
with nvspan.annotate("inner", domain="lib", payload=2.5):
    nvspan.mark("mark", domain="lib", payload=2**63)
for text in ("", "line\\nbreak", "\\u00fcber", "quote\\"tab\\t"):
    with nvspan.annotate(text):
        pass
ranges = [nvspan.start_range(f"r{i}") for i in range(3)]
nvspan.pop_range()
thread = threading.Thread(target=lambda: [nvspan.end_range(r) for r in ranges])
thread.start()
thread.join()
# join() returns while the system's thread still ends, and the recorder sees only the latter.
while os.path.exists(f"/proc/self/task/{thread.native_id}"):
    time.sleep(0.001)
nvspan.push_range("left open")
"""


def both(command):
    return run_command(command), record_command(command)


def same(command):
    traced, recorded = both(command)
    assert recorded.stderr == ""
    assert recorded.stdout == traced.stdout
    assert recorded.recording.problems == []
    assert len(recorded.recording.losses) == 0
    assert essential(recorded.calls()) == essential(traced.events)
    return traced, recorded


def test_python_calls_are_the_same():
    same([sys.executable, "-c", PYTHON])


@pytest.mark.parametrize("name", ["every_core_call", "every_extension_call"])
def test_every_call_of_the_interface_is_the_same(name):
    traced, recorded = same([str(build(PROGRAMS / f"{name}.cpp", STUBS))])
    calls = {"mark", "push", "pop", "start", "end", "unclosed", "lost", "counter_sample"}
    other = [event["kind"] for event in traced.events if event["kind"] not in calls]
    assert [e["kind"] for e in recorded.recording.events if e["kind"] not in calls] == other


def test_counters_have_their_samples():
    traced, recorded = same([str(build(PROGRAMS / "every_extension_call.cpp", STUBS))])
    samples = [event for event in traced.of_kind("counter_sample") if "hex" not in event]
    expected = [(e["domain"], e["name"], e["counter"], e.get("value")) for e in samples]
    rows = recorded.recording.counters.rows()
    assert [(r["domain"], r["name"], r["counter"], r["value"]) for r in rows] == expected


def test_two_objects_that_connect_by_themselves_are_the_same():
    def plugin(name):
        flags = ["-shared", "-fPIC", "-fvisibility=hidden", f'-DPLUGIN_NAME="{name}"']
        return str(build(PROGRAMS / "plugin.cpp", *flags, name=f"plugin_{name}.so"))

    same([str(build(PROGRAMS / "two_objects.cpp")), plugin("a"), plugin("b")])


def test_a_domain_that_is_not_wanted_is_left_out():
    recorded = record_command([sys.executable, "-c", PYTHON], domains=["lib"])
    names = [(row["domain"], row["name"]) for row in recorded.recording.ranges.rows()]
    assert names == [("lib", "inner")]
    assert [row["name"] for row in recorded.recording.marks.rows()] == ["mark"]
    assert recorded.recording.orphan_ends == 0


def test_columns_say_what_the_calls_said():
    recording = record_command([sys.executable, "-c", PYTHON]).recording
    keys = ("domain", "name", "depth", "level", "parent", "end_reason", "kind", "payload_value")
    rows = [tuple(row[key] for key in keys) for row in recording.ranges.rows()]
    assert rows == [
        (None, "outer", 0, 0, None, 0, 0, -7.0),
        ("lib", "inner", 0, 1, 0, 0, 0, 2.5),
        (None, "", 1, 1, 0, 0, 0, None),
        (None, "line\nbreak", 1, 1, 0, 0, 0, None),
        (None, "über", 1, 1, 0, 0, 0, None),
        (None, 'quote"tab\t', 1, 1, 0, 0, 0, None),
        (None, "r0", 0, 0, None, 0, 1, None),
        (None, "r1", 0, 0, None, 0, 1, None),
        (None, "r2", 0, 0, None, 0, 1, None),
        (None, "left open", 0, 0, None, 1, 0, None),
    ]
    threads = list(recording.threads.rows())
    assert [thread["exited"] for thread in threads] == [0, 1]
    ended_by = {row["name"]: row["end_thread"] for row in recording.ranges.rows()}
    assert (ended_by["r1"], ended_by["outer"]) == (1, 0)
    outer = next(recording.ranges.rows())
    inside = sum(r["duration"] for r in recording.ranges.rows() if r["parent"] == 0)
    assert abs(outer["self"] - (outer["duration"] - inside)) <= 10
