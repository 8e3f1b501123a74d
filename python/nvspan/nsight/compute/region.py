# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`profile_region`: a range that range replay of Nsight Compute can repeat."""

from __future__ import annotations

from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from threading import local
from typing import Any, TypeVar

from nvspan import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., object]")


class _Open(local):
    """The regions that a thread has entered."""

    def __init__(self) -> None:
        self.ranges: list[AbstractContextManager[object]] = []


class profile_region(ContextDecorator):
    """A range that Nsight Compute can replay as one thing, around a block or a function.

    Its end waits for the current CUDA stream, as ``annotate(sync=True)`` does, by calls that range
    replay can repeat. The first `warmup` times nothing is emitted, so that libraries load their
    kernels and allocate their memory before ncu looks. While ncu is attached, a region that begins
    before the process has a CUDA context warns: range replay cannot repeat what makes one.

    Args:
        name: of the range; a function's own name by default.
        domain: of the range; None is the default domain.
        warmup: how many of the first times are left out.
        device: also measure the GPU's time, as ``annotate(device=True)`` does.

    Raises:
        TypeError: `name` is no string, or `warmup` no int.
        ValueError: `warmup` is below 0.

    One object may be entered from any thread, and again within itself.

    >>> import nvspan.nsight
    >>> region = nvspan.nsight.profile_region("layer", warmup=2)
    >>> for step in range(5):
    ...     with region:
    ...         pass
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        domain: str | None = None,
        warmup: int = 0,
        device: bool = False,
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a str, not {name!r}")
        if isinstance(warmup, bool) or not isinstance(warmup, int):
            raise TypeError(f"warmup must be an int, not {warmup!r}")
        if warmup < 0:
            raise ValueError(f"warmup must be 0 or more, not {warmup}")
        self._name = name
        self._domain, self._device = domain, device
        self._left = warmup
        self._open = _Open()

    def __enter__(self) -> profile_region:
        is_warm_up = self._left > 0
        self._left -= is_warm_up
        entered: AbstractContextManager[object] = nullcontext()
        if not is_warm_up:
            entered = _core.annotate(
                self._name, domain=self._domain, device=self._device, sync=True
            )
        entered.__enter__()
        self._open.ranges.append(entered)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._open.ranges.pop().__exit__(*raised)

    def __call__(self, function: Function) -> Function:
        """The function with the range around each call, called as it is if no name was given."""
        if self._name is None:
            self._name = getattr(function, "__name__", None)
        return super().__call__(function)
