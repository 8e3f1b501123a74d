# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The range `backward`: `torch.autograd.backward`, which `Tensor.backward` calls, is replaced."""

from __future__ import annotations

import functools
from _thread import get_ident

from nvspan import _core
from nvspan.torch._support.removable import replace

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_annotations: list[Any] = []  # of those who asked; the last one's is used
_inside: set[int] = set()  # threads that are in a range
_replacement: Any = None
_put_back: Callable[[], bool]


def _made(torch: Any, original: Any) -> Any:
    task = torch._C._current_graph_task_id
    compiling = torch.compiler.is_compiling

    @functools.wraps(original)
    def backward(*args: Any, **kwargs: Any) -> Any:
        if compiling() or not _annotations or not _core.listening():
            return original(*args, **kwargs)
        if task() != -1 or get_ident() in _inside:
            return original(*args, **kwargs)
        _inside.add(get_ident())
        try:
            with _annotations[-1]:
                return original(*args, **kwargs)
        finally:
            _inside.discard(get_ident())

    return backward


def install(torch: Any, annotation: Any) -> Callable[[], None]:
    """Shows outermost backward passes as this annotation, until what it returns is called."""
    global _replacement, _put_back
    if torch.autograd.backward is not _replacement:
        _replacement = _made(torch, torch.autograd.backward)
        _put_back = replace(torch.autograd, "backward", _replacement)
    _annotations.append(annotation)

    def remove() -> None:
        _annotations.remove(annotation)
        if not _annotations:
            _put_back()

    return remove
