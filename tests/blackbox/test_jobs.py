# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Eight processes, of which one stalls or is killed: the bundle has all, and the trouble."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.bundles import bundles, reasons
from helpers.traced import clean_environment, needs_library

pytestmark = needs_library
PROGRAM = Path(__file__).parents[1] / "programs" / "ring_of_ranks.py"
RANKS, LATE = 8, 3
TROUBLE = ((None, "step"), (None, "read the shard"))
# Of a busy machine, more than the trouble may take so long: each is kept, and one of them is it.
TRIGGER = "stall:100ms; every:1us; keep:1000; last:60s"


def holds_it(bundle: Path) -> bool:
    """All ranks, and of the late one what it was in."""
    look = nvspan.where(bundle, samples=1)
    found = {process.rank: process for process in look.processes}
    return sorted(found, key=str) == list(range(RANKS)) and found[LATE].path == TROUBLE


def run(command, **environment):
    return subprocess.run(
        command, env={**clean_environment(), **environment}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


def check(folder: Path) -> None:
    found = [bundle for bundle in bundles(folder) if holds_it(bundle)]
    assert found, [(reasons(b), nvspan.where(b, samples=1).as_dict()) for b in bundles(folder)]
    bundle = found[0]
    assert "stall" in {reason["kind"] for reason in reasons(bundle)}
    recording = nvspan.read(bundle)
    assert recording.problems == []
    assert sorted(row.rank for row in recording.processes) == list(range(RANKS))
    stats = {row.name: (row.calls, row.unclosed) for row in recording.stats().rows}
    # All are in their 401st step.
    assert stats == {
        "step": (RANKS * 400, RANKS),
        "work": (RANKS * 401, 0),
        "wait for all": (RANKS * 400, RANKS - 1),
        "read the shard": (0, 1),
    }
    done = run([sys.executable, "-m", "nvspan", "stats", str(bundle)])
    assert done.returncode == 0, done.stderr
    assert "read the shard" in done.stdout


@pytest.mark.parametrize("end", ["lives", "killed"])
def test_the_command_that_records_watches_all(tmp_path, end):
    done = run([sys.executable, "-m", "nvspan", "record", "--mode", "ring=1", "--no-report",
                "--trigger", TRIGGER, "-o", str(tmp_path / "run-{rank}.nvspan"), str(PROGRAM),
                str(RANKS), str(LATE), str(tmp_path), end])  # fmt: skip
    assert done.returncode == 0, done.stderr
    check(tmp_path)
    assert all(line.startswith("nvspan: the last seconds are in ")
               for line in done.stderr.splitlines())  # fmt: skip


@pytest.mark.parametrize("end", ["lives", "killed"])
def test_the_processes_watch_one_another(tmp_path, end):
    done = run([sys.executable, str(PROGRAM), str(RANKS), str(LATE), str(tmp_path), end],
               NVSPAN_RECORD=f"ring=1:{tmp_path}/run-{{rank}}.nvspan",
               NVSPAN_TRIGGER=TRIGGER)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    check(tmp_path)


def test_a_killed_process_is_a_trigger_of_its_own(tmp_path):
    done = run([sys.executable, "-m", "nvspan", "record", "--mode", "ring=1", "--no-report",
                "--trigger", "killed; last:60s", "-o", str(tmp_path / "run-{rank}.nvspan"),
                str(PROGRAM), "3", "1", str(tmp_path), "killed"])  # fmt: skip
    assert done.returncode == 0, done.stderr
    (bundle,) = bundles(tmp_path)
    (reason,) = reasons(bundle)
    assert (reason["kind"], reason["rank"]) == ("killed", 1)
    assert reason["why"] == "the process was ended within a range"
    found = {process.rank: process.path for process in nvspan.where(bundle, samples=1).processes}
    assert found[1] == TROUBLE


def test_processes_that_others_have_started_are_watched_from_outside(tmp_path):
    watch = subprocess.Popen(
        [sys.executable, "-m", "nvspan", "trigger", str(tmp_path), "--when", TRIGGER,
         "--for", "60s"],
        stderr=subprocess.PIPE, text=True, env=clean_environment(),
    )  # fmt: skip
    try:
        done = run([sys.executable, str(PROGRAM), str(RANKS), str(LATE), str(tmp_path), "killed"],
                   NVSPAN_RECORD=f"ring=1:{tmp_path}/run-{{rank}}.nvspan")  # fmt: skip
        assert done.returncode == 0, done.stderr
    finally:
        watch.send_signal(2)
        assert watch.wait(30) == 0
        said = watch.stderr.read()
        watch.stderr.close()
    check(tmp_path)
    written = {os.path.basename(line.removeprefix("nvspan: the last seconds are in "))
               for line in said.splitlines()}  # fmt: skip
    assert written == {bundle.name for bundle in bundles(tmp_path)}
