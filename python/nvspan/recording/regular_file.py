# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are read: anybody may have put a pipe or a device where a file is expected."""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Opens a file to read its bytes, and waits for nobody.

    Raises:
        OSError: it cannot be opened, or is a pipe, a device or a socket.
    """
    file = open(path, "rb", opener=_open)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return file


def check_regular(path: str) -> None:
    """Raises as `open_regular` does."""
    open_regular(path).close()


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
