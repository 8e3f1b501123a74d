# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Profile in threads that run, start, wait and end, and in forked children."""

from __future__ import annotations

import os
import sys

import pytest

from helpers.calls import shown
from helpers.events import by_thread
from helpers.traced import needs_library, run_traced

pytestmark = needs_library
FRESH = True  # the main thread of a forked process has no native id on CPython 3.12

HEADER = '''
import _thread, os, sys, threading, time
import nvspan
P = nvspan.Profile(linenos=False, include="__main__")
def leaf(): pass
def twice(): leaf(); leaf()
class Turn:
    # Two threads that take turns, unseen by the profile.
    def __init__(self): self.ours, self.theirs = threading.Semaphore(0), threading.Semaphore(0)
T = Turn()
give, take, back, wait = T.theirs.release, T.theirs.acquire, T.ours.release, T.ours.acquire
def started(target, *args):
    thread = threading.Thread(target=target, args=args); thread.start(); return thread
unseen = {"__name__": "unseen"}
exec("""
import pathlib, sys, threading, time
def states():
    main = str(threading.main_thread().native_id)
    return {path.name: (path / "stat").read_text().rpartition(")")[2].split()[0]
            for path in pathlib.Path("/proc/self/task").iterdir() if path.name != main}
def until_it_waits(ident):
    # In two looks, between which it could have had the GIL, it sleeps at the same place in `take`.
    end, before = time.monotonic() + 60, None
    while True:
        frame = sys._current_frames().get(ident)
        at = frame and frame.f_code is threading.Condition.wait.__code__ and frame.f_lasti
        at = at if set(states().values()) <= {"S"} else None
        if at and at == before: return
        assert time.monotonic() < end, (frame, states())
        before = at
        del frame
        time.sleep(0.002)
def until_ended(*idents):
    end = time.monotonic() + 60
    while {*idents} & sys._current_frames().keys():
        assert time.monotonic() < end, sys._current_frames()
        time.sleep(0.002)
""", unseen)
until_it_waits, until_ended = unseen["until_it_waits"], unseen["until_ended"]
'''


def threads(code, **options):
    """What each thread showed, in the order of their first call."""
    traced = run_traced(HEADER + code, **options)
    assert traced.stderr == ""
    ids = {}
    for event in traced.events:
        if event["kind"] in ("push", "pop"):
            ids.setdefault((event["pid"], event["tid"]), []).append(event)
    assert len(by_thread(traced.events)) == len(ids)
    return [shown(events) for events in ids.values()]


def test_a_thread_that_runs_already():
    code = """
def work(): back(); take(); twice(); back(); take(); twice()
def outer(): work(); leaf()
t = started(outer); wait()
P.enable(); give(); wait(); P.disable(); give(); t.join()
"""
    assert threads(code) == ["twice(leaf leaf)"]


def test_threads_that_start_later():
    code = """
def work(): twice()
P = nvspan.Profile(linenos=False, include="__main__", exclude="started")
with P:
    for i in range(3): started(work).join()
started(work).join()
"""
    assert threads(code) == ["work(twice(leaf leaf))"] * 3


def test_many_threads_at_once():
    code = """
def work():
    for i in range(200): twice()
P = nvspan.Profile(linenos=False, include="__main__", exclude="started")
with P:
    workers = []
    for i in range(8): workers.append(started(work))
    for t in workers: t.join()
"""
    assert threads(code) == ["work(" + " ".join(["twice(leaf leaf)"] * 200) + ")"] * 8


def test_calls_of_a_waiting_thread_are_closed_at_its_next_event():
    code = """
def work(): take(); twice(); leaf()
def outer(): work(); leaf()
P.enable(); t = started(outer); until_it_waits(t.ident); P.disable()
give(); t.join()
with P: leaf()
"""
    found = threads(code)
    assert sorted(found) == ["outer(work)", "started leaf"]


def test_calls_of_a_waiting_thread_and_a_second_profile():
    code = """
def work(): take(); twice(); back(); take()
def outer(): work(); leaf()
P.enable(); t = started(outer); until_it_waits(t.ident); P.disable()
Q = nvspan.Profile(linenos=False, include="__main__", max_depth=1)
Q.enable(); leaf(); give(); wait(); Q.disable(); give(); t.join()
"""
    assert sorted(threads(code)) == ["outer(work) twice", "started leaf"]


def test_a_thread_that_waits_for_ever():
    """Further profiles come and go while its calls wait to be closed."""
    code = """
def work(): take()
P = nvspan.Profile(linenos=False, include="__main__", exclude="started")
P.enable(); t = started(work); until_it_waits(t.ident); P.disable()
for i in range(3):
    twice()
    with P: twice()
give(); t.join(); twice()
with P: twice()
if sys.version_info >= (3, 12):
    assert [sys.monitoring.get_tool(i) for i in range(6)] == [None] * 6
"""
    assert threads(code) == ["work", " ".join(["twice(leaf leaf)"] * 4)]


def test_enabled_in_one_thread_and_disabled_in_another():
    code = """
def on(): P.enable(); leaf()
def off(): leaf(); P.disable(); leaf()
P = nvspan.Profile(linenos=False, include="__main__", exclude="started")
started(on).join(); twice(); started(off).join(); twice()
"""
    assert threads(code) == ["leaf", "twice(leaf leaf)", "off(leaf)"]


def test_threads_that_switch_while_others_call():
    code = """
sys.setswitchinterval(1e-5)
stop = False
def work():
    while not stop: twice()
def outer(): work()
workers = [started(outer) for i in range(4)]
for i in range(200):
    P.enable(); leaf(); P.disable()
stop = True
for t in workers: t.join()
"""
    found = threads(code)  # balanced, above all
    assert " ".join(["leaf"] * 200) in found


def test_a_thread_that_ends_by_exit():
    code = """
def work(): leaf(); sys.exit()
def other(): leaf(); _thread.exit()
P = nvspan.Profile(linenos=False, include="__main__", exclude="started")
with P: started(work).join(); started(other).join()
"""
    assert threads(code) == ["work(leaf)", "other(leaf)"]


def test_threads_of_the_low_level_module():
    """Before sys.monitoring only those that run when the profile is enabled."""
    code = """
def work(): take(); twice(); back(); take()
first = _thread.start_new_thread(work, ()); until_it_waits(first)
with P: give(); wait()
P.enable(); second = _thread.start_new_thread(work, ()); give(); give(); give(); wait()
until_ended(first, second); P.disable()
"""
    seen = ["twice(leaf leaf)"] + ["work(twice(leaf leaf))"] * (sys.version_info >= (3, 12))
    assert threads(code) == seen


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_goes_on():
    code = """
import warnings; warnings.simplefilter("ignore")
def work(): take()
def child(): twice(); P.disable(); leaf(); os._exit(0)
def forks():
    pid = os.fork()
    if pid == 0: child()
    os.waitpid(pid, 0); leaf()
P = nvspan.Profile(linenos=False, include="__main__", exclude=["started", "work"])
t = started(work)
P.enable(); forks(); P.disable(); give(); t.join()
"""
    traced = run_traced(HEADER + code)
    assert traced.stderr == ""
    pids = {event["pid"] for event in traced.events}
    main = next(event["pid"] for event in traced.events if event["kind"] == "push")
    calls = {
        pid == main: [
            (event["kind"], event["message"])
            for event in traced.events
            if event["pid"] == pid and event["kind"] in ("push", "pop")
        ]
        for pid in pids
    }
    assert calls[True] == [("push", "forks"), ("push", "leaf"), ("pop", "leaf"), ("pop", "forks")]
    assert calls[False] == [
        ("push", "child"), ("push", "twice"),
        ("push", "leaf"), ("pop", "leaf"), ("push", "leaf"), ("pop", "leaf"),
        ("pop", "twice"), ("pop", "child"), ("pop", "forks"),
    ]  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_process_whose_other_threads_have_calls_open():
    code = """
import warnings; warnings.simplefilter("ignore")
def work(): take()
P = nvspan.Profile(linenos=False, include="__main__", exclude="started")
P.enable(); t = started(work); until_it_waits(t.ident)
pid = os.fork()
if pid == 0:
    P.disable()
    if sys.version_info >= (3, 12):
        assert [sys.monitoring.get_tool(i) for i in range(6)] == [None] * 6
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
P.disable(); give(); t.join()
"""
    assert threads(code) == ["work"]
