# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of trace.md."""

from pathlib import Path

PROGRAM = "import nvspan\nwith nvspan.annotate('work'):\n    pass\n"
for name in ("program.py", "worker.py"):
    Path(name).write_text(PROGRAM)


def train_one_epoch():
    pass
