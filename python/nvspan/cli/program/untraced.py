# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The last line of ``nvspan trace``, where the program that it has become made no NVTX call.

Nothing is imported here that a file in the program's folder could replace.
"""

from __future__ import annotations

import atexit
import os
import sys

_VARIABLE = "NVSPAN_UNTRACED"  # from `nvspan trace` to its own program, which does not see it


def ask_for(line: str, environment: dict[str, str]) -> None:
    """Has the program that starts with `environment` end with `line`, where there was no call."""
    environment[_VARIABLE] = line


def obey() -> None:
    """In the program, before its first line: does what was asked for."""
    line = os.environ.pop(_VARIABLE, None)
    if line is not None:
        atexit.register(_say, line, os.getpid())  # the first that is registered runs last


def _say(line: str, pid: int) -> None:
    """Not in a forked child, and not where a child, whose calls are not known here, has ended."""
    if os.getpid() != pid or sys.stderr is None:
        return
    try:
        with open("/proc/self/maps", "rb") as maps, open("/proc/self/stat", "rb") as stat:
            if b"nvspan_inject" in maps.read() or _faults_of_children(stat.read()):
                return
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass


def _faults_of_children(stat: bytes) -> int:
    """Page faults of children that were waited for: no process is without."""
    return int(stat.rpartition(b")")[2].split()[8])
