# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA streams, devices and events of any framework: their names in a tool's timeline, and, in the
modules of this room, their handles, how a range of theirs is awaited, and what was lost."""

from __future__ import annotations

from nvspan import _core


def name_stream(stream: object, name: str) -> None:
    """Name a CUDA stream in the tool's timeline.

    The name is kept and sent again to a tool that attaches later. It belongs to the stream's
    handle: a stream that gets the handle of a destroyed one has its name until it gets another.
    CUDA is not touched. Any thread may call it; a forked child keeps the names of devices only.

    Args:
        stream: A stream object of torch, CuPy, numba, cuda.core or with ``__cuda_stream__``, a raw
            handle, or None for the current stream of the framework in use. The default streams of
            all devices share the handle 0, and so a name.
        name: The name; a new one replaces the old.

    Raises:
        TypeError: ``stream`` is no stream, or ``name`` no str.
        ValueError: ``stream`` is an int that is no handle.

    >>> import nvspan
    >>> nvspan.name_stream(0, "default")
    """
    handle, _ = _core._stream_target(stream)
    _core.name_cuda_object("stream", handle, _checked(name))


def name_device(device: object, name: str) -> None:
    """Name a CUDA device in the tool's timeline. Kept and sent again as by :func:`name_stream`.

    Args:
        device: The device's ordinal in this process, or a device object of torch, CuPy, numba or
            cuda.core.
        name: The name; a new one replaces the old.

    Raises:
        TypeError: ``device`` is no CUDA device, or ``name`` no str.
        ValueError: The ordinal is negative or too large, or a torch device has no index.

    >>> import nvspan
    >>> nvspan.name_device(0, "trainer")
    """
    from nvspan._device.streams import ordinal_of

    _core.name_cuda_object("device", ordinal_of(device), _checked(name))


def name_event(event: object, name: str) -> None:
    """Name a CUDA event for the tool. Kept and sent again as by :func:`name_stream`.

    Args:
        event: An event object of torch, CuPy, numba or cuda.core, or a raw handle.
        name: The name; a new one replaces the old.

    Raises:
        TypeError: ``event`` is no CUDA event, or ``name`` no str.
        ValueError: ``event`` is an int that is no handle, or an event without one yet: torch makes
            it when the event is first recorded.

    >>> import nvspan
    >>> nvspan.name_event(0x7F0000001000, "all-reduce done")
    """
    from nvspan._device.streams import event_of

    _core.name_cuda_object("event", event_of(event), _checked(name))


def _checked(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {name!r}")
    return name
