# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What frameworks add to nvspan, and the wait for their import. Nothing here imports one.

A finder on sys.meta_path waits for the import of a module and removes itself once it has come. It
imports nothing, finds nothing itself, and costs an import that is not in sys.modules 0.2 us.
"""

from __future__ import annotations

import sys
from _thread import get_ident

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def _is_ready(module: ModuleType | None) -> bool:
    """Whether the module is there, and no import of it is under way."""
    if module is None:
        return False
    spec = getattr(module, "__spec__", None)
    return not getattr(spec, "_initializing", False)


class _ImportFinder:
    """Waits for one module, whoever imports it and however."""

    def __init__(self, awaited: str, then: Callable[[], None]) -> None:
        self._awaited = awaited
        self._then = then
        self._threads: set[int] = set()  # those that are asking the other finders

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if _is_ready(sys.modules.get(self._awaited)):
            self._finish()  # it was half-way through when we were installed
            return None
        if name != self._awaited or get_ident() in self._threads:
            return None
        self._threads.add(get_ident())
        try:
            for finder in list(sys.meta_path):
                find = None if finder is self else getattr(finder, "find_spec", None)
                spec: ModuleSpec | None = find(name, path, target) if find else None
                if spec is not None:
                    self._follow(spec)
                    return spec
        finally:
            self._threads.discard(get_ident())
        return None

    def _follow(self, spec: ModuleSpec) -> None:
        """Has the loader call us when the module is there."""
        loader = spec.loader
        execute = getattr(loader, "exec_module", None)
        if loader is None or execute is None:
            return

        def exec_module(module: ModuleType) -> None:
            execute(module)
            try:
                del loader.exec_module
            except AttributeError:
                pass
            self._finish()

        try:
            loader.exec_module = exec_module  # type: ignore[method-assign]
        except AttributeError:  # a loader without a __dict__: the next import will do
            pass

    def _finish(self) -> None:
        try:
            sys.meta_path.remove(self)
        except ValueError:
            return  # another thread was first
        self._then()


def when_imported(awaited: str, then: Callable[[], None]) -> None:
    """Calls `then` once: now, if that module is there, else when it comes."""
    if _is_ready(sys.modules.get(awaited)):
        then()
    else:
        sys.meta_path.insert(0, _ImportFinder(awaited, then))


class EmitTarget:
    """Where ranges and marks may go beside NVTX: `follow` is called once `module` is imported."""

    __slots__ = ("follow", "module", "switch")

    def __init__(
        self, module: str, switch: Callable[[bool], object], follow: Callable[[], None]
    ) -> None:
        self.module = module
        self.switch = switch
        self.follow = follow


# The name that `configure(emit=...)` knows it by -> the target.
emit_targets: dict[str, EmitTarget] = {}

# What makes those who use CUPTI in this process lend it: called once kernels may be recorded.
cupti_lenders: list[Callable[[], None]] = []

# What a recording of its own process sees too late if it was imported before.
callers_of_nvtx: list[str] = ["nvtx"]
