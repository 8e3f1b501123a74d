# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Registers nvspan with torch.compile, which then drops annotations.

Functions are registered by the public `torch.compiler.substitute_in_graph`, with a body that does
nothing in place of theirs. Types need Dynamo's own tables (ranges.py, steps.py, objects.py,
bodies.py). What one version of torch does not take is left as it is:
there an annotation breaks the graph, and one warning says so.
"""

from __future__ import annotations

import sys

from nvspan import _core
from nvspan._runtime import domains, switch
from nvspan.torch._loop import transfers
from nvspan.torch._support.dropped import DEAD_HANDLE

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_problems: list[str] = []
_registered = False

# ---- what stands for a function while a graph is traced -----------------------------------------


def _nothing(*args: object, **kwargs: object) -> None:
    return None


_ENABLED = domains.enabled()  # settled when the process started


def _enabled() -> bool:
    return _ENABLED


def _moved(batch: Any, device: Any, non_blocking: bool = True, *, domain: Any = None) -> Any:
    return transfers.moved_batch(batch, device, non_blocking)


_FUNCTIONS: tuple[tuple[Callable[..., Any], Callable[..., Any]], ...] = (
    (_core.mark, _nothing),
    (_core.push_range, _nothing),
    (_core.pop_range, _nothing),
    (_core.start_range, lambda *args, **kwargs: (0, None)),  # what end_range takes
    (_core.end_range, _nothing),
    (_core.start_device_range, lambda *args, **kwargs: DEAD_HANDLE),
    (_core.end_device_range, _nothing),
    (switch.is_active, lambda *args, **kwargs: False),
    (domains.enabled, _enabled),
    (transfers.to_device, _moved),
)


def _substitute(substitute: Any, function: Any, stand_in: Any) -> None:
    def body(*args: object, **kwargs: object) -> Any:  # Dynamo wants one function for each
        return stand_in(*args, **kwargs)

    substitute(function, skip_signature_check=True)(body)


def register_functions(pairs: tuple[tuple[Any, Any], ...]) -> None:
    """Gives each function a stand-in for tracing. What fails is noted and left."""
    from torch.compiler import substitute_in_graph

    for function, stand_in in pairs:
        try:
            _substitute(substitute_in_graph, function, stand_in)
        except Exception as error:
            _problems.append(f"{function.__name__}: {type(error).__name__}: {error}")


def register() -> None:
    """Registers everything; `torch._dynamo` is imported. Raises nothing."""
    global _registered
    if _registered:
        return
    _registered = True
    # A decorated function has other code once it is known whether a tool listens: a graph that was
    # traced before would be traced again.
    _core.is_active()
    try:
        register_functions(_FUNCTIONS)
    except Exception as error:
        _problems.append(f"functions: {type(error).__name__}: {error}")
    try:
        from nvspan.torch._compile import bodies, objects, ranges, steps

        for variables in (ranges, steps, objects, bodies):
            variables.register()
    except Exception as error:
        _problems.append(f"types: {type(error).__name__}: {error}")
    if _problems:
        _tell()


def is_registered() -> bool:
    return _registered


def problems() -> list[str]:
    """What this torch did not take; empty if all of it was."""
    return list(_problems)


def _tell() -> None:
    from nvspan._runtime.warnings import warn_once

    torch = sys.modules.get("torch")
    version = getattr(torch, "__version__", "?")
    try:
        warn_once(
            "torch.compile",
            f"torch {version} does not take all of nvspan's registration with torch.compile: "
            f"annotations may break graphs there ({'; '.join(_problems)})",
        )
    except Warning:  # warnings are errors here, and this is an import of torch's
        print(f"nvspan: torch {version}: annotations may break graphs", file=sys.stderr)
