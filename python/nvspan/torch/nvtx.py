# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``torch.cuda.nvtx`` by nvspan: the same functions, on machines without CUDA too.

Every function also takes ``domain``, ``color``, ``category`` and ``payload`` by keyword, as
:class:`nvspan.annotate` does. None of them imports torch, except :func:`patch`.

>>> from nvspan.torch import nvtx
>>> with nvtx.range("step {}", 3):
...     nvtx.mark("loaded", payload=17)
"""

from __future__ import annotations

from nvspan import _core
from nvspan._core import _torch_mark as mark
from nvspan._core import _torch_range as range
from nvspan._core import _torch_range_end as range_end
from nvspan._core import _torch_range_pop as range_pop
from nvspan._core import _torch_range_push as range_push
from nvspan._core import _torch_range_start as range_start
from nvspan.torch._support.removable import replace

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nvspan._core import DeviceRangeHandle

__all__ = [
    "device_range_end",
    "device_range_start",
    "mark",
    "patch",
    "range",
    "range_end",
    "range_pop",
    "range_push",
    "range_start",
    "unpatch",
]


def device_range_start(
    msg: str,
    stream: object = None,
    *,
    domain: Any = None,
    color: Any = None,
    category: Any = None,
    payload: Any = None,
) -> DeviceRangeHandle:
    """Start a range when the stream has done what it was given so far.

    Built on :func:`nvspan.start_device_range`: it stalls no stream, may be captured into a CUDA
    graph, whose replays each show it, and does nothing without CUDA or a tool.

    Args:
        msg: The range's name.
        stream: A stream object or raw handle; ``None`` is torch's current stream, 0 the default
            stream. torch's own function takes 0 where none is given.
        domain, color, category, payload: As for :class:`nvspan.annotate`.

    Returns:
        What :func:`device_range_end` takes. Any thread may end it.

    Raises:
        TypeError: An argument is of another type.
        ValueError: An argument is out of range.

    >>> from nvspan.torch import nvtx
    >>> handle = nvtx.device_range_start("all-reduce")
    >>> nvtx.device_range_end(handle)
    """
    return _core.start_device_range(
        msg, stream=stream, domain=domain, color=color, category=category, payload=payload
    )


def device_range_end(range_handle: DeviceRangeHandle | None, stream: object = None) -> None:
    """End a device range when the stream has done what it was given so far.

    Args:
        range_handle: From :func:`device_range_start`. ``None``, and one that was ended before, are
            ignored.
        stream: As there, except that ``None`` is the stream on which the range began.

    Raises:
        TypeError: An argument is of another type.

    >>> from nvspan.torch import nvtx
    >>> nvtx.device_range_end(nvtx.device_range_start("copy"))
    """
    _core.end_device_range(range_handle, stream)


_device_range_start = device_range_start
_device_range_end = device_range_end


def _decorate(range_object: Any, function: Any) -> Any:
    """What a range with a message to format does as a decorator."""
    message, args, kwargs = range_object._parts
    options = {
        name: kwargs[name]
        for name in _OPTIONS
        if name in kwargs and not _core._torch_has_field(message, name)
    }
    return _core.annotate(message=lambda: message.format(*args, **kwargs), **options)(function)


_OPTIONS = ("domain", "color", "category", "payload")

# ---- in place of torch.cuda.nvtx ----------------------------------------------------------------


# In torch.cuda.nvtx.
_REPLACED = {
    "range_push": range_push,
    "range_pop": range_pop,
    "range_start": range_start,
    "range_end": range_end,
    "mark": mark,
    "range": range,
    "_device_range_start": device_range_start,
    "_device_range_end": device_range_end,
}
# In torch._C._nvtx, the extension module that torch's functions call, and MONAI's, too.
_REPLACED_BELOW = {
    "rangePushA": range_push,
    "rangePop": range_pop,
    "rangeStartA": range_start,
    "rangeEnd": range_end,
    "markA": mark,
    "deviceRangeStart": device_range_start,
    "deviceRangeEnd": device_range_end,
}
_put_back: list[Callable[[], object]] = []  # for each replaced function


def patch() -> None:
    """Put nvspan in place of ``torch.cuda.nvtx``, for code that is not yours.

    The functions of that module are replaced, so that whoever has the module, or imports it or
    names from it later, has nvspan's. Functions that were imported from it before go on to nvspan
    as well. So are those of ``torch._C._nvtx``, which some packages call directly; a build of torch
    without CUDA has no such module, and gets one. Imports torch. Calling it again does nothing; it
    is for the whole process.

    >>> from nvspan.torch import nvtx
    >>> nvtx.patch()                                                     # doctest: +SKIP
    >>> torch.cuda.nvtx.range_push is nvtx.range_push                    # doctest: +SKIP
    True
    """
    import sys

    import torch
    import torch.cuda.nvtx as module

    if _put_back:
        return
    below: Any = sys.modules.get("torch._C._nvtx") or getattr(torch._C, "_nvtx", None)
    if below is None:
        below = type(sys)("torch._C._nvtx", "The functions of nvspan.torch.nvtx.")
        sys.modules["torch._C._nvtx"] = below
        put_back = replace(torch._C, "_nvtx", below)
        _put_back.append(lambda: put_back() and _forget_module(below))
    for owner, functions in ((below, _REPLACED_BELOW), (module, {"_nvtx": below, **_REPLACED})):
        _put_back.extend(replace(owner, name, ours) for name, ours in functions.items())


def unpatch() -> None:
    """Give torch its own functions back. Without :func:`patch` it does nothing.

    A name that somebody else has replaced since is left alone.

    >>> from nvspan.torch import nvtx
    >>> nvtx.unpatch()
    """
    while _put_back:
        _put_back.pop()()


def _forget_module(module: object) -> None:
    import sys

    if sys.modules.get("torch._C._nvtx") is module:
        del sys.modules["torch._C._nvtx"]
