# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What stands in for the ``nvtx`` package: a finder for its modules, and names that it has."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Later(type(sys)):  # type: ignore[misc]
    """Stands for a module until something is looked up in it. Loading the module puts it into this
    one's place."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what is asked of any module, by inspect for example
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        __import__(self.__name__)
        return getattr(sys.modules[self.__name__], name)

    def __dir__(self) -> list[str]:
        __import__(self.__name__)
        return dir(sys.modules[self.__name__])


def provide(package: str, *names: str) -> None:
    """Makes `package.name` a module that is loaded when it is used: what code finds in the nvtx
    package after ``import nvtx`` alone."""
    for name in names:
        setattr(sys.modules[package], name, _Later(f"{package}.{name}"))


def install_as_nvtx() -> None:
    """Give nvspan to whatever imports ``nvtx`` from now on, in this process.

    ``import nvtx``, ``from nvtx import annotate``, ``import nvtx.nvtx``, ``nvtx.colors``,
    ``nvtx._lib`` and its modules are nvspan's then, whether the ``nvtx`` package is installed or
    not. For a name that nvspan does not have yet the ``AttributeError`` or ``ImportError`` says so.
    What ``importlib.metadata`` reports about the installed ``nvtx`` does not change.

    Call it before anything imports ``nvtx``. If that has happened, a :class:`NvspanWarning` tells
    which modules keep names of the real package, which go on working, and later imports get
    nvspan. Calling it again does nothing; any thread may call it. A forked child has it too; a
    child that is newly started only if it calls this itself, unless the program was started by
    ``nvspan --as-nvtx``.

    >>> import nvspan
    >>> nvspan.install_as_nvtx()                                         # doctest: +SKIP
    >>> import nvtx                                                      # doctest: +SKIP
    >>> nvtx.annotate is nvspan.annotate                                 # doctest: +SKIP
    True
    """
    from nvspan._compat.in_place import install

    install()
