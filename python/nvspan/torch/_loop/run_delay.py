# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Run delay of the calling thread: its time ready to run without a core, as Linux counts it."""

from __future__ import annotations

import os
import threading

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any

_PATH = "/proc/thread-self/schedstat"
_MOST = 96  # bytes of it: three numbers

_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class _File:
    """The calling thread's, kept open: to open it takes five times as long as to read it."""

    __slots__ = ("_inode", "forks", "number")

    def __init__(self) -> None:
        self.forks = _forks  # a child's would show the thread that forked
        self.number = -1
        try:
            self.number = os.open(_PATH, os.O_RDONLY | os.O_CLOEXEC)
            self._inode = os.fstat(self.number).st_ino
        except OSError:
            pass

    def __del__(self, fstat: Any = os.fstat, close: Any = os.close) -> None:
        try:  # the program may have closed it, and opened another of that number
            if self.number >= 0 and fstat(self.number).st_ino == self._inode:
                close(self.number)
        except OSError:
            pass


class _Own(threading.local):
    file: _File | None = None


_own = _Own()


def run_delay() -> int | None:
    """ns since the thread began; None where the system does not say it."""
    file = _own.file
    if file is None or file.forks != _forks:
        file = _own.file = _File()
    if file.number < 0:
        return None
    try:
        _, waited, _ = os.pread(file.number, _MOST, 0).split()
        return int(waited)
    except (OSError, ValueError):
        return None
