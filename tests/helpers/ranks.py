# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Launchers that start ranks, and the reports that tools leave of each."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import nvspan
from helpers import nsys
from helpers.script import script
from helpers.traced import clean_environment

PROGRAM = """
import os
import nvspan

rank = os.environ.get("SLURM_PROCID") or os.environ.get("OMPI_COMM_WORLD_RANK")
rank = int(rank or os.environ["RANK"])
for number in range(3 + rank):
    with nvspan.annotate(f"step of {rank}", domain="app", payload=number):
        pass
"""


_LAUNCHER = """#!{python}
import os, subprocess, sys

words = sys.argv[1:]
count = int(words[words.index("-n") + 1])
command = words[words.index("-n") + 2:]
running = []
for rank in range(count):
    of = {{"{rank}": str(rank), "{local}": str(rank), "{size}": str(count)}}
    running.append(subprocess.Popen(command, env={{**os.environ, **of}}))
sys.exit(max([each.wait() for each in running]))
"""
LAUNCHERS = {
    "srun": {"rank": "SLURM_PROCID", "local": "SLURM_LOCALID", "size": "SLURM_NTASKS"},
    "mpirun": {"rank": "OMPI_COMM_WORLD_RANK", "local": "OMPI_COMM_WORLD_LOCAL_RANK",
               "size": "OMPI_COMM_WORLD_SIZE"},
}  # fmt: skip


def make_launcher(folder: Path, name: str, **variables: str) -> str:
    """A program of the name of srun or mpirun that starts real processes, with their variables."""
    names = variables or LAUNCHERS[name]
    return script(folder / name, _LAUNCHER.format(python=sys.executable, **names))


def report_of_each(folder: Path, launcher: list[str], ranks: int) -> dict[int, nvspan.Recording]:
    """Runs the program under nsys within a launcher, and reads the reports that its ranks left."""
    nsys.find()
    (folder / "train.py").write_text(PROGRAM)
    for _ in range(nsys.ATTEMPTS):
        with tempfile.TemporaryDirectory(
            prefix="n", dir="/tmp", ignore_cleanup_errors=True
        ) as temp:
            done = subprocess.run(
                [sys.executable, "-m", "nvspan", "nsys", "--trace", "nvtx", "--force",
                 "--no-report", "-o", "of {rank}", "--", *launcher, "train.py"],
                cwd=folder, capture_output=True, text=True, timeout=240, check=False,
                env=clean_environment({
                    "NVSPAN_NSYS": os.environ.get("NVSPAN_NSYS"), "TMPDIR": temp,
                    "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
                }),
            )  # fmt: skip
        paths = {rank: folder / f"of {rank}.nsys-rep" for rank in range(ranks)}
        if all(path.exists() for path in paths.values()):
            assert done.returncode == 0, done.stderr
            assert sorted(folder.glob("*.nsys-rep")) == sorted(paths.values())
            return {rank: nvspan.read(path) for rank, path in paths.items()}
    pytest.fail("a rank left no report:\n" + done.stdout + done.stderr)


def check(reports: dict[int, nvspan.Recording]) -> None:
    """Whether each rank's report holds its own steps, and no other's."""
    for rank, recording in reports.items():
        steps = list(recording.ranges.rows())
        assert [(row["domain"], row["name"], row["payload"]) for row in steps] == [
            ("app", f"step of {rank}", number) for number in range(3 + rank)
        ]
    pids = {recording.processes[0].pid for recording in reports.values()}
    assert len(pids) == len(reports)
