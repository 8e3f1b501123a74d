# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `device_range` needs of Python: decorated functions, and awaiting a handle."""

from __future__ import annotations

import functools
import inspect
import sys

from nvspan import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from nvspan._core import DeviceRangeHandle, device_range

_end = _core.end_device_range


def decorate(range_: device_range, target: Any) -> Any:
    """For the extension module: `target` with a device range around each call of it.

    Around a coroutine function it spans from the first step to the last, around a generator
    function from the first value asked for to the end.

    Raises TypeError if `target` is not callable.
    """
    if isinstance(target, (staticmethod, classmethod)):
        return type(target)(decorate(range_, target.__func__))
    if isinstance(target, type) or not callable(target):
        raise TypeError(f"device_range() decorates functions and callables, not {target!r}")
    named = range_._named(str(getattr(target, "__name__", type(target).__name__)))
    begin = named._begin
    wrapper = _wrapper(target, begin)
    functools.update_wrapper(wrapper, target)
    return wrapper


def _wrapper(target: Callable[..., Any], begin: Callable[[], DeviceRangeHandle]) -> Any:
    if inspect.iscoroutinefunction(target):

        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            handle = begin()
            try:
                return await target(*args, **kwargs)
            finally:
                _end(handle)

        return coroutine
    if inspect.isasyncgenfunction(target):

        async def async_generator(*args: Any, **kwargs: Any) -> Any:
            handle = begin()
            inner = target(*args, **kwargs)
            try:
                async for value in inner:
                    yield value
            finally:
                _end(handle)
                await inner.aclose()

        return async_generator
    if inspect.isgeneratorfunction(target):

        def generator(*args: Any, **kwargs: Any) -> Any:
            handle = begin()
            try:
                return (yield from target(*args, **kwargs))
            finally:
                _end(handle)

        return generator

    def function(*args: Any, **kwargs: Any) -> Any:
        handle = begin()
        try:
            return target(*args, **kwargs)
        finally:
            _end(handle)

    return function


def wait(handle: DeviceRangeHandle) -> Generator[Any, Any, float | None]:
    """For the extension module: awaits a handle, in asyncio or trio."""
    return _wait(handle).__await__()


async def _wait(handle: DeviceRangeHandle) -> float | None:
    sleep = _sleep_function()
    pause = 0.0
    while not handle.done():
        await sleep(pause)
        pause = min(pause + 0.0001, 0.002)
    return handle.elapsed()


def _sleep_function() -> Callable[[float], Any]:
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            trio.lowlevel.current_task()
            return trio.sleep  # type: ignore[no-any-return]
        except RuntimeError:
            pass
    import asyncio

    return asyncio.sleep
