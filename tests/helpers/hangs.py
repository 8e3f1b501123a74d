# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ends a process whose test takes too long, with the stacks of its threads and of its children.

A watcher of its own, this file run as a program, looks from outside, so that it also ends a process
whose threads all wait for the GIL. SIGABRT has pytest's faulthandler print the stacks.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_RUNNING = struct.Struct("d2000s")  # when it began, 0 between tests; its id


class Watched:
    """This process, with a watcher until it ends."""

    def __init__(self, limit: float) -> None:
        with tempfile.TemporaryFile() as file:
            file.truncate(_RUNNING.size)
            self._running = mmap.mmap(file.fileno(), _RUNNING.size)
            # The watcher reads the pipe's end; nothing is written into it.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(file.fileno()), str(limit)],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[file.fileno()],
            )  # fmt: skip

    @contextlib.contextmanager
    def test(self, name: str) -> Iterator[None]:
        """A test that ends in time, or this process ends."""
        _RUNNING.pack_into(self._running, 0, time.monotonic(), name.encode())
        try:
            yield
        finally:
            _RUNNING.pack_into(self._running, 0, 0.0, b"")

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def _read(path: Path) -> str:
    try:
        return path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError as error:
        return f"({error.strerror})"


def _descendants(pid: int) -> list[int]:
    """The running processes that this one started, and those that they started."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := _read(entry / "stat")).startswith(entry.name):
            parent = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for process in found:
        found += children.get(process, [])
    return [process for process in found[1:] if process != os.getpid()]


def _describe(pid: int) -> str:
    process = Path("/proc", str(pid))
    lines = [f"process {pid}: {_read(process / 'cmdline')[:500]}"]
    try:
        threads = sorted((process / "task").iterdir())
    except OSError:
        threads = []
    for thread in threads:
        stack = _read(thread / "stack")  # for root alone
        if not stack or stack.startswith("("):
            stack = "system call " + _read(thread / "syscall")
        name, state = _read(thread / "comm"), _read(thread / "stat").rpartition(")")[2][:2]
        lines.append(f"  thread {thread.name} {name},{state}, in {_read(thread / 'wchan')}")
        lines += [f"    {line}" for line in stack.splitlines()]
    return "\n".join(lines)


def _end(process: int, name: str, limit: float) -> None:
    children = _descendants(process)
    text = f"\n{name} takes longer than {limit:g} s: process {process} is ended\n"
    text += "".join(_describe(child) + "\n" for child in children)
    os.write(2, text.encode(errors="replace"))
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGABRT)
        until = time.monotonic() + 10
        while os.getppid() == process and time.monotonic() < until:
            time.sleep(0.05)
        if os.getppid() == process:
            os.kill(process, signal.SIGKILL)
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _watch(running: mmap.mmap, process: int, limit: float) -> None:
    while True:
        ready, _, _ = select.select([0], [], [], max(0.05, min(limit / 10, 5.0)))
        if ready or os.getppid() != process:
            return
        began, name = _RUNNING.unpack_from(running)
        if began and time.monotonic() - began > limit:
            _end(process, name.rstrip(b"\0").decode(errors="replace"), limit)
            return


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's reaches all; the pipe ends this
    parent = os.getppid()
    _watch(mmap.mmap(int(sys.argv[1]), _RUNNING.size), parent, float(sys.argv[2]))
