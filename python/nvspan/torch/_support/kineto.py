# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Lends CUPTI, which has one user at a time, to torch's profilers: while one of them that looks at
CUDA is on, the recorder takes no kernels.

torch.autograd.profiler prepares, starts and stops all of them by three functions that it looks up
in itself. They are wrapped there.

torch stays CUPTI's only user after its first profile, unless TEARDOWN_CUPTI is 1: then it lets go
some time after each one, once the program has called CUDA again.
"""

from __future__ import annotations

import ctypes
import os
import sys

from nvspan import launch
from nvspan._runtime.warnings import warn_once

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_wrapped: Any = None  # the module whose functions are
_ATTEMPTS = 30  # one each second


def lend_cupti() -> None:
    """Wraps the functions of torch.autograd.profiler, which is there. Once."""
    global _wrapped
    profiler = sys.modules["torch.autograd.profiler"]
    if _wrapped is profiler:
        return
    _wrapped = profiler
    try:
        library = launch.attached_tool() or launch.injection_library()
        _wrap(profiler, ctypes.CDLL(library))
    except Exception as problem:  # what is private may be gone, or be another thing
        warn_once(
            "torch.profiler",
            f"nvspan cannot lend CUPTI to the profilers of this torch: they see no kernels "
            f"({problem!r})",
        )


def _wrap(profiler: Any, library: ctypes.CDLL) -> None:
    import threading  # torch has it

    disable: Callable[..., Any] = profiler._disable_profiler
    later: threading.Timer | None = None

    def lent(begin: Callable[..., Any]) -> Callable[..., Any]:
        def lends(config: Any, activities: Any, *args: Any, **kwargs: Any) -> Any:
            if any(getattr(activity, "name", "") == "CUDA" for activity in activities):
                if later is not None:
                    later.cancel()
                library.nvspan_inject_release_gpu()
            return begin(config, activities, *args, **kwargs)

        return lends

    def take_back(attempts: int) -> None:
        nonlocal later
        if library.nvspan_inject_take_gpu(attempts == 1) or attempts == 1:
            return
        later = threading.Timer(1.0, take_back, (attempts - 1,))
        later.daemon = True
        later.start()

    def _disable_profiler(*args: Any, **kwargs: Any) -> Any:
        try:
            return disable(*args, **kwargs)
        finally:
            take_back(_ATTEMPTS if os.environ.get("TEARDOWN_CUPTI") == "1" else 1)

    profiler._prepare_profiler = lent(profiler._prepare_profiler)
    profiler._enable_profiler = lent(profiler._enable_profiler)
    profiler._disable_profiler = _disable_profiler
