# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan.trace``: a live view of a running process's own annotations."""

from __future__ import annotations

import json
import sys

import pytest

import nvspan
from helpers.traced import (
    LIBRARY,
    needs_library,
    nvspan_command,
    read_events,
    run_plain,
    run_traced,
)
from nvspan import launch

pytestmark = needs_library


def calls(path):
    return [(event["kind"], event["message"], event.get("depth"))
            for event in read_events(path) if event["kind"] in ("mark", "push", "pop")]  # fmt: skip


def test_what_happens_while_it_runs_is_shown(tmp_path):
    out = tmp_path / "trace.jsonl"
    code = """
import nvspan, sys
kept = nvspan.annotate("kept", domain="d")
@nvspan.annotate
def decorated(): pass
def use():
    with kept, nvspan.annotate("fresh"): decorated()
use()
trace = nvspan.trace(sys.argv[1], format="jsonl")
for _ in range(3):
    trace.start(); use(); trace.stop(); use()
with trace as same:
    assert same is trace
    nvspan.mark("last")
trace.stop()
"""
    run_plain(code, out)
    shown = [("push", "kept", 0), ("push", "fresh", 0), ("push", "decorated", 1),
             ("pop", "decorated", 1), ("pop", "fresh", 0), ("pop", "kept", 0)]  # fmt: skip
    assert calls(out) == [*shown * 3, ("mark", "last", None)]


def test_ranges_across_start_and_stop_do_not_confuse_the_nesting(tmp_path):
    out = tmp_path / "trace.jsonl"
    code = """
import nvspan, sys
trace = nvspan.trace(sys.argv[1], format="jsonl")
outer, inner = nvspan.annotate("outer"), nvspan.annotate("inner")
with outer:
    with trace:
        with inner: pass
        nvspan.push_range("left open")
    with trace:
        with inner: pass
with trace:
    with outer, inner: pass
"""
    run_plain(code, out)
    assert calls(out) == [
        ("push", "inner", 0), ("pop", "inner", 0), ("push", "left open", 0),
        ("push", "inner", 0), ("pop", "inner", 0),
        ("push", "outer", 0), ("push", "inner", 1), ("pop", "inner", 1), ("pop", "outer", 0),
    ]  # fmt: skip


def test_text_goes_to_standard_error_and_domains_are_chosen():
    code = """
import nvspan
with nvspan.trace(domains=["shown", "a, b"]):
    for domain in (None, "shown", "hidden", "a, b"):
        with nvspan.annotate("range", domain=domain): pass
"""
    done = run_plain(code)
    assert [line.split("[")[-1] for line in done.stderr.splitlines()[1:]] == [
        "shown]", "shown]", "a, b]", "a, b]"]  # fmt: skip


def test_a_second_trace_is_refused_and_the_first_goes_on(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    code = """
import nvspan, sys
a, b = nvspan.trace(sys.argv[1], "jsonl"), nvspan.trace(sys.argv[2], "jsonl")
with a:
    for trace in (a, b):
        try: trace.start()
        except RuntimeError as error: print(error)
    b.stop()
    nvspan.mark("m")
with b: nvspan.mark("n")
"""
    done = run_plain(code, first, second)
    assert done.stdout.splitlines() == [
        "this trace is already running",
        "a tool is already attached to NVTX, so nothing can be traced",
    ]
    assert (calls(first), calls(second)) == ([("mark", "m", None)], [("mark", "n", None)])


def test_it_is_refused_under_a_tool():
    code = """
import nvspan
try:
    nvspan.trace().start()
except RuntimeError as error:
    print(error)
nvspan.mark("m")
"""
    done = run_traced(code)
    assert done.stdout == "a tool is already attached to NVTX, so nothing can be traced\n"
    assert done.calls("message") == [("m",)]


def test_the_file_is_emptied_once(tmp_path):
    out = tmp_path / "trace.jsonl"
    out.write_text("old\n")
    code = """
import nvspan, sys
trace = nvspan.trace(sys.argv[1], format="jsonl")
for i in range(2):
    with trace: nvspan.mark(str(i))
"""
    run_plain(code, out)
    assert calls(out) == [("mark", "0", None), ("mark", "1", None)]


def test_bad_arguments(tmp_path):
    with pytest.raises(ValueError, match="format must be one of text, jsonl, not 'xml'"):
        nvspan.trace(format="xml")
    with pytest.raises(TypeError, match="domains must be a list"):
        nvspan.trace(domains="name")
    with pytest.raises(ValueError, match="null"):
        nvspan.trace("a\0b")
    with pytest.raises(FileNotFoundError):
        nvspan.trace(tmp_path / "no" / "trace").start()


def test_threads_and_a_forked_child(tmp_path):
    out = tmp_path / "trace.jsonl"
    code = """
import nvspan, os, sys, threading
def work():
    with nvspan.annotate("work"): pass
trace = nvspan.trace(sys.argv[1], format="jsonl")
with trace:
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    if os.fork() == 0:
        work()
        trace.stop()
        work()
        os._exit(0)
    os.wait()
    work()
"""
    run_plain(code, out)
    assert calls(out).count(("push", "work", 0)) == 6
    assert calls(out).count(("pop", "work", 0)) == 6
    assert len({event["pid"] for event in read_events(out)}) == 2


def test_config_string():
    assert launch.config_string() == "format=text"
    config = launch.config_string("jsonl", b"/tmp/\xff;=%", ["ä,b", ""], origin=5)
    assert config == "format=jsonl;file=/tmp/%FF%3B%3D%25;domains=%C3%A4%2Cb,;origin=5"


def test_a_file_name_of_any_bytes(tmp_path):
    out = tmp_path / "a;b=c%20,\udcff ä.jsonl"
    code = "import nvspan; nvspan.mark('m')"
    done = nvspan_command("trace", "--format=jsonl", "-o", out, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert calls(out) == [("mark", "m", None)]


def test_child_environment(tmp_path):
    out = tmp_path / "trace.jsonl"
    env = launch.child_environment("jsonl", out, environment={"KEEP": "1"})
    assert env == {
        "KEEP": "1", launch.INJECTION_VARIABLE: LIBRARY,
        launch.CONFIG_VARIABLE: f"format=jsonl;file={out}",
    }  # fmt: skip
    assert launch.attached_tool(env) == LIBRARY
    assert launch.attached_tool({}) is None
    assert launch.attached_tool({launch.INJECTION_VARIABLE: ""}) is None


PEER = """
import json, sys, time, nvtx
domain = nvtx.get_domain("peer")
with nvtx.annotate("outer", color="red", domain="peer", category="c", payload=7):
    with nvtx.annotate("inner"):
        nvtx.mark("mark", domain="peer")
nvtx.end_range(nvtx.start_range("span", domain="peer", payload=0.5))
"""


def test_another_librarys_events():
    pytest.importorskip("nvtx")
    traced = run_traced(PEER)
    fields = ("kind", "domain", "message", "message_type", "color", "category_name", "payload",
              "depth")  # fmt: skip
    peer, registered = "peer", "registered"
    assert traced.calls(*fields) == [
        ("push", peer, "outer", registered, 0xFF0000, "c", 7, 0),
        ("push", None, "inner", registered, 0xFF, None, None, 0),
        ("mark", peer, "mark", registered, 0xFF, None, None, None),
        ("pop", None, "inner", registered, None, None, None, 0),
        ("pop", peer, "outer", registered, None, None, None, 0),
        ("start", peer, "span", registered, 0xFF, None, 0.5, None),
        ("end", peer, "span", registered, None, None, None, None),
    ]
    (start,), (end,) = traced.of_kind("start"), traced.of_kind("end")
    assert start["id"] == end["id"]
    assert end["dur"] == end["ts"] - start["ts"]


def test_both_libraries_in_one_process():
    pytest.importorskip("nvtx")
    code = """
import nvtx, nvspan
with nvspan.annotate("ours", domain="d"), nvtx.annotate("theirs", domain="d"):
    nvspan.mark("inside")
"""
    traced = run_traced(code)
    assert traced.calls("kind", "domain", "message", "depth") == [
        ("push", "d", "ours", 0), ("push", "d", "theirs", 0), ("mark", None, "inside", None),
        ("pop", "d", "theirs", 0), ("pop", "d", "ours", 0),
    ]  # fmt: skip
    assert len(traced.of_kind("init")) == 2


def test_the_peers_array_payloads():
    pytest.importorskip("nvtx")
    numpy = pytest.importorskip("numpy")
    traced = run_traced("import nvtx, numpy; nvtx.mark('m', payload=numpy.arange(3, dtype='i2'))")
    (mark,) = traced.of_kind("mark")
    (piece,) = mark["payload_data"]
    raw = bytes.fromhex(piece["hex"])
    assert raw[:8] == (3).to_bytes(8, sys.byteorder)
    assert raw[8:] == numpy.arange(3, dtype="i2").tobytes()
    assert piece["schema"] in {event["id"] for event in traced.of_kind("schema_register")}


def test_every_line_is_json_of_its_own(tmp_path):
    traced = run_traced("import nvspan\nfor i in range(100): nvspan.mark(chr(i + 1) * 3)")
    assert [event["message"] for event in traced.of_kind("mark")] == [
        chr(i + 1) * 3 for i in range(100)]  # fmt: skip
    assert json.loads(json.dumps(traced.events)) == traced.events
