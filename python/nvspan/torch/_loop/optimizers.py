# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of one optimizer: its `step` and `zero_grad` are replaced in its own dictionary.

A learning rate scheduler does the same. It takes the `__func__` of what it finds, and its own
replacement has none: ours has, and works around and within a scheduler's.
"""

from __future__ import annotations

import functools
import weakref
from types import MethodType

from nvspan.torch._support import attributes

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nvspan.torch._loop.loop import Loop


def install(
    torch: Any, optimizer: Any, index: int, loop: Loop, annotations: dict[str, Any]
) -> list[Callable[[], None]]:
    """Puts ranges around one optimizer's methods; returns what takes them away."""
    compiling = torch.compiler.is_compiling
    reference = weakref.ref(optimizer)  # what stands in its dictionary shall not keep it alive

    def make(name: str, begins: Callable[[], None], ends: Callable[[], None]) -> Any:
        annotation = annotations[name]

        def around(call: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling() or not loop.alive:
                return call(*args, **kwargs)
            begins()
            try:
                with annotation:
                    return call(*args, **kwargs)
            finally:
                ends()

        return lambda before: _replacement(reference(), before, around)

    step = make("optimizer.step", loop.optimizer_begins, lambda: loop.optimizer_ends(index))
    undo = [attributes.put(optimizer, "step", "auto", 1, step)]
    if callable(getattr(optimizer, "zero_grad", None)):
        zero_grad = make("zero_grad", lambda: loop.zero_grad_begins(index), lambda: None)
        undo.append(attributes.put(optimizer, "zero_grad", "auto", 1, zero_grad))
    return undo


def _replacement(optimizer: Any, before: Any, around: Callable[..., Any]) -> Any:
    """A function that calls `around(before, ...)`, and has what a method of the optimizer has."""
    call = attributes.without_reference(optimizer, before)
    is_method = type(before) is MethodType and before.__self__ is optimizer

    @functools.wraps(before)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        return around(call, *args, **kwargs)

    def unbound(self: Any, *args: Any, **kwargs: Any) -> Any:
        return around(call, *args, **kwargs)

    if is_method:
        replacement.__wrapped__ = before.__func__  # the method would keep the optimizer alive
    functools.update_wrapper(unbound, replacement)
    replacement.__func__ = unbound  # type: ignore[attr-defined]
    return replacement
