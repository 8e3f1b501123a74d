# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Objects that are imported at their first use, each named by a string: "module:attribute"."""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def load(place: str) -> Any:
    """Imports the module of "module:attribute" and returns the attribute."""
    module, _, attribute = place.partition(":")
    __import__(module)
    return getattr(sys.modules[module], attribute)


class LazyModule(ModuleType):
    """A submodule as an attribute of its package, until the first use of it imports it.

    The import replaces this object in the package.
    """

    def __getattr__(self, name: str) -> Any:
        __import__(self.__name__)
        return getattr(sys.modules[self.__name__], name)

    def __dir__(self) -> list[str]:
        __import__(self.__name__)
        return dir(sys.modules[self.__name__])


def lazy_attributes(module: str, **places: str) -> Callable[[str], Any]:
    """A `__getattr__` for a module: attribute="module:attribute"."""

    def __getattr__(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return load(places[name])

    return __getattr__
