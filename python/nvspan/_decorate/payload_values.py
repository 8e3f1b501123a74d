# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads that are neither plain numbers nor plain data. For the extension module: reached off
the hot path."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from numbers import Number
from typing import Any

from nvspan._runtime.warnings import warn_once

_DATA = (str, bytes, bytearray, memoryview, list, tuple, range, dict)


def scalar(value: Any) -> int | float | tuple[Any] | Callable[[], Any] | None:
    """Return the number in ``value``, ``(data,)`` if it is to be sent as bytes, ``value`` itself if
    it is a callable to be evaluated later, or None after a warning."""
    while isinstance(value, Enum):
        value = value.value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, _DATA):
        return (value,)
    if _on_device(value):
        warn_once(
            f"payload of {type(value)!r} on a device",
            f"payload dropped: reading this {type(value).__name__!r} would wait for the GPU; pass "
            "a Python number or a CPU tensor",
        )
        return None
    numpy = sys.modules.get("numpy")
    void = getattr(numpy, "void", None)  # None: half imported, too
    if numpy is not None and void is not None and isinstance(value, void):
        return (numpy.asarray(value),)
    if _is_number(value):
        return _to_number(value)
    if _is_compound(value):
        return (value,)
    if callable(value):
        return value  # type: ignore[no-any-return]
    _unsupported(value)
    return None


def _is_compound(value: Any) -> bool:
    """Whether it is a dataclass's instance, or has a buffer or DLPack to be read."""
    kind = type(value)
    if hasattr(kind, "__dataclass_fields__") or hasattr(kind, "__dlpack__"):
        return True
    if isinstance(value, type):
        return False
    try:
        memoryview(value).release()
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _on_device(value: Any) -> bool:
    if hasattr(type(value), "__cuda_array_interface__"):
        # torch has the attribute on every tensor and raises for those on the CPU.
        try:
            return value.__cuda_array_interface__ is not None
        except Exception:
            pass
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return bool(value.device.type != "cpu")
    return False


def _is_number(value: Any) -> bool:
    if isinstance(value, Number):
        return not isinstance(value, complex)
    shape = getattr(value, "shape", None)
    if shape is None:
        return False
    try:
        return len(shape) == 0 and hasattr(value, "item")
    except TypeError:
        return False


def _to_number(value: Any) -> int | float | None:
    item = getattr(value, "item", None)
    try:
        number = item() if callable(item) else value
        if isinstance(number, (int, float)):
            return int(number) if isinstance(number, int) else float(number)
        if hasattr(type(number), "__index__"):
            return int(number)
        if isinstance(number, Number) and hasattr(type(number), "__float__"):
            return float(number)  # type: ignore[arg-type]
    except Exception as error:
        warn_once(
            f"payload of {type(value)!r} failed",
            f"payload of type {type(value).__name__!r} could not be read: {error!r}",
        )
        return None
    _unsupported(value)
    return None


def _unsupported(value: Any) -> None:
    warn_once(
        f"payload of {type(value)!r}",
        f"Unsupported payload type: {type(value)}. The event is sent without a payload",
    )
