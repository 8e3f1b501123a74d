# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The nvspan command on a terminal of its own."""

from __future__ import annotations

import os
import pty
import sys

from helpers.lines import read_all


def on_a_terminal(*words: object, **environment: str) -> str:
    """What the command prints, with the terminal's escapes; it must succeed."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(environment)
        os.execv(sys.executable, [sys.executable, "-m", "nvspan", *map(str, words)])
    output = read_all(fd)
    os.close(fd)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, output.decode()
    return output.decode()
