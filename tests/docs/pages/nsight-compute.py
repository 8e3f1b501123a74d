# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Compute."""

import os
import shutil
from pathlib import Path

from helpers import ncu

for name, report in (("before", "graph"), ("after", "nodes")):
    shutil.copy(ncu.DATA / f"{report}.ncu-rep", f"{name}.ncu-rep")
if not (os.environ.get("NVSPAN_NCU") or shutil.which("ncu")):
    os.environ["NVSPAN_NCU"] = ncu.recorded(Path.cwd())
os.environ["TMPDIR"] = os.getcwd()  # nsys keeps locks and sockets there


def prepared(command):
    """A command as it can run here: without a GPU `nvspan ncu` prints its line."""
    reads = "--read" in command or "--import" in command
    is_run = command.startswith("nvspan ncu") and not reads
    if is_run and not (GPU or "--dry-run" in command):  # noqa: F821
        return command.replace("nvspan ncu", "nvspan ncu --dry-run", 1)
    return command
