# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of this package that the extension module calls, handed over when it needs
the first of them. What most programs never need is imported at its first call, and from then on
called without this module."""

from __future__ import annotations

from nvspan import _core, colors
from nvspan._adapters.torch import find_streams
from nvspan._compat import handles
from nvspan._decorate import annotate_class
from nvspan.counters import _get_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from types import CodeType
    from typing import Any


def _carried_over(original: CodeType, generated: CodeType, current: CodeType) -> CodeType:
    from nvspan._decorate.codegen import carried_over

    _core.set_hooks(carried_over=carried_over)
    return carried_over(original, generated, current)


def _copy_callable(proxy: Any, memo: dict[int, Any] | None = None) -> Any:
    from nvspan._decorate.callables import copy_callable

    _core.set_hooks(copy_callable=copy_callable)
    return copy_callable(proxy, memo)


def _decorate(annotation: _core.Annotation, target: Any) -> Any:
    from nvspan._decorate.dispatch import decorate

    _core.set_hooks(decorate=decorate)
    return decorate(annotation, target)


def _decorate_with_device_range(range_: _core.device_range, target: Any) -> Any:
    from nvspan._decorate.device import decorate

    _core.set_hooks(decorate_with_device_range=decorate)
    return decorate(range_, target)


def _decorate_with_torch_range(range_: Any, target: Any) -> Any:
    from nvspan.torch.nvtx import _decorate

    _core.set_hooks(decorate_with_torch_range=_decorate)
    return _decorate(range_, target)


def _generate(code: CodeType, kind: str | None, site: Any) -> CodeType:
    from nvspan._decorate.codegen import generate

    _core.set_hooks(generate=generate)
    return generate(code, kind, site)


def _reduce_callable(proxy: Any) -> str | tuple[Any, ...]:
    from nvspan._decorate.callables import reduce_callable

    _core.set_hooks(reduce_callable=reduce_callable)
    return reduce_callable(proxy)


def _scalar(value: Any) -> Any:
    from nvspan._decorate.payload_values import scalar

    _core.set_hooks(scalar=scalar)
    return scalar(value)


def _stream_of(stream: Any) -> tuple[int, int]:
    from nvspan._device.streams import stream_of

    _core.set_hooks(stream_of=stream_of)
    return stream_of(stream)


def _wait(handle: _core.DeviceRangeHandle) -> Generator[Any, Any, float | None]:
    from nvspan._device.awaiting import wait

    _core.set_hooks(wait_for_device_range=wait)
    return wait(handle)


def hand_over() -> None:
    """Called once, by the package."""
    _core.set_hooks(
        annotate_class=annotate_class,
        carried_over=_carried_over,
        color_from_object=colors._color_from_object,
        copy_callable=_copy_callable,
        decorate=_decorate,
        decorate_with_device_range=_decorate_with_device_range,
        decorate_with_torch_range=_decorate_with_torch_range,
        domain_handle=handles.domain_handle,
        find_torch_streams=find_streams,
        generate=_generate,
        get_counter=_get_counter,
        reduce_callable=_reduce_callable,
        registered_string=handles.registered_string,
        scalar=_scalar,
        stream_of=_stream_of,
        wait_for_device_range=_wait,
    )
