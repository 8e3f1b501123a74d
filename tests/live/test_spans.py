# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Spans (start/end ranges) in `nvspan where` and `top`: which of them a process waits in."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack

import pytest

import nvspan
from helpers.live import essential, running, wait_until
from helpers.traced import needs_library, nvspan_command
from nvspan.live.top.sampling import Sampler

pytestmark = needs_library

PROGRAM = """
import nvspan, time
def start(name): nvspan.start_range(name, domain="torch.distributed")
for step in range(100):
    with nvspan.annotate("step"), nvspan.annotate("step"): nvspan.end_range(nvspan.start_range("h"))
nvspan.push_range("step"); nvspan.push_range("step", domain="torch")
{0}
print("ready", flush=True)
time.sleep(600)
"""
IN_BACKWARD = "nvspan.push_range('backward'); start('ddp.gradients')"
LOADING = "nvspan.push_range('load', domain='data')"
IN_ANOTHER_THREAD = """
import threading
entered = threading.Event()
def engine():
    start('ddp.gradients'); entered.set(); time.sleep(600)
nvspan.push_range('backward')
threading.Thread(target=engine, name='engine', daemon=True).start(); entered.wait()
"""
SENT_AND_LOADING = "start('all_reduce'); " + LOADING
SENT = "start('all_reduce')"


@pytest.fixture
def verdict(tmp_path):
    """The verdict on processes of a rank each, which are what these lines of Python leave open."""
    with ExitStack() as stack:

        def judged(*ranks, mode="armed"):
            for rank, lines in enumerate(ranks):
                program = PROGRAM.format(lines)
                stack.enter_context(running(tmp_path, program, mode, rank=rank))
            return nvspan.where(tmp_path).verdict.text

        yield judged


@pytest.mark.parametrize("mode", ["armed", "full", "ring=1"])
def test_a_span_is_waited_in(verdict, mode):
    text = verdict(IN_BACKWARD, LOADING, IN_BACKWARD, mode=mode)
    time = "" if mode == "armed" else ", for TIME"
    assert essential(text, {}) == (
        f"rank 1 blocks the job: step > torch:step > data:load{time}; "
        "ranks 0 and 2 wait in torch.distributed:ddp.gradients"
    )


def test_a_span_of_another_thread_is_waited_in(verdict):
    assert verdict(IN_ANOTHER_THREAD, IN_ANOTHER_THREAD, LOADING) == (
        "rank 2 blocks the job: step > torch:step > data:load; "
        "ranks 0 and 1 wait in torch.distributed:ddp.gradients"
    )


def test_who_went_on_after_it_started_a_collective_does_not_wait_in_it(verdict):
    assert verdict(SENT, SENT_AND_LOADING, SENT) == (
        "rank 1 blocks the job: step > torch:step > torch.distributed:all_reduce > data:load; "
        "ranks 0 and 2 wait in torch.distributed:all_reduce"
    )


def test_nobody_blocks_where_all_went_on_or_all_wait(verdict):
    assert verdict(SENT_AND_LOADING, SENT_AND_LOADING) == (
        "no verdict: every process is in step > torch:step > torch.distributed:all_reduce > "
        "data:load"
    )


def test_nobody_blocks_where_all_wait(verdict):
    assert verdict(IN_BACKWARD, IN_BACKWARD, IN_BACKWARD) == (
        "no verdict: every process waits in torch.distributed:ddp.gradients"
    )


def test_ranks_that_block_in_different_ranges_are_told_apart(verdict):
    waits = [IN_BACKWARD] * 3
    assert verdict(*waits, LOADING, "nvspan.push_range('save')") == (
        "ranks 3 and 4 block the job: rank 3 in step > torch:step > data:load and rank 4 in step > "
        "torch:step > save; ranks 0-2 wait in torch.distributed:ddp.gradients"
    )


def test_a_launcher_and_workers_are_not_of_the_job(tmp_path):
    worker = """
import os
if os.fork() == 0:
    with nvspan.annotate("fetch"): time.sleep(600)
"""
    waits = PROGRAM.format(IN_BACKWARD)
    with ExitStack() as stack:
        launcher = "import nvspan, time; nvspan.mark('m'); print('ready', flush=True); input()"
        launching = stack.enter_context(running(tmp_path, launcher))
        for rank, program in enumerate([waits, PROGRAM.format(worker + LOADING), waits]):
            stack.enter_context(running(tmp_path, program, rank=rank))

        def workers():
            processes = nvspan.where(tmp_path, samples=1).processes
            return [one.pid for one in processes if one.path[-1:] == ((None, "fetch"),)]

        wait_until(workers, "the worker is in no range")
        look = nvspan.where(tmp_path)
        pids = dict.fromkeys(workers(), "WORKER")
        assert look.verdict.ranks == [1]
        lines = essential(str(look), {launching.pid: "LAUNCHER", **pids}).splitlines()
        assert lines[2:7] == [
            "ranks  state  for  range",
            "1  sleeping  TIME  step > torch:step > data:load",
            "0,2  sleeping  TIME  step > torch:step > backward > torch.distributed:ddp.gradients",
            "pid WORKER  sleeping  TIME  fetch",
            "pid LAUNCHER  sleeping  TIME  no range",
        ]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def test_top_counts_spans(tmp_path):
    program = """
import nvspan, time
kept = nvspan.start_range("open all the time", domain="server")
print("ready", flush=True)
while True:
    first, second = nvspan.start_range("request"), nvspan.start_range("request")
    time.sleep(0.02)
    nvspan.end_range(first); nvspan.end_range(second)
    time.sleep(0.02)
"""
    with running(tmp_path, program, rank=0) as run:
        sampler = Sampler([run.file])
        sampler.watch(1.0)
        window = sampler.window()
    shares = {row.range: row.shares[0] for row in window.rows}
    assert shares.keys() == {("server", "open all the time"), (None, "request")}
    assert shares["server", "open all the time"] == pytest.approx(1, abs=0.01)
    assert 0.2 < shares[None, "request"] < 0.8
    (request,) = (row for row in window.rows if row.range == (None, "request"))
    assert 0 < request.begun <= 2 * 25 + 2
    assert window.step == (None, "request")
    (thread,) = window.as_dict()["processes"][0]["shares"]
    assert [span["name"] for span in thread["spans"]] == ["open all the time", "request"]


def test_a_process_without_a_recording(tmp_path):
    done = nvspan_command("where", os.getpid())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"nvspan where: process {os.getpid()} writes no recording; start it with "
        "NVSPAN_RECORD=armed, or with 'nvspan record --mode armed script.py'\n"
    )
