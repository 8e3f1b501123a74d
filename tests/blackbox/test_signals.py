# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A signal writes a bundle, and then does what it would have done; reasons are never lost."""

from __future__ import annotations

import os
import signal

import pytest

from helpers.bundles import bundle_of, bundles, reasons, why
from helpers.length import length
from helpers.live import running, wait_until
from helpers.traced import needs_library

pytestmark = needs_library
HEAD = "import os, signal, sys, time\n"
WAITS = """
import nvspan
with nvspan.annotate("first"):
    print("ready", flush=True)
    for line in sys.stdin:
        print("on", flush=True)
"""


def is_stopped(pid):
    pid, status = os.waitpid(pid, os.WUNTRACED | os.WNOHANG)
    return pid != 0 and os.WIFSTOPPED(status)


def signalled(run, number):
    os.kill(run.pid, number)
    return run.process.wait(30)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGXCPU])
def test_the_default_action_follows(tmp_path, number):
    code = f"{HEAD}signal.signal({number:d}, signal.SIG_DFL){WAITS}"
    extra = {"NVSPAN_TRIGGER": f"signal:{number.name}"}
    with running(tmp_path, code, "ring=1", extra=extra) as run:
        assert signalled(run, number) == -number
        (bundle,) = bundles(tmp_path)
        assert why(bundle, "signal") == f"signal {number:d}"
        assert [path.suffix for path in bundle.glob("*.nvspan")] == [".nvspan"]


@pytest.mark.parametrize("mode", ["ring=1", "full"])
def test_the_programs_handler_finds_the_bundle(tmp_path, mode):
    code = f"""{HEAD}
import glob
def handler(number, frame):
    found = len(glob.glob({str(tmp_path)!r} + "/nvspan-trigger-*/*.nvspan"))
    os.write(1, b"%d\\n" % found)  # it may come while the program prints
    os._exit(7)
signal.signal(signal.SIGTERM, handler){WAITS}"""
    extra = {"NVSPAN_TRIGGER": "signal:TERM"}
    with running(tmp_path, code, mode, extra=extra) as run:
        os.kill(run.pid, signal.SIGTERM)
        assert run.process.stdout.readline() == "1\n"
        assert run.process.wait(30) == 7


def test_what_is_ignored_stays_ignored(tmp_path):
    code = f"{HEAD}signal.signal(signal.SIGTERM, signal.SIG_IGN){WAITS}"
    extra = {"NVSPAN_TRIGGER": "signal:TERM"}
    with running(tmp_path, code, "ring=1", extra=extra) as run:
        os.kill(run.pid, signal.SIGTERM)
        assert why(bundle_of(tmp_path, "signal"), "signal") == f"signal {signal.SIGTERM:d}"
        run.say()
        assert run.process.stdout.readline() == "on\n"


def test_it_ends_where_no_bundle_can_be_written(tmp_path):
    flag = tmp_path / "nvspan.trigger"
    code = f"{HEAD}{WAITS}"
    extra = {"NVSPAN_TRIGGER": "signal:TERM"}
    with running(tmp_path, code, "ring=1", extra=extra) as run:
        flag.mkdir()
        assert signalled(run, signal.SIGTERM) == -signal.SIGTERM
    assert bundles(tmp_path) == []


def test_a_forked_child_without_a_watcher_ends_at_once(tmp_path):
    code = f"""{HEAD}
import ctypes, nvspan
with nvspan.annotate("first"):
    child = ctypes.PyDLL(None).fork()  # Python does not know of it
    if child == 0:
        while True:
            time.sleep(10)
    os.kill(child, signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
{WAITS}"""
    extra = {"NVSPAN_TRIGGER": "signal:TERM"}
    with running(tmp_path, code, "ring=1", extra=extra, until=False) as run:
        assert run.process.stdout.readline() == f"{-signal.SIGTERM}\n"
    assert bundles(tmp_path) == []


def test_a_signal_that_stops_the_process_stops_it_each_time(tmp_path):
    # The system stops no process of a group that nobody of its session has started.
    code = f"{HEAD}os.setpgid(0, 0){WAITS}"
    extra = {"NVSPAN_TRIGGER": "signal:TSTP"}
    with running(tmp_path, code, "ring=1", extra=extra) as run:
        for _ in range(2):
            os.kill(run.pid, signal.SIGTSTP)
            wait_until(lambda: is_stopped(run.pid), "it goes on")
            os.kill(run.pid, signal.SIGCONT)
            run.say()
            assert run.process.stdout.readline() == "on\n"
        found = [reason["why"] for bundle in bundles(tmp_path) for reason in reasons(bundle)]
        assert found == [f"signal {signal.SIGTSTP:d}"] * 2


def test_reasons_of_forked_children_are_on_disk_when_the_call_returns(tmp_path):
    code = f"""{HEAD}
import multiprocessing, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 and newer: of a fork beside threads
import nvspan
def child(number):
    with nvspan.annotate("child"):
        assert nvspan.trigger(f"child {{number}}") is True  # then os._exit
with nvspan.annotate("first"):
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=child, args=(n,)) for n in range(8)]
    for each in children: each.start()
    for each in children: each.join()
    print([each.exitcode for each in children], flush=True)
{WAITS}"""
    extra = {"NVSPAN_TRIGGER": "every:1us; keep:1000"}
    with running(tmp_path, code, "ring=1", extra=extra, until=False) as run:
        assert run.process.stdout.readline() == f"{[0] * 8}\n"
    found = {reason["why"] for bundle in bundles(tmp_path) for reason in reasons(bundle)}
    assert found == {f"child {number}" for number in range(8)}


@pytest.mark.parametrize("part", range(length(40, 1)))
def test_a_handler_may_ask_at_any_moment(tmp_path, part):
    """Also while the first call imports what it needs."""
    code = f"""{HEAD}
import nvspan
def handler(number, frame):
    nvspan.trigger("handler")
    ended.append(1)
signal.signal(signal.SIGALRM, handler)
ended = []
with nvspan.annotate("first"):
    for number in range(25):
        child = os.fork()
        if child == 0:
            with nvspan.annotate("child"):  # which is recorded from its first event on
                signal.setitimer(signal.ITIMER_REAL, (number + 1 + {part} / 40) * 1.2e-3)
                nvspan.trigger(f"call {{number}}")
                while not ended:
                    time.sleep(0.001)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, number
    print("done", flush=True)
{WAITS}"""
    with running(tmp_path, code, "ring=1", until=False) as run:
        assert run.process.stdout.readline() == "done\n"
    found = [reason["why"] for bundle in bundles(tmp_path) for reason in reasons(bundle)]
    assert sorted(found) == sorted(["handler"] * 25 + [f"call {number}" for number in range(25)])
