# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How Nsight Systems captures a range of this program."""

from __future__ import annotations

import os
import shlex
import sys


def command_line(trigger: str) -> str:
    """The shell command that runs this program again under nsys, which collects nothing but what
    happens within the range that ``trigger`` names, as ``name@domain`` or ``name``.

    Under torchrun each process is run by an nsys of its own and gets a report for its rank.
    """
    program = [each for each in sys.orig_argv if each]
    nsys = ["nsys", "profile", "-c", "nvtx", "-p", trigger, "--capture-range-end=stop"]
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return shlex.join([*nsys, *program])
    count = os.environ.get("LOCAL_WORLD_SIZE", "1")
    launcher = ["torchrun", "--nproc-per-node", count, "--no-python"]
    program = [each for each in program if each != "-u"]
    return shlex.join([*launcher, *nsys, "-o", "report.%q{RANK}", *program])
