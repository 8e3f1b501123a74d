# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorating with `device_range`, and with `annotate(device=True)`."""

from __future__ import annotations

import functools
import inspect
from types import FunctionType

from nvspan._decorate.codegen import in_place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nvspan._core import Annotation, device_range


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
    name = str(getattr(target, "__name__", type(target).__name__))
    return _wrapped(target, range_._named(name))


def decorate_both(annotation: Annotation, target: Callable[..., Any]) -> Any:
    """For `annotate(device=True)`: `target` with both ranges around each call of it; around a
    generator both span its whole life."""
    if inspect.isgeneratorfunction(target):
        annotation = annotation._spanning()
    return _wrapped(target, annotation)


def _wrapped(target: Callable[..., Any], range_: Annotation | device_range) -> Any:
    wrapper = _wrapper(target, range_)
    # torch.compile keeps what it knows by code object, and shapes by the code's name and place.
    if isinstance(target, FunctionType):
        wrapper.__code__ = in_place_of(target.__code__, wrapper.__code__)
    else:
        wrapper.__code__ = wrapper.__code__.replace()
    functools.update_wrapper(wrapper, target)
    return wrapper


def _wrapper(target: Callable[..., Any], range_: Annotation | device_range) -> Any:
    # `_for_call` gives one object for each call: tasks that take turns end their own range. As a
    # method call in the body it is what nvspan/torch/_compile knows in a function it traces.
    if inspect.iscoroutinefunction(target):

        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            with range_._for_call():
                return await target(*args, **kwargs)

        return coroutine
    if inspect.isasyncgenfunction(target):

        async def async_generator(*args: Any, **kwargs: Any) -> Any:
            inner = target(*args, **kwargs)
            with range_._for_call():
                resume = inner.__anext__()
                while True:
                    try:
                        value = await resume
                    except StopAsyncIteration:
                        return
                    try:
                        sent = yield value
                    except GeneratorExit:
                        await inner.aclose()
                        raise
                    except BaseException as error:  # passed on, as all that is thrown in
                        resume = inner.athrow(error)
                    else:
                        resume = inner.asend(sent)

        return async_generator
    if inspect.isgeneratorfunction(target):

        def generator(*args: Any, **kwargs: Any) -> Any:
            with range_._for_call():
                return (yield from target(*args, **kwargs))

        return generator

    def function(*args: Any, **kwargs: Any) -> Any:
        with range_._for_call():
            return target(*args, **kwargs)

    return function
