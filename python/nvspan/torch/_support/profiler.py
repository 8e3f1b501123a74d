# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Follows when torch's profilers start and stop, for ``configure(emit=("nvtx", "torch"))``.

torch.autograd.profiler starts and stops all of them by two functions that it looks up in itself.
Both are wrapped there: what happens in between costs nothing more.
"""

from __future__ import annotations

import sys

from nvspan import _core
from nvspan._runtime.warnings import warn_once

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_registered = False


def register() -> None:
    """Wraps the two functions of torch.autograd.profiler, which is there. Once."""
    global _registered
    if _registered:
        return
    _registered = True
    try:
        _wrap(sys.modules["torch.autograd.profiler"], sys.modules["torch._C"])
    except Exception as problem:  # what is private may be gone, or be another thing
        warn_once(
            "torch.profiler",
            "nvspan cannot follow the profilers of this torch, and emits to NVTX alone "
            f"({problem!r})",
        )


def _wrap(profiler: Any, torch_c: Any) -> None:
    enable: Callable[..., Any] = profiler._enable_profiler
    disable: Callable[..., Any] = profiler._disable_profiler
    record_function: type[Any] = torch_c._profiler._RecordFunctionFast
    active: Callable[[], Any] = torch_c._autograd._profiler_type
    nvtx = torch_c._profiler.ActiveProfilerType.NVTX  # emit_nvtx would show all ranges again
    running: bool = profiler._is_profiler_enabled

    def _enable_profiler(*args: Any, **kwargs: Any) -> Any:
        result = enable(*args, **kwargs)
        if active() != nvtx:
            _core.torch_profiler_started(record_function)
        return result

    def _disable_profiler(*args: Any, **kwargs: Any) -> Any:
        followed = active() != nvtx
        if followed:
            _core.torch_profiler_stopping()
        result = disable(*args, **kwargs)
        if followed:
            _core.torch_profiler_stopped()
        return result

    profiler._enable_profiler = _enable_profiler
    profiler._disable_profiler = _disable_profiler
    if running and active() != nvtx:
        _core.torch_profiler_started(record_function)
