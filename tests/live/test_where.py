# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`nvspan where` on real processes: asleep, spinning with the GIL, stopped, killed, ended."""

from __future__ import annotations

import json
import os
import signal
from contextlib import ExitStack

import pytest

import nvspan
from helpers.live import NO_LINES, essential, paths, running, wait_until
from helpers.traced import needs_library, nvspan_command
from nvspan.live.judge import Waits
from nvspan.live.samples import Samples

pytestmark = needs_library

IN_A_STEP = """
import nvspan, sys, time
with nvspan.annotate("step"), nvspan.annotate("forward", domain="model"):
    print("ready", flush=True)
    {hang}
"""
ASLEEP = IN_A_STEP.format(hang="time.sleep(600)")
# A regular expression that never ends holds the GIL, in C.
SPINNING = IN_A_STEP.format(hang='import re; re.match(r"(a+)+$", "a" * 60 + "b")')
LOCKED = IN_A_STEP.format(
    hang="import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()"
)


def shown(*arguments: object) -> str:
    done = nvspan_command("where", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("program", "state"),
    [
        pytest.param(ASLEEP, "sleeping", id="asleep"),
        # busy: it had a core while the command looked
        pytest.param(
            SPINNING, "running, busy", id="spinning with the GIL", marks=pytest.mark.timing
        ),
        pytest.param(LOCKED, "sleeping", id="deadlocked"),
    ],
)
@pytest.mark.parametrize("mode", ["armed", "full", "ring=1", "stats"])
def test_a_process_that_hangs_shows_what_it_is_in(tmp_path, program, state, mode):
    with running(tmp_path, program, mode) as run:
        text = shown("--interval", 0.5, run.pid)
        assert essential(text, {run.pid: "PID"}) == (
            f"process PID on HOST: {state.partition(',')[0]}, {mode.partition('=')[0]}\n"
            f"  MainThread PID: step > model:forward  [unchanged for TIME, {state}]\n" + NO_LINES
        )


def test_a_stopped_process_shows_what_it_is_in(tmp_path):
    with running(tmp_path, ASLEEP) as run:
        os.kill(run.pid, signal.SIGSTOP)
        wait_until(lambda: nvspan.where(run.pid, samples=1).processes[0].state == "stopped", "stop")
        assert essential(shown(run.pid), {run.pid: "PID"}) == (
            "process PID on HOST: stopped, armed\n"
            "  MainThread PID: step > model:forward  [unchanged for TIME, stopped]\n" + NO_LINES
        )


def test_a_killed_process_shows_its_last_state(tmp_path):
    with running(tmp_path, ASLEEP) as run:
        run.end()
        assert essential(shown(run.file), {run.pid: "PID"}) == (
            "process PID on HOST: killed, armed; its last state:\n"
            "  MainThread PID: step > model:forward  [unchanged for TIME]\n"
        )


def test_a_process_that_ended_says_so(tmp_path):
    with running(tmp_path, 'import nvspan; nvspan.mark("m"); print("ready")') as run:
        run.process.wait()
        assert essential(shown(run.file), {run.pid: "PID"}) == (
            "process PID on HOST: ended, armed; its last state:\n"
            "  MainThread PID: no range  [unchanged for TIME]\n"
        )


def test_every_thread_has_its_ranges_and_those_it_started(tmp_path):
    program = """
import nvspan, threading, time
inside = threading.Barrier(3)
def load():
    with nvspan.annotate("load", domain="data"):
        nvspan.start_range("prefetch")
        inside.wait(); time.sleep(600)
def ended():
    global left
    left = nvspan.start_range("request")
    inside.wait()
threading.Thread(target=load, name="loader", daemon=True).start()
gone = threading.Thread(target=ended, name="gone"); gone.start()
with nvspan.annotate("step"):
    inside.wait(); gone.join()
    print("ready", flush=True)
    input()
    nvspan.end_range(left)
    print("ready", flush=True)
    time.sleep(600)
"""
    with running(tmp_path, program) as run:
        (process,) = nvspan.where(run.file).processes
        found = {t.name: ([label for _, label in t.ranges], t.started, t.ended)
                 for t in process.threads}  # fmt: skip
        assert found == {
            "MainThread": (["step"], (), False),
            "loader": (["load"], (((None, "prefetch"), None),), False),
            "gone": ([], (((None, "request"), None),), True),
        }
        run.say()
        run.wait_for()
        (process,) = nvspan.where(run.file).processes
        assert [t.started for t in process.threads if t.name == "gone"] == [()]


def test_names_are_those_of_all_domains_plain_registered_and_none(tmp_path):
    program = r"""
import nvspan, time
own = nvspan.Domain("own")
nvspan.push_range("plain \U0001F600")
own.push_range(own.get_event_attributes(message="registered"))
nvspan.push_range("x" * 300, domain="a b")
nvspan.push_range("")
print("ready", flush=True); time.sleep(600)
"""
    with running(tmp_path, program) as run:
        (process,) = nvspan.where(run.pid).processes
        assert process.path == (
            (None, "plain \U0001f600"), ("own", "registered"), ("a b", "x" * 300), (None, ""),
        )  # fmt: skip


def test_hidden_domains_are_not_shown(tmp_path):
    program = """
import nvspan, time
with nvspan.annotate("a", domain="hidden"), nvspan.annotate("b", domain="seen"):
    with nvspan.annotate("c", domain="hidden"): pass
    print("ready", flush=True); time.sleep(600)
"""
    with running(tmp_path, program, domains=["seen"]) as run:
        assert paths(nvspan.where(run.pid)) == {"MainThread": "seen:b"}


def test_a_domain_that_closes_before_the_ranges_within_it(tmp_path):
    program = """
import nvspan, time
nvspan.push_range("a", domain="one"); nvspan.push_range("b", domain="two")
nvspan.push_range("c", domain="one"); nvspan.push_range("d", domain="two")
nvspan.pop_range(domain="one")
print("ready", flush=True); time.sleep(600)
"""
    with running(tmp_path, program) as run:
        assert paths(nvspan.where(run.pid)) == {"MainThread": "one:a > two:b > two:d"}


def test_a_forked_child_has_a_file_of_its_own(tmp_path):
    program = """
import nvspan, os, time
with nvspan.annotate("parent"):
    child = os.fork()
    if child == 0:
        with nvspan.annotate("child"):
            print("ready", flush=True); time.sleep(600)
    time.sleep(600)
"""
    with running(tmp_path, program) as run:
        try:
            found = {p.pid: p.path for p in nvspan.where(tmp_path).processes}
            (child,) = found.keys() - {run.pid}
            assert found == {run.pid: ((None, "parent"),), child: ((None, "child"),)}
        finally:
            os.kill(child, signal.SIGKILL)


def test_what_moves_is_counted(tmp_path):
    program = """
import nvspan, time
with nvspan.annotate("step"):
    print("ready", flush=True)
    while True:
        with nvspan.annotate("tick"): time.sleep(0.001)
"""
    with running(tmp_path, program) as run:

        def looked():
            (process,) = nvspan.where(run.pid, interval=0.3).processes
            assert process.path[0] == (None, "step")
            return process

        wait_until(lambda: looked().moved > 2, "it has not moved")


def test_json_has_all_of_it(tmp_path):
    with running(tmp_path, ASLEEP, "full", rank=4) as run:
        found = json.loads(shown("--json", run.file))
    (process,) = found["processes"]
    (thread,) = process["threads"]
    keys = ("pid", "rank", "mode", "sampler", "state", "devices", "file")
    assert {key: process[key] for key in keys} == {
        "pid": run.pid, "rank": 4, "mode": "full", "sampler": "off", "state": "sleeping",
        "devices": [], "file": str(run.file),
    }  # fmt: skip
    assert thread.pop("unchanged") > 0
    assert thread.pop("events") >= 2
    assert thread.pop("busy") == pytest.approx(0, abs=0.3)
    assert thread == {
        "tid": run.pid, "name": "MainThread", "depth": 2, "moved": 0,
        "at_least": False, "changing": False, "started": [], "started_beyond": 0, "ended": False,
        "state": "sleeping", "stack": None,
        "ranges": [{"domain": None, "name": "step"}, {"domain": "model", "name": "forward"}],
    }  # fmt: skip
    assert found["verdict"]["kind"] == "one process"
    (root,) = found["tree"]
    (step,) = root["children"]
    assert (step["name"], step["processes"], step["innermost"], step["ranks"]) == (
        "step",
        1,
        0,
        [4],
    )


def test_wrong_targets_are_named(tmp_path):
    with pytest.raises(ValueError, match="needs a process id"):
        nvspan.where()
    with pytest.raises(ProcessLookupError, match="no process 999999999"):
        nvspan.where(999999999)
    with pytest.raises(ProcessLookupError, match="writes no recording"):
        nvspan.where(os.getpid())
    with pytest.raises(ValueError, match="no recording is in the directory"):
        nvspan.where(tmp_path)
    with pytest.raises(ValueError, match="interval must be 0 or more seconds, not -1"):
        nvspan.where(tmp_path, interval=-1)
    with pytest.raises(ValueError, match="samples must be 1 or more, not 0"):
        nvspan.where(tmp_path, samples=0)
    (tmp_path / "x.nvspan").write_bytes(b"no recording" * 1000)
    assert nvspan.where(tmp_path).problems == [
        (str(tmp_path / "x.nvspan"), "it is not a recording of nvspan")
    ]


def test_nobody_but_its_owner_may_write_the_file(tmp_path):
    with running(tmp_path, ASLEEP) as run:
        assert run.file.stat().st_mode & 0o022 == 0


def test_several_that_were_killed_are_not_told_apart(tmp_path):
    with ExitStack() as stack:
        for rank in range(6):
            program = ASLEEP if rank != 4 else ASLEEP.replace("forward", "backward")
            run = stack.enter_context(running(tmp_path, program, rank=rank))
            if rank in (1, 3, 4):
                run.end()
        verdict = nvspan.where(tmp_path).verdict
    assert (verdict.kind, verdict.ranks) == ("cannot tell", [])
    assert verdict.text == (
        "no verdict: rank 4 was killed, in step > model:backward; ranks 1 and 3 were killed, in "
        "step > model:forward; which of them was first is not known"
    )


def test_who_was_killed_is_named_where_the_others_have_ended(tmp_path):
    ends = """
import nvspan
with nvspan.annotate("step"), nvspan.annotate("all_reduce"):
    print("ready", flush=True); input(); raise SystemExit(1)
"""
    with ExitStack() as stack:
        runs = [stack.enter_context(running(tmp_path, ASLEEP if rank == 1 else ends, rank=rank))
                for rank in range(3)]  # fmt: skip
        runs[1].end()
        for run in (runs[0], runs[2]):
            run.say()
            run.process.wait()
        look = nvspan.where(tmp_path)
    assert [process.state for process in look.processes] == ["ended", "killed", "ended"]
    assert look.verdict.text == "rank 1 was killed, in step > model:forward"


def test_a_process_that_ends_while_it_is_looked_at_was_not_killed(tmp_path):
    with running(tmp_path, 'import nvspan; nvspan.mark("m"); print("ready"); input()') as run:
        samples = Samples([str(run.file)])
        files = samples.files

        class Ending:  # at the first sample, which still shows it open
            samples = 0
            stacks = files.stacks

            def sample(self):
                self.samples += 1
                found = files.sample()
                if self.samples == 1:
                    run.say()
                    run.process.wait()
                return found

        samples.files = ending = Ending()
        (process,) = samples.snapshot(Waits(())).processes
        assert (process.state, ending.samples) == ("ended", 2)
