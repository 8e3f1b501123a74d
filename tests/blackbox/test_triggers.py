# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Each trigger in a real process: the bundle that it writes, and that nothing else writes one."""

from __future__ import annotations

import os
import re
import select
import signal
import stat
import subprocess
import sys

import pytest

import nvspan
from helpers.bundles import bundle_of, bundles, reasons, why
from helpers.live import running, wait_until
from helpers.traced import needs_library, python

pytestmark = needs_library

HEAD = "import sys, time, nvspan\n"
STEPS = f"""{HEAD}
def steps(count, seconds=0.002):
    for _ in range(count):
        with nvspan.annotate("step"):
            with nvspan.annotate("work"):
                time.sleep(seconds)
"""
READY = "print('ready', flush=True); sys.stdin.readline()\n"
# Waits in a range until the bundle of it is whole.
WAIT_FOR_BUNDLE = """
import glob
def wait_for_bundle():
    end = time.monotonic() + 30
    while not glob.glob("nvspan-trigger-*") and time.monotonic() < end:
        time.sleep(0.01)
"""


def trigger(text):
    return {"NVSPAN_TRIGGER": text}


def test_a_stall_is_seen_while_the_gil_is_held(tmp_path):
    code = f"""{HEAD}
import ctypes
with nvspan.annotate("outer"):
    with nvspan.annotate("stuck"):
        print("ready", flush=True)
        ctypes.PyDLL(None).read(0, ctypes.create_string_buffer(1), 1)
        sys.stdin.readline()
"""
    with running(tmp_path, code, "ring=1", extra=trigger("stall:300ms")) as run:
        wait_until(lambda: any(map(reasons, bundles(tmp_path))), "no bundle")
        run.say()  # what a Python thread adds to the bundle needs the GIL
        bundle = bundle_of(tmp_path, "stall")
        (reason,) = reasons(bundle)
        assert re.fullmatch(r"no event for [\d.]+ m?s", reason.pop("why"))
        assert reason.pop("time") > 1.6e18
        assert reason == {"kind": "stall", "host": os.uname().nodename, "pid": run.pid,
                          "rank": None}  # fmt: skip
        (process,) = nvspan.where(bundle).processes
        assert process.state == "frozen"
        assert process.path == ((None, "outer"), (None, "stuck"))
        assert process.pid == run.pid


@pytest.mark.timing
def test_a_step_that_is_slow_is_kept_with_what_was_in_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = f"""{STEPS}{WAIT_FOR_BUNDLE}
steps(100)
with nvspan.annotate("step"):
    with nvspan.annotate("late"):
        wait_for_bundle()
steps(5)
{READY}"""
    with running(tmp_path, code, "ring=1", extra=trigger("slow:step>20; last:60s")):
        bundle = bundle_of(tmp_path, "slow")
        assert len(bundles(tmp_path)) == 1
        assert re.fullmatch(
            r"step has taken [\d.]+ m?s, [\d.]+ times its p99 of [\d.]+ ms", why(bundle, "slow")
        )
        stats = {row.name: row.calls for row in nvspan.read(bundle).stats().rows}
        assert stats["work"] == 100
        (process,) = nvspan.where(bundle).processes
        assert process.path == ((None, "step"), (None, "late"))


# The signal may come while the program prints: a handler that prints, too, would raise.
OWN = """
import os, signal
signal.signal(signal.SIGUSR2, lambda *_: os.write(1, b"own\\n"))
"""


# Standard error into a file.
ERRORS = "import os; os.dup2(os.open('errors', os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)\n"
REPLACED = (
    f"nvspan: trigger signal:{signal.SIGUSR2.value}: the program has replaced nvspan's handler, "
    "and the trigger does nothing unless the new one calls the one before it; set it before nvspan "
    "is imported, or call nvspan.trigger() in it\n"
)


def test_a_signal_is_taken_beside_the_programs_own_handler(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = ERRORS + OWN + HEAD
    code += "with nvspan.annotate('first'): pass\n" + READY
    with running(tmp_path, code, "ring=1", extra=trigger("signal:USR2")) as run:
        # The read of the next line is interrupted, as Python runs its part of a handler between
        # instructions; a signal that comes just before the read waits for another.
        poll = select.poll()
        poll.register(run.process.stdout, select.POLLIN)
        for _ in range(300):
            os.kill(run.pid, signal.SIGUSR2)
            if poll.poll(100):
                break
        run.wait_for("own")
        bundle_of(tmp_path, "signal")
        end_and_stop_watching(run)
    assert (tmp_path / "errors").read_text() == ""


def wait_for_warning(folder):
    wait_until(lambda: (folder / "errors").read_text().endswith("\n"), "no warning")


def end_and_stop_watching(run):
    """Lets the program end: its watcher looks once more, and what it found is said before the end.

    What must not be said a second time would be said by then.
    """
    run.say()
    assert run.process.wait(30) == 0


def test_a_handler_that_is_set_later_is_reported_once(tmp_path, monkeypatch):
    """It is called as it was; a forked child does not repeat the report."""
    monkeypatch.chdir(tmp_path)
    code = f"""{ERRORS}{HEAD}
import signal, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 and newer: of a fork beside threads
def own(*_):
    print("own", flush=True)
with nvspan.annotate("first"):
    signal.signal(signal.SIGUSR2, own)
print("ready", flush=True)
sys.stdin.readline()
signal.raise_signal(signal.SIGUSR2)
if os.fork() == 0:
    from nvspan.blackbox import watching
    watching.stop()  # its watcher looks once more, and what it found is said
    os._exit(0)
os.wait()
{READY}"""
    with running(tmp_path, code, "ring=1", extra=trigger("signal:USR2")) as run:
        wait_for_warning(tmp_path)
        run.say()
        run.wait_for("own")
        run.wait_for()
        end_and_stop_watching(run)
    assert (tmp_path / "errors").read_text() == REPLACED
    assert bundles(tmp_path) == []


@pytest.mark.parametrize(("then", "kind"), [
    ("import faulthandler; faulthandler.register(signal.SIGUSR2, chain=True)", "signal"),
    ("signal.signal(signal.SIGUSR2, lambda *_: nvspan.trigger('the handler'))", "asked"),
])  # fmt: skip
def test_a_handler_that_is_set_later_can_have_a_bundle_written(tmp_path, monkeypatch, then, kind):
    monkeypatch.chdir(tmp_path)
    code = (
        f"{ERRORS}{HEAD}import signal\nwith nvspan.annotate('first'):\n    {then}\n{READY}"
        f"signal.raise_signal(signal.SIGUSR2)\n{READY}"
    )
    with running(tmp_path, code, "ring=1", extra=trigger("signal:USR2")) as run:
        wait_for_warning(tmp_path)
        run.say()
        run.wait_for()
        bundle = bundle_of(tmp_path, kind)
        text = "the handler" if kind == "asked" else f"signal {signal.SIGUSR2.value}"
        assert why(bundle, kind) == text
        end_and_stop_watching(run)
    errors = (tmp_path / "errors").read_text()  # faulthandler writes the threads' stacks there
    assert errors.startswith(REPLACED)
    assert errors.count("nvspan: ") == 1
    assert kind == "signal" or errors == REPLACED


def test_a_handler_may_interrupt_the_same_call(tmp_path):
    code = HEAD + (
        "from nvspan.blackbox import watching\n"
        "with nvspan.annotate('first'), watching._lock:\n"
        "    nvspan.trigger('the handler')\n" + READY
    )
    with running(tmp_path, code, "ring=1", extra=trigger("signal:USR2")):
        assert why(bundle_of(tmp_path, "asked"), "asked") == "the handler"


def test_a_signal_writes_a_bundle(tmp_path):
    code = HEAD + "with nvspan.annotate('first'):\n    " + READY
    with running(tmp_path, code, "ring=1", extra=trigger("signal:USR2")) as run:
        os.kill(run.pid, signal.SIGUSR2)
        bundle = bundle_of(tmp_path, "signal")
        assert why(bundle, "signal") == f"signal {signal.SIGUSR2.value}"


def test_an_exception_that_ends_the_program_is_kept_without_its_message(tmp_path):
    code = f"""{HEAD}
def fails():
    with nvspan.annotate("last"):
        raise RuntimeError("secret")
with nvspan.annotate("step"):
    fails()
"""
    program = tmp_path / "program.py"
    program.write_text(code)
    command = [sys.executable, str(program)]
    with running(tmp_path, command, "ring=1", extra=trigger("exception"), until=False) as run:
        assert run.process.wait(30) == 1
        (bundle,) = bundles(tmp_path)
        assert re.fullmatch(r"RuntimeError in fails \(program.py:\d+\)", why(bundle, "exception"))
        rows = nvspan.read(bundle).stats().rows
        assert sorted(row.name for row in rows) == ["last", "step"]
        assert "secret" not in "".join(
            path.read_text() for path in bundle.iterdir() if path.suffix != ".nvspan"
        )


def test_a_program_asks_for_a_bundle(tmp_path):
    code = f"""{HEAD}
with nvspan.annotate("step"):
    assert nvspan.trigger("the loss is not a number") is True
{READY}"""
    with running(tmp_path, code, "ring=1", extra=trigger("env:CHOSEN_*"), until=False) as run:
        run.wait_for()
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
    done = python("-c", code, check=True)
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
         "nvspan: NVSPAN_TRIGGER does nothing: the recordings must be in one directory, and "
         "'/tmp/{rank}' is another for each process\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_watched_is_said_and_the_program_runs(variables, said):
    done = python("-c", "import nvspan; print(1)", env=variables, check=True)
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


@pytest.mark.parametrize("mode", ["full", "ring=1"])
@pytest.mark.parametrize(
    "before",
    [
        "for _ in range(4): run(3)",
        # Two threads begin and end between two looks, in what a third left before the first look.
        "run(3); wait_for_look(); run(3); run(3)",
    ],
)
def test_threads_that_follow_others_in_the_file_are_judged(tmp_path, monkeypatch, mode, before):
    monkeypatch.chdir(tmp_path)
    code = (
        STEPS
        + """
import glob, os, threading
def reasons():
    return "".join(open(file).read() for file in glob.glob("nvspan-trigger-*/why.jsonl"))
def wait_for(text):
    end = time.monotonic() + 30
    while text not in reasons() and time.monotonic() < end:
        time.sleep(0.01)
looks = 0
def wait_for_look():
    # The look in which a request is taken; the reason is written after it.
    global looks
    looks += 1
    assert nvspan.trigger(f"look {looks}")
    wait_for(f"look {looks}")
def run(*args):
    thread = threading.Thread(target=steps, args=args)
    thread.start()
    thread.join()
    while os.path.exists(f"/proc/self/task/{thread.native_id}"):  # its recording ends after join
        time.sleep(0.001)
def until_it_is_found():
    with nvspan.annotate("step"):
        with nvspan.annotate("work"):
            wait_for('"slow"')
BEFORE
wait_for_look()  # their end has been seen
wait_for_look()  # and what they left
run(100)
thread = threading.Thread(target=until_it_is_found)
thread.start()
thread.join()
"""
        + READY
    ).replace("BEFORE", before)
    with running(tmp_path, code, mode, extra=trigger("slow:step>20; every:1us")):
        bundle = bundle_of(tmp_path, "slow")
        assert why(bundle, "slow").startswith("step ")
