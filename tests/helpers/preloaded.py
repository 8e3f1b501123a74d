# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs in processes that have imported large modules already: forked from one that did."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).with_name("preloaded_server.py")
# What an interpreter or a library reads of its environment when it is loaded.
_AT_START = (
    "ASAN_", "COVERAGE", "CUDA", "GLIBC", "KMP_", "LANG", "LC_", "LD_", "MALLOC", "MKL_", "OMP_",
    "OPENBLAS_", "PYTHON", "TORCH", "TZ", "UBSAN_",
)  # fmt: skip
# Inductor sets the first in whatever process compiles; the first annotation reads the next two,
# device ranges and `nvspan ncu` the others.
_WHEN_USED = {
    "TORCHINDUCTOR_CACHE_DIR", "NVTX_INJECTION64_PATH", "NVSPAN_TRACE", "NVSPAN_LIBCUDA",
    "NVSPAN_NCU",
}  # fmt: skip
_OURS = ("NVSPAN_", "NVTX_")
_WITH_NUMPY = ("numpy", "nvtx")  # that nvtx imports NumPy
_servers: list[Server] = []


class Server:
    """A process that has imported `modules`, and runs programs in forks of itself."""

    def __init__(self, environment: Mapping[str, str], modules: Sequence[str]) -> None:
        self.modules = modules
        self._owner = os.getpid()
        self._environment = dict(environment)
        ours = _OURS if any(name.startswith("nvspan") for name in modules) else ()
        self._at_start = (*_AT_START, *ours)
        self._connection, theirs = socket.socketpair()
        number = theirs.fileno()
        command = [sys.executable, str(SERVER), str(number), *modules]
        self._process = subprocess.Popen(
            command, env=self._environment, pass_fds=[number], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        theirs.close()

    def starts_as(self, environment: Mapping[str, str]) -> bool:
        """Whether no variable is another that is read at the start."""
        return not any(
            name.startswith(self._at_start)
            for name in {*environment, *self._environment} - _WHEN_USED
            if environment.get(name) != self._environment.get(name)
        )

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], timeout: float,
        given: bytes | None = None, cwd: str | os.PathLike[str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
        """As `subprocess.run` with captured output, of the interpreter with these arguments."""
        with contextlib.ExitStack() as files:
            streams = [files.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            streams[0].write(given or b"")
            streams[0].seek(0)
            request = {
                "arguments": [*arguments], "environment": dict(environment),
                "cwd": os.fspath(cwd or os.getcwd()),
            }  # fmt: skip
            data = json.dumps(request).encode() + b"\n"
            numbers = [stream.fileno() for stream in streams]
            sent = socket.send_fds(self._connection, [data], numbers)
            self._connection.sendall(data[sent:])
            status = self._wait(self._number(), timeout)
            for stream in streams:
                stream.seek(0)
            if status is None:
                raise subprocess.TimeoutExpired(arguments, timeout, streams[1].read())
            return subprocess.CompletedProcess(
                arguments, status, streams[1].read(), streams[2].read()
            )

    def _number(self) -> int:
        """The line that the server says next."""
        line = b""
        while not line.endswith(b"\n"):
            line += self._connection.recv(1) or b"0: the server is gone\n"
        return int(line)

    def _wait(self, child: int, timeout: float) -> int | None:
        self._connection.settimeout(timeout)
        try:
            return self._number()
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
        finally:
            self._connection.settimeout(None)
        self._number()
        return None

    def close(self) -> None:
        if os.getpid() == self._owner:  # not in what a test has forked
            self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()
            self._process.wait()


_made: dict[tuple[str, ...], Server] = {}


def server(*modules: str, environment: Mapping[str, str] = os.environ) -> Server:
    """The one that has imported these; the first to ask gives its environment."""
    if modules not in _made:
        _made[modules] = Server(environment, modules)
        atexit.register(_made[modules].close)
    return _made[modules]


def preloaded(*modules: str, environment: Mapping[str, str] = os.environ) -> Any:
    """A fixture: what `helpers.traced` runs has imported `modules`, if it imports the first.

    Not in a module of tests that says FRESH = True: there the order of imports matters, or what is
    found in a new process.
    """

    @pytest.fixture(scope="module", autouse=True)
    def imported(request: pytest.FixtureRequest) -> Iterator[None]:
        if find_spec(modules[0]) is None or getattr(request.module, "FRESH", False):
            yield
            return
        _servers.append(server(*modules, environment=environment))
        yield
        _servers.pop()

    return imported


def _has_numpy() -> bool:
    return find_spec("numpy") is not None


def _imports(program: str, module: str) -> bool:
    return re.search(rf"^\s*(import|from) (.*, )?{module}\b", program, re.MULTILINE) is not None


def run(
    command: list[str], environment: Mapping[str, str], timeout: float, given: bytes | None,
    preexec_fn: Callable[[], object] | None = None,
) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    """The command, in a process that has imported what is preloaded if its program imports that.

    NumPy is, where it is installed. What runs before a command needs a new process.
    """
    if (
        preexec_fn is None
        and command[0] == sys.executable
        and (command[1] == "-c" or not command[1].startswith("-"))
    ):
        code = command[2] if command[1] == "-c" else Path(command[1]).read_text(encoding="utf-8")
        asked = _servers[-1] if _servers else None
        if asked is not None and not _imports(code, asked.modules[0]):
            asked = None
        with_numpy = any(_imports(code, name) for name in _WITH_NUMPY) and _has_numpy()
        if with_numpy and (asked is None or asked.modules[0] == "nvspan"):
            asked = server("numpy", environment=environment)
        if asked is not None and asked.starts_as(environment):
            return asked.run(command[1:], environment, timeout, given)
    return subprocess.run(
        command, env=environment, capture_output=True, timeout=timeout, check=False,
        input=given, stdin=subprocess.DEVNULL if given is None else None, preexec_fn=preexec_fn,
    )  # fmt: skip
