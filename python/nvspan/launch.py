# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where nvspan's injection library is, and the environment that makes a program load it.

NVTX looks for a tool in the environment variable that `INJECTION_VARIABLE` names, once in every
shared object that uses it. ``nvspan trace`` sets it to nvspan's own injection library; this module
does the same for programs that start other programs themselves:

>>> import subprocess, sys
>>> from nvspan import launch
>>> environment = launch.child_environment(format="jsonl", file="trace.jsonl")
>>> subprocess.run([sys.executable, "train.py"], env=environment)    # doctest: +SKIP

Everything here only reads the environment and the file system, so it may be used from any thread.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock

from nvspan import _core

# `import nvspan` imports this module: nothing that costs, see tests/packaging/test_import.py.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType
    from typing import TypeVar

    _Self = TypeVar("_Self", bound="_Attachment")

INJECTION_VARIABLE = "NVTX_INJECTION64_PATH" if sys.maxsize > 2**32 else "NVTX_INJECTION32_PATH"
"""The variable in which NVTX looks for a tool."""

CONFIG_VARIABLE = "NVSPAN_TRACE"
"""The variable in which nvspan's injection library looks for its configuration."""

LIBRARY_VARIABLE = "NVSPAN_INJECT_LIBRARY"
"""The variable that names another build of the injection library, such as one with sanitizers."""

NCCL_VARIABLE = "NCCL_PROFILER_PLUGIN"
"""The variable in which NCCL looks for a profiler plugin."""

TRIGGER_VARIABLE = "NVSPAN_TRIGGER"
"""The variable that says when a process has its last seconds written into a bundle."""

FORMATS = ("text", "jsonl")
"""What a trace may look like: lines for people, or one JSON object per line."""

_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
_LIBRARY_NAME = ("" if sys.platform == "win32" else "lib") + "nvspan_inject" + _SUFFIX


def injection_library() -> str:
    """The absolute path of nvspan's NVTX injection library.

    It is part of the installed package wherever that was built with NVTX, which is on Linux. The
    environment variable NVSPAN_INJECT_LIBRARY, when set, names another build of it.

    Raises:
        RuntimeError: there is none, because this nvspan was built without NVTX.

    >>> injection_library()                                              # doctest: +SKIP
    '/venv/lib/python3.12/site-packages/nvspan/libnvspan_inject.so'
    """
    chosen = os.environ.get(LIBRARY_VARIABLE)
    if chosen:
        return os.path.abspath(chosen)
    folders = [*sys.modules["nvspan"].__path__, os.path.dirname(_core.__file__ or "")]
    for folder in folders:
        path = os.path.join(os.path.abspath(folder), _LIBRARY_NAME)
        if os.path.exists(path):
            return path
    raise RuntimeError(
        f"nvspan was built without NVTX here, so it has no injection library ({_LIBRARY_NAME}) "
        "and cannot trace; every annotation works and does nothing"
    )


def nccl_plugin() -> str:
    """The absolute path of nvspan's profiler plugin for NCCL 2.27 and newer.

    A program that has it in NCCL_PROFILER_PLUGIN when it makes its communicators sends each
    collective, send and receive as a device range of the domain "NCCL", from the beginning to the
    end of its kernel: `docs/ranks.md`. `nvspan record` sets the variable. The plugin is the
    extension module itself, so it is loaded in a Python process only.

    >>> os.environ.setdefault("NCCL_PROFILER_PLUGIN", nccl_plugin())     # doctest: +SKIP
    """
    return os.path.abspath(_core.__file__ or "")


def config_string(
    format: str = "text",
    file: str | os.PathLike[str] | None = None,
    domains: Iterable[str] | None = None,
    origin: int | None = None,
) -> str:
    """The configuration of the injection library as it is passed in NVSPAN_TRACE.

    Args:
        format: "text" or "jsonl".
        file: the file that is appended to, made absolute here; None for standard error.
        domains: the names of the domains to show; "NVTX" is the default domain. None shows all.
        origin: what text shows as time zero, in nanoseconds of CLOCK_MONOTONIC
            (``time.monotonic_ns()`` on Linux); None is when a process starts tracing.

    Raises:
        ValueError: an unknown format, or a file name with a null character.

    >>> config_string("jsonl", "/tmp/a b;c", ["train", "data,io"])
    'format=jsonl;file=/tmp/a%20b%3Bc;domains=train,data%2Cio'
    """
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
    parts = _config_parts(format, file, domains)
    if origin is not None:
        parts.append(f"origin={origin}")
    return ";".join(parts)


def _config_parts(
    format: str, file: str | os.PathLike[str] | None, domains: Iterable[str] | None
) -> list[str]:
    """What a trace's and a recording's configuration have in common; the format is not checked."""
    from urllib.parse import quote

    parts = [f"format={format}"]
    if file is not None:
        path = os.path.abspath(os.fsencode(file))
        if b"\0" in path:
            raise ValueError("the file name contains a null character")
        parts.append(f"file={quote(path, safe='/')}")
    if domains is not None:
        names = (quote(name.encode("utf-8", "surrogateescape"), safe="") for name in domains)
        parts.append("domains=" + ",".join(names))
    return parts


def child_environment(
    format: str = "text",
    file: str | os.PathLike[str] | None = None,
    domains: Iterable[str] | None = None,
    origin: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """A copy of `environment` (this process's own when None) in which programs are traced.

    The other arguments are those of `config_string`. Programs that the traced program starts
    inherit the environment and are traced into the same file.

    Raises:
        RuntimeError: nvspan was built without NVTX.
        ValueError: as `config_string` does.
    """
    variables = dict(os.environ if environment is None else environment)
    variables[INJECTION_VARIABLE] = injection_library()
    variables[CONFIG_VARIABLE] = config_string(format, file, domains, origin)
    return variables


def attached_tool(environment: Mapping[str, str] | None = None) -> str | None:
    """The tool that NVTX would load in `environment` (this process's own when None), if any.

    A profiler such as Nsight Systems sets the variable for the programs that it runs.
    """
    values = os.environ if environment is None else environment
    return values.get(INJECTION_VARIABLE) or None


def empty_file(path: str | os.PathLike[str]) -> None:
    """Makes `path` an empty file, ready to be appended to; a device or a pipe is left alone.

    Raises:
        OSError: it cannot be written.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        return
    with open(path, "wb"):
        pass


class _Attachment:
    """What `record` and `trace` share: nvspan's injection library, attached to nvspan in this
    process from `start` to `stop`. Any thread may call them; a subclass says what surrounds them.
    """

    _noun: str
    _done: str

    def __init__(self, config: str) -> None:
        self._config = config
        self._lock = allocate_lock()
        self._running = False

    def start(self) -> None:
        """Starts it.

        Raises:
            RuntimeError: it is already running; another tool is attached, such as a profiler, a
                trace or a recording; nvspan was built without NVTX; or the file of a recording
                cannot be written (standard error says why).
            OSError: the file of a trace cannot be written.
        """
        with self._lock:
            if self._running:
                raise RuntimeError(f"this {self._noun} is already running")
            library = injection_library()
            if _core.tool_attached() or attached_tool():
                raise RuntimeError(
                    f"a tool is already attached to NVTX, so nothing can be {self._done}"
                )
            self._before_attaching()
            _core.attach(library, self._config)
            self._after_attaching(library)
            self._running = True
        self._after_start()

    def stop(self) -> None:
        """Stops it; does nothing when it is not running."""
        with self._lock:
            if self._running:
                self._running = False
                self._before_detaching()
                _core.detach()

    def _before_attaching(self) -> None:
        pass

    def _after_attaching(self, library: str) -> None:
        pass

    def _after_start(self) -> None:
        pass

    def _before_detaching(self) -> None:
        pass

    def __enter__(self: _Self) -> _Self:
        self.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
