# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA streams, events and devices that a program passes: their handles and ordinals.

No framework is imported or named here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNKNOWN_DEVICE = -1
_BINDINGS = ("cuda.bindings", "cuda.cuda", "cuda.cudart")  # their handles convert to int


def stream_of(stream: Any) -> tuple[int, int]:
    """For the extension module: (handle, device ordinal or -1) of a stream object.

    Raises TypeError naming the object if it is no stream.
    """
    handle = _handle_of(stream)
    if handle is None:
        raise TypeError(f"stream must be a CUDA stream, an int or None, not {stream!r}")
    return handle, _device_of(stream)


def _handle_of(stream: Any) -> int | None:
    if isinstance(stream, bool):
        return None
    protocol = getattr(type(stream), "__cuda_stream__", None)
    if protocol is not None:
        found = stream.__cuda_stream__
        if callable(found):
            found = found()
        # Version 0 is the only one; a shim that returns a device there would send us elsewhere.
        if isinstance(found, tuple) and len(found) == 2 and found[0] == 0:
            return _as_handle(found[1])
    handle = _attribute_handle(stream, ("cuda_stream", "ptr", "handle"))
    if handle is not None:
        return handle
    if isinstance(stream, int) or type(stream).__module__.startswith(_BINDINGS):
        return _as_handle(stream)
    return None


def _attribute_handle(owner: Any, names: tuple[str, ...]) -> int | None:
    for name in names:
        handle = _as_handle(getattr(owner, name, None))
        if handle is not None:
            return handle
    return None


def _as_handle(value: Any) -> int | None:
    value = getattr(value, "value", value)  # a ctypes pointer
    if value is None or isinstance(value, (bool, str, float)):
        return None
    try:
        handle = int(value)
    except (TypeError, ValueError):
        return None
    return handle if 0 <= handle < 1 << 64 else None


def _device_of(stream: Any) -> int:
    for name in ("device_index", "device_id"):
        device = getattr(stream, name, None)
        if isinstance(device, int) and not isinstance(device, bool) and device >= 0:
            return device
    return _UNKNOWN_DEVICE


def event_of(event: Any) -> int:
    """The handle of an event object. Raises TypeError if it is no event, ValueError if it has no
    handle (yet)."""
    is_int = isinstance(event, int) and not isinstance(event, bool)
    handle = event if is_int else _attribute_handle(event, ("cuda_event", "ptr", "handle"))
    if handle is None and type(event).__module__.startswith(_BINDINGS):
        handle = _as_handle(event)
    if handle is None:
        raise TypeError(f"event must be a CUDA event or an int, not {event!r}")
    if not 0 < handle < 1 << 64:
        raise ValueError(f"event {event!r} has no handle")
    return handle


def ordinal_of(device: Any) -> int:
    """The ordinal of a device object. Raises TypeError if it is no CUDA device, ValueError if it
    has no ordinal."""
    ordinal = device
    if not isinstance(device, int) and getattr(device, "type", "cuda") == "cuda":
        if getattr(device, "index", 0) is None:  # torch.device("cuda")
            raise ValueError(f"device {device!r} has no index")
        found = (getattr(device, name, None) for name in ("index", "device_id", "id"))
        ordinal = next((value for value in found if isinstance(value, int)), None)
    if isinstance(ordinal, bool) or not isinstance(ordinal, int):
        raise TypeError(f"device must be a CUDA device or an int, not {device!r}")
    if not 0 <= ordinal < 1 << 31:
        raise ValueError(f"device must be an ordinal from 0 to 2147483647, not {device!r}")
    return ordinal
