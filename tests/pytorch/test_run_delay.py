# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How long a thread had no core: what the kernel says of it, and what collectives carry."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

import nvspan
from helpers.gloo_jobs import run_ranks
from helpers.traced import needs_library
from nvspan.ranks.cause.analysis import ranks

torch = pytest.importorskip("torch", reason="torch is not installed")

from nvspan.torch._loop import run_delay as module  # noqa: E402
from nvspan.torch._loop.run_delay import run_delay  # noqa: E402

PROGRAM = Path(__file__).with_name("programs") / "starved.py"
STEPS, WORK_NS = 30, 4_000_000  # as in the program
SCHEDSTAT = Path("/proc/thread-self/schedstat")

needs_schedstat = pytest.mark.skipif(
    not SCHEDSTAT.exists(), reason="the kernel has no /proc/thread-self/schedstat"
)


def own_delay():
    return int(SCHEDSTAT.read_text().split()[1])


def open_files():
    return set(os.listdir("/proc/self/fd"))


@needs_schedstat
def test_it_is_what_the_kernel_says_of_the_calling_thread():
    def check():
        for _ in range(3):
            low, found, high = own_delay(), run_delay(), own_delay()
            assert low <= found <= high
            time.sleep(0.01)
        done.append(threading.get_ident())

    done = []
    check()
    before = open_files()
    thread = threading.Thread(target=check)
    thread.start()
    thread.join()
    assert len(set(done)) == 2
    assert open_files() == before  # the thread's is closed


@needs_schedstat
def test_a_forked_process_reads_its_own():
    assert run_delay() is not None
    before = open_files()
    pid = os.fork()
    if pid == 0:
        try:
            low, found, high = own_delay(), run_delay(), own_delay()
            os._exit(0 if low <= found <= high and open_files() == before else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_system_that_does_not_say_it(monkeypatch, tmp_path):
    for text in (None, "", "1 2", "a b c"):
        path = tmp_path / "schedstat"
        if text is not None:
            path.write_text(text)
        monkeypatch.setattr(module, "_PATH", str(path))
        found = []
        thread = threading.Thread(target=lambda found=found: found.append([run_delay()] * 2))
        thread.start()
        thread.join()
        assert found == [[None, None]]


@needs_schedstat
def test_a_program_that_closes_all_its_files(tmp_path):
    other = tmp_path / "other"
    other.write_text("not numbers")

    def check():
        run_delay()
        number = module._own.file.number
        os.close(number)
        assert run_delay() is None
        opened = os.open(other, os.O_RDONLY)
        os.dup2(opened, number)
        assert run_delay() is None
        found.append((opened, number))

    found = []
    thread = threading.Thread(target=check)
    thread.start()
    thread.join()
    ((opened, number),) = found
    os.fstat(number)  # it is the program's now, and the thread's end left it open
    os.close(number)
    if opened != number:
        os.close(opened)


@needs_library
@needs_schedstat
@pytest.mark.timing  # its two ranks share one core, and the share of a third is not part of it
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs sched_setaffinity")
def test_a_job_that_shares_its_core(tmp_path):
    run_ranks(PROGRAM, tmp_path)
    files = [tmp_path / f"run-{rank}.nvspan" for rank in range(2)]
    work = STEPS * WORK_NS
    grown, lasted, outside = [], [], []
    for path in files:
        recording = nvspan.read(path)
        said = [
            (row["start"], recording.payload_fields(number)["delayed"])
            for number, row in enumerate(recording.ranges.rows())
            if row["domain"] == "torch.distributed"
        ]
        values = [value for _, value in sorted(said)]
        assert len(values) == STEPS
        assert values == sorted(values)
        # Whenever it is ready to run, so is at least one other.
        assert values[-1] - values[0] > work / 2
        grown.append(values[-1] - values[0])
        rows = list(recording.ranges.rows())
        lasted.append(sum(row["duration"] for row in rows if row["name"] == "work"))
        names = ("work", "torch.distributed")
        inside = [row for row in rows if row["name"] in names or row["domain"] in names]
        span = max(row["end"] for row in inside) - min(row["start"] for row in inside)
        outside.append(span - sum(row["duration"] for row in inside))
    found = ranks(*files)
    rows = {row["range"]: row for row in found.imbalance}
    starved = rows["(without a core)"]
    assert starved["mean"] == pytest.approx(sum(grown) / 2, rel=0.1)
    # Both lack the core for about as long, so either may be the first by a little.
    assert grown[starved["rank"]] > 0.9 * max(grown)
    # What is left of the work is what it took of the processor, and what a virtual machine was not
    # given meanwhile; in which part of a step a core was missing is not known.
    other = sum(lasted) / 2 - starved["mean"] - work
    most = 1.5 * work + max(other, 0) + sum(outside) / 2
    assert work * 0.9 < rows["work"]["mean"] < most
