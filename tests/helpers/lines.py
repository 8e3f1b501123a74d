# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What other processes write, read with a limit to how long a test waits for it."""

from __future__ import annotations

import os
import select
import subprocess
import time
import weakref
from typing import IO, Any

LIMIT = 180.0  # seconds: the programs of a job start slowly on a busy machine
_earlier: weakref.WeakKeyDictionary[subprocess.Popen[Any], bytes] = weakref.WeakKeyDictionary()


def _read(fd: int, size: int, end: float) -> bytes | None:
    """At most so many bytes; empty: there are no more; None: none have come in time."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
        return None
    try:
        return os.read(fd, size)
    except OSError:  # the other side of a pseudo-terminal is closed
        return b""


def said(process: subprocess.Popen[Any], output: bytes = b"") -> str:
    """A process that did not do what a test expects: whether it runs, and what it wrote so far."""
    errors = b""
    if process.stderr is not None:
        while more := _read(process.stderr.fileno(), 1 << 16, 0):
            errors += more
    elif process.returncode is None:
        errors = b"(not read here: see what pytest has captured)"
    code = process.poll()
    return (
        f"process {process.pid} {'runs' if code is None else f'has ended with {code}'}; "
        f"its output: {(_earlier.get(process, b'') + output).decode(errors='replace')!r}; "
        f"its errors: {errors.decode(errors='replace')!r}"
    )


def next_line(
    process: subprocess.Popen[Any], stream: IO[Any] | None = None, seconds: float = LIMIT
) -> str:
    """The next line of its standard output, or of `stream`; what is left where that ends before.

    Takes no byte behind the line, so that `communicate` has the others. Not to be mixed with
    methods of the stream that read.
    """
    line = b""
    end = time.monotonic() + seconds
    while not line.endswith(b"\n"):
        byte = _read((stream or process.stdout).fileno(), 1, end)
        assert byte is not None, f"no line for {seconds:g} s: {said(process, line)}"
        if not byte:
            break
        line += byte
    _earlier[process] = _earlier.get(process, b"") + line
    return line.decode()


def expect_line(process: subprocess.Popen[Any], word: str = "ready") -> None:
    """Waits until it says this, which must be what it says next."""
    line = next_line(process)
    assert line == f"{word}\n", f"it says {line!r}, not {word!r}: {said(process)}"


def read_all(fd: int, seconds: float = LIMIT) -> bytes:
    """What can be read until the other side is closed."""
    output = b""
    end = time.monotonic() + seconds
    while more := _read(fd, 1 << 16, end):
        output += more
    assert more is not None, f"no end for {seconds:g} s; its output: {output!r}"
    return output
