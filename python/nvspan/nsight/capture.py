# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How Nsight Systems captures a range: the options of nsys, and a command for this program."""

from __future__ import annotations

import os
import shlex
import sys

from nvspan.nsight.lines.launchers import inside, output_name


def capture_options(message: str, end: str = "stop") -> list[str]:
    """nsys options to collect only within the range ``message``, ``name@domain`` or ``name``.

    ``end`` is what nsys does at the range's end: ``stop``, or ``repeat:N`` for N ranges.
    """
    return [
        "--capture-range=nvtx",
        f"--nvtx-capture={message}",
        f"--capture-range-end={end}",
    ]


def command_line(trigger: str) -> str:
    """The shell command that runs this program again under nsys, which collects only within the
    range that ``trigger`` names, as ``name@domain`` or ``name``.

    Under torchrun each process runs under a separate nsys, which writes a report for its rank.
    """
    program = [word for word in sys.orig_argv if word]
    nsys = ["nsys", "profile", *capture_options(trigger)]
    if "TORCHELASTIC_RUN_ID" in os.environ:
        count = os.environ.get("LOCAL_WORLD_SIZE", "1")
        words = [word for word in program if word != "-u"]
        program = ["torchrun", "--nproc-per-node", count, "--no-python", *words]
        nsys.append(f"--output={output_name('report.{rank}', program)}")
    return shlex.join(inside(program, nsys))
