# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that srun and mpirun start: programs of these names that start real processes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers import ranks
from helpers.traced import needs_library

pytestmark = needs_library

LAUNCHER = """#!{python}
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
SLURM = {"rank": "SLURM_PROCID", "local": "SLURM_LOCALID", "size": "SLURM_NTASKS"}
MPI = {"rank": "OMPI_COMM_WORLD_RANK", "local": "OMPI_COMM_WORLD_LOCAL_RANK",
       "size": "OMPI_COMM_WORLD_SIZE"}  # fmt: skip


@pytest.mark.parametrize(("name", "variables"), [("srun", SLURM), ("mpirun", MPI)])
def test_each_rank_has_a_report(
    name: str, variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVSPAN_CACHE", "")
    launcher = tmp_path / name
    launcher.write_text(LAUNCHER.format(python=sys.executable, **variables))
    launcher.chmod(0o755)
    ranks.check(ranks.report_of_each(tmp_path, [name, "-n", "2", sys.executable], 2))
