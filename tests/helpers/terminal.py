# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The nvspan command on a terminal of its own."""

from __future__ import annotations

import os
import pty
import sys

from helpers.lines import read_all
from helpers.traced import clean_environment


def on_a_terminal(*words: object, code: int = 0, **environment: str) -> str:
    """What the command prints, with the terminal's escapes; `code` is the exit code it must have.

    `environment` has further variables.
    """
    pid, fd = pty.fork()
    if pid == 0:
        command = [sys.executable, "-m", "nvspan", *map(str, words)]
        os.execve(command[0], command, clean_environment(environment))
    output = read_all(fd)
    os.close(fd)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code, output.decode()
    return output.decode()
