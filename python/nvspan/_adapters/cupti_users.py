# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Lends CUPTI, which has one user at a time, to triton's Proton and to users of cupti-python: while
they have it the recorder takes no kernels. torch's profilers are in nvspan.torch."""

from __future__ import annotations

import functools
import sys

from nvspan._runtime import registry
from nvspan._runtime.warnings import warn_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_PROTON, _CUPTI = "triton.profiler.profile", "cupti.cupti"


def lend_cupti() -> None:
    """Lends to both: from now on, if they are there, else when they come."""
    for name, lend in ((_PROTON, _lend_to_proton), (_CUPTI, _lend_to_cupti_python)):
        registry.when_imported(name, functools.partial(_tried, name, lend))


def _tried(name: str, lend: Callable[[ModuleType], None]) -> None:
    try:
        lend(sys.modules[name])
    except Exception as problem:  # what is private may be gone, or be another thing
        warn_once(name, f"nvspan cannot lend CUPTI to {name}: it may fail ({problem!r})")


def _library() -> Any:
    import ctypes

    from nvspan import launch

    return ctypes.CDLL(launch.attached_tool() or launch.injection_library())


def _wrap(owner: Any, name: str, *, before: Any = None, after: Any = None) -> None:
    """`before` and `after` are called with the arguments, and `after` with the result first."""
    theirs = getattr(owner, name, None)
    if theirs is None or hasattr(theirs, "_nvspan_wraps"):
        return

    @functools.wraps(theirs)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if before is not None:
            before(*args)
        result = theirs(*args, **kwargs)
        if after is not None:
            after(result, *args)
        return result

    wrapped._nvspan_wraps = theirs  # type: ignore[attr-defined]
    setattr(owner, name, wrapped)


def _lend_to_proton(module: ModuleType) -> None:
    """Its sessions have CUPTI while one at least is active."""
    proton: Any = module.libproton
    library = _library()
    known: set[object] = set()
    active: set[object] = set()

    def start(name: object, context: object, data: object, backend: object, *rest: object) -> None:
        if backend == "cupti":
            library.nvspan_inject_release_gpu()

    def started(session: object, *args: object) -> None:
        if args[3] == "cupti":
            known.add(session)
            active.add(session)

    def activate(*sessions: object) -> None:
        active.update(known.intersection(sessions or known))
        if active:
            library.nvspan_inject_release_gpu()

    def ended(sessions: set[object]) -> None:
        had = bool(active)
        active.difference_update(sessions)
        if had and not active:
            library.nvspan_inject_take_gpu(1)

    _wrap(proton, "start", before=start, after=started)
    _wrap(proton, "activate", before=activate)
    _wrap(proton, "activate_all", before=lambda: activate())
    _wrap(proton, "deactivate", after=lambda result, session, *rest: ended({session}))
    _wrap(proton, "deactivate_all", after=lambda result: ended(set(known)))
    _wrap(proton, "finalize", after=lambda result, session, *rest: ended({session}))
    _wrap(proton, "finalize_all", after=lambda result, *rest: ended(set(known)))


def _lend_to_cupti_python(module: ModuleType) -> None:
    """Who takes activities without subscribing keeps CUPTI: nothing says when it is done."""
    library = _library()

    def release(*args: object) -> None:
        library.nvspan_inject_release_gpu()

    _wrap(module, "subscribe", before=release)
    _wrap(module, "activity_register_callbacks", before=release)
    _wrap(module, "unsubscribe", after=lambda *args: library.nvspan_inject_take_gpu(1))
