# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Backends: libraries of tools that implement NVTX's writer interface."""

from __future__ import annotations

import ctypes
import os
import threading
from typing import TYPE_CHECKING

from nvspan.writer import abi
from nvspan.writer.options import FAILED, SYMBOL_MISSING, WriterError
from nvspan.writer.run import call_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Module:
    """A loaded library. It stays in the process; its interface is reopened after its last user."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.interface: abi.Interface | None = None
        self.users = 0

    def begin(self) -> None:
        get = getattr(self.library, abi.GET_INTERFACE, None)
        if get is None:
            raise WriterError(SYMBOL_MISSING, "load_backend")
        get.restype = ctypes.c_int32
        get.argtypes = [ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)]
        address = ctypes.c_void_p()
        abi.check(get(abi.INTERFACE_VERSION, ctypes.byref(address)), abi.GET_INTERFACE)
        if not address.value:
            raise WriterError(FAILED, abi.GET_INTERFACE)
        self.interface = abi.Interface.from_address(address.value)

    def end(self) -> None:
        self.interface = None
        finalize = getattr(self.library, abi.FINALIZE, None)
        if finalize is not None:
            finalize.restype = None
            finalize()


_modules: dict[str, _Module] = {}
_lock = threading.RLock()


class Connection:
    """A backend's use of its library, with one lock for all its sessions."""

    def __init__(self, module: _Module) -> None:
        self.module: _Module | None = module
        self.lock = threading.RLock()
        self.ends: set[Callable[[], None]] = set()  # of the sessions that have begun

    def interface(self) -> abi.Interface:
        """The library's functions.

        Raises:
            RuntimeError: the backend is closed.
        """
        if self.module is None or self.module.interface is None:
            raise RuntimeError("backend is closed")
        return self.module.interface

    def close(self) -> None:
        """Ends its sessions, and the library with its last user. A second call does nothing.

        Raises:
            WriterError: a session could not be ended; the connection stays open.
        """
        with self.lock:
            if self.module is None:
                return
            failure = call_all(self.ends)
            if failure is not None:
                raise failure
            module, self.module = self.module, None
        with _lock:
            module.users -= 1
            if module.users == 0:
                module.end()


class Backend:
    """A library with NVTX's writer interface, from :func:`load_backend`.

    Any number of sessions may write through it, one after the other or at once.
    """

    def __init__(self, module: Any) -> None:
        if not isinstance(module, _Module):
            raise ValueError("load_backend() makes a Backend; module must be a library it loaded")
        self._connection = Connection(module)

    def __repr__(self) -> str:
        module = self._connection.module
        shown = ", closed" if module is None else f" {module.library._name!r}"
        return f"<nvspan.writer.Backend{shown}>"

    def close(self) -> None:
        """End its sessions, and finalize the library if no other backend uses it.

        Calling it again does nothing. Without it the library is in use until the process ends.

        Raises:
            WriterError: The library refused to end a session; the backend stays open.
        """
        self._connection.close()


def connection_of(backend: Backend) -> Connection:
    """The connection behind a backend."""
    return backend._connection


def load_backend(path: str | os.PathLike[str]) -> Backend:
    """Load a library with NVTX's writer interface.

    Args:
        path: The library. It is loaded once, by whichever path.

    Raises:
        OSError: The library cannot be loaded.
        WriterError: It has no writer interface, or not of this version.

    >>> from nvspan.writer import Session, load_backend
    >>> backend = load_backend("/opt/tool/libtool_writer.so")                # doctest: +SKIP
    >>> with Session("run", backend=backend) as session:                     # doctest: +SKIP
    ...     ...
    """
    name = os.path.normcase(os.path.realpath(os.path.expanduser(os.fsdecode(path))))
    with _lock:
        module = _modules.get(name)
        if module is None:
            module = _modules[name] = _Module(ctypes.CDLL(name))
        if module.users == 0:
            try:
                module.begin()
            except BaseException:
                module.end()
                raise
        module.users += 1
        return Backend(module)
