# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Work whose worker is killed, as where memory ends. A new worker imports this module alone."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path


def die_once(files: Sequence[str], flag: str) -> list[str]:
    """Kills the first worker, which leaves the file `flag`."""
    if not os.path.exists(flag):
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return list(files)


def die_of(files: Sequence[str], bad: str) -> list[str]:
    """Kills each worker that is given the file `bad`."""
    if bad in files:
        os.kill(os.getpid(), signal.SIGKILL)
    return list(files)
