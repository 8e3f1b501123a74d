# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of processes that meet in a collective each step, one of which meets a trouble."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import nvspan
from helpers.lines import next_line
from helpers.live import essential
from helpers.traced import LIBRARY, clean_environment
from nvspan import launch, recorder

PROGRAM = Path(__file__).parents[1] / "programs" / "troubled_job.py"
TROUBLES = ("sleep", "spin", "stop", "kill", "lock", "loader", "slow")


def job(folder, ranks, troubled, step, trouble, *more, mode="armed"):
    """The process ids of a job's ranks, once the troubled one is in its trouble."""
    arguments = [*map(str, (ranks, troubled, step, trouble)), *more]
    return started_job(folder, PROGRAM, *arguments, mode=mode)


@contextmanager
def started_job(folder, program, *arguments, mode="armed"):
    """The process ids of a job's ranks, once it has printed them and "ready"."""
    environment = clean_environment()
    environment[launch.INJECTION_VARIABLE] = LIBRARY
    environment[launch.CONFIG_VARIABLE] = recorder.config_string(folder / "run-{pid}.nvspan", mode)
    command = [sys.executable, str(program), *arguments]
    process = subprocess.Popen(
        command,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip  (errors of gloo)
    pids: list[int] = []
    try:
        lines = [next_line(process), next_line(process)]
        assert "ready\n" in lines, lines
        pids = [int(word) for line in lines if line != "ready\n" for word in line.split()]
        yield pids
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        process.stdin.write("\n")
        process.stdin.close()
        process.wait()
        process.stdout.close()


def settled(folder, seconds=30.0):
    """Looks until the others have met: a look in between cannot tell, or finds that all move. Two
    looks say the same then, but for times: the first may still have seen the rank get there."""
    end = time.monotonic() + seconds
    before = None
    while True:
        look = nvspan.where(folder, interval=0.2)
        known = look.verdict.kind in ("held back", "halted")
        said = essential(look.verdict.text, {}) if known else None
        if (said is not None and said == before) or time.monotonic() > end:
            return look
        before = said
        assert said is not None or look.verdict.processes == []
