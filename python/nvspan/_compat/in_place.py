# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan in place of the ``nvtx`` package: what third-party code gets from ``import nvtx``."""

from __future__ import annotations

import sys
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

# The modules of nvtx that nvspan has, by the module of ours that stands behind each.
_MODULES = {
    "nvtx": "nvspan",
    "nvtx._lib": "nvspan._lib",
    "nvtx._lib.counters": "nvspan._lib.counters",
    "nvtx._lib.lib": "nvspan._lib.lib",
    "nvtx._lib.profiler": "nvspan._lib.profiler",
    "nvtx._lib.time": "nvspan._lib.time",
    "nvtx._metadata": "nvspan.payloads",
    "nvtx.colors": "nvspan.colors",
    "nvtx.nvtx": "nvspan.nvtx",
    "nvtx.writer": "nvspan.writer",
}
_LATE_MODULES = {"nvtx.writer"}  # imported when somebody asks for them
# What nvtx 0.2.17 has and nvspan has not.
_UNKNOWN_MODULES = {
    "nvtx._dtype_validation",
    "nvtx._lib.writer",
}
_UNKNOWN_NAMES = {
    "PayloadSchemaKey", "Profile",
    "SchemaRegistrar", "libnvtx_end_range", "libnvtx_mark", "libnvtx_pop_range",
    "libnvtx_push_range", "libnvtx_start_range", "payload_setter",
}  # fmt: skip
_FUNCTIONS = {"function", "builtin_function_or_method", "cython_function_or_method"}
_MARK = "__nvspan__"  # in the dictionary of each module that stands for one of nvtx

_lock = allocate_lock()


def install() -> None:
    """What `install_as_nvtx` does."""
    with _lock:
        if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Finder())
        real = {
            name: module
            for name, module in list(sys.modules.items())
            if (name == "nvtx" or name.startswith("nvtx."))
            and module is not None
            and _MARK not in vars(module)
        }
        for name in real:
            del sys.modules[name]
    if "nvtx" in real and not _is_placeholder(real["nvtx"]):
        _warn_of_the_real_one(real)


def installed() -> bool:
    """Whether `install` has been called."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


def _is_placeholder(module: ModuleType) -> bool:
    """Whether it is the module that ``--as-nvtx`` puts on the path of the processes below."""
    return bool(vars(module).get("__nvspan_placeholder__"))


def _warn_of_the_real_one(real: dict[str, ModuleType]) -> None:
    from nvspan._runtime.warnings import warn_once

    users = sorted(
        name
        for name, module in list(sys.modules.items())
        if module is not None and not name.startswith(("nvspan", "nvtx")) and _uses(module, real)
    )
    shown = ", ".join(users[:5]) + (f" and {len(users) - 5} more" if len(users) > 5 else "")
    keep = f"; these modules keep what they took from it: {shown}" if users else ""
    warn_once(
        "nvtx is imported",
        f"nvtx {getattr(real['nvtx'], '__file__', '')} was imported before install_as_nvtx() was "
        f"called{keep}. Call it first, or start the program with 'nvspan --as-nvtx'",
    )


def _uses(module: ModuleType, real: dict[str, ModuleType]) -> bool:
    """Whether a global of `module` is one of the `real` modules, or was defined there."""
    try:
        values = list(vars(module).values())
    except (RuntimeError, TypeError):  # changed by another thread; not really a module
        return False
    modules = {id(one) for one in real.values()}
    for value in values:
        kind = type(value)
        named = issubclass(kind, type) or kind.__name__ in _FUNCTIONS
        # Nothing else is asked for an attribute: a lazy object could do anything then.
        home = getattr(value if named else kind, "__module__", None)
        if id(value) in modules or (isinstance(home, str) and home in real):
            return True
    return False


class _Finder:
    """On ``sys.meta_path``: finds ``nvtx`` and what is below it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "nvtx" and not name.startswith("nvtx."):
            return None
        if name == "nvtx.__main__":
            return _main_spec(name)
        backing = _backing(name)
        if backing is None:
            # `from nvtx import writer` asks here too, and drops a ModuleNotFoundError.
            if _is_known(name) and not _only_asks():
                raise ImportError(_complaint(name), name=name)
            return None
        from importlib.machinery import ModuleSpec

        loader: Any = _Loader()
        spec = ModuleSpec(name, loader, origin=backing.__file__, is_package=True)
        spec.has_location = True
        return spec


def _main_spec(name: str) -> ModuleSpec:
    """Of what ``python -m nvtx`` runs."""
    from importlib.machinery import ModuleSpec, SourceFileLoader

    package = __file__.replace("\\", "/").rpartition("/_compat/")[0]
    file = f"{package}/cli/program/nvtx_main.py"
    spec = ModuleSpec(name, SourceFileLoader(name, file), origin=file)
    spec.has_location = True
    return spec


class _Loader:
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        # Marked from the start: `install` in another thread must not take it for the real one.
        module = type(sys)(spec.name)
        vars(module)[_MARK] = _MODULES[spec.name]
        return module

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        backing = _backing(name)
        assert backing is not None  # there is no spec without
        names = vars(module)
        for key, value in vars(backing).items():
            private = key.startswith("__") or (key.startswith("_") and name == "nvtx")
            if not private or key in ("__all__", "__version__"):
                names.setdefault(key, value)
        names["__doc__"] = backing.__doc__
        names["__getattr__"] = _late_names(name, backing)
        # `import nvtx` alone is enough for nvtx.colors, as it is with the real package.
        for child in _MODULES:
            parent, _, last = child.rpartition(".")
            if parent == name and child not in _LATE_MODULES and _backing(child) is not None:
                __import__(child)
                names[last] = sys.modules[child]


def _backing(name: str) -> ModuleType | None:
    """The module of nvspan that stands behind the module `name` of nvtx."""
    ours = _MODULES.get(name)
    if ours is None:
        return None
    try:
        __import__(ours)
    except ModuleNotFoundError as error:
        if error.name != ours:
            raise
        return None
    return sys.modules[ours]


def _late_names(name: str, backing: ModuleType) -> Any:
    """The ``__getattr__`` of the module `name`."""

    def __getattr__(attribute: str) -> Any:
        if not attribute.startswith("__") and hasattr(backing, attribute):
            return getattr(backing, attribute)
        if f"{name}.{attribute}" in _LATE_MODULES:
            __import__(f"{name}.{attribute}")
            return sys.modules[f"{name}.{attribute}"]
        if _is_known(f"{name}.{attribute}"):
            raise AttributeError(_complaint(f"{name}.{attribute}"))
        raise AttributeError(f"module {name!r} (nvspan) has no attribute {attribute!r}")

    return __getattr__


def _is_known(name: str) -> bool:
    """Whether nvtx has something of this name that nvspan has not."""
    return name in _MODULES or name in _UNKNOWN_MODULES or name.rpartition(".")[2] in _UNKNOWN_NAMES


def _only_asks() -> bool:
    """Whether importlib.util.find_spec is at work, which answers None for what is not there."""
    frame = sys._getframe(2)
    return frame.f_back is not None and any(
        caller.f_globals.get("__name__") == "importlib.util" for caller in (frame, frame.f_back)
    )


def _complaint(name: str) -> str:
    return (
        f"nvspan has no {name} yet, and stands in place of the nvtx package here "
        "(install_as_nvtx or --as-nvtx)"
    )
