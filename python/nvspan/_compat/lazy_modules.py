# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Modules that ``import nvspan`` names without loading them."""

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
