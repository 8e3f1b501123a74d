# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Compute."""

import os
import shutil

from helpers.tree import ROOT

for name, report in (("before", "graph"), ("after", "nodes")):
    shutil.copy(ROOT / "tests" / "data" / "nsight" / f"{report}.ncu-rep", f"{name}.ncu-rep")
os.environ["TMPDIR"] = os.getcwd()  # nsys keeps locks and sockets there


def prepared(command):
    """A command as it can run here: without a GPU `nvspan ncu` prints its line."""
    if command.startswith("nvspan ncu") and not (GPU or "--dry-run" in command):  # noqa: F821
        return command.replace("nvspan ncu", "nvspan ncu --dry-run", 1)
    return command
