# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the page takes for granted, and its programs."""

from pathlib import Path

import nvspan

PROGRAM = "import nvspan\nwith nvspan.annotate('work'):\n    pass\n"
for name in ("program.py", "worker.py"):
    Path(name).write_text(PROGRAM)


def train():
    with nvspan.annotate("train"):
        pass


def train_one_epoch():
    pass


def prepared(command):
    """How steady the steps are depends on the machine: the report of a run is not compared."""
    return f"{command} " if command.startswith("nvspan record -o run.nvspan examples") else command
