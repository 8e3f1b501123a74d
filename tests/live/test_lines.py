# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`nvspan where` and `top` on processes whose lines are sampled: where threads are, since when."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import ExitStack

import pytest

import nvspan
from helpers.bundles import bundles
from helpers.live import essential, running, wait_until
from helpers.traced import needs_library, nvspan_command
from nvspan.live.top.matrix import process_lines
from nvspan.live.top.sampling import Sampler

pytest.importorskip("nvspan._lines")
pytestmark = needs_library

DATASET = """
import time

def read_shard(number):
    if number == 1:
        print("ready", flush=True)
        time.sleep(600)
"""
TRAIN = """
import os, time
import nvspan
from dataset import read_shard

def train(rank):
    with nvspan.annotate("step"):
        with nvspan.annotate("data wait"):
            read_shard(rank)
        print("ready", flush=True)
        with nvspan.annotate("all_reduce", domain="gloo"):
            time.sleep(600)

time.sleep(0.1)  # so that it is seen elsewhere before
train(int(os.environ["RANK"]))
"""
HANGING = """
import nvspan, time
def read(seconds):
    print("ready", flush=True)
    time.sleep(seconds)
with nvspan.annotate("step"):
    read(600)
"""


def program(folder, source, name="program.py"):
    path = folder / name
    path.write_text(source)
    return [sys.executable, str(path)]


def sampled(folder, command, mode="full", rate="200", **more):
    return running(folder, command, mode, extra={"NVSPAN_RECORD_LINES": rate}, **more)


def shown(*arguments):
    done = nvspan_command("where", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def stack_of(run, tid=None):
    """The stack of a thread, without a tid the main one's, once the sampler has seen it there."""
    found = []

    def is_there():
        (process,) = nvspan.where(str(run.file), samples=1).processes
        of = [t.stack for t in process.threads if t.tid == (tid or run.pid) and t.stack is not None]
        found[:] = of
        return bool(of) and of[0].time > 0

    wait_until(is_there, "a sample")
    return found[0]


def is_at(run, place):
    wait_until(lambda: stack_of(run).line.place == place and stack_of(run).time > 3e8, place)


@pytest.fixture(name="job")
def make_job(tmp_path):
    (tmp_path / "dataset.py").write_text(DATASET)
    command = program(tmp_path, TRAIN, "train.py")
    with ExitStack() as stack:
        runs = [stack.enter_context(sampled(tmp_path, command, rank=rank)) for rank in range(3)]
        for run, place in zip(runs, ("train.py:12", "dataset.py:7", "train.py:12"), strict=True):
            is_at(run, place)
        yield runs


def test_a_rank_that_sleeps_in_its_loader_is_the_one_that_blocks_the_job(job, tmp_path):
    assert essential(shown(*(run.file for run in job)), {}) == (
        "rank 1 blocks the job: read_shard(), dataset.py:7, for TIME; ranks 0 and 2 wait in "
        "gloo:all_reduce\n"
        "\n"
        "ranks  state  for  range  line\n"
        "1  sleeping  TIME  step > data wait  dataset.py:7  time.sleep(600)\n"
        "0,2  sleeping  TIME  step > gloo:all_reduce  train.py:12  time.sleep(600)\n"
        f"next  nvspan trigger {tmp_path}  save the last TIME of every process\n"
    )


def test_the_stacks_of_a_job_are_in_its_json(job):
    found = json.loads(shown("--json", *(run.file for run in job)))
    stacks = [process["threads"][0]["stack"] for process in found["processes"]]
    assert [(of["line"]["function"], of["line"]["text"]) for of in stacks] == [
        ("train", "time.sleep(600)"),
        ("read_shard", "time.sleep(600)"),
        ("train", "time.sleep(600)"),
    ]
    assert [(f["function"], f["line"]) for f in stacks[1]["frames"]] == [
        ("read_shard", 7),
        ("train", 9),
        ("<module>", 15),
    ]
    assert not any(of["at_least"] for of in stacks)
    assert all(of["time"] >= 3e8 for of in stacks)


def test_top_shows_the_line_of_a_thread_that_is_stuck(job):
    done = nvspan_command("top", "--once", "--interval", 0.5, *(run.file for run in job))
    stuck = [essential(line, {}) for line in done.stdout.splitlines() if "stuck:" in line]
    assert sorted(stuck) == [
        "stuck: rank 0, MainThread for TIME: step > gloo:all_reduce, train.py:12 train()",
        "stuck: rank 1, MainThread for TIME: step > data wait, dataset.py:7 read_shard()",
        "stuck: rank 2, MainThread for TIME: step > gloo:all_reduce, train.py:12 train()",
    ]


def test_an_opened_process_of_top_shows_the_line_of_each_thread(tmp_path):
    source = """
import nvspan, threading, time
def work(seconds):
    time.sleep(seconds)
threading.Thread(target=work, args=[600], daemon=True).start()
with nvspan.annotate("step"):
    print("ready", flush=True)
    time.sleep(600)
"""
    with sampled(tmp_path, program(tmp_path, source)) as run:
        is_at(run, "program.py:8")
        sampler = Sampler([str(run.file)])
        sampler.watch(0.3)
        window = sampler.window()
        (other,) = (thread.tid for thread in window.processes[0].threads if thread.tid != run.pid)
        lines = process_lines(window, window.activities[0])
        found = [essential(line, {run.pid: "PID", other: "TID"}) for line in lines if "[" in line]
        assert found == [
            "MainThread PID: step  [sleeping, at program.py:8 for TIME]",
            "TID: no range  [sleeping, at program.py:4 for TIME]",
        ]


@pytest.mark.parametrize("mode", ["armed", "full", "ring=1", "stats"])
def test_a_process_shows_its_stack(tmp_path, mode):
    with sampled(tmp_path, program(tmp_path, HANGING), mode) as run:
        is_at(run, "program.py:5")
        assert essential(shown(run.pid), {run.pid: "PID"}) == (
            f"process PID on HOST: sleeping, {mode.partition('=')[0]}\n"
            "  MainThread PID: step  [unchanged for TIME, sleeping, at program.py:5 for TIME]\n"
            "    program.py:5  read()  time.sleep(seconds)\n"
            "    program.py:7  <module>  read(600)\n"
        )


def test_a_process_that_holds_the_gil_shows_where(tmp_path):
    source = HANGING.replace(
        "time.sleep(seconds)", 'import re; re.match(r"(a+)+$", "a" * 60 + "b")'
    )
    with sampled(tmp_path, program(tmp_path, source)) as run:
        is_at(run, "program.py:5")
        assert stack_of(run).state in ("running", "ready")


def test_a_stopped_process_shows_its_last_sample(tmp_path):
    with sampled(tmp_path, program(tmp_path, HANGING)) as run:
        is_at(run, "program.py:5")
        os.kill(run.pid, signal.SIGSTOP)
        wait_until(lambda: not stack_of(run).is_current, "an old sample")
        assert essential(shown(run.pid), {run.pid: "PID"}) == (
            "process PID on HOST: stopped, full\n"
            "  MainThread PID: step  [unchanged for TIME, stopped, last seen TIME ago at "
            "program.py:5]\n"
            "    program.py:5  read()  time.sleep(seconds)\n"
            "    program.py:7  <module>  read(600)\n"
        )
        held = stack_of(run).time
        time.sleep(0.2)
        # It does not grow, but for what a longer look at the clocks says of the same ticks.
        assert abs(stack_of(run).time - held) < 1000


def test_a_killed_process_shows_its_last_sample(tmp_path):
    with sampled(tmp_path, program(tmp_path, HANGING)) as run:
        is_at(run, "program.py:5")
        run.end()
        text = essential(shown(run.file), {run.pid: "PID"})
        assert text.splitlines()[:2] == [
            "process PID on HOST: killed, full; its last state:",
            "  MainThread PID: step  [unchanged for TIME, last seen TIME ago at program.py:5]",
        ]


def test_a_killed_rank_was_last_seen_at_its_line(job):
    job[1].end()
    assert essential(shown(*(run.file for run in job)), {}).splitlines()[0] == (
        "rank 1 was killed, in step > data wait, last seen at dataset.py:7 read_shard()"
    )


def test_a_bundle_has_the_stacks_of_its_moment(job, tmp_path):
    done = nvspan_command("trigger", tmp_path)
    assert done.returncode == 0, done.stderr
    (bundle,) = bundles(tmp_path)
    for run in job:
        run.end()
    assert essential(shown(bundle), {}).splitlines()[0] == (
        "rank 1 blocks the job: read_shard(), dataset.py:7, for TIME; ranks 0 and 2 wait in "
        "gloo:all_reduce"
    )


def test_the_workers_of_a_pool_are_one_group(tmp_path):
    source = """
import nvspan, threading, time
from concurrent.futures import ThreadPoolExecutor
def work(seconds):
    inside.wait()
    time.sleep(seconds)
inside = threading.Barrier(4)
pool = ThreadPoolExecutor(3)
for _ in range(3):
    pool.submit(work, 600)
inside.wait()
print("ready", flush=True)
time.sleep(600)
"""
    with sampled(tmp_path, program(tmp_path, source)) as run:
        is_at(run, "program.py:13")
        wait_until(lambda: shown(run.pid).count("program.py:6") == 2, "the workers")
        (process,) = nvspan.where(run.pid).processes
        _, *workers = process.threads
        tids = {thread.tid: "TID" for thread in workers}
        assert len(tids) == 3
        assert essential(shown(run.pid), {run.pid: "PID", **tids}) == (
            "process PID on HOST: sleeping, full\n"
            "  PID: no range  [sleeping, at program.py:13 for TIME]\n"
            "    program.py:13  <module>  time.sleep(600)\n"
            "  3 threads, TID, TID, TID: no range  [sleeping, at program.py:6 for TIME]\n"
            "    program.py:6  work()  time.sleep(seconds)\n"
        )


def test_a_program_without_ranges_is_moving_while_its_lines_change(tmp_path):
    source = """
import nvspan
def one():
    sum(range(10_000))
def two():
    sum(range(10_000))
print("ready", flush=True)
while True:
    one()
    two()
"""
    command = program(tmp_path, source)
    with ExitStack() as stack:
        runs = [stack.enter_context(sampled(tmp_path, command, rank=rank)) for rank in range(2)]
        for run in runs:
            stack_of(run)
        files = [str(run.file) for run in runs]
        verdicts = {nvspan.where(*files, interval=1).verdict.kind for _ in range(2)}
        assert verdicts == {"moving"}


def test_a_process_without_a_sampler_shows_ranges_alone(tmp_path):
    with running(tmp_path, program(tmp_path, HANGING)) as run:
        (process,) = nvspan.where(run.pid).processes
        assert [(thread.ranges, thread.stack) for thread in process.threads] == [
            (((None, "step"),), None)
        ]
