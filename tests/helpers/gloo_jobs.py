# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Training jobs of several processes, whose delays are known."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from helpers.traced import clean_environment

PROGRAM = Path(__file__).parent.parent / "ranks" / "programs" / "train.py"


def run_job(
    folder: Path, phases: list[str], *, ranks: int = 3, steps: int = 24, device: str = "cpu"
) -> list[list[Path]]:
    """The recordings of each phase ("PLACE:RANK:MILLISECONDS"), in the order of the ranks."""
    folder.mkdir(exist_ok=True)
    running = []
    for rank in range(ranks):
        environment = {**clean_environment(), "RANK": str(rank), "WORLD_SIZE": str(ranks),
                       "LOCAL_RANK": str(rank), "DEVICE": device, "OMP_NUM_THREADS": "1",
                       "GLOO_SOCKET_IFNAME": "lo"}  # fmt: skip
        if "PYTHONPATH" in os.environ:
            environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
        running.append(subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder), str(steps), *phases], env=environment,
        ))  # fmt: skip
    assert [process.wait(900) for process in running] == [0] * ranks
    return [
        [folder / f"phase-{number}-{rank}.nvspan" for rank in range(ranks)]
        for number in range(1, len(phases) + 1)
    ]
