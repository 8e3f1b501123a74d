# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What share of the time processes are in each range: by single looks at processes that are led
from one range to the next, and as `nvspan top` prints it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest

from helpers.lines import next_line
from helpers.live import PARKED, running, wait_until
from helpers.traced import needs_library, nvspan_command
from nvspan.live.top.matrix import headline, process_lines, render, table
from nvspan.live.top.sampling import Sampler

pytestmark = needs_library

# At each line of input it goes to the next range of a step.
LED = """
import nvspan, sys
def wait():
    print("ready", flush=True)
    sys.stdin.readline()
nvspan.mark("begins")
wait()
while True:
    with nvspan.annotate("step"):
        with nvspan.annotate("load", domain="data"): wait()
        with nvspan.annotate("forward"): wait()
"""


def printed(*arguments: object, code: int = 0) -> str:
    done = nvspan_command("top", *arguments)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def lead(run, sampler, looks):
    """So many looks in each of the places that follow one another."""
    for count in looks:
        run.say()
        run.wait_for()
        for _ in range(count):
            sampler.watch(0)


@pytest.mark.parametrize("mode", ["armed", "full", "stats"])
def test_shares_are_those_of_the_looks(tmp_path, mode):
    with running(tmp_path, LED, mode, rank=3) as run:
        sampler = Sampler([run.file])
        sampler.watch(0)
        lead(run, sampler, [3, 1])
        window = sampler.window()
        (process,) = window.activities
        assert window.samples == 5
        assert {row.range: row.shares for row in window.rows} == {
            (None, "step"): [0.8], ("data", "load"): [0.6], (None, "forward"): [0.2],
        }  # fmt: skip
        assert [(tally.depth, tally.range[1], tally.samples, tally.innermost)
                for tally in process.threads[0].root.walk()] == [
            (0, "step", 4, 0), (1, "load", 3, 3), (1, "forward", 1, 1),
        ]  # fmt: skip
        lead(run, sampler, [1, 1])
        changes = {row.range[1]: row.changes for row in sampler.window().rows}
        assert changes == {
            "step": [pytest.approx(0.2)], "load": [pytest.approx(-0.1)],
            "forward": [pytest.approx(0.3)],
        }  # fmt: skip


def test_steps_are_counted_also_where_no_look_falls_between_them(tmp_path):
    with running(tmp_path, LED) as run:
        sampler = Sampler([run.file])
        lead(run, sampler, [1])
        sampler.window()
        lead(run, sampler, [0, 3, 0, 3, 0, 3])  # in data:load alone
        window = sampler.window()
        (process,) = window.activities
        assert {row.range[1]: (row.begun, row.begun_at_least) for row in window.rows} == {
            "step": (3, False), "load": (3, False),
        }  # fmt: skip
        assert (window.step, process.steps) == ((None, "step"), (3, False))
        lead(run, sampler, [0, 1])
        (process,) = sampler.window().activities
        assert process.steps == (1, True)  # one look: there may have been more
        sampler.watch(0)
        (process,) = sampler.window().activities
        assert process.steps == (0, False)


def test_the_name_of_a_step_can_be_given(tmp_path):
    with running(tmp_path, LED) as run:
        sampler = Sampler([run.file], step="data:load")
        lead(run, sampler, [1, 1])
        assert sampler.window().step == ("data", "load")


def test_ranges_within_themselves_count_once_and_threads_add_up(tmp_path):
    program = """
import nvspan, threading, time
inside = threading.Barrier(3)
def work():
    with nvspan.annotate("work"), nvspan.annotate("again"), nvspan.annotate("work"):
        inside.wait(); time.sleep(600)
for _ in range(2): threading.Thread(target=work, daemon=True).start()
inside.wait(); print("ready", flush=True); time.sleep(600)
"""
    with running(tmp_path, program) as run:
        sampler = Sampler([run.pid])
        for _ in range(4):
            sampler.watch(0)
        window = sampler.window()
        assert {row.range[1]: row.shares for row in window.rows} == {"work": [2.0], "again": [2.0]}


def test_new_files_of_a_pattern_join_in(tmp_path):
    with ExitStack() as stack:
        stack.enter_context(running(tmp_path, LED, rank=0))
        sampler = Sampler([str(tmp_path / "run-*.nvspan")])
        assert len(sampler.window().activities) == 1
        last = stack.enter_context(running(tmp_path, LED, rank=1))
        sampler.window()
        lead(last, sampler, [1])
        window = sampler.window()
        assert [each.process.rank for each in window.activities] == [0, 1]
        assert [row.shares for row in window.rows] == [[0.0, 1.0], [0.0, 1.0]]


def test_a_process_that_is_killed_or_stopped_says_so(tmp_path):
    with ExitStack() as stack:
        runs = [stack.enter_context(running(tmp_path, LED, rank=rank)) for rank in range(5)]
        sampler = Sampler([tmp_path])
        os.kill(runs[2].pid, signal.SIGSTOP)
        wait_until(lambda: sampler.window().verdict.kind == "halted", "it has stopped")
        assert sampler.window().verdict.ranks == [2]
        runs[2].end()
        window = sampler.window()
        assert [each.process.state for each in window.activities][2] == "killed"
        assert window.verdict.text == "rank 2 was killed, in no range"
        assert headline(window).startswith("5 processes, 1 killed, 0 samples in ")
        assert table(window).rows[0] == ["state", "", "", "", "", "killed", "", ""]


def test_lost_events_are_shown(tmp_path):
    with running(tmp_path, LED, rank=0) as run:
        pass
    losses, no_space, of_each = 1336, 2, 24  # in the header
    with run.file.open("r+b") as file:
        file.seek(losses + no_space * of_each)
        file.write((1234).to_bytes(8, "little"))
    window = Sampler([run.file]).window()
    assert window.as_dict()["processes"][0]["lost"] == 1234
    assert ["events lost", "", "", "1,234"] in table(window).rows


def test_one_window_as_text(tmp_path):
    with (
        running(tmp_path, PARKED.format(name="forward", domain="model"), rank=0) as first,
        running(tmp_path, PARKED.format(name="load", domain="data"), rank=1),
    ):
        text = printed("--once", "--interval", 0.2, tmp_path)
        one = printed("--once", "--interval", 0.2, first.pid)
    text = re.sub(r"\d+ samples in [\d.]+ m?s", "N samples in TIME", text)
    assert (
        re.sub(r"for [\d.]+ m?s", "for TIME", text)
        == """\
2 processes, N samples in TIME
no verdict: no process is in a known collective (torch.distributed, NCCL, gloo, MPI); name yours \
with --waits NAME

range            change  per s  rank 0  rank 1
events a second            0.0     0.0     0.0
step                       0.0    100%    100%
data:load                  0.0            100%
model:forward              0.0    100%
stuck: rank 0, MainThread for TIME: step > model:forward
stuck: rank 1, MainThread for TIME: step > data:load
"""
    )
    assert one.startswith("1 process, ")


def test_one_window_as_json(tmp_path):
    with running(tmp_path, PARKED.format(name="forward", domain="model"), rank=4) as run:
        found = json.loads(printed("--once", "--json", "--interval", 0.1, run.file))
    assert found["looks"] > 3
    step, forward = found["ranges"]
    assert step == {
        "domain": None, "name": "step", "share": 1.0, "change": 0.0, "rate": 0.0,
        "rate_at_least": False, "shares": [1.0], "changes": [0.0],
    }  # fmt: skip
    assert forward["domain"] == "model"
    (process,) = found["processes"]
    keys = ("pid", "rank", "state", "lost", "stuck", "events_a_second", "steps_a_second")
    assert [process[key] for key in keys] == [run.pid, 4, "sleeping", 0, [run.pid], 0.0, None]
    inner = {"domain": "model", "name": "forward", "share": 1.0, "innermost": 1.0, "begun": 0,
             "children": []}  # fmt: skip
    assert process["shares"] == [
        {
            "tid": run.pid,
            "ranges": [
                {
                    "domain": None,
                    "name": "step",
                    "share": 1.0,
                    "innermost": 0.0,
                    "begun": 0,
                    "children": [inner],
                }
            ],
            "spans": [],
        }
    ]


def test_json_goes_on_line_by_line_until_it_is_interrupted(tmp_path):
    with running(tmp_path, PARKED.format(name="forward", domain="model")) as run:
        words = ("--json", "--interval", "0.1", str(run.pid))
        with subprocess.Popen(
            [sys.executable, "-m", "nvspan", "top", *words], stdout=subprocess.PIPE, text=True
        ) as top:
            lines = [json.loads(next_line(top)) for _ in range(3)]
            top.send_signal(signal.SIGINT)
            top.communicate(timeout=60)
        assert (top.returncode, [len(line["processes"]) for line in lines]) == (0, [1, 1, 1])


def test_many_processes_are_summed_up(tmp_path):
    program = """
import nvspan, os, time
parent = os.getpid()
for rank in range(1, 12):
    if os.fork() == 0:
        os.environ["RANK"] = str(rank)
        nvspan.push_range("odd" if rank == 7 else "even")
        os.write(1, b"ready\\n")
        while os.getppid() == parent: time.sleep(0.1)
        os._exit(0)
nvspan.push_range("even")
os.write(1, b"ready\\n")
time.sleep(600)
"""
    with running(tmp_path, program, rank=0) as run:
        for _ in range(11):
            run.wait_for()
        sampler = Sampler([tmp_path])
        sampler.watch(0)
        window = sampler.window()
    narrow, wide = table(window, 100), table(window)
    assert narrow.headings[3:] == ["least", "median", "most", "farthest"]
    assert narrow.rows[1:] == [
        ["even", "", "0.0", "", "100%", "100%", "rank 7"],
        ["odd", "", "0.0", "", "", "100%", "rank 7"],
    ]
    assert wide.headings[3:] == [f"rank {rank}" for rank in range(12)]
    assert wide.far == {(1, 10), (2, 10)}
    assert [row[0] for row in table(window, sort="name", like="o").rows[1:]] == ["odd"]
    # What is no regular expression is looked for as it is.
    assert len(table(window, like="(").rows) == 1


def test_one_process_as_a_tree(tmp_path):
    with running(tmp_path, LED, rank=3) as run:
        sampler = Sampler([run.file])
        sampler.watch(0)
        lead(run, sampler, [2, 1])
        window = sampler.window()
        lines = process_lines(window, window.activities[0])
    # It may still be on its way to where it waits.
    lines = [re.sub("running|sleeping", "STATE", line) for line in lines]
    assert re.sub(r"on \S+:", "on HOST:", lines[0]) == (
        f"rank 3, process {run.pid} on HOST: STATE, armed")  # fmt: skip
    assert lines[3] == f"MainThread {run.pid}: step > forward  [STATE]"
    assert [re.sub(r">?=?[\d.,]+/s", "RATE", line).split() for line in lines[4:]] == [
        ["75%", "RATE", "step"], ["50%", "50%", "RATE", "data:load"],
        ["25%", "25%", "RATE", "forward"],
    ]  # fmt: skip


def test_what_is_no_text_does_not_reach_the_terminal(tmp_path):
    program = r"""
import nvspan, time
nvspan.push_range("red \x1b[31m\nnew line")
print("ready", flush=True); time.sleep(600)
"""
    with running(tmp_path, program) as run:
        sampler = Sampler([run.file])
        sampler.watch(0)
        text = render(sampler.window())
    assert "red \\x1b[31m\\nnew line" in text
    assert "\x1b" not in text


def test_wrong_arguments_are_named(tmp_path):
    assert "no process 999999999" in printed("--once", 999999999, code=1)
    assert "no recording is in the directory" in printed("--once", tmp_path, code=1)
    assert "rate must be above 0 and at most 100000, not 0.0" in printed(
        "--once", "--rate", 0, "x.nvspan", code=1)  # fmt: skip
    assert "--interval must be above 0 seconds, not -1.0" in printed(
        "--interval", -1, "x.nvspan", code=2)  # fmt: skip
    assert printed("x.nvspan", code=1) == (
        "nvspan top: it needs a terminal; --once and --json print what they see\n")  # fmt: skip
    (tmp_path / "x.nvspan").write_bytes(b"no recording" * 1000)
    done = nvspan_command("top", "--once", "--interval", 0.1, tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        1, f"{tmp_path / 'x.nvspan'}: it is not a recording of nvspan")  # fmt: skip
