# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A program in a pseudo-terminal: keys go in, and what its screen shows comes out."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time
from contextlib import contextmanager

_HOME = "\x1b[H"
_ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A program that draws its whole screen from the upper left corner each time."""

    def __init__(self, master: int, slave: int, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.output = ""
        self._master = master
        self._slave = slave
        self._before = termios.tcgetattr(slave)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            self.output += os.read(self._master, 1 << 16).decode("utf-8", "replace")
        except OSError:  # it has ended
            return False
        return True

    def screen(self, *texts: str, without: str = "\0", seconds: float = 30) -> list[str]:
        """The lines of the first screen that holds all `texts`, without their colors."""
        end = time.monotonic() + seconds
        while True:
            # The last but one: it is whole.
            for frame in reversed(self.output.split(_HOME)[1:]):
                shown = _CODES.sub("", frame)
                if all(text in shown for text in texts) and without not in shown:
                    self.output = _HOME + frame
                    return [line.rstrip() for line in shown.replace("\r", "").split("\n")]
                break
            assert time.monotonic() < end, (texts, self.output[-3000:])
            self._read(0.05)

    def wait(self) -> int:
        """The exit code; all output has been read then."""
        end = time.monotonic() + 30
        while self.process.poll() is None:
            assert time.monotonic() < end, self.output[-3000:]
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.returncode

    @property
    def is_as_before(self) -> bool:
        return termios.tcgetattr(self._slave) == self._before


@contextmanager
def terminal(command: list[str], columns: int = 100, lines: int = 24, extra=None):
    """A `Terminal` with this command."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    environment = {
        name: value for name, value in os.environ.items()
        if name not in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
    }  # fmt: skip
    environment.update({"TERM": "xterm-256color", **(extra or {})})
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    try:
        yield Terminal(master, slave, process)
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)
