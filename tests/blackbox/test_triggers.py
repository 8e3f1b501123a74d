# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Each trigger in a real process: the bundle that it writes, and that nothing else writes one."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys

import pytest

import nvspan
from helpers.bundles import bundle_of, bundles, why
from helpers.live import running
from helpers.traced import needs_library
from nvspan.blackbox.bundle import reasons

pytestmark = needs_library

HEAD = "import sys, time, nvspan\n"
STEPS = (
    HEAD
    + """
def steps(count, seconds=0.002):
    for _ in range(count):
        with nvspan.annotate("step"):
            with nvspan.annotate("work"):
                time.sleep(seconds)
"""
)
READY = "print('ready', flush=True); sys.stdin.readline()\n"


def trigger(text):
    return {"NVSPAN_TRIGGER": text}


def test_a_stall_is_seen_while_the_gil_is_held(tmp_path):
    code = (
        HEAD
        + """
import ctypes
with nvspan.annotate("outer"):
    with nvspan.annotate("stuck"):
        print("ready", flush=True)
        ctypes.PyDLL(None).sleep(3)
    sys.stdin.readline()
"""
    )
    with running(tmp_path, code, "ring=1", extra=trigger("stall:300ms")) as run:
        bundle = bundle_of(tmp_path, "stall")
        (reason,) = reasons(str(bundle))
        assert re.fullmatch(r"no event for [\d.]+ m?s", reason.pop("why"))
        assert reason.pop("time") > 1.6e18
        assert reason == {"kind": "stall", "host": os.uname().nodename, "pid": run.pid,
                          "rank": None}  # fmt: skip
        (process,) = nvspan.where(bundle).processes
        assert process.state == "frozen"
        assert process.path == ((None, "outer"), (None, "stuck"))
        assert process.pid == run.pid


def test_a_step_that_is_slow_is_kept_with_what_was_in_it(tmp_path):
    code = (
        STEPS
        + """
steps(100)
with nvspan.annotate("step"):
    with nvspan.annotate("late"):
        time.sleep(3)
steps(5)
"""
        + READY
    )
    with running(tmp_path, code, "ring=1", extra=trigger("slow:step>20; last:60s")):
        bundle = bundle_of(tmp_path, "slow")
        assert len(bundles(tmp_path)) == 1
        assert re.fullmatch(
            r"step has taken [\d.]+ m?s, [\d.]+ times its p99 of [\d.]+ ms", why(bundle, "slow")
        )
        stats = {row["name"]: row["calls"] for row in nvspan.read(bundle).stats().rows}
        assert stats["work"] == 100
        (process,) = nvspan.where(bundle).processes
        assert process.path == ((None, "step"), (None, "late"))


def test_a_change_of_the_level_is_found(tmp_path):
    code = STEPS + "steps(400)\nsteps(300, 0.015)\n" + READY
    with running(tmp_path, code, "ring=1", extra=trigger("change:work")):
        bundle = bundle_of(tmp_path, "change")
        assert re.fullmatch(
            r"work takes [\d.]+ % longer, for some \d+ calls", why(bundle, "change")
        )
        assert {reason["kind"] for reason in reasons(str(bundle))} == {"change"}


def test_a_signal_is_taken_beside_the_programs_own_handler(tmp_path):
    code = (
        HEAD
        + """
import signal
signal.signal(signal.SIGUSR2, lambda *_: print("own", flush=True))
with nvspan.annotate("first"):
    pass
"""
        + READY
    )
    with running(tmp_path, code, "ring=1", extra=trigger("signal:USR2")) as run:
        os.kill(run.pid, signal.SIGUSR2)
        run.wait_for("own")


def test_a_signal_writes_a_bundle(tmp_path):
    code = HEAD + "with nvspan.annotate('first'):\n    " + READY
    with running(tmp_path, code, "ring=1", extra=trigger("signal:USR2")) as run:
        os.kill(run.pid, signal.SIGUSR2)
        bundle = bundle_of(tmp_path, "signal")
        assert why(bundle, "signal") == f"signal {signal.SIGUSR2.value}"


def test_an_exception_that_ends_the_program_is_kept_without_its_message(tmp_path):
    code = (
        HEAD
        + """
def fails():
    with nvspan.annotate("last"):
        raise RuntimeError("secret")
with nvspan.annotate("step"):
    fails()
"""
    )
    program = tmp_path / "program.py"
    program.write_text(code)
    command = [sys.executable, str(program)]
    with running(tmp_path, command, "ring=1", extra=trigger("exception"), until=False) as run:
        assert run.process.wait(30) == 1
        (bundle,) = bundles(tmp_path)
        assert re.fullmatch(r"RuntimeError in fails \(program.py:\d+\)", why(bundle, "exception"))
        rows = nvspan.read(bundle).stats().rows
        assert sorted(row["name"] for row in rows) == ["last", "step"]
        assert "secret" not in "".join(
            path.read_text() for path in bundle.iterdir() if path.suffix != ".nvspan"
        )


def test_a_program_asks_for_a_bundle(tmp_path):
    code = (
        HEAD
        + """
with nvspan.annotate("step"):
    assert nvspan.trigger("the loss is not a number") is True
"""
        + READY
    )
    with running(tmp_path, code, "ring=1", extra=trigger("env:CHOSEN_*"), until=False) as run:
        run.process.stdout.readline()
        bundle = bundle_of(tmp_path, "asked")
        assert why(bundle, "asked") == "the loss is not a number"
        assert not (bundle / "environment.jsonl").exists()
        assert stat.S_IMODE(bundle.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in bundle.iterdir()} == {0o600}


def test_chosen_variables_go_into_the_bundle(tmp_path):
    code = HEAD + "with nvspan.annotate('a'): nvspan.trigger('why')\n" + READY
    extra = {**trigger("env:CHOSEN_*"), "CHOSEN_ONE": "1", "TOKEN": "secret"}
    with running(tmp_path, code, "ring=1", extra=extra) as run:
        bundle = bundle_of(tmp_path, "asked")
        text = (bundle / "environment.jsonl").read_text()
        assert text == (
            f'{{"host": "{os.uname().nodename}", "pid": {run.pid}, '
            '"environment": {"CHOSEN_ONE": "1"}}\n'
        )


def test_without_a_recording_asking_does_nothing():
    code = "import nvspan; print(nvspan.trigger('why'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_why_must_be_a_text():
    with pytest.raises(TypeError, match=r"^why must be a str, not int$"):
        nvspan.trigger(3)


def test_a_quiet_run_writes_no_bundle(tmp_path):
    code = STEPS + "steps(300)\n" + READY
    text = "slow:step>1000;stall:60s;killed;signal:USR1;exception"
    with running(tmp_path, code, "ring=1", extra=trigger(text)) as run:
        run.say()
        assert run.process.wait(30) == 0
    assert bundles(tmp_path) == []


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"NVSPAN_TRIGGER": "stall"},
         "nvspan: NVSPAN_TRIGGER: trigger 'stall': must be a time such as 30s, 200ms or 5min, not "
         "''; nothing is watched\n"),
        ({"NVSPAN_TRIGGER": "killed"},
         "nvspan: NVSPAN_TRIGGER does nothing: nothing is recorded; set NVSPAN_RECORD=ring, for "
         "example\n"),
        ({"NVSPAN_TRIGGER": "killed", "NVSPAN_RECORD": "/tmp/{rank}/x.nvspan"},
         "nvspan: NVSPAN_TRIGGER does nothing: the recordings must lie in one folder, and "
         "'/tmp/{rank}' is another for each process\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_watched_is_said_and_the_program_runs(variables, said):
    done = subprocess.run(
        [sys.executable, "-c", "import nvspan; print(1)"], env={**os.environ, **variables},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("1\n", said)


def test_the_environment_alone_makes_a_ring_with_a_trigger(tmp_path):
    code = HEAD + "with nvspan.annotate('a'): nvspan.trigger('why')\nprint('ready', flush=True)\n"
    environment = {**os.environ, "NVSPAN_RECORD": f"ring=1:{tmp_path}/x.nvspan",
                   "NVSPAN_TRIGGER": "stall:60s"}  # fmt: skip
    for name in ("NVSPAN_TRACE", "NVTX_INJECTION64_PATH"):
        environment.pop(name, None)
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    (bundle,) = bundles(tmp_path)
    assert why(bundle, "asked") == "why"
    assert [path.name for path in bundle.glob("*.nvspan")] == ["x.nvspan"]
    assert nvspan.read(tmp_path / "x.nvspan").processes
