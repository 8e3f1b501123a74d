# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Training jobs of several processes, whose delays are known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from helpers.traced import clean_environment

PROGRAM = Path(__file__).parent.parent / "ranks" / "programs" / "train.py"


def run_ranks(program: Path, *arguments: object, ranks: int = 2, **variables: str) -> list[str]:
    """What each process of a job prints; all of them must end well."""
    common = {"WORLD_SIZE": str(ranks), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    environment = clean_environment({**common, **variables})
    running = [
        subprocess.Popen(
            [sys.executable, str(program), *map(str, arguments)], stdout=subprocess.PIPE, text=True,
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(ranks)
    ]  # fmt: skip
    said = [process.communicate(timeout=900)[0] for process in running]
    assert [process.returncode for process in running] == [0] * ranks
    return said


def run_job(
    folder: Path, phases: list[str], *, ranks: int = 3, steps: int = 24
) -> list[list[Path]]:
    """The recordings of each phase ("PLACE:RANK:MILLISECONDS"), in the order of the ranks."""
    folder.mkdir(exist_ok=True)
    run_ranks(PROGRAM, folder, steps, *phases, ranks=ranks, DEVICE="cpu")
    return [
        [folder / f"phase-{number}-{rank}.nvspan" for rank in range(ranks)]
        for number in range(1, len(phases) + 1)
    ]
